"""Arrays that do not broadcast to the shape that a call asks for: an error as NumPy's, also of a function that was compiled for
arrays that do. Compiled code would read, and write, memory that is not theirs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

MASKED = (
    "np.sum(x, axis=0, where=y > 0)",
    "np.max(x, axis=0, where=y > 0, initial=2.0)",
    "np.nanstd(x, axis=0, where=y > 0)",
    "np.full_like(x, y)",
    "np.full(x.shape, y)",
    "np.insert(x, [0, 1], y, axis=0)",
    "np.insert(x, 1, y.T, axis=1)",
)
SHAPES = (((3, 4), (2, 4)), ((3, 4), (3, 2)), ((3, 4), (2, 3)), ((3, 4), (6, 4)), ((2, 4), (3, 4)), ((1, 1), (3, 4)))
WITH_LENGTHS = (
    "np.full((3, 4), y[y > 0.5])",
    "np.insert(x, [0], y[y > 0.5], axis=0)",
    "np.mean(x, axis=0, where=y[y > 0.5] > 0.7)",
)


def array(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape)


def outcome(run: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(x.copy(), y.copy())
        except Exception as e:
            return e


def is_refused(got: Any) -> bool:
    return isinstance(got, (ValueError, tp.TranspileError))


def program(text: str) -> Callable[..., Any]:
    return tp.from_source(f"def program(x, y):\n    return {text}\n", {"np": np})


@pytest.mark.parametrize("text", MASKED)
def test_it_is_an_error_interpreted(text: str) -> None:
    run = Transformed(program(text), Level())
    for shape, other in SHAPES:
        x, y = array(shape), array(other, 1)
        if isinstance(outcome(program(text), x, y), Exception):
            assert is_refused(outcome(run, x, y)), (shape, other)


@pytest.mark.numba
@pytest.mark.parametrize("text", MASKED)
def test_it_is_an_error_compiled(text: str) -> None:
    run = tp.jit(program(text))
    fits = array((3, 4)), array((2, 4) if "[0, 1]" in text else (3, 4), 1)
    np.testing.assert_allclose(outcome(run, *fits), outcome(program(text), *fits))
    for shape, other in SHAPES:
        x, y = array(shape), array(other, 1)
        if isinstance(outcome(program(text), x, y), Exception):
            assert is_refused(outcome(run, x, y)), (shape, other)


@pytest.mark.numba
@pytest.mark.parametrize("text", WITH_LENGTHS)
def test_and_where_only_the_run_knows_how_long_they_are(text: str) -> None:
    run = tp.jit(program(text))
    for y in (np.ones(4), np.array([0.9, 0.1, 0.8, 0.1]), np.zeros(4), np.array([0.1, 0.7, 0.1, 0.1])):
        got, wanted = outcome(run, array((3, 4)), y), outcome(program(text), array((3, 4)), y)
        assert is_refused(got) if isinstance(wanted, Exception) else np.array_equal(got, wanted, equal_nan=True)


TOO_DEEP = (
    "np.convolve(x, y[0])", "np.convolve(x[0], y, 'same')", "np.correlate(x, y[0])", "np.polymul(x, y[0])", "np.polyder(x)",
    "np.interp(x, y, y)", "np.interp(x, y[0], y)", "np.digitize(x, y)", "np.searchsorted(x, y)", "np.bincount(x.astype(int))",
    "np.histogram(x, y)[0]", "np.cov(x[None])", "np.cov(x, y[None])", "np.corrcoef(x[None])", "np.lexsort(x[0])",
    "np.lib.stride_tricks.sliding_window_view(x[0], 1.5)", "np.triu(x, (0,))", "np.tril_indices_from(x, None)[0]",
    "np.eye(3, k=0.5)", "np.diag(x, 'main')",
)  # fmt: skip


@pytest.mark.parametrize("text", TOO_DEEP)
def test_what_takes_vectors_takes_no_matrices(text: str) -> None:
    """Refused when it is transformed: compiled it gave the first row's result, or an error of ours."""
    if "lexsort" not in text:  # of one vector NumPy gives the place of a number
        assert isinstance(outcome(program(text), array((3, 4)), array((3, 4), 1)), (ValueError, TypeError))
    for run in (Transformed(program(text), Level()), tp.jit(program(text))):
        assert isinstance(outcome(run, array((3, 4)), array((3, 4), 1)), tp.TranspileError)


@pytest.mark.numba
@pytest.mark.usefixtures("cache_directory")
@pytest.mark.parametrize("order", ["C", "F"])
def test_sizes_in_an_array_are_compared(order: str) -> None:
    def program(x, k):
        return np.reshape(x, np.array([2, k]), order=order) * 1.0

    compiled = tp.jit(program)
    for k in (2, 3, 0):
        np.testing.assert_array_equal(compiled(array((2 * k,)), k), program(array((2 * k,)), k))
        for size in (2 * k + 1, 2 * k + 2):
            with pytest.raises(ValueError, match="do not agree|cannot reshape"):
                compiled(array((size,)), k)
