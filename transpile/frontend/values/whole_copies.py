"""Buffers that begin as a copy of a value and are read as a whole when they are done: what an update makes of an array.

    b = copy a; b[i] <- v; t = b[...]; c = copy t       ->       b = copy a; b[i] <- v

and, where a branch changes an array or leaves it as it is,

    r = if p: (b = copy a; b[i] <- v; b[...]) else: a    ->      b = copy a; if p: b[i] <- v; r = b[...]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_stmts
from transpile.core.walk import blocks, leaves, map_operands, reads, uses, written, written_in

Snapshot = tuple[int, int]  # the positions of a buffer's beginning and of the read of all of it at its end


def is_used(vars_: Sequence[ir.Operand], stmts: Sequence[ir.Stmt], ends: Sequence[ir.Operand] = ()) -> bool:
    """Whether the statements, or what stands behind them, read or write any of these."""
    wanted = {id(v) for v in vars_}
    return any(id(o) in wanted for o in (*_touched(stmts), *ends))


def _touched(stmts: Sequence[ir.Stmt]) -> Iterator[ir.Operand]:
    for stmt in stmts:
        yield from reads(stmt)
        root = written(stmt)
        if root is not None:
            yield root
        for inner in blocks(stmt):
            yield from uses(inner)
            yield from written_in(inner)


def is_written(buf: ir.Var, stmts: Sequence[ir.Stmt]) -> bool:
    return any(written(s) is buf or any(buf in written_in(b) for b in blocks(s)) for s in stmts)


def snapshot(stmts: Sequence[ir.Stmt], y: ir.Operand, of_copy: bool = True) -> Snapshot | None:
    """Where the buffer begins that ``y`` is all of at its end, and where it is read; ``of_copy``: one that begins as a copy."""
    at = _made(stmts, y)
    let = stmts[at] if at is not None else None
    if at is None or not isinstance(let, ir.Let) or let.prim != "index" or let.params["path"]:
        return None
    begin = _made(stmts, let.args[0])
    alloc = stmts[begin] if begin is not None else None
    if begin is None or not isinstance(alloc, ir.Alloc) or (of_copy and alloc.prim != "copy"):
        return None
    return None if is_written(alloc.var, stmts[at + 1 :]) else (begin, at)


def buffer_at(stmts: Sequence[ir.Stmt], k: int) -> ir.Var:
    alloc = stmts[k]
    assert isinstance(alloc, ir.Alloc)
    return alloc.var


def source_at(stmts: Sequence[ir.Stmt], k: int) -> ir.Operand:
    """What the buffer that begins there is a copy of."""
    alloc = stmts[k]
    assert isinstance(alloc, ir.Alloc) and alloc.prim == "copy"
    return alloc.args[0]


def _made(stmts: Sequence[ir.Stmt], var: ir.Operand) -> int | None:
    for k in reversed(range(len(stmts))):
        stmt = stmts[k]
        if isinstance(stmt, (ir.Let, ir.Alloc)) and stmt.var is var:
            return k
        if isinstance(stmt, ir.If) and any(r is var for r in stmt.results):
            return k
    return None


def replaced(stmts: Sequence[ir.Stmt], var: ir.Var, to: ir.Var) -> list[ir.Stmt]:
    """The statements with one value or buffer for another."""
    return [map_operands(s, lambda o: to if o is var else o, lambda v: to if v is var else v) for s in stmts]


def reading(stmts: Sequence[ir.Stmt], y: ir.Var, buf: ir.Var) -> list[ir.Stmt]:
    """The statements with parts of ``y`` read of the buffer that holds it."""

    def block(b: ir.Block) -> ir.Block:
        return with_stmts(b, [one(s) for s in b.stmts])

    def one(stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.Let) and stmt.prim == "index" and stmt.args[0] is y:
            return replace(stmt, args=(buf, *stmt.args[1:]))
        return with_blocks(stmt, block)

    return [one(s) for s in stmts]


# ---------------------------------------------------------------------------------------------- copies of copies


def merged(block: ir.Block) -> ir.Block:
    """The block with one buffer for a copy of what another one is at its end."""
    stmts, k = list(block.stmts), 0
    while k < len(stmts):
        found, copy = _ended_before(stmts, k), stmts[k]
        if found is not None and isinstance(copy, ir.Alloc) and isinstance(copy.args[0], ir.Var):
            old, before = (
                buffer_at(stmts, found[0]),
                reading(stmts[found[1] + 1 : k], copy.args[0], buffer_at(stmts, found[0])),
            )
            if not is_used((old, copy.args[0]), stmts[k + 1 :], leaves(block)):
                if old.name == ir.SYNTHETIC:
                    old.name = copy.var.name
                stmts = [*stmts[: found[1] + 1], *before, *replaced(stmts[k + 1 :], copy.var, old)]
                continue
        k += 1
    return with_stmts(block, stmts)


def _ended_before(stmts: Sequence[ir.Stmt], k: int) -> Snapshot | None:
    """The buffer that the one that begins here is a copy of."""
    stmt = stmts[k]
    if not isinstance(stmt, ir.Alloc) or stmt.prim != "copy" or not isinstance(stmt.args[0], ir.Var):
        return None
    return snapshot(stmts[:k], stmt.args[0], of_copy=False)


# ------------------------------------------------------------------------------------------------------ branches


def root(stmts: Sequence[ir.Stmt], y: ir.Operand) -> ir.Operand:
    """What an array was before copies and branches changed it."""
    found = snapshot(stmts, y)
    if found is not None:
        return root(stmts[: found[0]], source_at(stmts, found[0]))
    at = _made(stmts, y)
    stmt = stmts[at] if at is not None else None
    if not isinstance(stmt, ir.If):
        return y
    k = _number(stmt, y)
    sides = [root(b.stmts, b.yields[k]) for b in (stmt.then, stmt.orelse)]
    return root(stmts[:at], sides[0]) if sides[0] is sides[1] else y


def _number(stmt: ir.If, y: ir.Operand) -> int:
    return next(k for k, r in enumerate(stmt.results) if r is y)


def opened(block: ir.Block, y: ir.Operand) -> ir.Block:
    """The block with branches that lead to ``y`` writing into one buffer, where they can."""
    found = snapshot(block.stmts, y)
    if found is not None:
        before = replace(
            block, stmts=block.stmts[: found[0]], yields=tuple(_touched(block.stmts[found[0] :])), stop=None
        )
        head = opened(before, source_at(block.stmts, found[0]))
        return merged(replace(block, stmts=[*head.stmts, *block.stmts[found[0] :]]))
    at = _made(block.stmts, y)
    stmt = block.stmts[at] if at is not None else None
    if at is None or not isinstance(stmt, ir.If) or not isinstance(y, ir.Var):
        return block
    new = _as_buffer(stmt, _number(stmt, y), [*_touched(block.stmts[at + 1 :]), *leaves(block)])
    if new is None:
        return block
    rest = reading(block.stmts[at + 1 :], y, buffer_at(new, 0))
    whole = replace(block, stmts=[*block.stmts[:at], *new, *rest])
    return merged(replace(whole, stmts=opened(replace(whole, stop=None), source_at(new, 0)).stmts))


def _as_buffer(stmt: ir.If, k: int, later: Sequence[ir.Operand]) -> list[ir.Stmt] | None:
    """The statements for a branch whose result ``k`` is an array that one side, or both, changes."""
    sides = [opened(b, b.yields[k]) for b in (stmt.then, stmt.orelse)]
    found = [snapshot(b.stmts, b.yields[k]) for b in sides]
    starts = [b.yields[k] if f is None else source_at(b.stmts, f[0]) for b, f in zip(sides, found)]
    old, y = starts[0], stmt.results[k]
    if starts[1] is not old or found == [None, None] or not isinstance(old, ir.Var) or any(o is old for o in later):
        return None
    buf = ir.Var(old.name or y.name, y.type, buffer=True)
    ready = [_side(b, k, f, old, buf) for b, f in zip(sides, found)]
    if ready[0] is None or ready[1] is None or old.type != y.type:
        return None
    results = (*stmt.results[:k], *stmt.results[k + 1 :])
    return [
        ir.Alloc(buf, "copy", (old,), {}, stmt.loc),
        replace(stmt, then=ready[0], orelse=ready[1], results=results),
        ir.Let(y, "index", (buf,), {"path": (), "dims": y.type.dims}, stmt.loc),
    ]


def _side(block: ir.Block, k: int, found: Snapshot | None, old: ir.Var, buf: ir.Var) -> ir.Block | None:
    """A side of a branch without its result ``k``, which the buffer holds: first what the array ``old`` is."""
    yields, stmts = (*block.yields[:k], *block.yields[k + 1 :]), block.stmts
    begin = len(stmts) if found is None else found[0]
    if is_used((old,), stmts[begin + 1 :], yields) or is_used((block.yields[k],), (), yields):
        return None
    first, rest = reading(stmts[:begin], old, buf), stmts[begin + 1 :]
    if is_used((old,), first):
        whole = ir.Var(ir.SYNTHETIC, old.type)
        first = [ir.Let(whole, "index", (buf,), {"path": (), "dims": old.type.dims}), *replaced(first, old, whole)]
    return replace(
        block, stmts=[*first, *(rest if found is None else replaced(rest, buffer_at(stmts, begin), buf))], yields=yields
    )
