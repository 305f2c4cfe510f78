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
