"""The table of rules by kind of primitive, and the choice between elements and memory for their results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import INT
from transpile.errors import error
from transpile.lower import (
    created,
    draws,
    elementwise,
    extrema,
    linalg_calls,
    lowered_functions,
    overflow,
    product_loops,
    rearranged,
    reductions,
    reindexed,
    sorting_calls,
)
from transpile.lower.element_functions import Elements, is_one
from transpile.lower.lowering import Held, Lowering, name_of
from transpile.lower.size_checks import check_given
from transpile.lower.sums import linear as linear_sum
from transpile.ops import lowering_kinds as kinds
from transpile.ops.tables import record_of

Rule = Callable[[Lowering, Any, Any], Any]
RULES: dict[type[kinds.LoweringKind], Rule] = {
    kinds.Cast: elementwise.cast,
    kinds.Same: elementwise.same,
    kinds.Filled: created.filled,
    kinds.Unwritten: created.unwritten,
    kinds.Counted: created.counted,
    kinds.Spaced: created.spaced,
    kinds.Band: created.band,
    kinds.Broadcast: reindexed.broadcast,
    kinds.Stretched: reindexed.stretched,
    kinds.Transposed: reindexed.transposed,
    kinds.Reshaped: reindexed.in_other_sizes,
    kinds.Subscripted: reindexed.subscripted,
    kinds.TakenAlong: reindexed.taken_along,
    kinds.Joined: rearranged.joined,
    kinds.Reversed: rearranged.reversed_axes,
    kinds.Rotated: rearranged.rotated,
    kinds.Tiled: rearranged.tiled,
    kinds.Repeated: rearranged.repeated,
    kinds.Padded: rearranged.padded,
    kinds.Triangle: rearranged.triangle,
    kinds.Diagonal: rearranged.diagonal,
    kinds.DiagonalMatrix: rearranged.diagonal_matrix,
    kinds.Fold: reductions.folded,
    kinds.Scan: reductions.scanned,
    kinds.Sum: reductions.sum_of,
    kinds.DiagonalSum: reductions.diagonal_sum,
    kinds.OperandSum: reductions.operand_sum,
    kinds.Position: extrema.position,
    kinds.Contraction: product_loops.contraction,
    kinds.CrossProduct: product_loops.cross_product,
    kinds.Convolution: product_loops.convolution,
    kinds.Rows: sorting_calls.by_rows,
    kinds.CallEach: sorting_calls.by_element,
    kinds.CallWhole: sorting_calls.of_vectors,
    kinds.LexicalOrder: sorting_calls.lexical_order,
    kinds.Unique: sorting_calls.unique,
    kinds.NonZero: sorting_calls.non_zero,
    kinds.Unravelled: sorting_calls.unravelled,
    kinds.Matrices: linalg_calls.of_matrices,
    kinds.System: linalg_calls.system,
    kinds.Draw: draws.drawn,
    kinds.SplitKeys: draws.split_keys,
    kinds.FoldedIn: draws.folded_in,
    kinds.ShapedDraw: draws.shaped,
}
"""The rule for each kind of `transpile.ops.lowering_kinds`; it takes the lowering, the statement and the record's kind."""


def by_rule(lw: Lowering, stmt: ir.Let | ir.Alloc) -> Any:
    """The result of the rule for the statement's kind, emitted; T501 if there is none."""
    how = record_of(stmt).lowering
    rule = RULES.get(type(how))  # type: ignore[arg-type]
    if rule is None:
        message = f"compiled code does not support {stmt.prim!r} yet"
        raise error("T501", message, stmt.loc, "call the function without jit")
    return rule(lw, stmt, how)


class Primitives(Lowering):
    """Lowers the statements that compute values."""

    def keep(self, elements: Elements, var: ir.Var) -> Elements:
        """The form in which an array value is held: new memory if it is read more than once, not cheap and not in memory, else
        unchanged."""
        if elements.cheap or elements.root is not None or self.total[var] <= 1:
            if elements.deps or not elements.cheap:
                self.snapshots[var] = None
            return elements
        return self.in_memory(elements, name_of(var))

    def array(self, stmt: ir.Let | ir.Alloc) -> Elements:
        """The elements of the result of an array primitive; its sizes, if the user computed them, are checked first."""
        if self.b.prims[stmt.prim].elementwise:
            return linear_sum(self, stmt) or elementwise.elementwise(self, stmt)
        if stmt.prim != "index":  # it clips its bounds
            check_given(self, stmt.var.type.dims, stmt.args)
        return _with_ones(by_rule(self, stmt), stmt.var.type.dims)

    def called(self, stmt: ir.Call) -> None:
        """Emits a call of a kept function and records its results in ``env``."""
        for var, found in zip(stmt.results, lowered_functions.call(self, stmt)):
            if isinstance(found, Elements):
                self.env[var] = self.keep(_with_ones(found, var.type.dims), var)
            else:
                self.env[var] = self.named(Expr(self.b, found), var)

    def number(self, stmt: ir.Let) -> ir.Operand:
        """The scalar result of a primitive, as an operand of the result."""
        prim = self.b.prims[stmt.prim]
        if prim.elementwise or stmt.prim == "cast":
            if prim.elementwise and any(o.type.dims for o in stmt.args):
                return elementwise.elementwise(self, stmt).at(()).op
            return overflow.compute(self, stmt, [self.scalar(a) for a in stmt.args]).op
        if stmt.prim in ("copy", "identity"):
            return self.scalar(stmt.args[0]).op
        found = by_rule(self, stmt)
        value = found.at(()) if isinstance(found, Elements) else found
        return self.named(value, stmt.var)

    def named(self, value: Expr, var: ir.Var) -> ir.Operand:
        """The value's operand; if it is a variable without a name, or named "total", it gets the name of ``var``, the
        user's."""
        if isinstance(value.op, ir.Var) and value.op.name in (ir.SYNTHETIC, "total") and var.name != ir.SYNTHETIC:
            value.op.name = var.name
        return value.op

    def several(self, stmt: ir.Let) -> list[Held]:
        """The results of a primitive with several, in order: elements or operands."""
        found: list[Held] = by_rule(self, stmt)
        return found


def _with_ones(found: Elements, dims: Sequence[Dim]) -> Elements:
    """The elements with constant 1 for the sizes that are 1 in ``dims``, as a check has shown."""
    if not any(d.is_one and not is_one(s) for d, s in zip(dims, found.sizes)):
        return found
    return replace(found, sizes=tuple(ir.Const(1, INT) if d.is_one else s for d, s in zip(dims, found.sizes)))
