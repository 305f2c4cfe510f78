"""The values that primitives give: the table of all rules, and whether to hold elements or memory of what they give."""

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
from transpile.lower.elementwise import TABLE as ELEMENTWISE
from transpile.lower.elementwise import elementwise
from transpile.lower.lowering import Held, Lowering, name_of
from transpile.lower.size_checks import check_given
from transpile.lower.sums import linear as linear_sum
from transpile.ops.tables import record_of

ARRAYS: dict[str, Callable[[Lowering, Any], Any]] = {
    **ELEMENTWISE,
    **created.TABLE,
    **reindexed.TABLE,
    **rearranged.TABLE,
    **reductions.TABLE,
    **extrema.TABLE,
    **product_loops.TABLE,
    **sorting_calls.TABLE,
    **draws.TABLE,
    **linalg_calls.TABLE,
}
KINDS: dict[str, Callable[[Lowering, Any], Any]] = {
    "fold": reductions.folded,
    "scan": reductions.scanned,
    "rows": sorting_calls.by_rows,
    "matrix": linalg_calls.of_matrices,
    "draw": draws.drawn,
}
"""What the record says enough of: where a primitive has no rule of its own."""
SEVERAL: dict[str, Callable[[Lowering, Any], list[Held]]] = {**sorting_calls.SEVERAL}


def rule_of(stmt: ir.Let | ir.Alloc) -> Callable[[Lowering, Any], Any]:
    """The rule of a primitive, or of its kind."""
    rule = ARRAYS.get(stmt.prim) or KINDS.get(record_of(stmt).kind)
    if rule is None:
        raise error("T501", f"'{stmt.prim}' cannot be compiled yet", stmt.loc)
    return rule


class Primitives(Lowering):
    def keep(self, elements: Elements, var: ir.Var) -> Elements:
        """What to hold of an array value: its elements, or memory if it is read more than once and dear."""
        if elements.cheap or elements.root is not None or self.total[var] <= 1:
            if elements.deps or not elements.cheap:
                self.snapshots[var] = None
            return elements
        return self.in_memory(elements, name_of(var))

    def array(self, stmt: ir.Let | ir.Alloc) -> Elements:
        """The elements of an array primitive."""
        if self.b.prims[stmt.prim].elementwise:
            return linear_sum(self, stmt) or elementwise(self, stmt)
        rule = rule_of(stmt)
        if stmt.prim != "index":  # that clips what it is given
            check_given(self, stmt.var.type.dims, stmt.args)
        return _with_ones(rule(self, stmt), stmt.var.type.dims)

    def called(self, stmt: ir.Call) -> None:
        """The results of a call of a kept function."""
        for var, found in zip(stmt.results, lowered_functions.call(self, stmt)):
            if isinstance(found, Elements):
                self.env[var] = self.keep(_with_ones(found, var.type.dims), var)
            else:
                self.env[var] = self.named(Expr(self.b, found), var)

    def number(self, stmt: ir.Let) -> ir.Operand:
        """The scalar that a primitive gives."""
        prim = self.b.prims[stmt.prim]
        if prim.elementwise or stmt.prim == "cast":
            if prim.elementwise and any(o.type.dims for o in stmt.args):
                return elementwise(self, stmt).at(()).op
            return overflow.compute(self, stmt, [self.scalar(a) for a in stmt.args]).op
        if stmt.prim in ("copy", "identity"):
            return self.scalar(stmt.args[0]).op
        found = rule_of(stmt)(self, stmt)
        value = found.at(()) if isinstance(found, Elements) else found
        return self.named(value, stmt.var)

    def named(self, value: Expr, var: ir.Var) -> ir.Operand:
        """The value under the user's name, if it has none yet."""
        if isinstance(value.op, ir.Var) and value.op.name in (ir.SYNTHETIC, "total") and var.name != ir.SYNTHETIC:
            value.op.name = var.name
        return value.op

    def several(self, stmt: ir.Let) -> list[Held]:
        rule = SEVERAL.get(stmt.prim) or (linalg_calls.several if record_of(stmt).kind == "matrix" else None)
        if rule is None:
            raise error("T501", f"'{stmt.prim}' cannot be compiled yet", stmt.loc)
        return rule(self, stmt)


def _with_ones(found: Elements, dims: Sequence[Dim]) -> Elements:
    """The elements with 1 for the sizes that a check has shown to be that."""
    if not any(d.is_one and not is_one(s) for d, s in zip(dims, found.sizes)):
        return found
    return replace(found, sizes=tuple(ir.Const(1, INT) if d.is_one else s for d, s in zip(dims, found.sizes)))
