"""Arrays created from numbers: ``full``, ``empty``, ``arange``, ``linspace``, and bands of ones such as ``eye``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, stored
from transpile.lower.lowering import Lowering
from transpile.lower.memory_views import Uniform
from transpile.lower.overflow import check_narrow
from transpile.ops.lowering_kinds import Band


def filled(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.full``: an array whose elements are all the same number."""
    check_narrow(lw, stmt.args[0], stmt.var.type.dtype)
    value = lw.compute("cast", [lw.scalar(stmt.args[0])], Type(stmt.var.type.dtype), {})
    return Elements(lw.sizes(stmt.params["dims"]), stmt.var.type.dtype, lambda idx: value, made=Uniform(value))


def unwritten(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.empty``: new memory that nothing fills; for the allocation of a buffer, which makes the memory, only sizes."""
    sizes = lw.sizes(stmt.params["dims"])
    return (
        stored(lw.b, lw.memory(stmt.var.name, stmt.var.type.dtype, sizes), sizes)
        if not _is_alloc(stmt)
        else Elements(sizes, stmt.var.type.dtype, lambda idx: lw.b.expr(ir.Const(0, INT)))
    )


def _is_alloc(stmt: Any) -> bool:
    return bool(stmt.var.buffer)


def counted(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.arange``: each element is computed from its index."""
    b = lw.b
    result = Type(stmt.var.type.dtype)
    args = [lw.compute("cast", [lw.scalar(a)], result, {}) for a in stmt.args]
    start, step = (args[0] if len(args) > 1 else None), (args[2] if len(args) > 2 else None)
    if all(lw.is_known(s) for s in stmt.params["dims"][0].symbols()):
        sizes = lw.sizes(stmt.params["dims"])
    else:
        ends = (b.expr(ir.Const(0, result)), args[0]) if len(args) == 1 else args[:2]
        by = b.expr(ir.Const(1, result)) if step is None else step
        count = b.bind("size", INT, "arrays.steps", (*(e.op for e in ends), by.op))
        b.learn(count, stmt.var.type.dims[0])
        sizes = (count,)

    def at(idx: Sequence[Expr]) -> Expr:
        k = lw.compute("cast", [idx[0]], result, {})
        if result.is_float and start is not None:
            by = b.expr(ir.Const(1.0, result)) if step is None else step
            return b.expr(b.bind(ir.SYNTHETIC, result, "arrays.arange_at", (start.op, by.op, k.op)))
        k = k if step is None else lw.compute("mul", [k, step], result, {})
        return k if start is None else lw.compute("add", [start, k], result, {})

    return Elements(sizes, result.dtype, at)


def spaced(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.linspace``: each element is computed from its index."""
    b = lw.b
    result = Type(stmt.var.type.dtype)
    start, stop = (lw.compute("cast", [lw.scalar(a)], result, {}) for a in stmt.args[:2])
    parts = lw.scalar(stmt.args[2]) - (1 if stmt.params["endpoint"] else 0)
    shares = lw.compute("cast", [parts], result, {})

    def at(idx: Sequence[Expr]) -> Expr:
        k = lw.compute("cast", [idx[0]], result, {})
        last = idx[0].eq(parts) if stmt.params["endpoint"] else b.expr(ir.Const(False, Type("bool")))
        args = (start.op, stop.op, shares.op, k.op, last.op)
        return b.expr(b.bind(ir.SYNTHETIC, result, "arrays.linspace_at", args))

    return Elements(lw.sizes(stmt.params["dims"]), result.dtype, at, cheap=False)


def band(lw: Lowering, stmt: Any, how: Band) -> Elements:
    """A matrix with 1 where the comparison of ``how`` holds for a column index and the row index plus ``k``, else 0."""
    result = Type(stmt.var.type.dtype)
    k = stmt.params.get("k", 0)

    def at(idx: Sequence[Expr]) -> Expr:
        return lw.compute("cast", [lw.b.elementwise(how.relation.name, idx[1], idx[0] + k)], result, {})

    return Elements(lw.sizes(stmt.params["dims"]), result.dtype, at)
