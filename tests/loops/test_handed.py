"""Loops that look elements up, with checks, and loops that take a few steps with those: one loop, without memory in between."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def sparse(values, x, starts, columns):
    y = np.empty(starts.size - 1)
    for i in range(y.size):
        begin, end = starts[i], starts[i + 1]
        y[i] = values[begin:end] @ x[columns[begin:end]]
    return np.sum(y * y)


def transposed(values, x, starts, columns):
    y = np.zeros(x.size)
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        np.add.at(y, columns[begin:end], values[begin:end] * x[i % x.size])
    return np.sum(np.sin(y))


def from_there_to_there(values, x, starts, columns):
    y = x.copy()
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        t = y[columns[begin:end]] * 0.5 + values[begin:end]
        np.add.at(y, columns[begin:end], t)
    return np.sum(y * y)


def overwritten(values, x, starts, columns):
    """What is looked up is written over by what is computed from it."""
    y = x.copy()
    for i in range(starts.size - 1):
        begin, end = starts[i], starts[i + 1]
        y[columns[begin:end]] = y[columns[begin:end]] * 0.9 + 0.1 * values[begin:end]
    return np.sum(y * y)


def shifted(values, x, starts, columns):
    """A step needs what a later one looks up."""
    total = 0.0
    for i in range(starts.size - 1):
        t = x[columns[starts[i] : starts[i + 1]]]
        total += np.sum(t[1:] * t[:-1]) + np.sum(t[::-1] * t)
    return total


def lengths(counts, width: int) -> tuple:
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    columns = rng.integers(-width, width, size=starts[-1]) if width else np.zeros(0, np.int64)
    return normal(starts[-1]), normal(width), starts, columns


rng = np.random.default_rng(1)
CASES = (((3, 0, 5, 1, 2), 6), ((0, 0), 3), ((1,), 2), ((), 4), ((40, 33), 7))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("fn", (sparse, transposed, from_there_to_there, overwritten, shifted), ids=names)
@pytest.mark.sampled(8)
def test_results(fn, case):
    args = lengths(*case)
    if fn is overwritten:  # no column twice: which one stays is not what is asked here
        columns = [rng.permutation(max(case[1], n))[:n] for n in case[0]]
        width = max([case[1], *case[0]])
        args = (args[0], normal(width), args[2], np.concatenate([np.zeros(0, np.int64), *columns]).astype(np.int64))
    check(fn, args, (0, 1))


def test_no_memory_in_between():
    for fn in (sparse, tp.grad(sparse, argnums=(0, 1))):
        text = tp.source(tp.jit(fn), *lengths((3, 0, 5), 6), stage="loops")
        lines = [line for line in text.splitlines() if "np.empty(" in line]
        assert all(not line.startswith(" " * 8) for line in lines), text


def written(y, values, x, columns):
    """Into an array of the caller, who sees how far it came."""
    t = x[columns]
    y += t * values


def test_errors_come_before_what_is_written():
    values, x = normal(5), normal(4)
    for bad in (0, 2, 4):
        columns = np.array([1, 2, 3, 0, 1])
        columns[bad] = 9
        y, z = np.zeros(5), np.zeros(5)
        with pytest.raises(IndexError, match="9 is out of"):
            tp.jit(written)(y, values, x, columns)
        with pytest.raises(IndexError):
            written(z, values, x, columns)
        np.testing.assert_array_equal(y, z)
    with pytest.raises(IndexError, match="9 is out of"):
        tp.jit(sparse)(values, x, np.array([0, 2, 5]), columns)
