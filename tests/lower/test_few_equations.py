"""Systems of few rows in compiled code: factored by loops, or by the library, which knows what NumPy finds singular."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17, 20)


@tp.jit
def solve(a, b):
    return np.linalg.solve(a, b)


@tp.jit
def both(a, b):
    """By factors that are kept, of the matrix and of its transpose."""
    return np.linalg.solve(a, b), np.linalg.solve(a.T, b), np.linalg.slogdet(a)


def general(rng, n):
    return rng.normal(size=(n, n))


def turned(rng, n):
    """Whose pivots all come from other rows."""
    return np.triu(rng.normal(size=(n, n)) + 3 * np.eye(n))[rng.permutation(n)]


def of_two_sizes(rng, n):
    return rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-9, 9, size=(n, 1))


def close_to_singular(rng, n):
    a = rng.normal(size=(n, n))
    a[-1] = a[0] + 1e-6 * a[-1]
    return a


def growing(rng, n):
    """Wilkinson's: the last column doubles with each row."""
    return np.eye(n) - np.tril(np.ones((n, n)), -1) + np.outer(np.ones(n), np.eye(n)[-1])


REGULAR = (general, turned, of_two_sizes, close_to_singular, growing)


def counted(rng, n):
    return np.arange(float(n * n)).reshape(n, n)


def rows_twice(rng, n):
    a = rng.normal(size=(n, n))
    a[-1] = a[0]
    return a


def columns_twice(rng, n):
    a = rng.normal(size=(n, n))
    a[:, 0] = a[:, -1]
    return a


def no_column(rng, n):
    a = rng.normal(size=(n, n))
    a[:, n // 2] = 0
    return a


def of_integers(rng, n):
    a = rng.integers(-3, 4, size=(n, n)).astype(float)
    a[-1] = a[:-1].sum(axis=0)
    return a


def nothing(rng, n):
    return np.zeros((n, n))


SINGULAR = (counted, rows_twice, columns_twice, no_column, of_integers, nothing)


def systems(make, n, dtype):
    for seed in range(4):
        rng = np.random.default_rng([n, seed])
        yield make(rng, n).astype(dtype), rng.normal(size=n).astype(dtype)


def backward_error(a, x, b):
    """How far, relative to its norms, the equation lies that ``x`` solves exactly (Higham, Accuracy and Stability, 7.1)."""
    a, x, b = (v.astype(float) for v in (a, x, b))
    return norm(a @ x - b) / (norm(a) * norm(x) + norm(b))


def norm(x):
    return np.linalg.norm(x, np.inf)


@pytest.mark.parametrize(
    "make, dtype", [(m, d) for d in ("float64", "float32") for m in REGULAR if (m, d) != (close_to_singular, "float32")]
)
@pytest.mark.sampled(3)
def test_regular(make, dtype):
    for n in SIZES:
        for a, b in systems(make, n, dtype):
            found, forth, (sign, size) = both(a, b)
            limit = 50 * n * np.finfo(dtype).eps * (2.0**n if make is growing else 1)
            assert backward_error(a, solve(a, b), b) < limit
            assert backward_error(a, found, b) < limit
            assert backward_error(a.T, forth, b) < limit
            wanted = np.linalg.slogdet(a.astype(float))
            if make is not close_to_singular:
                assert sign == wanted[0]
                np.testing.assert_allclose(size, wanted[1], atol=1e3 * n * np.finfo(dtype).eps)


@pytest.mark.parametrize("make", SINGULAR)
def test_what_numpy_finds_singular(make):
    """It raises where NumPy does: rounding decides that for most matrices without an inverse."""
    raised = 0
    for n in SIZES:
        for a, b in systems(make, n, "float64"):
            try:
                wanted = np.linalg.solve(a, b)
            except np.linalg.LinAlgError:
                raised += 1
                with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                    solve(a, b)
                continue
            assert solve(a, b).shape == wanted.shape
    assert raised > 0


@pytest.mark.parametrize("factor", [1e-300, 1e300, 5e-324])
def test_tiny_and_huge(factor):
    for n in (3, 5, 8, 16):
        rng = np.random.default_rng(n)
        a = np.round(rng.normal(size=(n, n)), 2) * factor
        b = rng.normal(size=n)
        try:
            wanted = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                solve(a, b)
            continue
        np.testing.assert_allclose(solve(a, b), wanted, rtol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite(value):
    for n in (3, 5, 8, 16, 17):
        rng = np.random.default_rng(n)
        for place in ((0, 0), (n - 1, n - 1), (0, n - 1), (n - 1, 0), (n // 2, 1)):
            a, b = rng.normal(size=(n, n)), rng.normal(size=n)
            a[place] = value
            np.testing.assert_allclose(solve(a, b), np.linalg.solve(a, b), rtol=1e-8, atol=1e-12)
