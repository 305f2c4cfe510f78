"""Primitives with several results, and functions with integer results, on what a loop carries and differentiates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl
from corpus import recursion

import transpile as tp

MATRIX = np.random.default_rng(0).normal(size=(3, 3))
MATRIX = MATRIX + MATRIX.T + 4 * np.eye(3)
VECTOR = np.array([0.7, 1.3, 2.6])
STEP = 1e-6


def eigh(h):
    for _ in range(3):
        e, C = np.linalg.eigh(h)
        h = h + 0.1 * np.outer(C[:, 0], C[:, 0]) * e[1]
    return np.sum(h * h)


def svd(h):
    for _ in range(3):
        u, s, v = np.linalg.svd(h)
        h = h + 0.1 * u @ np.diag(s) @ v @ h / 10
    return np.sum(h * h)


def qr(h):
    E = 0.0
    for _ in range(4):
        q, r = np.linalg.qr(h + 0.1 * E)
        E = np.sum(r * r) * 0.01
        if abs(E) < 1e-12:
            break
    return E


def slogdet(h):
    t = 0.0
    for _ in range(3):
        sg, l = np.linalg.slogdet(h + t * np.eye(3))
        t = t + 0.1 * l * sg
    return t


def divmods(v):
    t = v
    for _ in range(3):
        a, b = np.divmod(t * 3.3, 1.7)
        t = b + 0.1 * a * t
    return np.sum(t)


def modf(v):
    t = v
    for _ in range(3):
        a, b = np.modf(t * 1.3)
        t = a * a + 0.1 * b * t
    return np.sum(t)


def frexp(v):
    t = v
    for _ in range(3):
        a, b = np.frexp(t * 1.3)
        t = a * a + 0.1 * b * t
    return np.sum(t)


def unique(v):
    t = v
    for _ in range(3):
        a, i, c = np.unique(np.floor(t * 2), return_inverse=True, return_counts=True)
        t = t * t * 0.1 + 0.2 * np.sum(c * c) * t + np.sum(i)
    return np.sum(t)


def lu(h):
    for _ in range(3):
        p, l, u = sl.lu(h)
        h = h + 0.1 * l @ u
    return np.sum(h * h)


def histogram(v):
    t = v
    for _ in range(3):
        c, e = np.histogram(t, bins=3, range=(0.0, 4.0))
        t = t * 0.5 + 0.1 * c * t
    return np.sum(t)


def bincount(v):
    t = v
    for _ in range(3):
        t = t * np.bincount(np.array([0, 1, 1]), minlength=3) + 0.1 * t
    return np.sum(t * t)


def sorting(v):
    t = v
    for _ in range(3):
        o = np.argsort(-t)
        k = np.argmax(t)
        t = (
            t[o] * 0.3
            + 0.1 * t[k] * np.searchsorted(np.sort(t), 1.0)
            + 0.01 * np.count_nonzero(t > 1)
            + np.digitize(t, np.array([0.5, 1.5])) * t * 0.1
        )
    return np.sum(t * t)


def nonzero(v):
    t = v
    for _ in range(3):
        (i,) = np.nonzero(t > 0.8)
        t = t * 0.9
        t[i] = t[i] ** 2 * 0.5
    return np.sum(t * t)


def eigvalsh(h):
    for _ in range(2):
        w = np.linalg.eigvalsh(h)
        h = h + 0.1 * np.diag(w)
    return np.sum(h * h)


def where(v):
    t = v
    for _ in range(3):
        i = np.where(t > 0.8)[0]
        t = t + 0.1 * np.sum(t[i]) * len(i) + 0.2 * np.flatnonzero(t > 1.0).size
    return np.sum(t * t)


def values(v):
    t = v
    for _ in range(3):
        u = np.unique(np.floor(t))
        t = t * 0.7 + 0.1 * np.sum(u) * t + u.size * t * 0.01
    return np.sum(t * t)


def repeat(v):
    t = v
    for _ in range(2):
        c = np.floor(t).astype(int)
        r = np.repeat(t, c)
        t = t * 0.5 + 0.1 * np.sum(r * r)
    return np.sum(t * t)


def lstsq(v):
    t = v
    m = np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 0.1]])
    for _ in range(3):
        s = np.linalg.lstsq(m * (1 + 0.1 * t[:, None]), t, rcond=None)[0]
        t = t * 0.5 + 0.1 * np.sum(s) * t
    return np.sum(t * t)


def counted(x, places):
    """The size of ``bincount`` decides nothing but what is behind the loop, where the mirror begins."""
    s = 0.0
    for i in range(3):
        s += x[i] * x[i]
    return s * np.sum(np.bincount(places))


MATRICES = [eigh, svd, qr, slogdet, lu, eigvalsh]
VECTORS = [divmods, modf, frexp, unique, histogram, bincount, sorting, nonzero, where, values, repeat, lstsq]
CASES = [(f, MATRIX) for f in MATRICES] + [(f, VECTOR) for f in VECTORS]
QUICK = ("eigh", "bincount")


def each(quick=QUICK):
    marks = [() if f.__name__ in quick else (pytest.mark.slow,) for f, _ in CASES]
    params = [pytest.param(f, x, marks=m, id=f.__name__) for (f, x), m in zip(CASES, marks)]
    return pytest.mark.parametrize("f, x", params)


def direction(x):
    return np.random.default_rng(1).normal(size=x.shape)


def along(f, x):
    """``f`` on a line, and by how much it rises there."""
    v = direction(x)
    return (f(x + STEP * v) - f(x - STEP * v)) / (2 * STEP)


def near(a, b, tol=1e-5):
    return abs(a - b) <= tol * (1.0 + abs(b))


@each()
def test_first_order(f, x):
    v = direction(x)
    assert near(np.sum(tp.grad(f)(x) * v), along(f, x))
    assert near(tp.jvp(f, (x,), (v,))[1], along(f, x))


@each(())
@pytest.mark.numba
def test_compiled(f, x):
    assert near(np.sum(tp.jit(tp.grad(f))(x) * direction(x)), along(f, x))


@each(("svd", "bincount"))
def test_second_order(f, x):
    v = direction(x)
    g = tp.grad(f)

    def slope(x):
        return np.sum(g(x) * v)

    assert near(np.sum(tp.grad(slope)(x) * v), along(slope, x), 1e-4)


@pytest.mark.parametrize("wrap", [lambda g: g, pytest.param(tp.jit, marks=[pytest.mark.numba, pytest.mark.slow])])
def test_a_size_that_only_the_run_knows_behind_the_loop(wrap):
    x, places = np.array([0.5, 1.0, 2.0]), np.array([0, 1, 1])
    assert np.array_equal(wrap(tp.grad(counted))(x, places), 6.0 * x)


@pytest.mark.numba
def test_what_a_recursion_is_given_is_made_once(cache_directory):
    """The array leaves the loop: what comes back is memory of its own."""
    text = tp.source(tp.jit(recursion.array_that_comes_back), np.ones(3), 2, stage="loops")
    lines = text.splitlines()
    made = next(k for k, line in enumerate(lines) if line.strip().startswith("t = np.empty("))
    call = next(k for k, line in enumerate(lines) if "= down(t, n" in line)
    indent = [len(lines[k]) - len(lines[k].lstrip()) for k in (made, call)]
    assert indent[0] < indent[1], text
