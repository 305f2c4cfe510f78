"""A call of a function and a call of its pullback with the same arguments become one call.

    d = det(minor)                              d, minor_bar = det_value_and_pullback(minor, bar)
    bar = y_bar * sign * a[0, j]        ->
    minor_bar = det_pullback(minor, bar)

The cotangent must not depend on the value: it is computed before the call. A recursion of depth n that needs the values on the
way back then costs a small multiple of the function, not n times as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.functions import Routine, computes, is_kept
from transpile.core.rebuild import with_results
from transpile.core.walk import blocks, defines, dim_symbols
from transpile.transform.batching import of_lanes
from transpile.transform.function_derivatives import batched, derived
from transpile.transform.vjp import vjp_by_sides


def pair(fn: ir.Function) -> None:
    """Merges each call of a kept function with a later call of its pullback with the same arguments; the body is changed in
    place."""
    _block(fn.body, fn.symbols)


def _block(block: ir.Block, symbols: Mapping[str, ir.Operand]) -> None:
    """Merges each call of a kept function with a later call of its pullback with the same arguments, in a block and in nested
    blocks, in place."""
    for stmt in block.stmts:
        for inner in blocks(stmt):
            _block(inner, symbols)
    at = 0
    while at < len(block.stmts):
        first = block.stmts[at]
        found = _partner(block, at, first, symbols) if is_kept(first) else None
        if found is not None:
            assert is_kept(first)
            _merge(block, at, first, *found)
        at += 1


def _partner(
    block: ir.Block, at: int, first: ir.Call, symbols: Mapping[str, ir.Operand]
) -> tuple[ir.Call, list[ir.Stmt]] | None:
    """The first later call in the block, with the same arguments, of the pullback of what ``first`` (the statement at ``at``)
    calls, and the statements between the two that must move in front of ``first``; None if there is no such call."""
    count = len(first.args)
    for stmt in block.stmts[at + 1 :]:
        if not is_kept(stmt) or not is_pullback_of(stmt.routine, first.routine):
            continue
        if not all(_is_same(a, b) for a, b in zip(first.args, stmt.args)):
            continue
        moved = _moved(block, at, stmt, count, symbols)
        if moved is not None:
            return stmt, moved
    return None


def _is_same(a: ir.Operand, b: ir.Operand) -> bool:
    return a is b or (isinstance(a, ir.Const) and a == b)


def _moved(
    block: ir.Block, at: int, second: ir.Call, count: int, symbols: Mapping[str, ir.Operand]
) -> list[ir.Stmt] | None:
    """The statements from position ``at`` on that compute the cotangents of the call ``second`` (its arguments from ``count``
    on), in order; None if they cannot move in front of the call at ``at``, since one depends on it, reads a buffer, or is no
    plain computation."""
    made: dict[ir.Operand, ir.Let | ir.Call] = {v: s for s in block.stmts[at:] if computes(s) for v in defines(s)}
    others = {v for s in block.stmts[at:] for v in defines(s) if v not in made}
    first = block.stmts[at]
    found: dict[int, ir.Stmt] = {}
    queue = list(second.args[count:])
    while queue:
        op = queue.pop()
        if not isinstance(op, ir.Var):
            continue
        if op in others or made.get(op) is first:
            return None
        stmt = made.get(op)
        if stmt is None or id(stmt) in found:
            continue
        if any(isinstance(a, ir.Var) and (a.buffer or a.type.kind == "stack") for a in stmt.args):
            return None
        found[id(stmt)] = stmt
        queue += (*stmt.args, *(symbols[name] for name in dim_symbols(stmt) if name in symbols))
    return [s for s in block.stmts[at:] if id(s) in found]


def _merge(block: ir.Block, at: int, first: ir.Call, second: ir.Call, moved: list[ir.Stmt]) -> None:
    """Replaces, in place, the call ``first`` at ``at`` by ``moved`` and one call with the results of both, and removes the call
    ``second``."""
    both = value_and_pullback(second.routine)
    call = replace(first, function=both, args=second.args, results=(*first.results, *second.results))
    gone = {id(second), *(id(s) for s in moved)}
    rest = [s for s in block.stmts[at + 1 :] if id(s) not in gone]
    block.stmts[at:] = [*moved, call, *rest]


# -------------------------------------------------------------------------------------------------- routines


def value_and_pullback(of: Routine) -> Routine:
    """The routine that returns the results of a function, then those of its pullback ``of``, in one run; its parameters are
    those of ``of``. For all lanes if ``of`` is."""
    if of.origin is not None and of.origin[1][0] == "vmap":
        _, given, together = of.origin[1]
        return batched(value_and_pullback(of.origin[0]), given, together, of_lanes)
    assert of.origin is not None and of.origin[1][0] == "pullback", f"{of} is the pullback of nothing"
    routine, (_, wrt, seeded) = of.origin
    rest = [k for k in range(len(routine.results)) if k not in seeded]
    bars = of.params[len(routine.params) :]

    def body(fn: ir.Function) -> ir.Function:
        order = [*seeded, *rest]
        fn = with_results(fn, [fn.body.yields[k] for k in order])
        done = vjp_by_sides(fn, wrt, value=True, aux=len(rest))
        values = tuple(done.body.yields[order.index(k)] for k in range(len(order)))
        return with_results(done, (*values, *done.body.yields[len(order) :]))

    name = f"{routine.name}_value_and_pullback"
    return derived(
        routine, ("value", wrt, seeded), name, (*routine.params, *bars), (*routine.results, *of.results), body
    )


def is_pullback_of(other: Routine, routine: Routine) -> bool:
    """Whether ``other`` is the pullback of ``routine``; for two routines for all lanes, whether the same arguments differ and
    it is so for one lane."""
    if other.origin is None:
        return False
    of, key = other.origin
    if key[0] != "vmap" or routine.origin is None or routine.origin[1][0] != "vmap":
        return of is routine and key[0] == "pullback"
    first, (_, given, together) = routine.origin
    return key[1][: len(given)] == given and key[2] == together and is_pullback_of(of, first)
