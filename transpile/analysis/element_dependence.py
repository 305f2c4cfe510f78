"""Whether two accesses can touch one element, in lowered code: subscripts as forms, and what is known of integers there.

The dependence test of loops: in one trip, or in two trips of the loops around, whose indices are then two variables. What lifted
code asks, of slices and of the order of statements, is `transpile.analysis.dependence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from transpile.analysis.affine import Linear
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.ops.traits import NOT_EQUAL


def never_meet(x: Sequence[Linear], y: Sequence[Linear], facts: Facts) -> bool:
    """Whether the subscripts of one array never say one element: on some axis they differ for certain."""
    pairs = list(zip(x, y))
    if any(p.key == q.key and p.const != q.const for p, q in pairs):
        return True
    return any(p != q and facts.compare(NOT_EQUAL, p, q) for p, q in pairs)


class OtherTrip:
    """Two trips of loops, the same one or not: what a trip defines, ``own``, has a twin of it in the other one."""

    def __init__(self, loops: Iterable[ir.For], own: set[ir.Var], facts: Facts) -> None:
        self.own = own
        self.twins: dict[ir.Var, ir.Var] = {}
        self.facts = facts.inner()
        for loop in loops:
            self.facts.enter(loop)
            self.facts.enter(replace(loop, index=self.twin(loop.index)))

    def twin(self, var: ir.Var) -> ir.Var:
        return self.twins.setdefault(var, ir.Var(var.name, var.type))

    def never_meet(self, x: Sequence[Linear], y: Sequence[Linear]) -> bool:
        """Whether what the subscripts ``x`` say in the one trip is never what ``y`` say in the other."""
        return never_meet(x, [self.form(q) for q in y], self.facts)

    def form(self, form: Linear) -> Linear:
        return Linear(form.const, tuple((self.twin(v) if v in self.own else v, c) for v, c in form.terms))
