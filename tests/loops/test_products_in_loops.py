"""Products of matrices in loops, of which a trip changes one side or none: results, and errors that come as they came."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]

# ------------------------------------------------------------------------------------------- one side is the same


def left(w, x, d):
    c = np.ones((w.shape[0], x.shape[2]))
    for j in range(x.shape[0]):
        c += w @ (d[j] * x[j])
    return np.sum(c * c)


def right(w, x, d):
    c = np.ones((x.shape[2], w.shape[1]))
    for j in range(x.shape[0]):
        c += x[j].T @ w
    return np.sum(c * c) * d[0] if len(d) else np.sum(c)


def turned(w, x, d):
    c = np.zeros((w.shape[1], x.shape[1]))
    for j in range(x.shape[0]):
        c += (w.T @ x[j].T) * d[j]
    return np.sum(np.sin(c))


def vectors(w, x, d):
    c = np.zeros(w.shape[0])
    for j in range(x.shape[0]):
        c += w @ (np.tanh(x[j, :, 0]) + d[j])
    return np.sum(c * c)


def whole(w, x, d):
    total = 0.0
    v = x[0] if len(x) else np.zeros(x.shape[1:])
    for j in range(x.shape[0]):
        t = w @ v
        total += d[j] * np.sum(t * t)
    return total


def nested(w, x, d):
    c = np.zeros((3, w.shape[0], x.shape[2]))
    for k in range(3):
        for i in range(2):
            side = w * (1.0 + i + k)
            for j in range(x.shape[0]):
                c[k] += side @ (x[j] * d[j])
    return np.sum(c * c)


def two(w, x, d):
    """Two products into one array."""
    c = np.zeros((w.shape[0], x.shape[2]))
    for j in range(x.shape[0]):
        c += w @ x[j]
    for j in range(x.shape[0]):
        c -= w @ (x[j] * d[j])
    return np.sum(c * c)


SIDES = lambda n: (normal(5, 6), normal(n, 6, 7), normal(n))  # noqa: E731
RIGHT = lambda n: (normal(6, 5), normal(n, 6, 7), normal(n))  # noqa: E731
TURNED = lambda n: (normal(7, 5), normal(n, 6, 7), normal(n))  # noqa: E731
SAME_SIDE = (
    (left, SIDES),
    (right, RIGHT),
    (turned, TURNED),
    (vectors, SIDES),
    (whole, SIDES),
    (nested, SIDES),
    (two, SIDES),
)
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


@pytest.mark.parametrize("n", (0, 1, pytest.param(2, marks=pytest.mark.slow), 9))
@pytest.mark.parametrize(("fn", "make"), SAME_SIDE, ids=names)
@pytest.mark.sampled(8)
def test_one_side_is_the_same(fn, make, n):
    check(fn, make(n))


def tiny(x, w, d, at):
    """Matrices of known sizes: neighbours that are looked up, two loops that differ in one side."""
    c = np.zeros_like(w)
    for k in range(w.shape[0]):
        for a in range(at.shape[0]):
            side = w[at[a]] @ x[0]
            for j in range(x.shape[0]):
                c[k] += side @ (x[j] * d[j, a])
    return np.sum(c * np.cos(c))


@pytest.mark.parametrize("size", (2, 3, 4))
def test_tiny_matrices(size):
    args = (normal(3, size, size), normal(5, size, size), normal(3, 4), np.array([0, 4, 2, -1]))
    check(tiny, args, (0, 1, 2))


# ------------------------------------------------------------------------------------- what depends on the order


def read_between(w, x):
    c = np.zeros((w.shape[0], x.shape[2]))
    total = 0.0
    for j in range(x.shape[0]):
        c += w @ x[j]
        total += c[0, 0] * c[1, 1]
    return total


def side_changes(w, x):
    c = np.zeros((w.shape[0], x.shape[2]))
    w = w.copy()
    for j in range(x.shape[0]):
        c += w @ x[j]
        w[0] *= 1.5
    return np.sum(c * c)


def into_itself(w, x):
    c = np.eye(w.shape[0], x.shape[2])
    for j in range(x.shape[0]):
        c += 0.1 * (w[:, : c.shape[0]] @ c)
        c += w @ x[j]
    return np.sum(c * c)


def own_rows(w, x):
    """What is added to is a part of what is multiplied."""
    c = np.ones((2, w.shape[0], w.shape[0]))
    for j in range(x.shape[0]):
        c[0] += 0.1 * (c[1] @ c[0]) * x[j, 0, 0]
        c[1] += 0.1 * (c[0] @ c[1])
    return np.sum(c)


def other_place(w, x):
    c = np.zeros((x.shape[0], w.shape[0], x.shape[2]))
    for j in range(x.shape[0]):
        c[j] += w @ x[j]
        c[j - 1] += w @ x[j]
    return np.sum(c * c)


def left_early(w, x):
    c = np.zeros((w.shape[0], x.shape[2]))
    for j in range(x.shape[0]):
        c += w @ x[j]
        if x[j, 0, 0] > 0.5:
            break
    return np.sum(c * c)


def overwritten(w, x):
    """What is the same is written over after it was read."""
    t = np.zeros((w.shape[0], x.shape[2]))
    total = 0.0
    for j in range(x.shape[0]):
        total += np.sum(t)
        t[:] = w @ x[0]
        t[0] *= 2.0
    return total


def read_before(w, x):
    """The first trip reads what was there before."""
    t = np.ones((w.shape[0], x.shape[2]))
    total = 0.0
    for j in range(x.shape[0]):
        total += np.sum(t * x[j, 0, 0])
        t[:] = w @ x[0]
    return total + np.sum(t)


def collected(w, x):
    """A list of arrays, which are kept."""
    found = []
    for _ in range(x.shape[0]):
        found.append(w @ x[0])
    last = found[-1].copy()
    last[0] = 3.0
    return np.sum(last) + np.sum(found[0] * found[0])


STAYING = (read_between, side_changes, into_itself, own_rows, other_place, left_early, overwritten, read_before)


@pytest.mark.parametrize("n", (1, 2, 6))
@pytest.mark.parametrize("fn", (*STAYING, collected), ids=names)
@pytest.mark.sampled(8)
def test_the_order_counts(fn, n):
    check(fn, (0.5 * normal(5, 6), 0.5 * normal(n, 6, 5 if fn is into_itself else 7)))


def test_no_trip_multiplies_nothing():
    w = np.full((5, 6), np.inf)
    w[0, 0] = np.nan
    for fn in (left, right, turned, vectors, whole, two):
        make = dict(SAME_SIDE)[fn](0)
        args = (np.full(make[0].shape, np.nan), *make[1:])
        np.testing.assert_array_equal(tp.jit(fn)(*args), fn(*args))


def checked(w, x, at):
    c = np.zeros((w.shape[0], x.shape[2]))
    for j in range(len(at)):
        c += w @ x[at[j]]
    return np.sum(c * c)


def written(c, w, x, at):
    """Into an array of the caller, who sees how far it came."""
    for j in range(len(at)):
        c += w @ x[0]
        c[0, 0] += x[at[j], 0, 0]


def test_errors_come_as_they_came():
    w, x = normal(5, 6), normal(4, 6, 7)
    check(checked, (w, x, np.array([0, 3, 1, -1])), (0, 1))
    with pytest.raises(IndexError, match="4 is out of range"):
        tp.jit(checked)(w, x, np.array([0, 4, 1]))
    c, d = np.zeros((5, 7)), np.zeros((5, 7))
    with pytest.raises(IndexError):
        tp.jit(written)(c, w, x, np.array([0, 1, 4]))
    with pytest.raises(IndexError):
        written(d, w, x, np.array([0, 1, 4]))
    np.testing.assert_allclose(c, d)
