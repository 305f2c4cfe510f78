"""Calls of all lanes: of functions with derivatives of their own, and of functions that are kept.

y = soft(x)                   ->   y = soft(x)                     a `Call` whose function and rules are those of all lanes
y = power(x, k)               ->   y = power_vmap(x, k)            x differs, the depth does not: a routine of its own
y = halved(x)                 ->   for lane in range(batch): ...   its depth differs: one call a lane

The rule of a call goes with it: no derivative is ever taken of what the function of all lanes does. What lanes share gets the sum
of their adjoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transpile.analysis.activity import carries_derivative
from transpile.analysis.called import effects_of
from transpile.analysis.mapped import Mapped
from transpile.core.builder import Builder, unify_any
from transpile.core.nodes import Block, Call, Const, Effect, Function, Let, Operand, Stmt, Var
from transpile.core.rebuild import with_blocks, with_stmts
from transpile.core.routines import Routine, routine_of
from transpile.core.types import INT
from transpile.core.walk import Cloner
from transpile.transform.routines import batched, derived

if TYPE_CHECKING:
    from transpile.transform.batching.whole import Decided, Emit

Flags = Sequence[bool | None]


@dataclass
class Part:
    """One of the functions of a call, decided for all lanes: which parameters have them, which results."""

    found: Decided
    given: list[bool | None]
    outs: list[int | None]
    summed: set[int]  # results that are added up over the lanes

    @property
    def yields(self) -> tuple[Operand, ...]:
        return self.found.fn.body.yields

    def is_axis(self, k: int) -> bool:
        """Whether a result is the axis itself, which a rule wants to know."""
        return self.found.axis is not None and self.yields[k] is self.found.axis.size

    def emit(self, count: int | None) -> Function:
        from transpile.transform.batching.whole import Emit

        axes = [0 if g else None for g in self.given]
        done = Emit(self.found, axes, self.outs, count, checked=False).run()
        b = Builder(done.symbols)
        b.unify, b.block = unify_any, done.body
        b.loc = done.loc
        yields = [
            b.let("sum", y, axes=(0,), keepdims=False).op if k in self.summed else y
            for k, y in enumerate(done.body.yields)
        ]
        done.body.yields = tuple(yields)
        return replace(done, name=self.found.fn.name)


class Parts:
    """The functions of a call of all lanes; ``results`` says which of its results differ between them."""

    def __init__(self, stmt: Call, mapped: Mapped, together: bool) -> None:
        self.stmt, self.mapped, self.together = stmt, mapped, together
        args = mapped.pattern(stmt.args)
        results: list[bool | None] = [mapped.has(r) for r in stmt.results]
        outs = stmt.results[: stmt.outputs]
        dots = [g for g, a in zip(args, stmt.args) if carries_derivative(a)]
        bars = [g for g, r in zip(results, outs) if carries_derivative(r)]
        floats = [r for r in outs if carries_derivative(r)]
        self.pullback: Part | None = None
        self.fn = self.part(stmt.fn, args, results, stmt.results)
        results = [None if self.fn.is_axis(k) else r for k, r in enumerate(results)]
        match stmt.rule:
            case "jvp":
                given = [*args, *dots]
                self.derivative = self.part(stmt.derivative, given, [*results, *bars], [*stmt.results, *floats])
            case "vjp":
                self.derivative = self.adjoint(stmt.derivative, [*results[stmt.outputs :], *bars], dots)
            case _:
                known = [*args, *results[: stmt.outputs]]
                self.derivative = self.part(stmt.derivative, [*known, *dots], bars, floats)
                if stmt.pullback is not None:
                    self.pullback = self.adjoint(stmt.pullback, [*known, *bars], dots)

    def part(self, fn: Function, given: Flags, outs: Flags, results: Sequence[Var]) -> Part:
        """Raises `Differs` where a result that lanes seemed to share differs, `Escapes` where it has a size of the lane's own."""
        from transpile.transform.batching.modes import Differs

        found = self.decided(fn, given)
        for y, out, result in zip(found.yields, outs, results):
            if not out and found.found.mapped.has(y):
                raise Differs(result)
        found.outs = [0 if out else None for out in outs]
        return found

    def adjoint(self, fn: Function, given: Flags, wanted: Flags) -> Part:
        """Of what lanes share the sum of the adjoints; a number that stands for none stays one."""
        found = self.decided(fn, given)
        for k, (y, own) in enumerate(zip(found.yields, wanted)):
            differs = found.found.mapped.has(y)
            found.outs.append(0 if differs or own and not _is_none(y) else None)
            if differs and not own:
                found.summed.add(k)
        return found

    def decided(self, fn: Function, given: Flags) -> Part:
        from transpile.transform.batching import decided
        from transpile.transform.batching.modes import Escapes

        fn = Cloner().function(fn)
        found = decided(fn, given, self.together, called=self.mapped.called)
        for y in found.fn.body.yields:
            if isinstance(y, Var) and found.mapped.has_size(y.type):
                raise Escapes(y)
        return Part(found, list(given), [], set())

    def is_dear(self) -> bool:
        """Whether it holds a product that is one for all lanes."""
        from transpile.core.walk import statements

        return any(self.fn.found.modes.is_dear(s) for s in statements(self.fn.found.fn.body))

    def emit(self, w: Emit) -> None:
        stmt, count = self.stmt, w.lanes.const if w.lanes.is_const else None
        results = tuple(
            Var(r.name, INT) if self.fn.is_axis(k) else Var(r.name, w.batched(r.type)) if w.differs(r) else r
            for k, r in enumerate(stmt.results)
        )
        fn = self.fn.emit(count)
        # without a cotangent that differs there is nothing of lanes in a rule: nobody will ask for it
        derivative = self.derivative.emit(count) if any(self.derivative.given) else stmt.derivative
        pullback = self.pullback.emit(count) if self.pullback is not None else None
        args = tuple(w.count if a is w.mapped.axis else w.of(a) for a in stmt.args)
        w.b.emit(replace(stmt, fn=fn, args=args, results=results, derivative=derivative, pullback=pullback))
        w.alls.update((old, new) for old, new in zip(stmt.results, results) if old is not new)


