"""The numbers of one call: its sizes, and counts known only at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from transpile.core import nodes as ir
from transpile.reports.formula import Formula


@dataclass(frozen=True)
class Values:
    """``known`` and ``measured`` are the values of symbols. For memory whose formula is only a bound, ``taken`` has its bytes,
    and ``entries``, if it is a stack, its number of entries."""

    known: Mapping[str, int]
    measured: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[ir.Var, int] = field(default_factory=dict)
    entries: Mapping[ir.Var, int] = field(default_factory=dict)

    def of(self, formula: Formula) -> int | None:
        """The value of a formula in this call, rounded up; None if a symbol is neither known nor measured."""
        given = {**self.known, **self.measured}
        return formula.at(given) if all(s in given for s in formula.symbols) else None

    def taken_by(self, var: ir.Var, formula: Formula) -> int | None:
        """The bytes of a variable: those measured (``taken``) if the formula is only a bound, else the value of ``formula``;
        None if that is unknown."""
        return self.taken.get(var, self.of(formula))
