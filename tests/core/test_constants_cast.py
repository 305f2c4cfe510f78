"""A constant is rounded to the dtype that it is made in, whatever it meets: every way to write that, every dtype, printed,
batched and compiled. What is right is what NumPy gives."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
VALUES = (
    "0.1 1/3 -2.7 1e-30 1e-50 3e9 70000.0 16777217.0 1e300 float('inf') float('nan') -0.0 True False 0 7 -1 127 128 255 300 32768 "
    "65535 16777217 2147483647 4294967295 9007199254740993 9223372036854775807 9223372036854775808 18446744073709551615"
).split()
WAYS = (
    "np.{to}({c})", "np.array({c}, np.{to})", "np.asarray({c}, dtype=np.{to})", "np.array([{c}, {c}], np.{to})[0]",
    "np.full(2, {c}, np.{to})", "np.full(2, np.{to}({c}))", "np.float64({c}).astype(np.{to})", "np.float32({c}).astype(np.{to})",
    "np.array({c}).astype(np.{to})", "np.{to}(np.float32({c}))", "np.{to}(np.int64({c}))", "np.{to}(np.uint8({c}))",
    "np.full_like(x, {c}, dtype=np.{to})", "np.full(2, {c}).astype(np.{to})", "np.asarray({c}).astype(np.{to})",
)  # fmt: skip
USES = (
    "{v}", "x * {v}", "float({v})", "n + {v}", "np.sum({v} * x)", "y * {v} + x", "{v} == {c}", "held(x, {v})", "np.float64({v})",
)  # fmt: skip
HEAD = "import numpy as np\n\ndef held(x, v):\n    y = np.zeros(2)\n    y[:] = v\n    return y\n\n"
X = (np.array([1.0, 1.0]), np.array([0.3, 0.7], np.float32), 3)


def _is_had(text: str) -> bool:
    """Whether NumPy gives a value of a dtype that compiled code has, and C says what it is."""
    names: dict[str, Any] = {"np": np, "x": X[0], "y": X[1], "n": X[2]}
    exec(HEAD, names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", "invalid value")  # what C leaves open
            found = np.asarray(eval(text, names)).dtype
    except (OverflowError, ValueError, TypeError, RuntimeWarning):
        return False
    return found not in (np.float16, object)


def expressions(to: str, way: str, values: Sequence[str] = VALUES) -> Iterator[str]:
    for value, use in itertools.product(values, USES):
        if "float(" in use and way.startswith(("np.full(", "np.full_like(")):
            continue
        text = use.format(v=way.format(to=to, c=value), c=value)
        if _is_had(text):
            yield text


CASES = list(itertools.product(WAYS, DTYPES))


def compare(texts: list[str], tmp_path: Path) -> None:
    body = f"return [{', '.join(texts)}]"
    module = module_of(HEAD, ["y = x[2:4].astype(np.float32)\nn = 3\nx = x[:2]\n" + body], tmp_path)
    x = np.array([*X[0], *X[1]])
    printed: dict[str, Any] = {}
    exec(tp.source(module.f0, x), printed)
    runs = {
        "compiled": tp.jit(module.f0)(x),
        "printed": printed["f0"](x),
        "batched": [np.asarray(part)[0] for part in tp.vmap(module.f0)(x[None])],
    }
    wanted = module.f0(x)
    wrong = [
        (run, *c) for run, parts in runs.items() for c in zip(texts, wanted, parts, strict=True) if not is_same(*c[1:])
    ]
    assert not wrong, f"{len(wrong)} of {len(texts)}: {wrong[:40]}"


@pytest.mark.numba
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_some_constants_are_what_numpy_makes_of_them(tmp_path: Path) -> None:
    """One constant and one use of each way and dtype."""
    some = [t for k, (way, to) in enumerate(CASES) for t in list(expressions(to, way, VALUES[k % 2 :: 9]))[k % 7 :: 37]]
    compare(some, tmp_path)


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("way", "to"), CASES, ids=[way.format(to=to, c="c") for way, to in CASES])
def test_constant_is_what_numpy_makes_of_it(way: str, to: str, tmp_path: Path) -> None:
    compare(list(expressions(to, way)), tmp_path)


def is_same(a: Any, b: Any) -> bool:
    """Value, dtype and sign of zero."""
    a, b = np.asarray(a), np.asarray(b)
    return (
        a.dtype == b.dtype
        and np.array_equal(a, b, equal_nan=True)
        and np.array_equal(np.signbit(1.0 * a), np.signbit(1.0 * b))
    )
