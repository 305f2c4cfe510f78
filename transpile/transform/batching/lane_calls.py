"""Calls for all lanes: of functions with custom rules, and of kept functions.

y = soft(x)                   ->   y = soft(x)                     a `Call` whose function and rules are for all lanes
y = power(x, k)               ->   y = power_vmap(x, k)            x differs, the recursion depth does not: a batched routine
y = halved(x)                 ->   for lane in range(batch): ...   the depth differs: one call per lane
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder, unify_any
from transpile.core.types import INT
from transpile.ops.tables import prims
from transpile.transform.batching.all_lanes import AllLanes
from transpile.transform.batching.decided import Decided, Part, Parts
from transpile.transform.function_derivatives import OfLanes, batched

Emission = Callable[[Decided, Sequence[int | None], Sequence[int | None], int | None], ir.Function]
"""From decisions, lane axes of parameters and results, and the number of lanes if known, to the function for all lanes."""


def call(w: AllLanes, parts: Parts, emitted: Emission) -> None:
    """Emits one call for all lanes of a function with a custom rule; ``parts`` has the call and the decisions about its
    functions. ``emitted`` makes a function for all lanes of each of them."""
    stmt, count = parts.stmt, w.lanes.const if w.lanes.is_const else None
    results = tuple(
        ir.Var(r.name, INT) if parts.fn.is_axis(k) else ir.Var(r.name, w.batched(r.type)) if w.differs(r) else r
        for k, r in enumerate(stmt.results)
    )
    fn = _of_part(parts.fn, count, emitted)
    # if no argument of the rule differs, nothing asks for the rule of all lanes
    derivative = _of_part(parts.derivative, count, emitted) if any(parts.derivative.given) else stmt.custom.derivative
    pullback = _of_part(parts.pullback, count, emitted) if parts.pullback is not None else None
    args = tuple(
        w.count if a is w.mapped.axis else w.whole(a) if g else w.of(a) for a, g in zip(stmt.args, parts.fn.given)
    )
    rule = replace(stmt.custom, fn=fn, derivative=derivative, pullback=pullback)
    w.b.emit(replace(stmt, function=rule, args=args, results=results))
    w.alls.update((old, new) for old, new in zip(stmt.results, results) if old is not new)


def _of_part(part: Part, count: int | None, emitted: Emission) -> ir.Function:
    """The function for all lanes of one function of a call; results in ``part.summed`` are summed over the lanes. ``count``:
    the number of lanes, None if unknown."""
    axes = [0 if g else None for g in part.given]
    done = emitted(part.found, axes, part.outs, count)
    b = Builder(prims(), done.symbols, done)
    b.unify, b.block = unify_any, done.body
    b.loc = done.loc
    yields = [
        b.let("sum", y, axes=(0,), keepdims=False).op if k in part.summed else y for k, y in enumerate(done.body.yields)
    ]
    done.body.yields = tuple(yields)
    return replace(done, name=part.found.fn.name)


def invoked(w: AllLanes, stmt: ir.Call, batch: OfLanes) -> None:
    """Emits one call for all lanes of the batched routine in place of ``stmt``, a call of a kept function; ``batch`` derives
    bodies of routines."""
    given = w.mapped.called_as(stmt).given
    args = tuple(w.count if g is None else w.whole(a) if g else a for a, g in zip(stmt.args, given))
    results = tuple(ir.Var("", w.batched(r.type)) for r in stmt.results)
    w.b.emit(ir.Call(batched(stmt.routine, given, w.modes.together, batch), args, results, loc=w.b.loc))
    for old, new in zip(stmt.results, results):
        w.keep(new, old)
