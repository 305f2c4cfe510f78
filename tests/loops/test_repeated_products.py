"""Products that are in memory already: not computed again, also where they are added to something."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def symmetric(a, b, c, s):
    """Of which the lower triangle is read: its product by a matrix comes into two adjoints."""
    c = c.copy()
    for i in range(c.shape[0]):
        c[:i] += s * np.outer(a[i, :i], b[i])
        c[i] += s * (b[i] * a[i, i] + a[i, :i] @ b[:i])
    return np.sum(np.sin(c))


def rows(a, b, c, s):
    """The same sums, plain and with a factor."""
    t = np.zeros_like(c)
    d = c.copy()
    for i in range(c.shape[0]):
        t[i] = a[i] @ b
    for i in range(c.shape[0]):
        d[i] += s * (a[i] @ b)
    return np.sum(np.tanh(t) * d)


def changed_between(a, b, c, s):
    a = a.copy()
    t = np.zeros_like(c)
    d = c.copy()
    for i in range(c.shape[0]):
        t[i] = a[i] @ b
    a[0] *= 1.5
    for i in range(c.shape[0]):
        d[i] += s * (a[i] @ b)
    return np.sum(np.tanh(t) * d)


def held_changed(a, b, c, s):
    """What holds the first is another thing when the second comes."""
    t = np.zeros_like(c)
    d = c.copy()
    for i in range(c.shape[0]):
        t[i] = a[i] @ b
    t[-1] = 7.0
    for i in range(c.shape[0]):
        d[i] += s * (a[i] @ b)
    return np.sum(t * d)


def lower_rows(a, b, c, s):
    t = np.zeros_like(c)
    d = c.copy()
    for i in range(c.shape[0]):
        t[i] = a[i, :i] @ b[:i]
    for i in range(c.shape[0]):
        d[i] += s * (a[i, :i] @ b[:i])
    return np.sum(np.tanh(t) * d)


PROGRAMS = (symmetric, rows, changed_between, held_changed, lower_rows)


def made(n: int, width: int) -> tuple:
    return normal(n, n), normal(n, width), normal(n, width), 1.5


@pytest.mark.parametrize("n", (1, 2, 9, 70))
@pytest.mark.parametrize("fn", PROGRAMS, ids=names)
@pytest.mark.sampled(8)
def test_results(fn, n):
    check(fn, made(n, 7))


@pytest.mark.parametrize("fn", PROGRAMS, ids=names)
def test_no_rows(fn):
    if fn is not held_changed and fn is not changed_between:
        check(fn, made(0, 7))


@pytest.mark.parametrize(("fn", "count"), ((rows, 1), (changed_between, 2), (held_changed, 2)), ids=names)
def test_how_often_it_is_multiplied(fn, count):
    text = tp.source(tp.jit(fn), *made(9, 7), stage="loops")
    assert text.count("blas.gemm") == count, text


def test_the_symmetric_product_in_the_gradient():
    text = tp.source(tp.jit(tp.grad(symmetric, argnums=(0, 1, 2, 3))), *made(9, 7), stage="loops")
    assert "* 0.0 == 0.0" in text, text


@pytest.mark.parametrize("s", (np.inf, np.nan, -np.inf, 0.0))
def test_factors_that_are_no_numbers(s):
    args = (*made(9, 7)[:3], s)
    with np.errstate(all="ignore"):
        for fn in (lower_rows, symmetric):
            np.testing.assert_allclose(tp.jit(fn)(*args), fn(*args))
        gradient = tp.grad(symmetric, argnums=(0, 1, 2, 3))
        for x, y in zip(tp.jit(gradient)(*args), gradient(*args)):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
