"""Small integers: array sizes and loop indices between them, whose sums cannot wrap at 64 bits."""

from __future__ import annotations

from transpile.analysis.affine import Forms, Linear
from transpile.core import nodes as ir
from transpile.core.walk import statements
from transpile.ops.tables import record_of


class Small:
    """Tests for one function; the answer does not depend on the position in the code."""

    def __init__(self, fn: ir.Function, forms: Forms | None = None) -> None:
        self.forms = Forms(fn.body) if forms is None else forms
        self.loops = {s.index: s for s in statements(fn.body) if isinstance(s, ir.For)}

    def is_small(self, op: ir.Operand) -> bool:
        """Whether an integer is surely computed from sizes, loop indices between sizes, and maxima and the like of these, by
        sums and multiples only."""
        return self.is_of_small(self.forms.of(op))

    def is_of_small(self, form: Linear) -> bool:
        """Whether all variables of the form are small integers, so that it cannot have wrapped; coefficients and constant,
        which are taken to be small too, are not looked at."""
        return all(self._variable(v) for v in form.atoms)

    def _variable(self, var: ir.Var) -> bool:
        """Whether a variable is a size, the index of a loop between small integers, or a maximum, minimum or the like of
        some."""
        loop = self.loops.get(var)
        if loop is not None:
            return self.is_small(loop.start) and self.is_small(loop.bound)
        let = self.forms.lets.get(var)
        if let is None or let.prim == "dim":
            return let is not None
        between = self._among(let)
        return bool(between) and all(map(self.is_small, between))

    def _among(self, let: ir.Let) -> tuple[ir.Operand, ...]:
        """Operands of which the largest in magnitude is at least as large as the value, as for a maximum; empty if none are
        known."""
        if let.prim == "item" and isinstance(let.args[0], ir.Var):
            call = self.forms.lets.get(let.args[0])
            return () if call is None else self._among(call)
        magnitude = record_of(let).magnitude
        if magnitude is None or record_of(magnitude.joined).is_polynomial:
            return ()
        return let.args[magnitude.first :] if magnitude.joined else let.args[magnitude.first : magnitude.first + 1]
