"""Systems of equations, one or a stack of them, with vectors and matrices on the right: NumPy's and SciPy's, in every shape."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
import scipy.linalg

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError


def general(a, b):
    return np.linalg.solve(a, b)


def scipys(a, b):
    return scipy.linalg.solve(a, b)


def transposed(a, b):
    return scipy.linalg.solve(a, b, transposed=True)


def symmetric(a, b):
    return scipy.linalg.solve(a @ np.swapaxes(a, -1, -2), b, assume_a="pos")


def lower(a, b):
    return scipy.linalg.solve_triangular(a, b, lower=True)


def upper(a, b):
    return scipy.linalg.solve_triangular(a, b, trans=1, unit_diagonal=True)


def factored(a, b):
    return scipy.linalg.cho_solve((scipy.linalg.cholesky(a @ np.swapaxes(a, -1, -2)), False), b)


STACKS = np.lib.NumpyVersion(scipy.__version__) >= "1.16.0"
MATRICES = [(2, 2), (2, 2, 2), (3, 2, 2), (1, 2, 2), (4, 3, 2, 2)]
SIDES = [(2,), (2, 1), (2, 2), (2, 3), (3, 2, 1), (2, 2, 2), (1, 2, 3), (3, 2, 2)]


@pytest.mark.parametrize("sides", SIDES, ids=str)
@pytest.mark.parametrize("matrices", MATRICES, ids=str)
@pytest.mark.parametrize(
    "solve", [general, scipys, transposed, symmetric, lower, upper, factored], ids=lambda f: f.__name__
)
@pytest.mark.sampled(8)
def test_systems_of_every_shape(solve, matrices, sides):
    rng = np.random.default_rng(0)
    a, b = 0.3 * rng.normal(size=matrices) + 2 * np.eye(2), rng.normal(size=sides)
    a_dot, b_dot = rng.normal(size=matrices), rng.normal(size=sides)
    if solve is not general and max(a.ndim, b.ndim) > 2 and not STACKS:
        with pytest.raises(TranspileError, match="T131"):
            Transformed(solve, Level())(a, b)
        return
    try:
        wanted = solve(a, b)
    except ValueError:
        with pytest.raises((ValueError, TranspileError)):
            Transformed(solve, Level())(a, b)
        return
    np.testing.assert_allclose(Transformed(solve, Level())(a, b), wanted, rtol=1e-10, atol=1e-12)
    slope = (solve(a + 1e-6 * a_dot, b + 1e-6 * b_dot) - solve(a - 1e-6 * a_dot, b - 1e-6 * b_dot)) / 2e-6
    np.testing.assert_allclose(tp.jvp(solve, (a, b), (a_dot, b_dot))[1], slope, rtol=1e-6, atol=1e-7)
    weights = rng.normal(size=wanted.shape)
    a_bar, b_bar = tp.vjp(solve, a, b)[1](weights)
    np.testing.assert_allclose(
        np.sum(a_bar * a_dot) + np.sum(b_bar * b_dot), np.sum(weights * slope), rtol=1e-6, atol=1e-7
    )


OPTIONS = [
    (np.sum, ({"axis": 0}, {"axis": 1}, {"axis": 1, "keepdims": True}, {})),
    (np.concatenate, ({"axis": 0}, {"axis": -1})),
    (np.diff, ({"n": 2}, {"axis": 0}, {})),
    (np.clip, ({"a_min": 1.0, "a_max": 2.5}, {"a_max": 2.0, "a_min": 0.5})),
    (np.linalg.norm, ({"ord": 1}, {"axis": 1})),
    (np.exp, ({}, {"dtype": np.float64})),
    (scipy.linalg.cholesky, ({"lower": True}, {"lower": False})),
]


@pytest.mark.parametrize("function, options", OPTIONS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_function_of_numpys_takes_its_options_by_name(function, options):
    x = np.array([[2.0, 0.3], [0.4, 3.0]])
    run, forward, reverse = Transformed(function, Level()), tp.jacfwd(function), tp.jacrev(function)
    for given in options:
        np.testing.assert_allclose(run(x, **given), function(x, **given), rtol=1e-14)
        np.testing.assert_allclose(forward(x, **given), reverse(x, **given), rtol=1e-12, atol=1e-14)
