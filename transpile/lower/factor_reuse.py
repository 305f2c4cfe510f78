"""Factors of matrices that serve several statements: ``solve(a, b)`` in a function, ``solve(a.T, x_bar)`` in its adjoint.

They are computed at the first of these statements (`transpile.lower.repeated_factors` finds the matrices that have several).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transpile.core import nodes as ir
from transpile.core.types import Type
from transpile.lower.element_functions import Elements
from transpile.lower.lowering import Lowering
from transpile.lower.matrix_operands import matrix, part, stacked
from transpile.lower.memory_views import Range, View
from transpile.lower.runtime_calls import filled


@dataclass(frozen=True)
class Factors:
    """The LU factors of a batch of matrices: their columns and the pivot rows."""

    batch: tuple[ir.Operand, ...]
    columns: View
    pivots: View


def factors_of(lw: Lowering, op: ir.Operand) -> tuple[Factors, bool] | None:
    """The shared factors of a matrix, computed at the first statement that factors it, and whether they are the factors of its
    transpose. None if only one statement outside loops factors it; in a loop, all iterations share the memory of the factors.
    """
    matrices = lw.matrices
    base, turned = matrices.base(op)
    if isinstance(base, ir.Var) and base.buffer or matrices.count[base] < 2 and base not in matrices.again:
        return None
    key = matrices.key(base)
    if key not in lw.env:
        x = lw.elements(op)
        lw.env[key] = [_factored(lw, x), turned]
    found, is_turned = lw.env[key]
    return found, turned != is_turned


def _factored(lw: Lowering, x: Elements) -> Factors:
    """The LU factors of the matrices in ``x``, in new memory; the calls that compute them are emitted."""
    b, dtype = lw.b, x.dtype
    more = (b.expr(x.sizes[-1]) + 1).op
    columns, pivots = lw.memory("lu", dtype, x.sizes), lw.memory("pivots", "int64", (*x.sizes[:-2], more))
    shapes = ((columns, x.sizes), (pivots, (*x.sizes[:-2], more)))
    views = [View(v, tuple(Range(None, s) for s in sizes), tuple(range(len(sizes)))) for v, sizes in shapes]
    view = stacked(lw, x)

    def one(idx: list[Any]) -> None:
        args = (matrix(lw, view, x, idx), part(lw, views[0], idx), part(lw, views[1], idx))
        filled(b, "linalg.lu_factor", args, (1, 2))

    lw.nest(x.sizes[:-2], one)
    return Factors(x.sizes[:-2], *views)


def flag(value: bool) -> ir.Const:
    return ir.Const(value, Type("bool"))
