"""Nests that add up several products: each becomes a product of matrices, and results stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def scaled(alpha, a, b):
    """The product of the textbook, with a factor."""
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]
    return np.sum(np.sin(c))


def lower_triangle(alpha, a, b):
    c = np.zeros((a.shape[0], a.shape[0]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]
    return np.sum(c * c) + np.sum(b)


def chained(alpha, a, b):
    """The adjoint of the first product is the result of another."""
    first = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                first[i, j] += a[i, k] * b[k, j]
    second = np.zeros((a.shape[0], a.shape[1]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(b.shape[1]):
                second[i, j] -= alpha * first[i, k] * b[j, k]
    return np.sum(second * second)


def of_itself(alpha, a, b):
    """Both sides are the same matrix: two sums go to one adjoint."""
    c = np.zeros((a.shape[1], a.shape[1]))
    for i in range(a.shape[1]):
        for j in range(a.shape[1]):
            for k in range(a.shape[0]):
                c[i, j] += a[k, i] * a[k, j]
    return alpha * np.sum(c * c) + np.sum(b)


def energy(alpha, a, b):
    """A sum that nothing but numbers comes out of."""
    total = alpha
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                total += alpha * a[i, k] * b[k, j] * (1.0 + i)
    return total * total


def written_after(alpha, a, b):
    """A trip changes the row of the adjoint that its own product has read."""
    c = np.ones((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] *= 1.5
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]
    return np.sum(c * c)


SEVERAL = {scaled: 3, lower_triangle: 4, chained: 6, of_itself: 3, written_after: 3}
"""Functions, and the products of their values and gradients: their own and those of their adjoints, of which some are one (of a
triangle only where the factor is finite)."""


def gradient_loops(fn, args, wrt=(0, 1, 2)) -> str:
    return tp.source(tp.jit(tp.value_and_grad(fn, argnums=wrt)), *args, stage="loops")


def products(text: str) -> int:
    return text.count("blas.gemm(") + text.count("blas.part(")


@pytest.mark.parametrize("fn", (*SEVERAL, energy), ids=names)
@pytest.mark.parametrize("shape", ((9, 7, 11), (1, 1, 1), (0, 4, 3), (4, 0, 3), (4, 3, 0), (40, 30, 20)), ids=str)
@pytest.mark.sampled(5)
def test_values_and_derivatives(fn, shape):
    n, m, d = shape
    check(fn, (1.3, normal(n, m), normal(m, d)))


@pytest.mark.parametrize("fn", SEVERAL, ids=names)
def test_each_is_a_product(fn):
    text = gradient_loops(fn, (1.3, normal(30, 20), normal(20, 25)))
    assert products(text) == SEVERAL[fn], text


def test_the_derivative_by_the_factor_reads_the_product():
    """The product is computed once, for the adjoint of the factor and that of a side."""
    args = 1.3, normal(30, 20), normal(20, 25)
    assert products(gradient_loops(scaled, args)) == products(gradient_loops(scaled, args, (1, 2))) == 3


@pytest.mark.parametrize("fn", SEVERAL, ids=names)
def test_single_precision(fn):
    args = np.float32(1.3), normal(9, 7).astype(np.float32), normal(7, 8).astype(np.float32)
    gradient = tp.value_and_grad(fn, argnums=(1, 2))
    (value, found), (wanted_value, wanted) = tp.jit(gradient)(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-4)
    for x, y in zip(found, wanted):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-3)


# ------------------------------------------------------------------------------------------------------------ what stays


def read_again(a, b):
    """What one sum adds to, the other one reads."""
    c, d = np.zeros((len(a), len(a))), np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(len(a)):
            for k in range(len(a)):
                c[i, j] += a[i, k] * b[k, j]
                d[i, j] += c[i, k] * b[k, j]
    return np.sum(c * d)


def carried_and_read(a, b):
    """The sum so far is a factor."""
    c, total = np.zeros((len(a), len(a))), 0.0
    for i in range(len(a)):
        for j in range(len(a)):
            for k in range(len(a)):
                total += a[i, k] * b[k, j]
                c[i, j] += total * b[k, j]
    return np.sum(c) + total


@pytest.mark.parametrize("fn", (read_again, carried_and_read), ids=names)
def test_what_depends_on_another_sum_stays(fn):
    args = 0.1 * normal(30, 30), 0.1 * normal(30, 30)
    assert "blas." not in check(fn, args)


def two_sums(a, b):
    """Sums of one nest in the function itself."""
    c, d = np.zeros((len(a), len(a))), np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(len(a)):
            for k in range(len(a)):
                c[i, j] += a[i, k] * b[k, j]
                d[j, i] -= b[i, k] * a[j, k]
    return np.sum(c * d)


def test_sums_of_the_function_itself():
    assert check(two_sums, (normal(30, 30), normal(30, 30))).count("blas.gemm(") == 2


def test_vectors_stay():
    """Two loops are no product of matrices: reading the matrix once for both sums is best."""

    def both(a, x):
        y, z = np.zeros(len(a)), np.zeros(len(a))
        for i in range(len(a)):
            for j in range(len(a)):
                y[i] += a[i, j] * x[j]
                z[j] += a[i, j] * x[i]
        return np.sum(y * z)

    assert "blas." not in check(both, (normal(30, 30), normal(30)))
