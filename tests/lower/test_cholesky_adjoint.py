"""The adjoint of a Cholesky factor by blocks: against the formula that it stands for, interpreted code and differences."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]


def definite(x):
    return x @ x.T + 2.0 * np.eye(x.shape[0])


# ------------------------------------------------------------------------------------------------------- alone


@pytest.fixture(scope="module")
def adjoint():
    from numba import njit

    from transpile_runtime.compiled import adjoints

    @njit
    def call(factor, given, out):
        adjoints.cholesky_adjoint(factor, given, out)

    return call


def formula(low, low_bar):
    """Phi(s + s^T) for s = low^-T Phi(low^T low_bar) low^-1."""

    def phi(x):
        return np.tril(x) - 0.5 * np.diag(np.diag(x))

    s = np.linalg.solve(low.T, np.linalg.solve(low.T, phi(low.T @ np.tril(low_bar))).T)
    return phi(s + s.T)


@pytest.mark.parametrize("n", (0, 1, 2, 3, 7, 47, 48, 49, 96, 97, 150))
@pytest.mark.parametrize(("dtype", "close"), (("float64", 1e-11), ("float32", 2e-4)))
@pytest.mark.sampled(3)
def test_blocks(adjoint, n, dtype, close):
    low = np.linalg.cholesky(definite(normal(n, n) / max(n, 1) ** 0.5))
    low_bar = normal(n, n)
    wanted = formula(low, low_bar)
    low, low_bar = low.astype(dtype), low_bar.astype(dtype)
    out = np.full((n, n), np.nan, dtype)
    adjoint(low.T, low_bar, out)
    np.testing.assert_allclose(out, wanted, rtol=close, atol=close * max(1.0, np.abs(wanted).max(initial=0.0)))
    again = np.full((n, n), np.nan, dtype)
    adjoint(np.ascontiguousarray(low.T), np.asfortranarray(low_bar), again)
    np.testing.assert_array_equal(again, out)


def test_what_is_above_the_diagonal_is_not_read(adjoint):
    low, low_bar, out = np.linalg.cholesky(definite(normal(60, 60))), normal(60, 60), np.empty((60, 60))
    adjoint(low.T, low_bar, out)
    low[np.triu_indices(60, 1)] = np.nan
    low_bar[np.triu_indices(60, 1)] = np.inf
    again = np.empty((60, 60))
    adjoint(low.T, low_bar, again)
    np.testing.assert_array_equal(out, again)


# ------------------------------------------------------------------------------------------------- in programs


def lower(x):
    return np.sum(np.sin(np.linalg.cholesky(definite(x))))


def upper(x):
    return np.sum(np.cos(np.linalg.cholesky(definite(x), upper=True)))


def likelihood(x, y):
    """Of a Gaussian process."""
    low = np.linalg.cholesky(definite(x))
    z = np.linalg.solve(low, y)
    return 0.5 * (z @ z) + np.sum(np.log(np.diag(low)))


def in_a_loop(x, y):
    total = 0.0
    for k in range(len(y)):
        low = np.linalg.cholesky(definite(x) + y[k] ** 2 * np.eye(x.shape[0]))
        total += low[-1, 0] * np.sum(low)
    return total


def chosen(x, y):
    if y[0] > 0:
        return np.sum(np.linalg.cholesky(definite(x))) + y[0]
    return np.sum(np.linalg.cholesky(definite(2.0 * x), upper=True) * y[0])


PROGRAMS = {
    "lower": (lower, lambda n: (normal(n, n),)),
    "upper": (upper, lambda n: (normal(n, n),)),
    "likelihood": (likelihood, lambda n: (normal(n, n), normal(n))),
    "loop": (in_a_loop, lambda n: (normal(n, n), normal(2))),
    "yes": (chosen, lambda n: (normal(n, n), np.abs(normal(n)))),
    "no": (chosen, lambda n: (normal(n, n), -np.abs(normal(n)))),
}


@pytest.mark.parametrize("n", (1, 2, 5, 60))
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(4)
def test_programs(name, n):
    fn, make = PROGRAMS[name]
    args = make(n)
    check(fn, args)
    if n > 1:
        text = tp.source(tp.jit(tp.grad(fn)), *args, stage="loops")
        assert "linalg.cholesky_adjoint" in text, text
        assert text.count("solve") <= 2 * (fn is likelihood), text  # of the equation, not of the factor


def test_single_precision():
    for fn in (lower, upper):
        x = normal(60, 60).astype(np.float32)
        found, wanted = tp.jit(tp.grad(fn))(x), tp.grad(fn)(x.astype(np.float64))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=5e-3, atol=5e-3 * np.abs(wanted).max())


def test_second_order():
    x = normal(4, 4)
    for fn in (lower, upper):
        np.testing.assert_allclose(tp.jit(tp.hessian(fn))(x), tp.hessian(fn)(x), rtol=1e-8, atol=1e-8)


def test_stacks_keep_the_formula():
    x = normal(3, 5, 5)

    def fn(x):
        return np.sum(np.linalg.cholesky(x @ x.transpose(0, 2, 1) + 2.0 * np.eye(5)) ** 3)

    check(fn, (x,))
