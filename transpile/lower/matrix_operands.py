"""Matrices of a stack as operands of calls, each as it lies: a transpose or a slice of a stored array is not copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import ANY
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, is_one
from transpile.lower.lowering import Lowering
from transpile.lower.memory_layout import lying, operand, view_of
from transpile.lower.memory_views import At, Range, View
from transpile.lower.runtime_calls import in_sizes

Given = Callable[[Sequence[Expr]], list[ir.Operand]]  # from the index of a matrix in the stack to operands


def passed(lw: Lowering, matrices: Sequence[Elements]) -> Given:
    """The matrices as operands."""
    views = [stacked(lw, x) for x in matrices]
    return lambda idx: [matrix(lw, v, x, idx) for v, x in zip(views, matrices)]


def stacked(lw: Lowering, x: Elements) -> View:
    """How the matrices of an array lie; in memory of their own if they do not."""
    view = lying(x)
    if view is None or view.factor is not None or (x.rank == 1 and not _is_row(view)):
        view = view_of(lw.in_memory(x, "a"))
    assert view is not None
    return view


def _is_row(view: View) -> bool:
    """Whether a vector is all of the last axis, so that it is contiguous for Numba too."""
    last = view.parts[-1]
    return isinstance(last, Range) and last.start is None


def matrix(lw: Lowering, view: View, x: Elements, idx: Sequence[Expr]) -> ir.Operand:
    """The matrix of the stack at an index of the batch, which is the end of ``idx`` where the stack has fewer axes."""
    if x.rank == 1:
        return column(lw, operand(lw, view), x.sizes[0])
    own = own_index(lw, x.sizes[:-2], idx)
    return operand(lw, view.indexed(lw.b, [*(At(k.op) for k in own), None, None]))


def own_index(lw: Lowering, batch: Sequence[ir.Operand], idx: Sequence[Expr]) -> list[Expr]:
    """The index in a stack whose axes broadcast to those that ``idx`` counts."""
    zero = lw.b.expr(0)
    return [zero if is_one(s) else k for s, k in zip(batch, idx[len(idx) - len(batch) :])]


def whole(var: ir.Var, sizes: Sequence[ir.Operand]) -> View:
    return View(var, tuple(Range(None, s) for s in sizes), tuple(range(len(sizes))))


def part(lw: Lowering, view: View, idx: Sequence[Expr]) -> ir.Operand:
    """What belongs to one of a stack, of an array that has an entry for each."""
    return operand(lw, view.indexed(lw.b, [*(At(k.op) for k in idx), *[None] * (len(view.order) - len(idx))]))


def column(lw: Lowering, vector: ir.Operand, size: ir.Operand) -> ir.Operand:
    """A vector as a matrix of one column."""
    return in_sizes(lw.b, ir.SYNTHETIC, Type(vector.type.dtype, (ANY, ANY)), vector, (size, ir.Const(1, INT)))