def _is_none(y: Operand) -> bool:
    return isinstance(y, Const) and y.value == 0


# -------------------------------------------------------------------------------------------------- kept functions


def is_whole(mapped: Mapped, stmt: Let) -> bool:
    """Whether a call of a kept function can be one for all lanes: all of them go equally deep."""
    found = mapped.called_as(stmt)
    return not (found.splits or any(found.sizes))


def invoked(w: Emit, stmt: Let) -> Operand:
    """The call of the kept function of all lanes."""
    given = w.mapped.called_as(stmt).given
    args = tuple(w.count if g is None else w.whole(a) if g else a for a, g in zip(stmt.args, given))
    routine = batched(stmt.params["routine"], given, w.modes.together)
    return w.b.bind("", w.batched(stmt.var.type), "invoke", args, {"routine": routine})


# -------------------------------------------------------------------------------------------- calls of a single lane


def named(stmt: Call | Let, lane: Operand) -> Call | Let:
    """The call of one lane with what it raises saying which: the number of the lane is an argument more."""
    every = [replace(stmt, fn=fn) for fn in _functions(stmt)] if isinstance(stmt, Call) else [stmt]
    if not any(names_lane(e) for one in every for e in effects_of(one)):
        return stmt
    if isinstance(stmt, Call):
        return _named_call(stmt, lane)
    routine = _with_lane(stmt.params["routine"])
    return replace(stmt, args=(*stmt.args, lane), params={**stmt.params, "routine": routine})


def names_lane(effect: Effect) -> bool:
    """Whether it is a raise that can say in which lane."""
    return (
        effect.kind == "raise"
        and effect.params.get("exception") not in (None, "UnboundLocalError")
        and "parts" in effect.params
    )


def in_lane(effect: Effect, lane: Operand) -> Effect:
    """The raise with the number of the lane behind its message; the lanes of an inner `vmap` come behind those of an outer."""
    parts, args = list(effect.params["parts"]), effect.args
    slot = (len(args), "", "")
    lanes = [k for k, part in enumerate(parts) if part in _LANES] if effect.params.get("lanes") else []
    if lanes:
        parts[lanes[-1] + 1 : lanes[-1] + 1] = [slot, ", "]
    else:
        parts += [_LANES[not parts], slot, ")"]
    return replace(effect, args=(*args, lane), params={**effect.params, "parts": tuple(parts), "lanes": True})


_LANES = (" (lane ", "(lane ")  # behind a message, and for none


def _functions(stmt: Call) -> list[Function]:
    return [fn for fn in (stmt.fn, stmt.derivative, stmt.pullback) if fn is not None]


def _named_call(stmt: Call, lane: Operand) -> Call:
    """Every function of the call has the lane's number among its arguments; a pullback, among what was kept for it."""
    at, bars = len(stmt.args), len(stmt.results)
    fn = _with_lane_at(stmt.fn, at)
    if stmt.rule == "vjp":
        fn = replace(fn, body=replace(fn.body, yields=(*fn.body.yields, fn.params[at])))
        derivative = _with_lane_at(stmt.derivative, bars - stmt.outputs)
        results = (*stmt.results, Var("", INT))
        return replace(stmt, fn=fn, args=(*stmt.args, lane), derivative=derivative, results=results)
    pullback = stmt.pullback if stmt.pullback is None else _with_lane_at(stmt.pullback, at)
    return replace(
        stmt, fn=fn, args=(*stmt.args, lane), derivative=_with_lane_at(stmt.derivative, at), pullback=pullback
    )


def _with_lane_at(fn: Function, at: int) -> Function:
    """The function with the lane's number as one more parameter, and all that it raises saying it."""
    lane = Var("lane", INT)
    fn = Cloner().function(fn)
    return replace(fn, params=(*fn.params[:at], lane, *fn.params[at:]), body=_named_block(fn.body, lane))


def _with_lane(routine: Routine) -> Routine:
    def body(fn: Function) -> Function:
        return _with_lane_at(fn, len(fn.params))

    params = (*routine.params, Var("lane", INT))
    return derived(routine, "lane", routine.name, params, routine.results, body)


def _named_block(block: Block, lane: Var) -> Block:
    def one(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Effect) and names_lane(stmt):
            return in_lane(stmt, lane)
        if isinstance(stmt, Call) or routine_of(stmt) is not None:
            return named(stmt, lane)  # type: ignore[arg-type]
        return with_blocks(stmt, lambda b: _named_block(b, lane))

    return with_stmts(block, [one(s) for s in block.stmts])


__all__ = ["Parts", "in_lane", "invoked", "is_whole", "named", "names_lane"]
