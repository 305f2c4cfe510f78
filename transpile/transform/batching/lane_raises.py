"""Exceptions of one lane name the lane, in the function itself and in functions that it calls.

raise ValueError("x is negative")     ->     raise ValueError(f"x is negative (lane {lane})")
y = soft(x)                           ->     y = soft(x, lane)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from transpile.analysis.called import effects_of
from transpile.core import nodes as ir
from transpile.core.functions import Routine
from transpile.core.rebuild import with_blocks, with_results, with_stmts
from transpile.core.types import INT
from transpile.core.walk import Cloner
from transpile.transform.function_derivatives import derived


def named(stmt: ir.Call, lane: ir.Operand) -> ir.Call:
    """``stmt``, a call in one lane; if the called function may raise, a call of a variant of it whose messages name the lane,
    with ``lane``, its number, as a further last argument."""
    if not any(names_lane(e) for e in _effects(stmt)):
        return stmt
    if isinstance(stmt.function, Routine):
        return replace(stmt, args=(*stmt.args, lane), function=_with_lane(stmt.function))
    return _named_call(stmt, lane)


def names_lane(effect: ir.Effect) -> bool:
    """Whether the effect is an exception whose message can name the lane: any but UnboundLocalError."""
    return isinstance(effect, ir.Raise) and effect.exception != "UnboundLocalError"


def in_lane(effect: ir.Raise, lane: ir.Operand) -> ir.Raise:
    """A new exception with ``(lane N)`` after its message, N the value of ``lane``; if it names lanes already, those of an
    inner `vmap`, the new number comes before them."""
    parts, args = list(effect.parts), effect.args
    slot = (len(args), "", "")
    if effect.lanes:
        first = len(parts) - 2 * effect.lanes  # after it: each lane, a comma, the bracket
        parts[first:first] = [slot, ", "]
    else:
        parts += [" (lane " if parts else "(lane ", slot, ")"]
    return replace(effect, args=(*args, lane), parts=tuple(parts), lanes=effect.lanes + 1)


def _effects(stmt: ir.Call) -> Iterator[ir.Effect]:
    """The effects of a call, prints and raises; for a custom rule, those of all its functions."""
    if isinstance(stmt.function, Routine):
        yield from effects_of(stmt)
        return
    rule = stmt.custom
    for fn in (rule.fn, rule.derivative, rule.pullback):
        if fn is not None:
            yield from effects_of(replace(stmt, function=replace(rule, fn=fn)))


def _named_call(stmt: ir.Call, lane: ir.Operand) -> ir.Call:
    """The call with the number of the lane as a last argument, and a parameter for it in every function of its rule; a pullback
    gets it as a kept value, a further result of the call."""
    rule, at, bars = stmt.custom, len(stmt.args), len(stmt.results)
    fn = _with_lane_at(rule.fn, at)
    if rule.rule == "vjp":
        fn = with_results(fn, (*fn.body.yields, fn.params[at]))
        derivative = _with_lane_at(rule.derivative, bars - rule.outputs)
        results = (*stmt.results, ir.Var("", INT))
        return replace(
            stmt, function=replace(rule, fn=fn, derivative=derivative), args=(*stmt.args, lane), results=results
        )
    pullback = rule.pullback if rule.pullback is None else _with_lane_at(rule.pullback, at)
    named = replace(rule, fn=fn, derivative=_with_lane_at(rule.derivative, at), pullback=pullback)
    return replace(stmt, function=named, args=(*stmt.args, lane))


def _with_lane_at(fn: ir.Function, at: int) -> ir.Function:
    """A copy of the function with the number of the lane as a new parameter at position ``at``, and with exceptions that name
    it."""
    lane = ir.Var("lane", INT)
    fn = Cloner().function(fn)
    return replace(fn, params=(*fn.params[:at], lane, *fn.params[at:]), body=_named_block(fn.body, lane))


def _with_lane(routine: Routine) -> Routine:
    """The routine with the number of the lane as a further last parameter, and with exceptions that name it; built once."""

    def body(fn: ir.Function) -> ir.Function:
        return _with_lane_at(fn, len(fn.params))

    params = (*routine.params, ir.Var("lane", INT))
    return derived(routine, "lane", routine.name, params, routine.results, body)


def _named_block(block: ir.Block, lane: ir.Var) -> ir.Block:
    """The block in which exceptions, also those of called functions, name ``lane``."""

    def one(stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.Raise) and names_lane(stmt):
            return in_lane(stmt, lane)
        if isinstance(stmt, ir.Call):
            return named(stmt, lane)
        return with_blocks(stmt, lambda b: _named_block(b, lane))

    return with_stmts(block, [one(s) for s in block.stmts])
