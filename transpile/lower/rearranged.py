"""Arrays joined from others, or with elements moved within their axes: joins, rolls, padding, triangles, diagonals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower import lowered_effects
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.indices import quick
from transpile.lower.lowering import Lowering, name_of
from transpile.ops import language as m
from transpile.ops.lowering_kinds import Joined, Triangle
from transpile.ops.shape import NOTHING_TO_PAD


def joined(lw: Lowering, stmt: Any, how: Joined) -> Elements:
    """``concatenate`` or, if ``how`` says so, ``stack``: new memory, into which each part is written after the one before
    it."""
    b, axis = lw.b, stmt.params["axis"]
    parts = [lw.elements(a) for a in stmt.args]
    inner = parts[0].sizes
    starts, total = [], b.expr(0)
    for p in parts:
        starts.append(total)
        total = total + (1 if how.new_axis else b.expr(p.sizes[axis]))
    behind = inner[axis if how.new_axis else axis + 1 :]
    sizes = (*inner[:axis], total.op, *behind)
    var = lw.memory(name_of(stmt.var), stmt.var.type.dtype, sizes)
    for p, start in zip(parts, starts):

        def put(idx: list[Expr], p: Elements = p, start: Expr = start) -> None:
            at = [start, *idx[axis:]] if how.new_axis else [start + idx[axis], *idx[axis + 1 :]]
            write(b, var, [*idx[:axis], *at], p.at(idx))

        lw.nest(p.sizes, put)
    return stored(b, var, sizes)


def _moved(
    lw: Lowering, stmt: Any, sizes: Sequence[ir.Operand], move: Callable[[Sequence[Expr]], list[Expr]]
) -> Elements:
    """The array whose elements are those of the operand at the indices that ``move`` gives."""
    x = lw.steady(lw.elements(stmt.args[0]), name_of(stmt.args[0]))
    return replace(x, sizes=tuple(sizes), root=None, made=None, at=lambda idx: x.at(move(idx)))


def reversed_axes(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.flip`` along the statement's axes: the operand's elements, read at other indices."""
    x = lw.elements(stmt.args[0])
    axes = stmt.params["axes"]
    tops = {k: lw.b.expr(x.sizes[k]) - 1 for k in axes}
    return replace(
        x, root=None, made=None, at=lambda idx: x.at([tops[k] - i if k in tops else i for k, i in enumerate(idx)])
    )


