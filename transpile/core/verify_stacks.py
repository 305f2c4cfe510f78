"""Checks that each push pairs with one pop on every path.

The forward sweep pushes what it records, and the reverse sweep pops it. The reverse sweep mirrors the forward one: the same
loops, the same sides of the same branches. So the pushes and pops of a stack are counted by the control around them, within the
block that creates the stack. A loop with a known trip count multiplies the count; any other is counted as *a loop*. Each side
of a branch counts by itself, except for what both sides have in common.

The bound of the reverse loop may be the result of a branch that contains the forward loop. Then only one of the two trip counts
is known, and the counts are compared with both as *loops*.
"""

from __future__ import annotations

from collections import Counter

from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks

Paths = Counter[tuple[str, ...]]  # the control around a push or pop -> count


def pair(fn: ir.Function, after: str = "") -> None:
    """Raises `InternalError`, which names the pass ``after``, if the pops of a stack do not mirror its pushes."""
    _block(fn, fn.body, after)


def _block(fn: ir.Function, block: ir.Block, after: str) -> None:
    """Raises `InternalError` if a stack made in the block, or in a nested one, is not popped as it is pushed."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.NewStack):
            pushed, popped = (_paths(block, stmt.var, kind) for kind in (ir.Push, ir.Pop))
            if pushed != popped and not (_is_known_once(pushed, popped) and _mirrors(block, stmt.var)):
                said = f"{stmt.var} is pushed {_told(pushed)} and popped {_told(popped)}"
                refuse(fn, after, said, stmt)
        for inner in blocks(stmt):
            _block(fn, inner, after)


def _is_known_once(pushed: Paths, popped: Paths) -> bool:
    """Whether the pushes and pops that have no counterpart stand in a loop of unknown trip count on exactly one side."""
    left, right = pushed - popped, popped - pushed
    return any("loop" in path for path in left) != any("loop" in path for path in right)


def _mirrors(block: ir.Block, stack: ir.Var) -> bool:
    """Whether pushes and pops of the stack stand in the same loops and branches and as often, trip counts aside."""
    pushed, popped = (_paths(block, stack, kind, False) for kind in (ir.Push, ir.Pop))
    return pushed == popped


def _paths(block: ir.Block, stack: ir.Var, kind: type[ir.Push] | type[ir.Pop], counted: bool = True) -> Paths:
    """How often the block pushes onto the stack or pops from it (``kind``), by the loops and branches around it.

    Unless ``counted``, each loop counts as one of unknown trip count.
    """
    found: Paths = Counter()
    for stmt in block.stmts:
        if isinstance(stmt, kind) and stmt.stack is stack:
            found[()] += 1
        elif isinstance(stmt, ir.If):
            found += _sides(*(_paths(side, stack, kind, counted) for side in (stmt.then, stmt.orelse)))
        elif isinstance(stmt, (ir.For, ir.While)):
            for inner in blocks(stmt):
                found += _repeated(stmt, _paths(inner, stack, kind, counted), counted)
    return found


def _sides(then: Paths, orelse: Paths) -> Paths:
    """The counts of a branch: what both sides have in common counts without the branch, the rest under "then" and "else"."""
    both = then & orelse
    found = Counter(both)
    for name, side in (("then", then - both), ("else", orelse - both)):
        found += Counter({(name, *path): count for path, count in side.items()})
    return found


def _repeated(loop: ir.For | ir.While, inside: Paths, counted: bool) -> Paths:
    """The counts of a loop, from those of one iteration: multiplied by a known trip count, else under "loop"."""
    trips = known_trips(loop) if counted else None
    if trips is not None:
        return Counter({path: trips * count for path, count in inside.items() if trips})
    return Counter({("loop", *path): count for path, count in inside.items()})


def known_trips(loop: ir.For | ir.While) -> int | None:
    """The trip count of a `For` with constant start, bound and step and without a stop; None otherwise."""
    if not isinstance(loop, ir.For) or loop.body.stop is not None:
        return None
    ends = (loop.start, loop.bound, loop.step)
    if not all(isinstance(e, ir.Const) for e in ends):
        return None
    return len(range(*(int(e.value) for e in ends if isinstance(e, ir.Const))))


def _told(paths: Paths) -> str:
    return ", ".join(f"{count} times in {'/'.join(path) or 'it'}" for path, count in sorted(paths.items())) or "never"
