"""What is recorded has a reason; lanes and trips that run at once touch memory of their own."""

from __future__ import annotations

from collections.abc import Iterator

from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks, defined, reads, statements

TAPE = "_tape"  # how the names of stacks and arrays end that are recorded onto; those of their tangents and adjoints end otherwise


def reasons(fn: ir.Function, after: str = "") -> None:
    """Raises `InternalError` where a stack is recorded onto and nobody says why."""
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.NewStack) and _is_tape(stmt):
            refuse(fn, after, f"{stmt.var} is recorded without a reason", stmt)


def new_reasons(old: ir.Function, new: ir.Function, after: str = "") -> None:
    """Raises `InternalError` where a pass makes an array to be recorded into and does not say why, or forgets why there is one. A
    value of the user's may be called like one, and a pass may give it memory."""
    told = {s.var.name for s in statements(old.body) if isinstance(s, ir.Alloc) and s.reason}
    known = {s.var.name for s in _tapes(old)} | ({v.name for v in defined(old.body)} - told)
    for stmt in _tapes(new):
        if stmt.var.name not in known:
            refuse(new, after, f"{stmt.var} is recorded without a reason", stmt)


def _is_tape(stmt: ir.NewStack | ir.Alloc) -> bool:
    """Whether what is made is called like a tape, and nobody says why."""
    return stmt.var.name.endswith(TAPE) and not stmt.reason


def _tapes(fn: ir.Function) -> Iterator[ir.Alloc]:
    """What is called like a tape and has no reason, in the function and in the rules of what it calls."""
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.Alloc) and _is_tape(stmt):
            yield stmt
        if isinstance(stmt, ir.Call) and isinstance(stmt.function, ir.Custom):
            for one in (stmt.function.fn, stmt.function.derivative, stmt.function.pullback):
                if one is not None:
                    yield from _tapes(one)


def apart(fn: ir.Function, is_array: bool, after: str = "") -> None:
    """Raises `InternalError` where a trip of a loop whose trips may run in any order writes what is not seen to be its own: a lane,
    as long as no pass over loops gives lanes memory to share, one after the other; a chunk, which runs beside others."""
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.For) and (stmt.lanes if is_array else stmt.kind == "parallel"):
            _apart(fn, stmt, after)


def _apart(fn: ir.Function, loop: ir.For, after: str) -> None:
    hands_on = loop.kind == "parallel" and (
        loop.inits or loop.results
    )  # lanes of a reverse sweep may add up, one after the other
    if hands_on or loop.body.stop is not None:
        refuse(fn, after, "trips that run at once hand something on", loop)
    own = {loop.index, *defined(loop.body)}
    depends = _depending(loop)
    written = {s.buf for s in statements(loop.body) if isinstance(s, (ir.Store, ir.Add))} - own
    if loop.kind == "serial":  # in any order, but one after the other: what is only added to may be everybody's
        written &= {root for s in statements(loop.body) if not isinstance(s, ir.Add) for root, _ in _touched(s)}
    for stmt in statements(loop.body):
        # a chunk may read y[0] where all write y[i + 1]: that i is no -1, the bounds of a chunk do not tell
        seen = _touched(stmt) if loop.kind == "serial" or not isinstance(stmt, ir.Let) else ()
        for root, args in seen:
            if root in written and not any(a in depends for a in args):
                refuse(fn, after, f"{root} is written by trips that run at once, and this is no trip's own place", stmt)


def _touched(stmt: ir.Stmt) -> Iterator[tuple[ir.Operand, tuple[ir.Operand, ...]]]:
    if isinstance(stmt, (ir.Store, ir.Add)):
        yield stmt.buf, stmt.args
    elif isinstance(stmt, ir.Let) and stmt.prim == "index":
        yield stmt.args[0], stmt.args[1:]


def _depending(loop: ir.For) -> set[ir.Operand]:
    """What may be another number in another trip: the index, and what is computed from it."""
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
