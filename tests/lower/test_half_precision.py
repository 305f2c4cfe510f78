"""float16 in compiled code, which has none: what NumPy gives of small integers and truth values, bit for bit, and where a
float is rounded to a float16, at every tie between two of them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
HEAD = "import numpy as np\n"
OF_ONE = "sin cos tan exp log log1p expm1 sqrt cbrt arctan arcsinh tanh sinh exp2 log2 log10 degrees rint".split()
OF_TWO = "hypot arctan2 logaddexp".split()
MORE = (
    "np.sqrt(x) + 1", "np.sqrt(x) * np.sin(x)", "np.sqrt(x)[0]", "np.sqrt(x[0])", "float(np.sqrt(x[0]))",
    "np.sqrt(x).astype(np.float64)", "np.sqrt(x) * y", "np.max(np.sqrt(x))", "np.sqrt(x) > 1.3", "np.sum(np.sqrt(x))",
    "np.mean(np.sqrt(x))", "np.cumsum(np.sqrt(x))", "np.where(x > 1, np.sqrt(x), 0)",
    "np.concatenate([np.sqrt(x), np.sin(x)])", "np.full(2, 0.1, np.float16)", "np.float16(2049)", "np.zeros(2, np.float16)",
    "np.float16(0.1)", "np.sort(np.sqrt(x))", "np.dot(np.sqrt(x), np.sqrt(x))", "np.sqrt(x) ** 3",
    "np.array([0.1, 0.2], np.float16)", "(y * 1e5).astype(np.float16)", "(y * 1e-7).astype(np.float16)",
    "np.prod(np.sqrt(x))", "np.clip(np.sqrt(x), 1, 1.5)", "-np.sqrt(x)", "np.ones(3, np.float16) / 3",
    "np.sqrt(x).reshape(-1, 1) @ np.ones((1, 2), np.float16)", "np.float32(0.3) * x", "x / np.float16(3)", "looped(x)",
    "filled(x)", "np.sqrt(x)[::2].T", "np.std(np.sqrt(x))",
)  # fmt: skip
LOOPS = """
def looped(x):
    total = np.float16(0.1)
    for i in range(len(x)):
        total = total * np.sqrt(x[i]) + np.float16(0.3)
    return total


def filled(x):
    y = np.zeros(len(x), np.float16)
    for i in range(len(x)):
        y[i] = 0.1 * i + np.sqrt(x[i])
    y[0] = y[1] * y[2] + np.float16(0.7)
    return y

"""


def compare(dtype: str, step: int, tmp_path: Path) -> None:
    texts = [*(f"np.{f}(x)" for f in OF_ONE), *(f"np.{f}(x, x)" for f in OF_TWO), *MORE]
    x, y = np.array([1, 4, 9, 101]).astype(dtype), np.array([0.1, 0.7, 3.3, 9.1])
    texts = [t for t in texts if not (dtype == "bool" and t.startswith("-"))][::step]
    f = module_of(HEAD + LOOPS, [f"x, y = x\nreturn [{', '.join(texts)}]"], tmp_path).f0
    wanted = f((x, y))
    runs = {"compiled": tp.jit(f)((x, y))}
    if step == 1:
        batched = tp.jit(tp.vmap(lambda a, b: f((a, b))))
        runs["batched"] = [a[0] for a in batched(x[None], y[None])]
    for run, found in runs.items():
        wrong = [(t, a, b) for t, a, b in zip(texts, found, wanted, strict=True) if not is_same(a, b)]
        assert not wrong, (run, wrong)


def test_some_values(tmp_path: Path) -> None:
    compare("uint8", 6, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool"])
def test_values(dtype: str, tmp_path: Path) -> None:
    compare(dtype, 1, tmp_path)


def is_same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def rounded(x):
    return x.astype(np.float16)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_tie(dtype: str) -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(dtype)
    between = (halves[:-1] + halves[1:]) / 2
    some = (np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(-12, 13, 0.025)).astype(dtype)
    beside = [np.nextafter(between, np.array(s, dtype)) for s in (-np.inf, np.inf)]
    x = np.concatenate([halves, between, *beside, some, np.array([65519.99, 65520.0, 1e30, -0.0], dtype)])
    found = tp.jit(rounded)(x)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, x.astype(np.float16))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(x.astype(np.float16)))


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint16", "int32", "int64"])
def test_integers(dtype: str) -> None:
    ends = np.iinfo(dtype)
    near = [s * 2**k + d for k, s, d in itertools.product(range(64), (1, -1), (-1, 0, 1))]
    x = np.array([n for n in near if ends.min <= n <= ends.max], dtype)
    np.testing.assert_array_equal(tp.jit(rounded)(x), x.astype(np.float16))


def test_gradient() -> None:
    def loss(w, image):
        return np.sum(w * np.sqrt(image))

    image = np.array([2, 5, 7], np.uint8)
    np.testing.assert_array_equal(tp.jit(tp.grad(loss))(np.ones(3), image), np.sqrt(image).astype(float))


def test_refusals() -> None:
    def added(image):
        y = np.zeros(3, np.float16)
        y[[0, 1, 0]] += np.sqrt(image)
        np.add.at(y, [0, 0, 1], np.sqrt(image))
        return y

    with pytest.raises(tp.TranspileError, match=r"test_half_precision.py:\d+:\d+: error\[T502\]"):
        tp.jit(added)(np.array([1, 2, 3], np.uint8))
    with pytest.raises(tp.TranspileError, match="T502"):
        tp.jit(rounded)(np.ones(2, np.float16))
