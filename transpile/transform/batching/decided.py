"""The decisions about a function that is batched, and about the functions of its calls.

y = soft(x)                   ->   y = soft(x)                     a `Call` whose function and rules are for all lanes

The rule of a call is batched with it: no derivative is ever taken of the batched body. A value that lanes share gets the sum of
its adjoints over the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transpile.analysis.activity import carries_derivative
from transpile.analysis.mapped import Mapped
from transpile.core import nodes as ir
from transpile.core.walk import Cloner, statements
from transpile.transform.batching.contradictions import Differs, Escapes
from transpile.transform.batching.diagonals import Diagonals
from transpile.transform.batching.lane_modes import Modes
from transpile.transform.batching.named_axis import Axis

Flags = Sequence[bool | None]


@dataclass
class Decided:
    """Which values of a function differ between lanes, and which statements run how. ``axis``: that of the collectives over the
    lanes."""

    fn: ir.Function
    mapped: Mapped
    modes: Modes[Parts]
    diagonals: Diagonals | None = None
    axis: Axis | None = None


Decide = Callable[[ir.Function, Flags], Decided]  # function, which parameters differ -> decisions


@dataclass
class Part:
    """One of the functions of a call, decided for all lanes: which parameters and which results have a lane axis."""

    found: Decided
    given: list[bool | None]
    outs: list[int | None]
    summed: set[int]  # results that are summed over the lanes

    @property
    def yields(self) -> tuple[ir.Operand, ...]:
        return self.found.fn.body.yields

    def is_axis(self, k: int) -> bool:
        """Whether result ``k`` is the number of lanes, which a rule may need."""
        return self.found.axis is not None and self.yields[k] is self.found.axis.size


class Parts:
    """The functions of a call, decided for all lanes."""

    def __init__(self, stmt: ir.Call, mapped: Mapped, decide: Decide) -> None:
        self.stmt, self.mapped, self.decide = stmt, mapped, decide
        args = mapped.given(stmt)
        results: list[bool | None] = [mapped.has(r) for r in stmt.results]
        outs = stmt.results[: stmt.custom.outputs]
        dots = [g for g, a in zip(args, stmt.args) if carries_derivative(a)]
        bars = [g for g, r in zip(results, outs) if carries_derivative(r)]
        floats = [r for r in outs if carries_derivative(r)]
        self.pullback: Part | None = None
        self.fn = self.part(stmt.custom.fn, args, results, stmt.results)
        results = [None if self.fn.is_axis(k) else r for k, r in enumerate(results)]
        match stmt.custom.rule:
            case "jvp":
                given = [*args, *dots]
                self.derivative = self.part(stmt.custom.derivative, given, [*results, *bars], [*stmt.results, *floats])
            case "vjp":
                self.derivative = self.adjoint(stmt.custom.derivative, [*results[stmt.custom.outputs :], *bars], dots)
            case "refused" | "again":
                self.derivative = Part(self.fn.found, [], [], set())
            case "linear":
                main = results[: stmt.custom.outputs]
                self.derivative = self.part(stmt.custom.derivative, [*args, *main], main, outs)
                if stmt.custom.pullback is not None:
                    self.pullback = self.part(stmt.custom.pullback, args, main, outs)
            case _:
                known = [*args, *results[: stmt.custom.outputs]]
                self.derivative = self.part(stmt.custom.derivative, [*known, *dots], bars, floats)
                if stmt.custom.pullback is not None:
                    self.pullback = self.adjoint(stmt.custom.pullback, [*known, *bars], dots)

    def part(self, fn: ir.Function, given: Flags, outs: Flags, results: Sequence[ir.Var]) -> Part:
        """The decisions about ``fn``, one function of the call, for parameters that differ between lanes where ``given`` is
        true; its results for which ``outs`` is true get a lane axis.

        Raises `Differs`, with the variable at the same position in ``results``, if another result differs, `Escapes` if the
        size of a result does.
        """
        found = self.decided(fn, given)
        for y, out, result in zip(found.yields, outs, results):
            if not out and found.found.mapped.has(y):
                raise Differs(result)
        found.outs = [0 if out else None for out in outs]
        return found

    def adjoint(self, fn: ir.Function, given: Flags, wanted: Flags) -> Part:
        """The decisions about ``fn``, a function of the call that gives adjoints, for parameters that differ between lanes
        where ``given`` is true. An adjoint gets a lane axis where ``wanted`` is true; others that differ are summed over the
        lanes. A constant 0, which means "no adjoint", stays."""
        found = self.decided(fn, given)
        for k, (y, own) in enumerate(zip(found.yields, wanted)):
            differs = found.found.mapped.has(y)
            found.outs.append(0 if differs or own and not _is_none(y) else None)
            if differs and not own:
                found.summed.add(k)
        return found

    def decided(self, fn: ir.Function, given: Flags) -> Part:
        """The decisions about a copy of ``fn``, for parameters that differ between lanes where ``given`` is true; lane axes of
        results are not filled in yet. Raises `Escapes` if the size of a result differs."""
        fn = Cloner().function(fn)
        found = self.decide(fn, given)
        for y in found.fn.body.yields:
            if isinstance(y, ir.Var) and found.mapped.has_size(y.type):
                raise Escapes(y)
        return Part(found, list(given), [], set())

    def is_dear(self) -> bool:
        """Whether the function of the call contains a product or a draw that is one call for all lanes."""
        return any(self.fn.found.modes.is_dear(s) for s in statements(self.fn.found.fn.body))


def _is_none(y: ir.Operand) -> bool:
    return isinstance(y, ir.Const) and y.value == 0
