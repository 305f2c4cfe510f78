"""Each push pairs with one pop on every path.

What is recorded is pushed by the forward sweep and popped by the reverse one, which mirrors it: the same loops, the same sides of
the same branches. So pushes and pops of a stack are counted by what stands around them, in the block that makes the stack: a loop
of a known number of trips counts as often, others as *a loop*, the sides of a branch each for itself but for what both have.
"""

from __future__ import annotations

from collections import Counter

from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks

Paths = Counter[tuple[str, ...]]  # of what stands around: how often


def pair(fn: ir.Function, after: str = "") -> None:
    """Raises `InternalError` where a stack is not popped as it was pushed."""
    _block(fn, fn.body, after)


def _block(fn: ir.Function, block: ir.Block, after: str) -> None:
    for stmt in block.stmts:
        if isinstance(stmt, ir.NewStack):
            pushed, popped = (_paths(block, stmt.var, kind) for kind in (ir.Push, ir.Pop))
            if pushed != popped:
                said = f"{stmt.var} is pushed {_told(pushed)} and popped {_told(popped)}"
                refuse(fn, after, said, stmt)
        for inner in blocks(stmt):
            _block(fn, inner, after)


def _paths(block: ir.Block, stack: ir.Var, kind: type[ir.Push] | type[ir.Pop]) -> Paths:
    found: Paths = Counter()
    for stmt in block.stmts:
        if isinstance(stmt, kind) and stmt.stack is stack:
            found[()] += 1
        elif isinstance(stmt, ir.If):
            found += _sides(_paths(stmt.then, stack, kind), _paths(stmt.orelse, stack, kind))
        elif isinstance(stmt, (ir.For, ir.While)):
            for inner in blocks(stmt):
                found += _repeated(stmt, _paths(inner, stack, kind))
    return found


def _sides(then: Paths, orelse: Paths) -> Paths:
    both = then & orelse
    found = Counter(both)
    for name, side in (("then", then - both), ("else", orelse - both)):
        found += Counter({(name, *path): count for path, count in side.items()})
    return found


def _repeated(loop: ir.For | ir.While, inside: Paths) -> Paths:
    trips = known_trips(loop)
    if trips is not None:
        return Counter({path: trips * count for path, count in inside.items() if trips})
    return Counter({("loop", *path): count for path, count in inside.items()})


def known_trips(loop: ir.For | ir.While) -> int | None:
    """How often the body runs, if that stands there."""
    if not isinstance(loop, ir.For) or loop.body.stop is not None:
        return None
    ends = (loop.start, loop.bound, loop.step)
    if not all(isinstance(e, ir.Const) for e in ends):
        return None
    return len(range(*(int(e.value) for e in ends if isinstance(e, ir.Const))))


def _told(paths: Paths) -> str:
    return ", ".join(f"{count} times in {'/'.join(path) or 'it'}" for path, count in sorted(paths.items())) or "never"
