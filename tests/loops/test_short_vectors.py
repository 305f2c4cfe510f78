"""Rows of four: what stays a loop, for the lanes of a vector, and that results are those of interpreted code."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def products(a, b):
    """Each side as it lies and turned."""
    c = np.zeros((4, 4))
    for k in range(a.shape[0]):
        c += a[k] @ b[k]
        c -= 0.5 * (a[k].T @ b[k])
        c += np.tanh(a[k] @ b[k].T)
        c = c * 0.9 + a[k].T @ b[k].T
    return np.sum(c * c)


def into_a_transpose(a, b):
    c = np.zeros_like(a)
    for k in range(a.shape[0]):
        c[k].T[:] = a[k] @ b[k]
        c[k] += c[k - 1]
    return np.sum(np.sin(c))


def rows_of_products(a, b):
    """Fewer rows than columns, and fewer that are summed up."""
    c = np.zeros((a.shape[0], 2, 4))
    for k in range(a.shape[0]):
        c[k] = a[k, :2, :3] @ b[k, :3]
        c[k, 0] = c[k, 1] * c[k, 0, 2]
    return np.sum(c * c)


def before(a, b):
    """Rows that need the one before, and a column that they all need."""
    c = a.copy()
    for k in range(1, a.shape[0]):
        for i in range(1, 4):
            for j in range(4):
                c[k, i, j] = c[k, i - 1, j] * b[k, i, 0] + c[k - 1, i, j]
    return np.sum(c * c)


def along(a, b):
    """Each element needs the one before in its row."""
    c = a.copy()
    for k in range(a.shape[0]):
        for i in range(4):
            for j in range(1, 4):
                c[k, i, j] += c[k, i, j - 1] * b[k, i, j]
    return np.sum(c)


def first_of_its_row(a, b):
    c = a.copy()
    for k in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                c[k, i, j] = c[k, i, 0] * 1.5 + b[k, i, j]
    return np.sum(c * c)


def turned_in_place(a, b):
    c = a.copy()
    for k in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                c[k, i, j] += 0.5 * c[k, j, i] * b[k, i, j]
    return np.sum(c * c)


def chosen(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        m = a[k] @ b[k]
        for i in range(4):
            total += m[i, i] * np.max(m[i])
    return total


PROGRAMS = (products, into_a_transpose, rows_of_products, before, along, first_of_its_row, turned_in_place, chosen)


@pytest.mark.parametrize("n", (0, 1, 2, 5))
@pytest.mark.parametrize("fn", PROGRAMS, ids=names)
@pytest.mark.sampled(12)
def test_rows_of_four(fn, n):
    check(fn, (0.5 * normal(n, 4, 4), 0.5 * normal(n, 4, 4)))


@pytest.mark.parametrize("fn", PROGRAMS, ids=names)
def test_single_precision(fn):
    args = [(0.5 * normal(3, 4, 4)).astype(np.float32) for _ in range(2)]
    np.testing.assert_allclose(tp.jit(fn)(*args), fn(*args), rtol=2e-5)


def kept(a, b):
    """Matrices that a list keeps, and numbers of them that are read later."""
    found = [a[0] @ b[0]]
    for k in range(1, a.shape[0]):
        found.append(found[-1] @ b[k])
    return found[-1][2, 1] * found[0][1, 3] + np.sum(found[1])


def test_matrices_that_are_kept():
    check(kept, (0.5 * normal(4, 4, 4), 0.5 * normal(4, 4, 4)))


def test_a_product_is_a_loop_over_columns():
    def fn(a, b, c):
        for k in range(a.shape[0]):
            c[k] = a[k] @ b[k]

    a, b, c = normal(3, 4, 4), normal(3, 4, 4), np.zeros((3, 4, 4))
    compiled = tp.jit(fn)
    compiled(a, b, c)
    np.testing.assert_allclose(c, a @ b)
    text = tp.source(compiled, a, b, c, stage="loops")
    assert "blas" not in text and "for j in range(4)" in text and text.count("c[k, ") == 4, text


def handed_on(a, b):
    """Rows that each trip makes anew, of which nobody knows that they are not the ones before."""
    for k in range(b.shape[0]):
        a = a * (1.0 + 0.01 * np.mean(np.cos(a @ b[k])))
    return np.sum(np.sin(a))


def columns(a, b):
    """Of matrices of which nobody knows how far apart their rows are."""
    for _ in range(2):
        a = a * (1.0 + 0.01 * np.mean(np.cos(np.tensordot(a, b, axes=((1, 2), (2, 1))))))
    return np.sum(np.sin(a))


@pytest.mark.parametrize("fn", (products, handed_on, columns), ids=names)
@pytest.mark.sampled(3)
def test_the_compiler_says_nothing(fn, capfd):
    """LLVM warns on the process's own error stream where it is told to make vectors of a loop and cannot."""
    tp.jit(tp.grad(fn, argnums=(0, 1)), cache=False)(normal(3, 4, 4), normal(3, 4, 4))
    assert capfd.readouterr().err == ""
