"""Running sums of `transpile.lax`: each beside a loop over the elements, on every dtype, axis and direction; derivatives beside
differences."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile import lax

STEPS: dict[str, Any] = {
    "cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum, "cumlogsumexp": np.logaddexp,
}  # fmt: skip
REAL, ALL = ("float64", "float32"), ("float64", "float32", "int64", "int32", "int8", "uint8", "uint64")


def beside(name: str, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    """Element after element, in the dtype of the array."""
    columns = np.moveaxis(np.array(x), axis, 0)[:: -1 if reverse else 1].copy()
    with np.errstate(all="ignore"):
        for k in range(1, len(columns)):
            columns[k] = STEPS[name](columns[k - 1], columns[k])
    return np.moveaxis(columns[:: -1 if reverse else 1], 0, axis)


def example(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    numbers = 40.0 * np.sin(np.arange(np.prod(shape, dtype=int)) * 1.7 + 0.3).reshape(shape)
    if np.dtype(dtype).kind == "u":
        numbers = np.abs(numbers)
    return numbers.astype(dtype)


@functools.lru_cache
def function(name: str, axis: int, reverse: bool) -> Any:
    return tp.from_source(f"from transpile import lax\ndef f(x):\n    return lax.{name}(x, {axis}, {reverse})\n")


def cases(name: str) -> list[tuple[str, tuple[int, ...], int, bool]]:
    dtypes = REAL if name == "cumlogsumexp" else ALL
    shapes = ((5,), (3, 4), (2, 3, 2), (0,), (1,), (3, 0))
    return [(t, s, a, r) for t in dtypes for s in shapes for a in range(-len(s), len(s)) for r in (False, True)]


def check(name: str, dtype: str, shape: tuple[int, ...], axis: int, reverse: bool, transform: Any) -> None:
    x, f = example(dtype, shape), function(name, axis, reverse)
    wanted = beside(name, x, axis, reverse)
    for found in (f(x), transform(f)(x)):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        rtol = {"float64": 1e-13, "float32": 1e-5}.get(dtype, 0.0)
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=40.0 * rtol)


def interpreted(f: Any) -> Any:
    return tp.vmap(f, in_axes=None, out_axes=None, axis_size=1)


@pytest.mark.parametrize("name", STEPS)
def test_values(name: str) -> None:
    for case in cases(name)[::17]:
        check(name, *case, interpreted)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_all_values(name: str) -> None:
    for case in cases(name):
        check(name, *case, interpreted)


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_compiled(name: str) -> None:
    for case in cases(name)[::11]:
        check(name, *case, tp.jit)


@pytest.mark.parametrize("name", STEPS)
def test_derivatives_and_lanes(name: str) -> None:
    x = 0.1 * example("float64", (3, 4))
    for axis, reverse in ((0, True), (1, False)):
        f = function(name, axis, reverse)
        tp.check_grads(f, (x,), order=2 if name in ("cumsum", "cumlogsumexp") else 1)
        np.testing.assert_allclose(tp.vmap(f)(np.stack([x, 2 * x])), [f(x), f(2 * x)], rtol=1e-13)


def test_special_values() -> None:
    x = np.array([-np.inf, -np.inf, 1.0, np.nan, 2.0])
    np.testing.assert_array_equal(lax.cumlogsumexp(x), [-np.inf, -np.inf, 1.0, np.nan, np.nan])
    np.testing.assert_array_equal(lax.cummax(x), [-np.inf, -np.inf, 1.0, np.nan, np.nan])
    np.testing.assert_array_equal(lax.cummin(x, reverse=True), [np.nan, np.nan, np.nan, np.nan, 2.0])
    assert np.all(np.isfinite(tp.grad(lambda x: lax.cumlogsumexp(x)[2])(x[:3])))


MISTAKES = [
    ("lax.cumsum(np.ones(3) * x, axis=1)", "T203", "along axis 1, but the array has rank 1"),
    ("lax.cumsum(x)", "T203", "rank 0"),
    ("lax.cumsum([x, x])", "T201", "numbers"),
    ("lax.cumprod(np.ones(3) > x)", "T201", "bool"),
    ("lax.cumlogsumexp(np.arange(3))", "T201", "floats"),
    ("lax.cummax(np.ones(3) * x, axis=0.0)", "T131", "the axis of cummax"),
    ("lax.map(lambda v: v * x, np.ones(4), batch_size=-1)", "T131", "batch_size of map is -1"),
    ("lax.map(lambda v: v * x, np.ones(4), batch_size=2.0)", "T131", "batch_size of map is 2.0"),
]


@pytest.mark.parametrize("text, code, message", MISTAKES)
def test_mistakes(text: str, code: str, message: str) -> None:
    f = tp.from_source(f"import numpy as np\nfrom transpile import lax\ndef f(x):\n    return np.sum({text})\n")
    for call in (f, tp.grad(f)):
        with pytest.raises(tp.TranspileError, match=message) as failed:
            call(1.5)
        assert failed.value.codes == (code,)


@pytest.mark.parametrize("size", [None, 0, 1, 2, 5, 9])
def test_a_map_in_batches(size: int | None) -> None:
    def f(x):
        return np.sum(lax.map(lambda row: np.sin(row) * np.sum(row), x, batch_size=size) ** 2)

    x = example("float64", (5, 2)) / 40.0
    wanted = np.sum((np.sin(x) * x.sum(1, keepdims=True)) ** 2)
    assert f(x) == pytest.approx(wanted, rel=1e-14) and tp.value_and_grad(f)(x)[0] == pytest.approx(wanted, rel=1e-14)
