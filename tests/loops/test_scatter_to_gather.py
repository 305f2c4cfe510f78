"""Adjoints of stencils, gathered: where the pass acts, where it must not, and that nothing else lands anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loop_compare import Subject
from loop_text import Loops, text_of
from verified import check

import transpile as tp
from transpile.loops.check_hoisting import hoist_checks
from transpile.loops.scatter_to_gather import scatter_to_gather
from transpile.loops.store_forwarding import forward_stores
from transpile.loops.unroll import unroll_loops
from transpile.simplify.dead_code import remove_dead_lowered


def gathered(f: Callable[..., Any], *args: Any, wrt: tuple[int, ...] = (0,)) -> str | None:
    """The text of the gradient after the pass; None if it changes nothing."""
    fn = check(Loops(tp.grad(f, argnums=wrt), args).lowered)
    for p in (forward_stores, hoist_checks, forward_stores, hoist_checks, forward_stores, unroll_loops, forward_stores):
        fn = p(fn)
    found = scatter_to_gather(fn)
    return None if found is fn else text_of(remove_dead_lowered(forward_stores(check(found, "gather"))))


def agree(f: Callable[..., Any], *calls: tuple[Any, ...], wrt: tuple[int, ...] = (0,)) -> None:
    """All stages give the interpreted gradient, each access watched."""
    subject = Subject(tp.grad(f, argnums=wrt))
    for args in calls:
        subject.check(args)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def smooth(x, w):
    return np.sum(w * (x[:-2] + 2.0 * x[1:-1] - x[2:]))


def steps_1d(a, b, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1] = 0.25 * (a[:-2] + 2.0 * a[1:-1] + a[2:])
        a[1:-1] = 0.5 * (b[:-2] - b[1:-1] + b[2:])
    return np.sum(a * a) + np.sum(b)


def steps_2d(a, b, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.3 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * a) + np.sum(b)


def steps_3d(a, steps):
    a = a.copy()
    for _ in range(steps):
        c = a[1:-1, 1:-1, 1:-1]
        a[1:-1, 1:-1, 1:-1] = (
            (a[2:, 1:-1, 1:-1] - 2.0 * c + a[:-2, 1:-1, 1:-1])
            + (a[1:-1, 2:, 1:-1] - 2.0 * c + a[1:-1, :-2, 1:-1])
            + 0.5 * (a[1:-1, 1:-1, 2:] - 2.0 * c + a[1:-1, 1:-1, :-2])
        )
    return np.sum(a * a)


def far(x, w):
    return np.sum(w[:-4] * (x[4:] + 3.0 * x[:-4]) * x[1:-3] - x[3:-1] * x[2:-2])


def slopes(x):
    """Boxes that differ by sizes that are a difference and not negative."""
    inner = 4.0 * x[1:-1, 1:-1] - x[2:, 1:-1] - x[:-2, 1:-1] - x[1:-1, 2:] - x[1:-1, :-2]
    along = inner[1:, 1:-1] - inner[:-1, 1:-1]
    across = inner[1:-1, 1:] - inner[1:-1, :-1]
    along = np.where(along * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0.0, 0.0, along)
    across = np.where(across * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0.0, 0.0, across)
    return np.sum((along[1:] - along[:-1]) ** 2 + (across[:, 1:] - across[:, :-1]) ** 2)


def weighted(x, w):
    """Weights that are arrays, and a sum over an axis that is not shifted."""
    return np.sum(w[1:-1] * x[1:-1] * x[1:-1] + w[:-2] * x[:-2] * x[1:-1] + w[2:] * np.sin(x[2:]))


def both_ways(x):
    """Boxes that end at one place only if there is a row, and a column."""
    return np.sum(x[1:] ** 2) + np.sum((x[:, 1:] + x[:, :-1]) ** 3)


def two_targets(a, b):
    c = a[:-2] * b[2:] + a[1:-1] * b[1:-1] + a[2:] * b[:-2]
    return np.sum(c * c)


def in_place(a, steps):
    """Each point takes the mean of nine, of which four are new."""
    a = a.copy()
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 2:]
            for j in range(1, a.shape[1] - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return np.sum(a * a)


def loops_2d(a, b, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.3 * (b[i, j] + b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1]) * b[i, j]
    return np.sum(a * a) + np.sum(b)


def bounds_inside(a, b, steps):
    """The inner loop's bound is computed in the outer one."""
    a = a.copy()
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.3 * (b[i, j] - 2.0 * b[i + 1, j] + b[i - 1, j + 1] - b[i, j] + 0.5 * b[i - 1, j + 1])
    return np.sum(a * a) + np.sum(b * b)


