"""Hoists scalars out of loops if they take more than one instruction.

    for i in range(n):                          for i in range(n):
        for j in range(m):               ->         t = wrap(i - 1, n)
            y[i, j] = x[wrap(i - 1, n), j]          for j in range(m):
                                                        y[i, j] = x[t, j]

A runtime function has branches, and so has a division that tests for 0. Whether LLVM moves branches out of a loop depends on
the size of the loop, and it does not move what follows one: where it leaves them, each iteration divides. It hoists branch-free
code itself, elementary functions included; here such code moves only if a hoisted scalar needs it.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import is_pure
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, defined
from transpile.ops.tables import record_of


def move_scalars(fn: ir.Function) -> ir.Function:
    """The function with invariant scalars of more than one instruction computed before the outermost loop that they do not
    depend on."""
    return with_body(fn, _block(fn.body))


def _block(block: ir.Block) -> ir.Block:
    """The block with invariant scalars before its loops, nested blocks first."""
    stmts: list[ir.Stmt] = []
    for stmt in block.stmts:
        if blocks(stmt):
            stmt = with_blocks(stmt, _block)
        if isinstance(stmt, ir.While) or (isinstance(stmt, ir.For) and stmt.kind != "parallel"):
            before, stmt = _taken_out(stmt)
            stmts += before
        stmts.append(stmt)
    return with_stmts(block, stmts)


def _taken_out(loop: ir.For | ir.While) -> tuple[list[ir.Let], ir.For | ir.While]:
    """A pair of the *lets* hoisted before the loop, in order, and the loop without them."""
    lets = [s for s in loop.body.stmts if isinstance(s, ir.Let)]
    if not any(map(_is_long, lets)):
        return [], loop
    changing = {*defined(loop.body)}
    if isinstance(loop, ir.For):
        changing.add(loop.index)
    fixed: dict[ir.Var, ir.Let] = {}
    for let in lets:
        if _is_movable(let) and not any(a in changing for a in let.args):
            fixed[let.var] = let
            changing.remove(let.var)
    wanted: set[ir.Var] = set()
    for let in reversed(fixed.values()):
        if let.var in wanted or _is_long(let):
            wanted.update((let.var, *(a for a in let.args if isinstance(a, ir.Var) and a in fixed)))
    if not wanted:
        return [], loop
    rest = [s for s in loop.body.stmts if not (isinstance(s, ir.Let) and s.var in wanted)]
    return [fixed[v] for v in fixed if v in wanted], replace(loop, body=replace(loop.body, stmts=rest))


def _is_movable(let: ir.Let) -> bool:
    """Whether a scalar may be computed if the loop has no iterations. A bare division may not: only an iteration ensures that
    the divisor is not 0."""
    if isinstance(let, ir.View) or let.prim == "index" or let.var.type.dims or let.var.type.kind != "array":
        return False
    record = record_of(let)
    return is_pure(let) and not (record.division and record.is_instruction)


def _is_long(let: ir.Let) -> bool:
    """Whether a *let* takes more than one instruction: it calls a runtime function or is a division with a test for 0."""
    record = record_of(let)
    return record.is_call or bool(record.division) and not record.is_instruction
