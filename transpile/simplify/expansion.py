"""Replaces primitives that have an expansion by the primitives of that expansion.

A derivative formula may be a single primitive because the runtime has a faster function for it. Only lowering uses the
primitive as such: before a function is differentiated, batched or printed, the formula replaces it.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.walk import Cloner, map_operands, statements
from transpile.ops.tables import prims, record_of
from transpile.simplify.tidy import tidy


def expanded(fn: ir.Function) -> ir.Function:
    """The function in which each primitive that has an expansion is replaced by it; equal subexpressions are computed once
    then. ``fn`` itself if there is none."""
    if not any(isinstance(s, ir.Let | ir.Alloc) and record_of(s).expansion is not None for s in statements(fn.body)):
        return fn
    expansion = _Expansion(fn)
    body = expansion.block(fn.body)
    return tidy(replace(fn, body=body, symbols=expansion.b.symbols))


class _Expansion:
    def __init__(self, fn: ir.Function) -> None:
        self.b = Builder(prims(), dict(fn.symbols), fn)
        self.cloner = Cloner({})

    def block(self, block: ir.Block) -> ir.Block:
        with self.b.into(ir.Block(block.params)) as out:
            for stmt in block.stmts:
                self.stmt(map_operands(stmt, self.cloner.operand, self.cloner.root))
            out.yields = tuple(self.cloner.operand(o) for o in block.yields)
            out.stop = None if block.stop is None else self.cloner.operand(block.stop)
        return out

    def stmt(self, stmt: ir.Stmt) -> None:
        """Emits the statement, or its expansion; later reads of its variable get the result of the expansion."""
        b = self.b
        match stmt:
            case ir.Let() | ir.Alloc() if (rule := record_of(stmt).expansion) is not None:
                with b.at(stmt.loc):
                    found: Expr = rule(*(b.expr(a) for a in stmt.args))
                if isinstance(stmt, ir.Alloc):
                    b.emit(replace(stmt, prim="copy", args=(found.op,), params={}))
                    return
                if isinstance(found.op, ir.Var) and found.op.name == ir.SYNTHETIC:
                    found.op.name = stmt.var.name
                self.cloner.mapping[stmt.var] = found.op
            case ir.If():
                b.emit(replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse)))
            case ir.For():
                b.emit(replace(stmt, body=self.block(stmt.body)))
            case ir.While():
                b.emit(replace(stmt, test=self.block(stmt.test), body=self.block(stmt.body)))
            case _:
                b.emit(stmt)