def new_between(x, w):
    """What comes between reads the sum."""
    x = x.copy()
    for _ in range(2):
        x[1:-1] = x[:-2] * w[1:-1] + x[1:-1] + x[2:]
        x[0] = x[1] * x[2]
        x[1:-1] = x[:-2] - x[1:-1] * x[1:-1] + x[2:] * w[1:-1]
    return np.sum(x)


CASES: dict[Callable[..., Any], tuple[Callable[[int], tuple[Any, ...]], tuple[int, ...]]] = {
    smooth: (lambda n: (numbers(n), numbers(max(n - 2, 0), seed=1)), (0, 1)),
    steps_1d: (lambda n: (numbers(n), numbers(n, seed=1), 2), (0, 1)),
    steps_2d: (lambda n: (numbers(n, n), numbers(n, n, seed=1), 2), (0, 1)),
    steps_3d: (lambda n: (numbers(n, n + 1, n), 2), (0,)),
    far: (lambda n: (numbers(n + 2), numbers(n + 2, seed=1)), (0, 1)),
    slopes: (lambda n: (numbers(n + 1, n),), (0,)),
    weighted: (lambda n: (numbers(n, 3), numbers(n, 3, seed=1)), (0, 1)),
    both_ways: (lambda n: (numbers(n, n + 1),), (0,)),
    two_targets: (lambda n: (numbers(n), numbers(n, seed=1)), (0, 1)),
    loops_2d: (lambda n: (numbers(n, n), numbers(n, n, seed=1), 2), (0, 1)),
    bounds_inside: (lambda n: (numbers(n, n + 1), numbers(n, n + 1, seed=1), 2), (0, 1)),
    in_place: (lambda n: (numbers(n, n), 2), (0,)),
    new_between: (lambda n: (numbers(n + 3), numbers(n + 3, seed=1)), (0, 1)),
}


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.sampled(8)
def test_gradients_of_all_sizes(f: Callable[..., Any]) -> None:
    args, wrt = CASES[f]
    agree(f, *(args(n) for n in (9, 6, 5, 4, 3, 2, 0)), wrt=wrt)


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.sampled(4)
def test_sizes_of_one_and_no_trips(f: Callable[..., Any]) -> None:
    args, wrt = CASES[f]
    agree(f, args(1), wrt=wrt)
    some = args(7)
    if isinstance(some[-1], int):
        agree(f, (*some[:-1], 0), (*some[:-1], 1), (*some[:-1], -3), wrt=wrt)


def test_without_rows_or_columns() -> None:
    agree(both_ways, *((numbers(*shape),) for shape in ((5, 4), (0, 4), (4, 0), (2, 5), (0, 0), (1, 6), (6, 1))))
    agree(slopes, *((numbers(*shape),) for shape in ((9, 8), (4, 9), (9, 4), (0, 7), (7, 0), (5, 5), (3, 6), (2, 2))))


@pytest.mark.parametrize("value", [np.nan, np.inf, *(pytest.param(v, marks=pytest.mark.slow) for v in (-np.inf, 0.0))])
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
@pytest.mark.sampled(8)
def test_special_values_land_where_they_did(f: Callable[..., Any], value: float) -> None:
    args, wrt = CASES[f]
    calls = []
    for at in (0, 1, 3, -2, -1):
        some = args(7)
        for array in some:
            if isinstance(array, np.ndarray):
                array.reshape(-1)[at] = value
        calls.append(some)
    agree(f, *calls, wrt=wrt)


