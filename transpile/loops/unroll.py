"""Unrolls short loops with a constant trip count inside other loops, so that their small arrays can live in registers.

for i in range(n):                    for i in range(n):
    for d in range(2):                    t = x[i, 0] - y[0]
        t = x[i, d] - y[d]    ->          total = total + t * t
        total = total + t * t             t_2 = x[i, 1] - y[1]
                                          total = total + t_2 * t_2
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import INT
from transpile.core.walk import Cloner, blocks, map_operands, statements
from transpile.loops.short_vectors import has_lanes

TRIPS = 8
SIZE = 96  # statements of the unrolled loop


def unroll_loops(fn: ir.Function) -> ir.Function:
    """The function with short loops of constant trip count unrolled, inside other loops."""
    return with_body(fn, _block(fn.body, inside=False))


def _block(block: ir.Block, inside: bool) -> ir.Block:
    """The block with short loops unrolled, nested blocks included; ``inside``: it stands in a loop."""
    stmts: list[ir.Stmt] = []
    equal: dict[ir.Var, ir.Operand] = {}

    def operand(op: ir.Operand) -> ir.Operand:
        return equal.get(op, op) if isinstance(op, ir.Var) else op

    for stmt in block.stmts:
        if equal:
            stmt = map_operands(stmt, operand)
        if blocks(stmt):
            in_loop = inside or isinstance(stmt, (ir.For, ir.While))
            stmt = with_blocks(stmt, lambda b, in_loop=in_loop: _block(b, in_loop))  # type: ignore[misc]
        if inside and isinstance(stmt, ir.For) and (values := _short(stmt)) is not None:
            stmts += _written_out(stmt, values, equal)
        else:
            stmts.append(stmt)
    if not equal:
        return with_stmts(block, stmts)
    stop = None if block.stop is None else operand(block.stop)
    return replace(block, stmts=stmts, yields=tuple(operand(y) for y in block.yields), stop=stop)


def _short(loop: ir.For) -> list[int] | None:
    """The values of the index, in order of execution, if the loop is to be unrolled; else None."""
    ends = (loop.start, loop.bound, loop.step)
    if loop.body.stop is not None or loop.trips is not None or not all(isinstance(e, ir.Const) for e in ends):
        return None
    start, bound, step = (int(e.value) for e in ends if isinstance(e, ir.Const))
    values = list(range(start, bound, step))
    inner = list(statements(loop.body))
    if has_lanes(loop):
        return None
    if len(values) > TRIPS or len(values) * len(inner) > SIZE:
        return None
    if any(
        isinstance(s, (ir.For, ir.While, ir.Alloc, ir.Push, ir.Pop, ir.NewStack, ir.Effect)) for s in inner
    ) or _only_fills(loop):
        return None
    return values[::-1] if loop.backwards else values


def _only_fills(loop: ir.For) -> bool:
    """Whether the only statement of a loop is a store of something other than the index, with a variable among its subscripts
    besides the index: LLVM compiles such a loop, which fills a part of an array, as well."""
    if len(loop.body.stmts) != 1:
        return False
    (stmt,) = loop.body.stmts
    if not isinstance(stmt, ir.Store) or stmt.value is loop.index:
        return False
    return any(isinstance(a, ir.Var) and a is not loop.index for a in stmt.args)


def _written_out(loop: ir.For, values: list[int], equal: dict[ir.Var, ir.Operand]) -> list[ir.Stmt]:
    """The statements of the loop, with one copy of the body for each value of the index; ``equal`` gets the values of the
    loop's results."""
    out: list[ir.Stmt] = []
    carried: tuple[ir.Operand, ...] = loop.inits
    for value in values:
        mapping: dict[ir.Var, ir.Operand] = {loop.index: ir.Const(value, INT)}
        mapping.update(zip(loop.body.params, carried))
        copy = Cloner(mapping)
        out += [copy.stmt(s) for s in loop.body.stmts]
        carried = tuple(copy.operand(y) for y in loop.body.yields)
    equal.update(zip(loop.results, carried))
    return out
