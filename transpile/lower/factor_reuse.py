"""Matrices whose factors serve several statements: ``solve(a, b)`` in a function, ``solve(a.T, x_bar)`` in its adjoint.

The factors are computed where the first of them stands (`transpile.lower.repeated_factors` says which matrices have several).
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
    """The factors of a stack of matrices: their columns, and the rows that became pivots."""

    batch: tuple[ir.Operand, ...]
    columns: View
    pivots: View


def factors_of(lw: Lowering, op: ir.Operand) -> tuple[Factors, bool] | None:
    """The factors of a matrix that several statements factor, computed where the first one stands; and whether they are of its
    transpose. None if there is one statement, outside of loops: in a loop all trips have the memory for them."""
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
