"""What is decided of a function for all lanes, and of the functions of its calls.

y = soft(x)                   ->   y = soft(x)                     a `Call` whose function and rules are those of all lanes

The rule of a call goes with it: no derivative is ever taken of what the function of all lanes does. What lanes share gets the sum
of their adjoints.
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
    """What of a function differs between lanes, and what runs how; ``axis`` is that of the collectives over them."""

    fn: ir.Function
    mapped: Mapped
    modes: Modes[Parts]
    diagonals: Diagonals | None = None
    axis: Axis | None = None


Decide = Callable[[ir.Function, Flags], Decided]  # a function where these of its parameters differ


@dataclass
class Part:
    """One of the functions of a call, decided for all lanes: which parameters have them, which results."""

    found: Decided
    given: list[bool | None]
    outs: list[int | None]
    summed: set[int]  # results that are added up over the lanes

    @property
    def yields(self) -> tuple[ir.Operand, ...]:
        return self.found.fn.body.yields

    def is_axis(self, k: int) -> bool:
        """Whether a result is the axis itself, which a rule wants to know."""
        return self.found.axis is not None and self.yields[k] is self.found.axis.size


class Parts:
    """The functions of a call of all lanes."""

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
        """Raises `Differs` where a result that lanes seemed to share differs, `Escapes` where it has a size of the lane's own."""
        found = self.decided(fn, given)
        for y, out, result in zip(found.yields, outs, results):
            if not out and found.found.mapped.has(y):
                raise Differs(result)
        found.outs = [0 if out else None for out in outs]
        return found

    def adjoint(self, fn: ir.Function, given: Flags, wanted: Flags) -> Part:
        """Of what lanes share the sum of the adjoints; a number that stands for none stays one."""
        found = self.decided(fn, given)
        for k, (y, own) in enumerate(zip(found.yields, wanted)):
            differs = found.found.mapped.has(y)
            found.outs.append(0 if differs or own and not _is_none(y) else None)
            if differs and not own:
                found.summed.add(k)
        return found

    def decided(self, fn: ir.Function, given: Flags) -> Part:
        fn = Cloner().function(fn)
        found = self.decide(fn, given)
        for y in found.fn.body.yields:
            if isinstance(y, ir.Var) and found.mapped.has_size(y.type):
                raise Escapes(y)
        return Part(found, list(given), [], set())

    def is_dear(self) -> bool:
        """Whether it holds a product that is one for all lanes."""
        return any(self.fn.found.modes.is_dear(s) for s in statements(self.fn.found.fn.body))


def _is_none(y: ir.Operand) -> bool:
    return isinstance(y, ir.Const) and y.value == 0
