"""Temporaries out of loops: an array that a trip makes anew, fills and forgets is made once before the loop.

for i in range(n):                    t = np.empty(m)
    t = np.empty(m)           ->      for i in range(n):
    ...                                   ...
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transpile.core.nodes import Alloc, Block, Const, For, Function, If, Let, Push, Stmt, Var, While
from transpile.core.walk import blocks, defined, leaves, statements

READS = ("index", "dim")  # what an array may be used for without another name being given to it


def hoist(fn: Function) -> Function:
    """The function (lowered) with such arrays before the outermost loop that they do not depend on."""
    return replace(fn, body=_block(fn.body))


def _block(block: Block) -> Block:
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        stmt = _inside(stmt)
        if isinstance(stmt, (For, While)):
            out, stmt = _take_out(stmt)
            stmts += out
        stmts.append(stmt)
    return replace(block, stmts=stmts)


def _inside(stmt: Stmt) -> Stmt:
    match stmt:
        case If():
            return replace(stmt, then=_block(stmt.then), orelse=_block(stmt.orelse))
        case For():
            return replace(stmt, body=_block(stmt.body))
        case While():
            return replace(stmt, body=_block(stmt.body))
    return stmt


def _take_out(loop: For | While) -> tuple[list[Stmt], For | While]:
    body = loop.body
    own = set(defined(body))
    if isinstance(loop, For):
        own.add(loop.index)
    named = _named_otherwise(body)
    moved = [
        s
        for s in body.stmts
        if isinstance(s, Alloc)
        and s.prim == "empty"
        and s.var not in named
        and all(isinstance(a, Const) or a not in own for a in s.args)
    ]
    if not moved:
        return [], loop
    gone = {id(s) for s in moved}
    rest = replace(body, stmts=[s for s in body.stmts if id(s) not in gone])
    return list(moved), replace(loop, body=rest)


def _named_otherwise(body: Block) -> set[object]:
    """Variables that a trip hands on or gives another name: what it yields, pushes, views, passes to branches."""
    found: set[object] = set(leaves(body))
    for s in statements(body):
        found.update(_gives_away(s))
        for inner in blocks(s):
            found.update(leaves(inner))
        if isinstance(s, (For, While)):
            found.update(s.inits)
    return found


def _gives_away(stmt: Stmt) -> Iterable[object]:
    if isinstance(stmt, Push):
        return (stmt.value,)
    if isinstance(stmt, Let) and stmt.prim not in READS and not (stmt.prim == "call" and not stmt.var.type.dims):
        return [a for a in stmt.args if isinstance(a, Var) and a.type.dims]
    return ()
