"""Matrices of a batch as operands of calls, in place: a transpose or a slice of a stored array is not copied."""

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

Given = Callable[[Sequence[Expr]], list[ir.Operand]]  # from the index of a matrix in the batch to operands


def passed(lw: Lowering, matrices: Sequence[Elements]) -> Given:
    """A function that gives, for the index of a matrix in the batch, one operand for each of ``matrices``."""
    views = [stacked(lw, x) for x in matrices]
    return lambda idx: [matrix(lw, v, x, idx) for v, x in zip(views, matrices)]


def stacked(lw: Lowering, x: Elements) -> View:
    """The array as a view without factor whose last two axes are those of each matrix; it gets memory if it is no such view."""
    view = lying(x)
    if view is None or view.factor is not None or (x.rank == 1 and not _is_row(view)):
        view = view_of(lw.in_memory(x, "a"))
    assert view is not None
    return view


def _is_row(view: View) -> bool:
    """Whether a vector covers the whole last axis, so that Numba too sees it as contiguous."""
    last = view.parts[-1]
    return isinstance(last, Range) and last.start is None


def matrix(lw: Lowering, view: View, x: Elements, idx: Sequence[Expr]) -> ir.Operand:
    """The operand for the matrix at index ``idx`` of the batch; a vector is a matrix with one column.

    ``view`` is the view of ``x``. If ``x`` has fewer batch axes than ``idx``, its own index is the end of ``idx``.
    """
    if x.rank == 1:
        return column(lw, operand(lw, view), x.sizes[0])
    own = own_index(lw, x.sizes[:-2], idx)
    return operand(lw, view.indexed(lw.b, [*(At(k.op) for k in own), None, None]))


def own_index(lw: Lowering, batch: Sequence[ir.Operand], idx: Sequence[Expr]) -> list[Expr]:
    """The index in a batch of sizes ``batch`` that broadcasts to the batch of ``idx``: the end of ``idx``, with 0 where a size
    is 1."""
    zero = lw.b.expr(0)
    return [zero if is_one(s) else k for s, k in zip(batch, idx[len(idx) - len(batch) :])]


def whole(var: ir.Var, sizes: Sequence[ir.Operand]) -> View:
    """The view of a whole variable."""
    return View(var, tuple(Range(None, s) for s in sizes), tuple(range(len(sizes))))


def part(lw: Lowering, view: View, idx: Sequence[Expr]) -> ir.Operand:
    """The operand for the member ``idx`` of the batch: ``view`` with ``idx`` on its first axes and the other axes whole."""
    return operand(lw, view.indexed(lw.b, [*(At(k.op) for k in idx), *[None] * (len(view.order) - len(idx))]))


def column(lw: Lowering, vector: ir.Operand, size: ir.Operand) -> ir.Operand:
    """A vector as an operand that is a matrix with one column; ``size`` is the vector's size."""
    return in_sizes(lw.b, ir.SYNTHETIC, Type(vector.type.dtype, (ANY, ANY)), vector, (size, ir.Const(1, INT)))
