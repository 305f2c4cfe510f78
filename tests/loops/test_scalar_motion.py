"""Calls on numbers that are the same in all trips of a loop stand before it; where it has no trip nothing is divided by 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from array_cases import normal
from loop_compare import Subject
from loop_text import Loops

import transpile as tp
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.types import FLOAT, INT, Type
from transpile.core.walk import defined, statements
from transpile.loops.array_contraction import points
from transpile.loops.scalar_motion import move_scalars
from transpile.ops.tables import record_of

CALLS = ("mod", "floordiv", "arrays.wrap", "arrays.pad_wrap", "arrays.linspace_at")


def rolled_planes(x, k):
    return np.sum(x * np.roll(x, (k, 1), axis=(0, 1)) ** 2)


def row_of_remainder(x, k):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[(i + k) % x.shape[0], j] ** 2 * x[i, j]
    return total


def steps_of_quotient(x, k):
    y = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * (i // 3 + k) * np.exp(-0.1 * k)
    return np.sum(y * y)


def shifts_in_while(x, k):
    total, j = 0.0, 0
    while j < x.shape[1]:
        for i in range(x.shape[0]):
            total += x[(k * k - 5) % x.shape[0], j] * x[i, j]
        j += 1
    return total


def remainder_of_a_remainder(x, k):
    """Each needs the one before; the last one changes with the trip."""
    y = x.copy()
    for _ in range(3):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                a = (k + 7) % x.shape[0]
                b = (3 * a - k) % x.shape[1]
                y[i, j] = y[i, j] * x[a, b] + x[i, (b + j) % x.shape[1]]
    return np.sum(y * y)


def padded_rows(x, k):
    return np.sum(np.pad(x, 2, mode="wrap")[1:-1, 1:-1] ** 2 * k)


def by_what_may_be_0(x, k):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i % k, j] * x[i, j]
    return total


PROGRAMS = [rolled_planes, row_of_remainder, steps_of_quotient, shifts_in_while, remainder_of_a_remainder, padded_rows]


def calls_that_stay(block: ir.Block) -> Iterator[ir.Let]:
    """Calls in the body of a loop, not under a branch, whose operands all come from outside, themselves or step by step."""
    for loop in statements(block):
        if not isinstance(loop, (ir.For, ir.While)):
            continue
        inside = {*defined(loop.body), *([loop.index] if isinstance(loop, ir.For) else [])}
        for stmt in loop.body.stmts:
            if not isinstance(stmt, ir.Let) or stmt.prim in ("index", "dim") or stmt.var.type.dims:
                continue
            if not inside & {a for a in stmt.args if isinstance(a, ir.Var)}:
                inside.discard(stmt.var)
                if stmt.prim in CALLS and stmt.var.type.dtype in ("int64", "float64"):
                    yield stmt


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [lambda f: f, tp.value_and_grad, tp.vmap], ids=["value", "gradient", "batched"])
def test_nothing_is_computed_in_each_trip_again(f: Callable[..., Any], transform: Callable[..., Any]) -> None:
    x, k = normal(4, 9), 2
    args = (np.stack([x, 2.0 * x]), np.array([1, 2])) if transform is tp.vmap else (x, k)
    made = transform(f, in_axes=(0, 0)) if transform is tp.vmap else transform(f)
    loops = Loops(made, args)
    assert not [f"{s.var} = {s.prim}" for s in calls_that_stay(loops.function("optimised").body)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_loops_without_trips(f: Callable[..., Any]) -> None:
    subject = Subject(tp.value_and_grad(f))
    for shape in ((0, 0), (0, 4), (3, 0), (1, 1), (3, 7)):
        for k in (0, 1, -3, 5):
            subject.check((normal(*shape), k))


def test_who_divides_by_0_hears_it() -> None:
    subject = Subject(tp.value_and_grad(by_what_may_be_0))
    for shape in ((0, 4), (3, 0), (3, 7)):
        for k in (0, 1, 2):
            subject.check((normal(*shape), k))


@pytest.mark.numba
@pytest.mark.usefixtures("cache_directory")
@pytest.mark.parametrize("f", [rolled_planes, shifts_in_while], ids=lambda f: f.__name__)
def test_compiled_where_a_size_is_0(f: Callable[..., Any]) -> None:
    """A processor stops where it divides by 0."""
    gradient = tp.grad(f)
    compiled = tp.jit(gradient)
    for shape in ((0, 0), (0, 4), (3, 0), (3, 4)):
        for k in (0, 3):
            np.testing.assert_allclose(compiled(normal(*shape), k), gradient(normal(*shape), k))


@pytest.mark.parametrize(("prim", "moves"), [("quick_div", False), ("floordiv", False), ("arrays.wrap", True)])
def test_a_bare_division_stays(prim: str, moves: bool) -> None:
    """What is known not to be 0 in a trip may be 0 before the loop, and what raises stays where its check is. So does what needs
    them."""
    index, x, n = (ir.Var(name, INT) for name in "ixn")
    out = ir.Var("y", Type("int64", (ANY,)), buffer=True)
    let = ir.Let(ir.Var("q", INT), prim, (x, n), {})
    after = ir.Let(ir.Var("r", INT), "arrays.wrap", (let.var, ir.Const(5, INT)), {})
    assert record_of(let).division
    body = ir.Block((), [let, after, ir.Store(out, points(1), (index,), after.var)])
    loop = ir.For(index, ir.Const(0, INT), n, ir.Const(1, INT), (), body)
    moved = move_scalars(ir.Function("f", (x, n, out), ir.Block((), [loop]), {}))
    assert moved.body.stmts[:-1] == ([let, after] if moves else [])


def test_the_trip_of_a_parallel_loop_keeps_its_own() -> None:
    """A chunk is a function, and what it is given from outside is memory."""
    index, x, out = ir.Var("i", INT), ir.Var("x", FLOAT), ir.Var("y", Type("float64", (ANY,)), buffer=True)
    let = ir.Let(ir.Var("e", FLOAT), "arrays.linspace_at", (x, x, x, x, x), {})
    body = ir.Block((), [let, ir.Store(out, points(1), (index,), let.var)])
    for kind in ("serial", "parallel"):
        loop = ir.For(index, ir.Const(0, INT), ir.Const(9, INT), ir.Const(1, INT), (), body, kind=kind)
        moved = move_scalars(ir.Function("f", (x, out), ir.Block((), [loop]), {}))
        assert len(moved.body.stmts) == (2 if kind == "serial" else 1)
