"""Which integers are small: sizes of arrays and indices between them, of which no sum wraps at 64 bits."""

from __future__ import annotations

from transpile.analysis.affine import Forms, Linear
from transpile.analysis.value_ranges import as_extremum
from transpile.core import nodes as ir
from transpile.core.walk import statements


class Small:
    """What is known of the integers of one function to be small, wherever they stand."""

    def __init__(self, fn: ir.Function, forms: Forms | None = None) -> None:
        self.forms = Forms(fn.body) if forms is None else forms
        self.loops = {s.index: s for s in statements(fn.body) if isinstance(s, ir.For)}

    def is_small(self, op: ir.Operand) -> bool:
        return self.is_of_small(self.forms.of(op))

    def is_of_small(self, form: Linear) -> bool:
        """Whether the form is made of small integers, so that it cannot have wrapped."""
        return all(self._variable(v) for v in form.atoms)

    def _variable(self, var: ir.Var) -> bool:
        loop = self.loops.get(var)
        if loop is not None:
            return self.is_small(loop.start) and self.is_small(loop.bound)
        let = self.forms.lets.get(var)
        if let is None or let.prim == "dim":
            return let is not None
        between = self._among(let)
        return bool(between) and all(map(self.is_small, between))

    def _among(self, let: ir.Let) -> tuple[ir.Operand, ...]:
        """Integers between which a value lies, or between 0 and them."""
        if let.prim == "item" and isinstance(let.args[0], ir.Var):
            call = self.forms.lets.get(let.args[0])
            return call.args[:1] if call is not None and call.prim == "arrays.span" else ()
        if let.prim == "floordiv" and isinstance(let.args[1], ir.Const) and let.args[1].value > 0:
            return let.args[:1]
        if let.prim in ("arrays.bound", "arrays.wrap"):
            return let.args[1:]
        return as_extremum(let)[1]
