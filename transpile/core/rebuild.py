"""Functions, blocks and statements with parts replaced; each function returns the same object if nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.walk import map_operands


def with_body(fn: ir.Function, body: ir.Block) -> ir.Function:
    """The function with another body, itself if it is the same object; parameters and trees are kept."""
    return fn if body is fn.body else replace(fn, body=body)


def with_results(fn: ir.Function, results: Sequence[ir.Operand]) -> ir.Function:
    """The function with other results. ``out_tree`` is dropped, since it described the old results."""
    return replace(fn, body=replace(fn.body, yields=tuple(results)), out_tree=None)


def of_outputs(fn: ir.Function, at: int, count: int) -> ir.Function:
    """A copy of the function in which its first ``count`` results are parameters, inserted at position ``at``; it returns the
    others.

    What it computed from the floating-point results it computes from these parameters.
    """
    outs = [ir.Var(getattr(y, "name", ir.SYNTHETIC), y.type) for y in fn.body.yields[:count]]
    given: dict[ir.Operand, ir.Operand] = {}
    for y, out in zip(fn.body.yields, outs):
        if isinstance(y, ir.Var) and y.type.is_float and not y.buffer and y not in fn.params:
            given.setdefault(y, out)

    def read(operand: ir.Operand) -> ir.Operand:
        return given.get(operand, operand)

    stmts = [map_operands(s, read) for s in fn.body.stmts]
    body = ir.Block((), stmts, tuple(map(read, fn.body.yields[count:])))
    return replace(fn, params=(*fn.params[:at], *outs, *fn.params[at:]), body=body, out_tree=None)


def with_stmts(block: ir.Block, stmts: Sequence[ir.Stmt]) -> ir.Block:
    """The block with other statements, itself if all are the same objects."""
    if len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts)):
        return block
    return replace(block, stmts=list(stmts))


def with_blocks(stmt: ir.Stmt, f: Callable[[ir.Block], ir.Block]) -> ir.Stmt:
    """The statement with ``f(block)`` for each of its blocks, itself if all are the same objects."""
    match stmt:
        case ir.If():
            then, orelse = f(stmt.then), f(stmt.orelse)
            return stmt if then is stmt.then and orelse is stmt.orelse else replace(stmt, then=then, orelse=orelse)
        case ir.For():
            body = f(stmt.body)
            return stmt if body is stmt.body else replace(stmt, body=body)
        case ir.While():
            test, body = f(stmt.test), f(stmt.body)
            return stmt if test is stmt.test and body is stmt.body else replace(stmt, test=test, body=body)
    return stmt


def own_arguments(fn: ir.Function) -> ir.Function:
    """The function with each parameter that it writes copied first, so that a derivative changes no argument; itself if there
    is none."""
    if not any(p.buffer for p in fn.params):
        return fn
    params, copies = [], []
    for p in fn.params:
        if p.buffer:
            value = ir.Var(p.name, p.type)
            copies.append(ir.Alloc(p, "copy", (value,), {}, fn.loc))
            params.append(value)
        else:
            params.append(p)
    body = ir.Block((), [*copies, *fn.body.stmts], fn.body.yields)
    return replace(fn, params=tuple(params), body=body)
