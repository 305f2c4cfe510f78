"""Finds values that are read once, with no write in between: they are printed where they are read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from transpile.core import nodes as ir
from transpile.core.walk import leaves, reads
from transpile.ops.tables import record_of


@dataclass(frozen=True)
class Reach:
    """For a *let*: ``once``, its value is read once, in its own block; ``barrier``, a write or call lies before that read.

    Both are False for any other statement.
    """

    once: bool = False
    barrier: bool = False


def reaches(block: ir.Block, count: Counter[ir.Var], once: set[ir.Var]) -> list[Reach]:
    """The `Reach` of each statement of the block, in order; ``count`` has the number of reads of each variable in the function.

    Added to ``once`` are results of calls that are read exactly once, in this block.
    """
    last: dict[ir.Var, int] = {}
    end = len(block.stmts)
    for k, stmt in enumerate(block.stmts):
        for op in reads(stmt):
            if isinstance(op, ir.Var):
                last[op] = k
    for op in leaves(block):
        if isinstance(op, ir.Var):
            last[op] = end
    walls = [k for k, s in enumerate(block.stmts) if not isinstance(s, (ir.Let, ir.Alloc, ir.NewStack)) or is_call(s)]
    plan = []
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt, ir.Call):
            once.update(r for r in stmt.results if r in last and count[r] == 1)
        at = last.get(stmt.var) if isinstance(stmt, ir.Let) else None
        if at is None or count[stmt.var] != 1:  # type: ignore[union-attr]
            plan.append(Reach())
        else:
            plan.append(Reach(True, any(k < w < at for w in walls)))
    return plan


def is_call(stmt: ir.Stmt) -> bool:
    """Whether the statement is a *let* that calls the runtime: it has a line of its own and is not moved to its reader."""
    return isinstance(stmt, ir.Let) and record_of(stmt).is_call
