"""Products of which a loop changes one side or none: what is multiplied once, what must stay, and that results are the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from differences import Subject

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def check(fn: Callable, args: tuple, wrt: tuple[int, ...] | None = None) -> str:
    """The loops of the compiled function, after it and its gradient were compared with interpreted ones and with differences."""
    wrt = tuple(range(len(args))) if wrt is None else wrt
    gradient = tp.value_and_grad(fn, argnums=wrt)
    before = [np.copy(a) for a in args]
    compiled, plain = tp.jit(gradient), tp.jit(fn)
    np.testing.assert_allclose(plain(*args), fn(*args), rtol=1e-11)
    (value, found), (wanted_value, wanted) = compiled(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-11)
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
    for x, y in zip(args, before):
        np.testing.assert_array_equal(x, y)
    floats = tuple(args[k] for k in wrt)
    if all(np.size(x) for x in floats):

        def of_floats(*values):
            given = list(args)
            for k, v in zip(wrt, values):
                given[k] = v
            return fn(*given)

        subject = Subject(of_floats, lambda: floats)
        slope = sum(np.sum(x * t) for x, t in zip(found, subject.tangents))
        np.testing.assert_allclose(slope, float(subject.difference.leaves[0]), rtol=1e-6, atol=1e-7)
    return tp.source(plain, *args, stage="loops")


def inside(text: str, word: str) -> int:
    """How often a word stands in a loop."""
    around: list[str] = []
    count = 0
    for line in text.splitlines():
        around = [a for a in around if line.strip() and len(a) - len(a.lstrip()) < len(line) - len(line.lstrip())]
        count += word in line and any(a.lstrip().startswith(("for ", "while ")) for a in around)
        around.append(line)
    return count


# ------------------------------------------------------------------------------------------------ what leaves a loop


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
LEAVING = (
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
@pytest.mark.parametrize(("fn", "make"), LEAVING, ids=names)
@pytest.mark.sampled(2)
def test_products_leave_a_loop(fn, make, n):
    text = check(fn, make(n))
    if n > 2 and fn is not nested:
        assert "blas.gem" in text and not inside(text, "blas.gem"), text


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


# ------------------------------------------------------------------------------------------------------ what stays


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
@pytest.mark.sampled(2)
def test_what_must_stay(fn, n):
    check(fn, (0.5 * normal(5, 6), 0.5 * normal(n, 6, 5 if fn is into_itself else 7)))


def test_no_trip_multiplies_nothing():
    w = np.full((5, 6), np.inf)
    w[0, 0] = np.nan
    for fn in (left, right, turned, vectors, whole, two):
        make = dict(LEAVING)[fn](0)
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
