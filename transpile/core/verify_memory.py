"""Checks that everything recorded has a reason, and that iterations that run concurrently write memory of their own."""

from __future__ import annotations

from collections.abc import Iterator

from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks, defined, reads, statements

TAPE = "_tape"  # suffix of the names of recorded stacks and arrays; their tangents and adjoints have other suffixes


def reasons(fn: ir.Function, after: str = "") -> None:
    """Raises `InternalError`, which names the pass ``after``, if a stack with the name of a tape has no reason."""
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.NewStack) and _is_tape(stmt):
            refuse(fn, after, f"{stmt.var} is recorded without a reason", stmt)


def new_reasons(old: ir.Function, new: ir.Function, after: str = "") -> None:
    """Raises `InternalError` if a pass (``after``) allocates a tape array without a reason, or drops the reason of one. A
    user's variable may have the name of a tape, and a pass may allocate memory for it."""
    told = {s.var.name for s in statements(old.body) if isinstance(s, ir.Alloc) and s.reason}
    known = {s.var.name for s in _tapes(old)} | ({v.name for v in defined(old.body)} - told)
    for stmt in _tapes(new):
        if stmt.var.name not in known:
            refuse(new, after, f"{stmt.var} is recorded without a reason", stmt)


def _is_tape(stmt: ir.NewStack | ir.Alloc) -> bool:
    """Whether the statement creates something with the name of a tape and has no reason."""
    return stmt.var.name.endswith(TAPE) and not stmt.reason


def _tapes(fn: ir.Function) -> Iterator[ir.Alloc]:
    """The allocations with the name of a tape and without a reason, in the function and in the rules that it calls."""
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.Alloc) and _is_tape(stmt):
            yield stmt
        if isinstance(stmt, ir.Call) and isinstance(stmt.function, ir.Custom):
            for one in (stmt.function.fn, stmt.function.derivative, stmt.function.pullback):
                if one is not None:
                    yield from _tapes(one)


def apart(fn: ir.Function, is_array: bool, after: str = "") -> None:
    """Raises `InternalError` if an iteration of a loop whose iterations may run in any order writes memory that is not provably
    its own; ``after`` names the pass in the message.

    In array core (``is_array``) these are loops over lanes, in loop core parallel loops. (In loop core, passes may let lanes
    share memory, one lane after the other.)
    """
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.For) and (stmt.lanes if is_array else stmt.kind == "parallel"):
            _apart(fn, stmt, after)


def _apart(fn: ir.Function, loop: ir.For, after: str) -> None:
    """Raises `InternalError` if this loop may stop early, if it is parallel and carries values, or if an iteration writes
    memory from outside at a place that does not depend on the iteration.

    In a loop over lanes, reads of memory that the loop stores to count too; memory that it only adds to may be shared.
    """
    # lanes of a reverse sweep may carry sums: they run one after the other
    hands_on = loop.kind == "parallel" and (loop.inits or loop.results)
    if hands_on or loop.body.stop is not None:
        refuse(fn, after, "trips that run at once hand something on", loop)
    own = {loop.index, *defined(loop.body)}
    depends = _depending(loop)
    written = {s.buf for s in statements(loop.body) if isinstance(s, (ir.Store, ir.Add))} - own
    if loop.kind == "serial":  # in any order, but one after the other: memory that is only added to may be shared
        written &= {root for s in statements(loop.body) if not isinstance(s, ir.Add) for root, _ in _touched(s)}
    for stmt in statements(loop.body):
        # a chunk may read y[0] while all write y[i + 1]: its bounds do not show that i is never -1
        seen = _touched(stmt) if loop.kind == "serial" or not isinstance(stmt, ir.Let) else ()
        for root, args in seen:
            if root in written and not any(a in depends for a in args):
                refuse(fn, after, f"{root} is written by trips that run at once, and this is no trip's own place", stmt)


def _touched(stmt: ir.Stmt) -> Iterator[tuple[ir.Operand, tuple[ir.Operand, ...]]]:
    """The buffer and the subscripts of a store, an addition or a read of an element; nothing for other statements."""
    if isinstance(stmt, (ir.Store, ir.Add)):
        yield stmt.buf, stmt.args
    elif isinstance(stmt, ir.Let) and stmt.prim == "index":
        yield stmt.args[0], stmt.args[1:]


def _depending(loop: ir.For) -> set[ir.Operand]:
    """The operands that may differ between iterations: the loop's index, and the *lets* and inner indices computed from it."""
    found: set[ir.Operand] = {loop.index}

    def visit(block: ir.Block) -> None:
        for stmt in block.stmts:
            depends = any(o in found for o in reads(stmt))
            if isinstance(stmt, ir.Let) and depends:
                found.add(stmt.var)
            if isinstance(stmt, ir.For) and any(o in found for o in (stmt.start, stmt.bound, stmt.step)):
                found.add(stmt.index)
            for inner in blocks(stmt):
                visit(inner)

    visit(loop.body)
    return found
