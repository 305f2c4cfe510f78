"""Arrays that a loop hands from trip to trip and changes are memory of the loop's, written in place.

``x = x.at[i].set(v)``, or a copy that is written and bound to the old name, makes a new array in each trip. Where the old one is
read no more, one array before the loop serves all trips:

    y = for i with x := a:               b = copy a
      b = copy x                         for i:
      b[i] <- v                   ->       b[i] <- v
      yield b[...]                       y = b[...]

So a trip costs what it writes, and derivatives record that alone. It means the same whoever reads what, for a read is a snapshot;
it is done where no snapshot outlives a write.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_body
from transpile.core.walk import leaves
from transpile.frontend.values.whole_copies import (
    buffer_at,
    is_used,
    merged,
    opened,
    reading,
    root,
    snapshot,
    source_at,
)


def in_place(fn: ir.Function) -> ir.Function:
    """The function whose loops write what they carry, where they can."""
    return with_body(fn, _block(fn.body))


def _block(block: ir.Block) -> ir.Block:
    done: list[ir.Stmt] = []
    rest = list(block.stmts)
    while rest:
        match stmt := rest.pop(0):
            case ir.If():
                done.append(replace(stmt, then=_block(stmt.then), orelse=_block(stmt.orelse)))
            case ir.For():
                rest = _loop(replace(stmt, body=_block(stmt.body)), done, rest)
            case ir.While():
                rest = _loop(replace(stmt, test=_block(stmt.test), body=_block(stmt.body)), done, rest)
            case _:
                done.append(stmt)
    return merged(replace(block, stmts=done))


def _loop(loop: ir.For | ir.While, done: list[ir.Stmt], rest: list[ir.Stmt]) -> list[ir.Stmt]:
    """Puts the loop behind what is done, with what it carries and changes in memory before it; what comes after it."""
    after: list[ir.Stmt] = []
    for k in reversed(range(len(loop.inits))):
        param, init, end = loop.body.params[k], loop.inits[k], loop.body.yields[k]
        if end is param or not param.type.dims or init.type != param.type or not isinstance(init, ir.Var):
            continue
        if root(loop.body.stmts, end) is not param:
            continue
        loop = replace(loop, body=opened(loop.body, end))
        begin = _begin(loop.body, k)
        if begin is None:
            continue
        buf, result = buffer_at(loop.body.stmts, begin), loop.results[k]
        buf.name = param.name if param.name != ir.SYNTHETIC else buf.name
        done.append(ir.Alloc(buf, "copy", (init,), {}, loop.body.stmts[begin].loc))
        after.append(ir.Let(result, "index", (buf,), {"path": (), "dims": result.type.dims}, loop.loc))
        rest = reading(rest, result, buf)
        loop = _without(loop, k, begin, buf)
    done += [loop, *after]
    return rest


def _begin(body: ir.Block, k: int) -> int | None:
    """Where the buffer begins that is what is carried at the end, if it can live outside."""
    param, end = body.params[k], body.yields[k]
    found = snapshot(body.stmts, end)
    if (
        found is None
        or source_at(body.stmts, found[0]) is not param
        or buffer_at(body.stmts, found[0]).type != param.type
    ):
        return None
    others = [*body.yields[:k], *body.yields[k + 1 :], *(() if body.stop is None else (body.stop,))]
    if is_used((param,), body.stmts[found[0] + 1 :], others) or is_used((end,), (), others):
        return None
    return found[0]


def _without(loop: ir.For | ir.While, k: int, begin: int, buf: ir.Var) -> ir.For | ir.While:
    """The loop that does not carry its value ``k``, which the buffer holds."""

    def rest(items: tuple[ir.Var, ...]) -> tuple[ir.Var, ...]:
        return (*items[:k], *items[k + 1 :])

    body = loop.body
    stmts = [*body.stmts[:begin], *body.stmts[begin + 1 :]]
    inside = replace(_read(replace(body, stmts=stmts), k, buf), yields=rest(body.yields))  # type: ignore[arg-type]
    new = replace(loop, body=inside, inits=rest(loop.inits), results=rest(loop.results))  # type: ignore[arg-type]
    return replace(new, test=_read(new.test, k, buf)) if isinstance(new, ir.While) else new


def _read(block: ir.Block, k: int, buf: ir.Var) -> ir.Block:
    """The block of a loop with its parameter ``k`` read of the buffer."""
    param = block.params[k]
    stmts = reading(block.stmts, param, buf)
    if is_used((param,), stmts, leaves(block)):
        stmts.insert(0, ir.Let(param, "index", (buf,), {"path": (), "dims": param.type.dims}))
    return replace(block, params=(*block.params[:k], *block.params[k + 1 :]), stmts=stmts)
