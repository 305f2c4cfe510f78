"""NumPy's numbers are indexed with None, ..., () and True, as arrays of rank 0 are, and arrays with True: values, shapes and dtypes
are NumPy's, compiled, printed and batched, and gradients those of differences. What is no index of a number is refused."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import check_gradient, module_of

import transpile as tp

NUMBERS = (
    "x[0]", "np.sum(x)", "x.mean()", "(x[0] * 2.0)", "np.linalg.norm(x)", "n[1]", "t[0]", "np.dot(x, x)", "np.float32(0.5)",
    "n.sum()", "(x[0] > 0.5)", "np.max(x)",
)  # fmt: skip
PARTS = ("None", "...", "True", "np.newaxis")
INDICES = ["()", *(", ".join(p) for k in (1, 2, 3) for p in itertools.product(PARTS, repeat=k) if p.count("...") < 2)]
OF_ARRAYS = (
    "x[True]", "x[:, True]", "x[True, ...]", "m[:, True]", "m[None, True]", "m[..., True]", "m[True, 1:]", "x[None, True, :2]",
)  # fmt: skip
REFUSED = ("[0]", "[:]", "[0, None]", "[[0]]", "[None, 0]", "[..., 0]", "['a']", "[1.0]")
HEAD = "import numpy as np\n"
START = "m = x.reshape(1, 3) * np.ones((2, 1))\nn = np.arange(3, dtype=np.int16)\nt = n > 0\n"


def expressions() -> list[str]:
    found = []
    names = {"np": np, "x": np.ones(3), "m": np.ones((2, 3)), "n": np.arange(3), "t": np.arange(3) > 0}
    for text in (*OF_ARRAYS, *(f"{number}[{index}]" for number, index in itertools.product(NUMBERS, INDICES))):
        eval(text, names)
        if text.count("True") < 2:
            found.append(text)
    return found


def compare(texts: list[str], folder: Path) -> None:
    f = module_of(HEAD, [f"{START}return [{', '.join(texts)}]"], folder).f0
    x = np.array([0.7, 1.5, 2.25])
    wanted = f(x)
    printed: dict[str, Any] = {}
    exec(tp.source(f, x), printed)
    batched = [np.asarray(part)[0] for part in tp.vmap(f)(x[None])]
    for run, found in (("compiled", tp.jit(f)(x)), ("printed", printed["f0"](x)), ("batched", batched)):
        wrong = [(t, a, b) for t, a, b in zip(texts, found, wanted, strict=True) if not is_same(a, b)]
        assert not wrong, (run, wrong[:9])


def is_same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=1e-12)


@pytest.mark.numba
def test_some_indices(tmp_path: Path) -> None:
    texts = expressions()
    compare([*texts[: len(OF_ARRAYS)], *texts[len(OF_ARRAYS) :: 29]], tmp_path)


@pytest.mark.numba
@pytest.mark.slow
def test_all_indices(tmp_path: Path) -> None:
    compare(expressions(), tmp_path)


@pytest.mark.parametrize("index", ["None", "()", "..., None", "True", "None, None"])
def test_gradients(index: str, tmp_path: Path) -> None:
    body = f"return np.sum(x[1][{index}] * x) + np.sum(np.mean(x * x)[{index}]) ** 2"
    check_gradient(module_of(HEAD, [body], tmp_path).f0, np.array([0.7, 1.5, 2.25]))


def test_is_memory_of_its_own(tmp_path: Path) -> None:
    body = "s = x[0]\ny = s[None]\ny[0] = 5.0\nreturn s + np.sum(x) + y[0]"
    f = module_of(HEAD, [body], tmp_path).f0
    assert tp.jit(f)(np.ones(2)) == f(np.ones(2)) == 8.0


@pytest.mark.parametrize("index", REFUSED)
def test_what_is_no_index_of_a_number(index: str, tmp_path: Path) -> None:
    f = module_of(HEAD, [f"return np.sum(x){index}"], tmp_path).f0
    with pytest.raises((IndexError, TypeError)):
        f(np.ones(3))
    with pytest.raises(tp.TranspileError, match=r"programs.py:4:12: error\[T(120|207)\]"):
        tp.jit(f)(np.ones(3))


@pytest.mark.parametrize("index", ["x[0] > 0.5", "False"])
def test_truth_values_of_the_run(index: str, tmp_path: Path) -> None:
    f = module_of(HEAD, [f"return np.sum(x[{index}])"], tmp_path).f0
    for x in (np.ones(3), np.zeros(3)):
        assert tp.jit(f)(x) == f(x)
