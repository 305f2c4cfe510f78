"""The numbers of one call: of its sizes, and of what only the run knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from transpile.core import nodes as ir
from transpile.reports.formula import Formula


@dataclass(frozen=True)
class Values:
    """``known`` and ``measured`` are the values of symbols. Of memory whose formula is only a bound, ``taken`` says how many bytes
    it takes, and of such a stack ``entries`` how many entries it has."""

    known: Mapping[str, int]
    measured: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[ir.Var, int] = field(default_factory=dict)
    entries: Mapping[ir.Var, int] = field(default_factory=dict)

    def of(self, formula: Formula) -> int | None:
        """The number; None if something is neither known nor measured."""
        given = {**self.known, **self.measured}
        return formula.at(given) if all(s in given for s in formula.symbols) else None

    def taken_by(self, var: ir.Var, formula: Formula) -> int | None:
        """The bytes of a variable of which the formula says how many, or at most how many."""
        return self.taken.get(var, self.of(formula))
