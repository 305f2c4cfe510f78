"""Innermost loops that LLVM is told to be free of conflicts: which they are, and that their results are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loop_compare import Subject
from loop_text import Loops

import transpile as tp
from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.loops.independent_iterations import loops_apart


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def innermost(f: Callable[..., Any], *args: Any) -> list[bool]:
    """For each innermost loop that writes, in order, whether it is one of them."""
    fn = Loops(f, args).function("optimised")
    apart = loops_apart(fn)
    loops = [s for s in statements(fn.body) if isinstance(s, ir.For) and not any(blocks(t) for t in s.body.stmts)]
    return [s.index in apart for s in loops]


def rows_of_one(a, w):
    for i in range(len(w)):
        for j in range(a.shape[1]):
            a[2 * i, j] += w[i] * a[2 * i + 1, j]
            a[2 * i + 1, j] *= 0.5
    return np.sum(a)


def handed_on(x, steps):
    for _ in range(steps):
        y = np.empty(len(x))
        for i in range(len(x)):
            y[i] = 0.5 * x[i] + 1.0
        x = y
    return np.sum(x)


def two_arrays(x, y):
    for i in range(len(x)):
        x[i] = y[i] + x[i]
        y[i] = x[i] * y[i]
    return np.sum(x) + np.sum(y)


def recurrence(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return np.sum(x)


def shifted(x, k):
    for i in range(len(x) - k):
        x[i] = x[i + k] * 2.0
    return np.sum(x)


def scattered(x, k):
    y = np.zeros(len(x))
    for i in range(len(k)):
        y[k[i]] += x[i]
    return np.sum(y * y)


def mirrored(x):
    for i in range(len(x)):
        x[i] = 0.5 * x[len(x) - 1 - i]
    return np.sum(x)


def turned_over(a):
    for i in range(len(a)):
        for j in range(len(a)):
            a[i, j] = a[j, i] + 1.0
    return np.sum(a)


def one_place(x, y):
    for i in range(len(x)):
        y[0] = x[i] * y[0]
    return y[0]


def narrow(x, k):
    """Subscripts that a loop's own integer decides."""
    for i in range(len(x)):
        j = k[i]
        x[j] = x[i] + 1.0
    return np.sum(x)


FREE = [
    (rows_of_one, (numbers(6, 9), numbers(3))),
    (two_arrays, (numbers(9), numbers(9, seed=1))),
]
BOUND = [
    (handed_on, (numbers(9), 3)),  # one name for all the arrays that are handed on
    (recurrence, (numbers(9),)),
    (shifted, (numbers(9), 2)),
    (scattered, (numbers(9), np.array([1, 1, 2, 3, 3, 3, 8, 0, 0]))),
    (mirrored, (numbers(9),)),
    (turned_over, (numbers(5, 5),)),
    (one_place, (numbers(9), numbers(9))),
    (narrow, (numbers(9), np.array([1, 2, 3, 4, 5, 6, 7, 8, 0]))),
]


@pytest.mark.parametrize(("f", "args"), FREE, ids=lambda v: getattr(v, "__name__", ""))
def test_no_trip_knows_of_the_others(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert all(innermost(f, *args))


@pytest.mark.parametrize(("f", "args"), BOUND, ids=lambda v: getattr(v, "__name__", ""))
def test_trips_that_meet(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert not all(innermost(f, *args))


@pytest.mark.parametrize(("f", "args"), FREE + BOUND, ids=lambda v: getattr(v, "__name__", ""))
def test_another_order_gives_the_same(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    Subject(f).check(args)
    Subject(tp.value_and_grad(f)).check(args)


@pytest.mark.numba
def test_compiled_for_lengths_around_a_vector() -> None:
    """What LLVM makes vectors of, and the trips that are left."""
    compiled = [(f, tp.jit(tp.value_and_grad(f))) for f, _ in FREE]
    for n in (1, 2, 3, 4, 7, 8, 15, 16, 17, 35):
        given = [(numbers(6, n), numbers(3)), (numbers(n), numbers(n, seed=1))]
        for (f, fast), args in zip(compiled, given):
            copies = [tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args) for _ in range(2)]
            value, gradient = fast(*copies[0])
            wanted, of = tp.value_and_grad(f)(*copies[1])
            np.testing.assert_allclose(value, wanted, rtol=1e-12)
            np.testing.assert_allclose(gradient, of, rtol=1e-12)