ACTS = [f for f in CASES if f not in (new_between,)]


@pytest.mark.parametrize("f", ACTS, ids=lambda f: f.__name__)
def test_where_it_acts(f: Callable[..., Any]) -> None:
    args, wrt = CASES[f]
    assert gathered(f, *args(7), wrt=wrt) is not None


def test_core_is_written_once_and_temporaries_are_gone() -> None:
    found = gathered(steps_2d, *CASES[steps_2d][0](7), wrt=(0, 1))
    assert found is not None
    row = r"for j in range\(2, \w+\):\n +t_\d+ = [^\n]*\n +{} {} [^\n]*\n +else:"
    assert re.search(row.format(r"b_bar\[\w+, j\]", r"\+="), found)
    assert re.search(row.format(r"a_bar\[\w+, j\]", "="), found)  # it was zero before: no element of the core is read
    assert "np.empty" not in found.split("a_bar = np.empty")[1]


def test_loops_of_several_statements_are_split() -> None:
    found = gathered(loops_2d, *CASES[loops_2d][0](7), wrt=(0, 1))
    core = r"for j in range\(2, [^\n]*\):\n(?: +t_\d+ = [^\n]*\n)* +{}_bar\[i, j\] \+= "
    assert found is not None and len(re.findall(core.format("a"), found)) == 1


def two_places(x, w):
    return np.sum(w * (x[1:] - x[:-1]))


def read_between(x):
    """Each step reads in place what the one before has added to."""
    x = x.copy()
    for i in range(1, x.shape[0] - 1):
        x[i] = x[i - 1] * x[i] + x[i + 1]
    return np.sum(x)


def at_numbers(x, k):
    for _ in range(2):
        x = x[k] + 2.0 * x[k - 1] - x[k - 2]
    return np.sum(x * x)


def made_beside(x, w):
    """The rows of what a loop computes: one of the sums is part of that loop."""
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sum(w[i] / (x[i, 2:] * x[i, 1:-1] + x[i, :-2] + 9.0))
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (two_places, (numbers(7), numbers(6))),
        (read_between, (numbers(7),)),
        (at_numbers, (numbers(7), np.array([2, 3, 4, 6, 5, 2, 3]))),
        (made_beside, (numbers(4, 7), numbers(4, 5, seed=1))),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_where_it_must_not(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert gathered(f, *args) is None
    agree(f, args)


def changed_source(x, y):
    """What the sums are made of is overwritten before they are added up, by what cannot move behind them."""
    x, y = x.copy(), y.copy()
    for _ in range(3):
        y[1:-1] = x[:-2] + 3.0 * x[1:-1] - x[2:]
        y[0] = y[1] * x[0]
        x[1:-1] = y[1:-1] * 0.5 + y[2:] - y[:-2]
        x[-1] = x[0] + x[2]
    return np.sum(x * y)


def one_buffer(x, w):
    """In place: the adjoint is read before it is added to, and added to where it was read."""
    x = x.copy()
    for _ in range(3):
        x[1:-1, 1:-1] = x[1:-1, 1:-1] * w[1:-1, 1:-1] + x[:-2, 1:-1] - x[2:, 1:-1] + x[1:-1, 2:] * x[1:-1, :-2]
        x[2:-2, 2:-2] += x[:-4, 2:-2] + x[4:, 2:-2] - 2.0 * x[2:-2, 4:]
    return np.sum(x * x)


@pytest.mark.parametrize("size", [3, 4, 5, 6, 9])
@pytest.mark.sampled(4)
def test_sources_that_change(size: int) -> None:
    agree(changed_source, (numbers(size), numbers(size, seed=1)), wrt=(0, 1))
    agree(one_buffer, (numbers(size, size + 1), numbers(size, size + 1, seed=1)), wrt=(0, 1))
