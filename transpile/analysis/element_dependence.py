"""Whether two accesses in loop core can touch the same element: a dependence test on subscripts as linear forms, with known
ranges of integers.

The accesses belong to one iteration, or to two iterations of the loops around, whose indices are then different variables. For
array core, with its slices and the order of statements, see `transpile.analysis.dependence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from transpile.analysis.affine import Linear
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.ops.traits import NOT_EQUAL


def never_meet(x: Sequence[Linear], y: Sequence[Linear], facts: Facts) -> bool:
    """Whether two lists of subscripts of one array surely never name the same element: on some axis they differ. False if that
    is not known."""
    pairs = list(zip(x, y))
    if any(p.key == q.key and p.const != q.const for p, q in pairs):
        return True
    return any(p != q and facts.compare(NOT_EQUAL, p, q) for p, q in pairs)


class OtherTrip:
    """Two iterations of the given loops, equal or not: each variable in ``own``, defined by an iteration, has a twin in the
    other one."""

    def __init__(self, loops: Iterable[ir.For], own: set[ir.Var], facts: Facts) -> None:
        self.own = own
        self.twins: dict[ir.Var, ir.Var] = {}
        self.facts = facts.inner()
        for loop in loops:
            self.facts.enter(loop)
            self.facts.enter(replace(loop, index=self.twin(loop.index)))

    def twin(self, var: ir.Var) -> ir.Var:
        """The variable that stands for ``var`` in the other iteration."""
        return self.twins.setdefault(var, ir.Var(var.name, var.type))

    def never_meet(self, x: Sequence[Linear], y: Sequence[Linear]) -> bool:
        """Whether the subscripts ``x`` in one iteration surely never name the element that ``y`` names in the other."""
        return never_meet(x, [self.form(q) for q in y], self.facts)

    def form(self, form: Linear) -> Linear:
        """The form with each variable that an iteration defines replaced by its twin."""
        return Linear(form.const, tuple((self.twin(v) if v in self.own else v, c) for v, c in form.terms))
