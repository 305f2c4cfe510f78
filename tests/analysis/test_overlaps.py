"""Overlapping reads and writes: a store whose value reads what it writes needs a temporary, or an order."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp
from transpile.analysis.affine import Forms
from transpile.analysis.overlaps import overwritten
from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.types import INT, Type
from transpile.errors import InternalError
from transpile.lower.traversal import Traversal
from transpile.ops.tables import of_dialect

N = ir.Var("n", INT)


def shifts(x):
    x = x.copy()
    x[0] = 2.0
    x[1:] += x[:-1]
    return x


def shifts_back(x):
    x = x.copy()
    x[0] = 2.0
    x[:-1] += x[1:]
    return x


def adds_its_transpose(a):
    a = a.copy()
    a[0] = 2.0
    a += a.T
    return a


def adds_itself(a):
    a = a.copy()
    a[0] = 2.0
    a *= a + 1.0
    return a


def in_a_loop(x, n):
    x = x.copy()
    for _ in range(n):
        x[2:] = x[:-2] * 0.5
    return x


def loops(fn, *args):
    return tp.source(tp.jit(fn, cache=False), *args, stage="loops")


V, A = np.ones(5), np.ones((3, 3))


@pytest.mark.parametrize(
    ("fn", "args"),
    [(shifts, (V,)), (adds_its_transpose, (A,)), (in_a_loop, (V, 3))],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_a_store_without_its_temporary_is_refused(fn, args, monkeypatch):
    loops(fn, *args)
    monkeypatch.setattr(Traversal, "in_memory", lambda self, value, name: value)
    with pytest.raises(
        InternalError, match="after lowering: a trip reads an element of .* that an earlier one has overwritten"
    ):
        loops(fn, *args)


@pytest.mark.parametrize(
    ("fn", "args"), [(shifts_back, (V,)), (adds_itself, (A,))], ids=lambda v: getattr(v, "__name__", "")
)
def test_what_is_read_in_time_needs_none(fn, args, monkeypatch):
    monkeypatch.setattr(Traversal, "in_memory", lambda self, value, name: value)
    loops(fn, *args)


# ------------------------------------------------------------------------------------------------------ nests


def nest(read, written, *, rank=1, **more):
    """``x[written(i, ...)] = x[read(i, ...)] * 2`` for all indices."""
    x = ir.Var("x", Type("float64"), buffer=True)
    b = Builder(of_dialect("loops"))
    indices = [ir.Var(name, INT) for name in "ij"[:rank]]
    with b.into(ir.Block()) as body:
        at = (ir.Index(tuple(ir.Point(k) for k in range(rank))),)
        exprs = [b.expr(i) for i in indices]
        source, target = ([b.operand(o) for o in f(*exprs)] for f in (read, written))
        value = b.bind("t", Type("float64"), "index", (x, *source), {"path": at, "dims": ()})
        b.emit(ir.Store(x, at, tuple(target), value))
    for index in reversed(indices):
        loop = ir.For(index, ir.Const(0, INT), N, ir.Const(1, INT), (), body, **more)
        body = ir.Block((), [loop])
    return loop


def is_refused(loop):
    return overwritten(loop, Forms(ir.Block((), [loop]))) is not None


def test_a_distance_has_a_direction():
    assert is_refused(nest(lambda i: [i], lambda i: [i + 1]))
    assert not is_refused(nest(lambda i: [i + 1], lambda i: [i]))
    assert not is_refused(nest(lambda i: [i], lambda i: [i + 1], backwards=True))
    assert is_refused(nest(lambda i: [i + 1], lambda i: [i], backwards=True))
    assert not is_refused(nest(lambda i: [i], lambda i: [i]))
    assert not is_refused(nest(lambda i: [i * 2], lambda i: [i * 2 + 1]))


def test_a_transpose_meets_itself():
    assert is_refused(nest(lambda i, j: [j, i], lambda i, j: [i, j], rank=2))
    assert not is_refused(nest(lambda i, j: [i, j], lambda i, j: [i, j], rank=2))
    assert is_refused(nest(lambda i, j: [i, j], lambda i, j: [i, j + 1], rank=2))
    assert not is_refused(nest(lambda i, j: [i, j + 1], lambda i, j: [i, j], rank=2))


def test_what_depends_on_other_numbers_is_not_said():
    assert not is_refused(nest(lambda i: [i], lambda i: [i + N]))  # whether n is 1, only the run knows
    assert is_refused(nest(lambda i: [i + N], lambda i: [i + N + 1]))


def test_trips_of_a_vector_loop_do_not_wait():
    assert is_refused(nest(lambda i: [i], lambda i: [i + 1], kind="vector"))
    assert not is_refused(nest(lambda i: [i], lambda i: [i], kind="vector"))
