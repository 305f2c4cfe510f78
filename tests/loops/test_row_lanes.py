"""Recurrences along one axis of rows that do not depend on each other: each thread has rows of its own, through all steps."""

import numpy as np
import pytest
from thread_calls import flat, same

import transpile as tp
from transpile import api
from transpile.driver import compiling
from transpile.loops.schedule import row_lanes

pytestmark = pytest.mark.numba

RNG = np.random.default_rng(14)


def filtered(x, a, b):
    """There and back along the last axis; the coefficients are everybody's."""
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = a * x[:, j] + b * y[:, j - 1] ** 2
    for j in range(x.shape[1] - 2, -1, -1):
        y[:, j] = y[:, j] + 0.5 * np.sin(y[:, j + 1])
    return np.sum(y * y)


def solved(lower, diagonal, upper, right):
    """Systems with three diagonals, as many as there are columns."""
    n = right.shape[0]
    c, x = np.zeros_like(right), np.zeros_like(right)
    c[0] = upper[0] / diagonal[0]
    x[0] = right[0] / diagonal[0]
    for i in range(1, n):
        for k in range(right.shape[1]):
            pivot = diagonal[i, k] - lower[i, k] * c[i - 1, k]
            c[i, k] = upper[i, k] / pivot
            x[i, k] = (right[i, k] - lower[i, k] * x[i - 1, k]) / pivot
    for i in range(n - 2, -1, -1):
        for k in range(right.shape[1]):
            x[i, k] -= c[i, k] * x[i + 1, k]
    return np.sum(x**3)


def ranges(x, n):
    """Inner loops of several ranges, one in a branch; a sum on the way."""
    y = x.copy()
    total, most = 0.0, x.shape[0] - 3
    for t in range(n):
        for i in range(2, x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = 0.9 * y[i, j] + 0.1 * x[i, j]
        if t % 2 == 0:
            for i in range(most):
                for j in range(x.shape[1]):
                    y[i, j] = 0.7 * y[i, j] - x[i, j]
                    total += y[i, j] * x[i, j]
    return total + np.sum(y)


def recorded(x, n):
    """What a branch overwrites is recorded."""
    y = x.copy()
    for t in range(n):
        if t % 2 == 0:
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    y[i, j] = y[i, j] ** 2
    return np.sum(y)


def leaning(x, n):
    """Rows that see each other: no lanes."""
    y = x.copy()
    for _ in range(n):
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = 0.5 * (y[i, j] + y[i - 1, j])
    return np.sum(y * y)


def looked_up(x, ks, scale):
    """What is read before the inner loop may not be there."""
    y = x.copy()
    for k in range(len(ks)):
        factor = scale[ks[k]]
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = factor * np.cos(y[i, j])
    return np.sum(y)


def summed(x, n):
    """The sum of all rows in one step is what the next one reads."""
    y = x.copy()
    for _ in range(n):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                total += y[i, j]
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = 0.5 * y[i, j] + 0.01 * total
    return np.sum(y * y)


CASES = [
    (filtered, (RNG.normal(size=(13, 6)), 0.3, 0.2), (0, 1, 2)),
    (filtered, (RNG.normal(size=(1, 6)), 0.3, 0.2), (0, 1, 2)),
    (filtered, (RNG.normal(size=(5, 2)), 0.3, 0.2), (0, 1, 2)),
    (solved, tuple(RNG.uniform(size=(5, 17)) + 4.0 * (k == 1) for k in range(4)), (0, 1, 2, 3)),
    (solved, tuple(RNG.uniform(size=(2, 1)) + 4.0 * (k == 1) for k in range(4)), (0, 1, 2, 3)),
    (solved, tuple(np.zeros((3, 0)) for _ in range(4)), (0, 1, 2, 3)),
    (ranges, (RNG.uniform(size=(11, 3)), 5), (0,)),
    (ranges, (RNG.uniform(size=(4, 3)), 3), (0,)),
    (ranges, (RNG.uniform(size=(2, 3)), 1), (0,)),
    (recorded, (RNG.uniform(size=(11, 3)), 5), (0,)),
    (leaning, (RNG.normal(size=(11, 3)), 4), (0,)),
    (looked_up, (RNG.normal(size=(11, 3)), np.array([0, 2, 1]), RNG.normal(size=3)), (0, 2)),
    (summed, (RNG.normal(size=(11, 3)), 4), (0,)),
]


@pytest.fixture(params=[2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(compiling, "threads_of", lambda level: request.param if level.parallel else 0)
    monkeypatch.setattr(row_lanes, "_MANY", 1)
    return request.param


def compiled(f, wrt):
    api._kept.cache_clear()
    return tp.jit(tp.value_and_grad(f, argnums=wrt), cache=False, parallel=True)


@pytest.mark.parametrize(("f", "args", "wrt"), CASES, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.sampled(14)
def test_as_interpreted_and_the_same_each_time(f, args, wrt, threads, always, forks):
    call = compiled(f, wrt)
    found = call(*args)
    same(found, tp.value_and_grad(f, argnums=wrt)(*args))
    for x, y in zip(flat(found), flat(call(*args)), strict=True):
        assert np.array_equal(x, y)


@pytest.fixture
def cut(monkeypatch):
    """The lines of the loops that are cut in lanes."""
    found = []
    original = row_lanes.in_lanes

    def in_lanes(loop, *rest):
        made = original(loop, *rest)
        if made is not None:
            found.append(loop.loc.line)
        return made

    monkeypatch.setattr("transpile.loops.schedule.parallel.in_lanes", in_lanes)
    return found


@pytest.mark.parametrize(
    ("f", "least"),
    [(filtered, 3), (solved, 4), (ranges, 2), (looked_up, 1), (leaning, 0), (summed, 0)],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
@pytest.mark.sampled(3)
def test_which_loops(f, least, always, cut, monkeypatch):
    """Most have one there and one back; none where rows, or their sums, meet, or what is recorded has an order."""
    monkeypatch.setattr(row_lanes, "_MANY", 1)
    args, wrt = next((a, w) for g, a, w in CASES if g is f)
    compiled(f, wrt)(*args)
    assert len(cut) >= least if least else not cut


def test_errors_before_the_inner_loop(threads, always, forks):
    """All threads fail in the same step."""
    args = RNG.normal(size=(11, 3)), np.array([0, 2, 5, 1, 7]), RNG.normal(size=3)
    call = compiled(looked_up, (0, 2))
    for _ in range(3):
        with pytest.raises(IndexError, match="index 5 is out of range for size 3"):
            call(*args)


def test_few_neighbours_are_not_cut(always, forks):
    """Of columns there are many in each chunk; rows may be few."""
    args, wrt = CASES[3][1:]
    compiled(solved, wrt)(*args)
    wide = tuple(np.full((3, 2 * row_lanes._MANY), 1.0 + 4.0 * (k == 1)) for k in range(4))
    before = len(forks)
    same(compiled(solved, wrt)(*wide), tp.value_and_grad(solved, argnums=wrt)(*wide))
    assert len(forks) > before
