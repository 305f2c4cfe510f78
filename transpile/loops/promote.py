"""Sums in memory that an innermost loop adds to become sums in a register, added to memory after the loop.

    for j in range(n):                    total = 0.0
        x_bar[i] += a[i, j]               for j in range(n):
                               ->             total = total + a[i, j]
                                          x_bar[i] += total

LLVM does this by itself only where it knows that nothing else in the loop touches that element.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core.nodes import SYNTHETIC, Add, Block, Const, For, Function, Let, Operand, Stmt, Var, While
from transpile.core.types import Type
from transpile.core.walk import blocks, defined, statements
from transpile.loops.affine import Forms, Linear
from transpile.loops.facts import Facts, is_integer
from transpile.loops.memory import Roots, accesses
from transpile.loops.rebuild import with_blocks

SUMS = ("float64", "float32")


def promote(fn: Function) -> Function:
    """The function with such sums in registers."""
    return replace(fn, body=_Promote(fn).block(fn.body, None))


class _Promote:
    def __init__(self, fn: Function) -> None:
        self.forms, self.roots = Forms(fn.body), Roots(fn)
        self.facts = Facts(self.forms)

    def block(self, block: Block, loop: For | None) -> Block:
        around, self.facts = self.facts, self.facts.inner()
        if loop is not None:
            self.facts.enter(loop)
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Let) and is_integer(stmt.var):
                self.facts.define(stmt)
            if isinstance(stmt, For):
                new = replace(stmt, body=self.block(stmt.body, stmt))
                is_inner = not any(isinstance(s, (For, While)) for s in statements(new.body))
                stmts += self.promoted(new) if is_inner and new.body.stop is None else [new]
            else:
                stmts.append(with_blocks(stmt, lambda b: self.block(b, None)) if blocks(stmt) else stmt)
        self.facts = around
        return replace(block, stmts=stmts)

    def promoted(self, loop: For) -> list[Stmt]:
        own = {loop.index, *defined(loop.body)}
        found = [s for s in loop.body.stmts if isinstance(s, Add) and self.is_alone(s, loop, own)]
        if not found:
            return [loop]
        params: list[Var] = []
        yields: list[Operand] = []
        results: list[Var] = []
        after: list[Stmt] = []
        stmts: list[Stmt] = []
        sums: dict[tuple[Var, tuple[Linear, ...]], int] = {}
        for stmt in loop.body.stmts:
            if not isinstance(stmt, Add) or not any(stmt is f for f in found):
                stmts.append(stmt)
                continue
            type_ = Type(stmt.buf.type.dtype)
            place = stmt.buf, tuple(self.forms.of(a) for a in stmt.args)
            at = sums.get(place)
            if at is None:
                at = sums[place] = len(params)
                params.append(Var("total", type_))
                yields.append(params[-1])
                results.append(Var("total", type_))
                after.append(replace(stmt, value=results[-1]))
            total = Var(SYNTHETIC, type_)
            stmts.append(Let(total, "add", (yields[at], stmt.value), {}, stmt.loc))
            yields[at] = total
        zeros = tuple(Const(0.0, p.type) for p in params)
        body = replace(loop.body, params=(*loop.body.params, *params), stmts=stmts, yields=(*loop.body.yields, *yields))
        return [replace(loop, inits=(*loop.inits, *zeros), results=(*loop.results, *results), body=body), *after]

    def is_alone(self, add: Add, loop: For, own: set[Var]) -> bool:
        """Whether the place is the same in all trips, and nothing else in the loop touches it, but to add."""
        if add.buf.type.dtype not in SUMS or add.buf in own:
            return False
        place = [self.forms.of(a) for a in add.args]
        if any(f.variables & own for f in place):
            return False
        facts = self.facts.inner()
        facts.enter(loop)
        root = self.roots.of(add.buf)
        for stmt in statements(loop.body):
            for a in accesses(stmt):
                if stmt is add or self.roots.of(a.var) is not root:
                    continue
                if a.var is not add.buf or a.indices is None:
                    return False
                other = [self.forms.of(i) for i in a.indices]
                if isinstance(stmt, Add) and other == place and any(stmt is s for s in loop.body.stmts):
                    continue
                if not any(facts.compare("not_equal", p, q) for p, q in zip(place, other)):
                    return False
        return True