def rotated(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.roll`` along the statement's axes: the operand's elements, read at other indices."""
    sizes = lw.elements(stmt.args[0]).sizes
    shifts = {k: _turn(lw, lw.scalar(a), sizes[k]) for k, a in zip(stmt.params["axes"], stmt.args[1:])}

    def move(idx: Sequence[Expr]) -> list[Expr]:
        return [_wrapped(lw, i - shifts[k], sizes[k]) if k in shifts else i for k, i in enumerate(idx)]

    return _moved(lw, stmt, sizes, move)


def _turn(lw: Lowering, shift: Expr, size: ir.Operand) -> Expr:
    """The shift of a roll along an axis: unchanged if it is a constant, else reduced to 0, ..., ``size - 1``."""
    if isinstance(shift.op, ir.Const):
        return shift
    return _wrapped(lw, shift, lw.b.bind(ir.SYNTHETIC, INT, "maximum", (size, ir.Const(1, INT)), {"py": True}))


def _wrapped(lw: Lowering, i: Expr, size: ir.Operand) -> Expr:
    i = lw.compute("cast", [i], INT, {}) if i.dtype != INT.dtype else i
    return Expr(lw.b, lw.b.bind(ir.SYNTHETIC, INT, "arrays.wrap", (i.op, size)))


def tiled(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.tile``: the operand's elements, read at other indices."""
    inner = lw.elements(stmt.args[0]).sizes
    return _moved(
        lw,
        stmt,
        lw.sizes(stmt.params["dims"]),
        lambda idx: [quick(lw, "quick_mod", i, lw.b.expr(s)) for i, s in zip(idx, inner)],
    )


def repeated(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.repeat`` along an axis with one count for all: the operand's elements, read at other indices."""
    axis, times = stmt.params["axis"], lw.scalar(stmt.args[1])
    return _moved(
        lw,
        stmt,
        lw.sizes(stmt.params["dims"]),
        lambda idx: [quick(lw, "quick_div", i, times) if k == axis else i for k, i in enumerate(idx)],
    )


def _is_positive(size: ir.Operand) -> bool:
    return isinstance(size, ir.Const) and size.value > 0


def padded(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.pad``: new memory for a constant, else the operand's elements, read at other indices.

    ValueError at run time if a width is negative or an empty axis has nothing to repeat.
    """
    b, mode = lw.b, stmt.params["mode"]
    x = lw.elements(stmt.args[0])
    before, after = ([lw.scalar(stmt.args[2 * k + side]) for k in range(x.rank)] for side in (1, 2))
    for width in (*before, *after):
        if not isinstance(width.op, ir.Const) or width.op.value < 0:
            b.emit(lowered_effects.in_size(b.loc, width, ("arrays cannot be padded by ", 0)))
    sizes = lw.sizes(stmt.params["dims"])
    result = Type(stmt.var.type.dtype)
    if mode == "constant":
        value = lw.scalar(stmt.args[2 * x.rank + 1]) if len(stmt.args) > 2 * x.rank + 1 else b.expr(ir.Const(0, result))
        value = lw.compute("cast", [value], result, {})
        var = lw.memory(name_of(stmt.var), result.dtype, sizes)
        lw.nest(sizes, lambda idx: write(b, var, idx, value))
        lw.nest(x.sizes, lambda idx: write(b, var, [i + s for i, s in zip(idx, before)], x.at(idx)))
        return stored(b, var, sizes)

    for axis, (size, *widths) in enumerate(zip(x.sizes, before, after)):
        if not _is_positive(size) and not all(ir.is_literal(w.op, 0) for w in widths):
            is_empty = m.logical_and(b.expr(size).eq(0), widths[0] + widths[1] > 0)
            b.emit(lowered_effects.unless(b.loc, is_empty, "ValueError", NOTHING_TO_PAD.format(axis)))

    def move(idx: Sequence[Expr]) -> list[Expr]:
        args = [(i - s, size) for i, s, size in zip(idx, before, x.sizes)]
        return [Expr(b, b.bind(ir.SYNTHETIC, INT, f"arrays.pad_{mode}", (i.op, size))) for i, size in args]

    return _moved(lw, stmt, sizes, move)


def triangle(lw: Lowering, stmt: Any, how: Triangle) -> Elements:
    """``np.tril`` or ``np.triu``, as ``how`` says: an element outside the triangle is 0, and is not computed."""
    x = lw.elements(stmt.args[0])
    zero = ir.Const(0.0 if stmt.var.type.is_float else 0, Type(stmt.var.type.dtype))
    k = stmt.params["k"]

    def at(idx: Sequence[Expr]) -> Expr:
        keep = lw.b.elementwise(how.relation.name, idx[-1], idx[-2] + k)
        return _choose(lw, keep, lambda: x.at(idx), lw.b.expr(zero), stmt.var.type.dtype)

    return x.each(at)


def _choose(lw: Lowering, test: Expr, then: Callable[[], Expr], otherwise: Expr, dtype: str) -> Expr:
    """``then()`` where the test is true, else ``otherwise``; ``then`` is not computed elsewhere."""
    b = lw.b
    with b.into(ir.Block()) as side:
        side.yields = (then().op,)
    result = ir.Var(ir.SYNTHETIC, Type(dtype))
    b.emit(ir.If(test.op, side, ir.Block((), [], (otherwise.op,)), (result,), b.loc))
    return b.expr(result)


def diagonal(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.diagonal`` of two axes: the operand's elements, read at other indices; the diagonal is the last axis."""
    x = lw.steady(lw.elements(stmt.args[0]), name_of(stmt.args[0]))
    first, second = stmt.params["axes"]
    offset = stmt.params["offset"]
    b = lw.b
    m, n = b.expr(x.sizes[first]), b.expr(x.sizes[second])
    size = Expr(b, b.bind("size", INT, "arrays.diagonal_size", (m.op, n.op, b.expr(offset).op)))
    if m.op == n.op and not offset:
        size = m
    rest = [k for k in range(x.rank) if k not in (first, second)]

    def at(idx: Sequence[Expr]) -> Expr:
        out: list[Any] = [None] * x.rank
        for k, i in zip(rest, idx):
            out[k] = i
        out[first] = idx[-1] + max(-offset, 0)
        out[second] = idx[-1] + max(offset, 0)
        return x.at(out)

    return replace(x, sizes=(*(x.sizes[k] for k in rest), size.op), root=None, made=None, unit=None, at=at)


def diagonal_matrix(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.diag`` of a vector: new memory with the vector on one diagonal and 0 elsewhere."""
    x = lw.elements(stmt.args[0])
    b, offset = lw.b, stmt.params["offset"]
    size = (b.expr(x.sizes[0]) + abs(offset)).op
    var = lw.memory(name_of(stmt.var), x.dtype, (size, size))
    zero = b.expr(ir.Const(0.0 if stmt.var.type.is_float else 0, Type(x.dtype)))
    lw.nest((size, size), lambda idx: write(b, var, idx, zero))
    lw.nest(x.sizes, lambda idx: write(b, var, [idx[0] + max(-offset, 0), idx[0] + max(offset, 0)], x.at(idx)))
    return stored(b, var, (size, size))
