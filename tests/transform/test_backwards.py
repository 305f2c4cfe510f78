"""Places that are read in both directions: recorded once, whichever comes first."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def mirrored(x):
    y = x.copy()
    for k in range(1, x.shape[0]):
        y[:k] += np.sin(y[k]) * np.flip(y[:k]) * y[:k]
    return np.sum(y)


def turned_first(x):
    y = x.copy()
    for k in range(1, x.shape[0]):
        y[:k] = y[:k][::-1] * y[k] + np.cos(y[:k]) * y[:k][::-1]
    return np.sum(y)


def rows(x):
    y = np.outer(x, x)
    for k in range(1, x.shape[0]):
        y[k, ::-1] += y[k - 1] * y[k - 1, ::-1]
    return np.sum(y)


def whole(x):
    y = np.outer(x, x)
    for _ in range(2):
        y *= y[::-1, ::-1] * y[::-1]
    return np.sum(y)


PROGRAMS = (mirrored, turned_first, rows, whole)


@pytest.mark.parametrize("n", (1, 6, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 2))))
@pytest.mark.parametrize("fn", PROGRAMS, ids=names)
@pytest.mark.sampled(3)
def test_results(fn, n):
    check(fn, (normal(n),))


@pytest.mark.parametrize("fn", (mirrored, turned_first, whole), ids=names)
def test_what_is_read_in_both_directions_is_recorded_once(fn):
    recorded = tp.report(tp.grad(fn), normal(6)).recorded
    assert [r.reason.startswith("read from y") for r in recorded].count(True) == 1, recorded


def test_what_is_added_to_a_place_that_runs_backwards_is_not_read_first():
    gradient = tp.grad(rows)
    assert "y[k, ::-1] += " in (text := tp.source(gradient, normal(6))), text
    assert not tp.report(gradient, normal(6)).recorded
