"""Turns sums that an innermost loop accumulates in memory into sums in a register, added to memory after the loop.

    for j in range(n):                    total = 0.0
        x_bar[i] += a[i, j]               for j in range(n):
                               ->             total = total + a[i, j]
                                          x_bar[i] += total

LLVM does this itself only if it knows that nothing else in the loop touches the element. If only an iteration proves that the
element exists, the write after the loop is guarded by a test that there was an iteration.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import Roots, accesses
from transpile.analysis.affine import Forms, Linear, computed
from transpile.analysis.element_dependence import never_meet
from transpile.analysis.value_ranges import Facts, is_integer
from transpile.base.loc import Loc
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import blocks, defined, statements
from transpile.ops.traits import LESS

SUMS = ("float64", "float32")


def replace_with_scalars(fn: ir.Function) -> ir.Function:
    """The function with sums of innermost loops accumulated in registers."""
    return with_body(fn, _Promote(fn).block(fn.body, None))


class _Promote:
    """Walks over blocks and rewrites innermost loops."""

    def __init__(self, fn: ir.Function) -> None:
        self.forms, self.roots = Forms(fn.body), Roots(fn)
        self.facts = Facts(self.forms)
        self.sizes = sizes_of(fn)

    def block(self, block: ir.Block, loop: ir.For | None) -> ir.Block:
        """The block with sums of innermost loops in registers; ``loop`` is the loop of which it is the body, None for other
        blocks."""
        around, self.facts = self.facts, self.facts.inside(loop)
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, ir.Let) and is_integer(stmt.var):
                self.facts.define(stmt)
            elif isinstance(stmt, ir.BoundsCheck) and stmt.guard is None:
                self.facts.check(stmt.at, stmt.size, stmt.low)
            if isinstance(stmt, ir.For):
                new = with_blocks(stmt, lambda b, loop=stmt: self.block(b, loop))  # type: ignore[misc]
                assert isinstance(new, ir.For)
                is_inner = not any(isinstance(s, (ir.For, ir.While)) for s in statements(new.body))
                is_simple = is_inner and new.body.stop is None and isinstance(new.step, ir.Const)
                stmts += self.promoted(new) if is_simple else [new]
            else:
                stmts.append(with_blocks(stmt, lambda b: self.block(b, None)) if blocks(stmt) else stmt)
        self.facts = around
        return with_stmts(block, stmts)

    def promoted(self, loop: ir.For) -> list[ir.Stmt]:
        """The statements that replace an innermost loop: the loop with carried sums, and additions of these to memory after it;
        the loop alone if it has no sum in memory."""
        own = {loop.index, *defined(loop.body)}
        found = [s for s in loop.body.stmts if isinstance(s, ir.Add) and self.is_alone(s, loop, own)]
        if not found:
            return [loop]
        params: list[ir.Var] = []
        yields: list[ir.Operand] = []
        results: list[ir.Var] = []
        before: list[ir.Stmt] = []
        after: list[ir.Add] = []
        stmts: list[ir.Stmt] = []
        sums: dict[tuple[ir.Var, tuple[Linear, ...]], int] = {}
        for stmt in loop.body.stmts:
            if not isinstance(stmt, ir.Add) or not any(stmt is f for f in found):
                stmts.append(stmt)
                continue
            type_ = Type(stmt.buf.type.dtype)
            place = stmt.buf, tuple(self.forms.of(a) for a in stmt.args)
            at = sums.get(place)
            if at is None:
                at = sums[place] = len(params)
                params.append(ir.Var("total", type_))
                yields.append(params[-1])
                results.append(ir.Var("total", type_))
                args = tuple(self.outside(a, own, before, stmt.loc) for a in stmt.args)
                after.append(replace(stmt, args=args, value=results[-1]))
            total = ir.Var(ir.SYNTHETIC, type_)
            stmts.append(ir.Let(total, "add", (yields[at], stmt.value), {}, stmt.loc))
            yields[at] = total
        zeros = tuple(ir.Const(0.0, p.type) for p in params)
        body = replace(loop.body, params=(*loop.body.params, *params), stmts=stmts, yields=(*loop.body.yields, *yields))
        loop = replace(loop, inits=(*loop.inits, *zeros), results=(*loop.results, *results), body=body)
        return [*before, loop, *self.guarded(loop, after)]

    def outside(self, op: ir.Operand, own: set[ir.Var], stmts: list[ir.Stmt], loc: Loc) -> ir.Operand:
        """An operand outside the loop that equals the subscript ``op``: ``op`` itself unless it is in ``own``, the variables of
        the loop; else it is recomputed from its linear form by statements that are appended to ``stmts``."""

        def number(prim: str, a: ir.Operand, b: ir.Operand) -> ir.Var:
            let = ir.Let(ir.Var(ir.SYNTHETIC, INT), prim, (a, b), {}, loc)
            stmts.append(let)
            self.forms.learn(let)
            return let.var

        return computed(self.forms.of(op), number) if op in own else op

    def guarded(self, loop: ir.For, adds: list[ir.Add]) -> list[ir.Stmt]:
        """The statements after the loop that add the sums to memory (``adds``); those to elements that may not exist run only
        if the loop had an iteration."""
        assert isinstance(loop.step, ir.Const)
        ends = (loop.start, loop.bound) if loop.step.value > 0 else (loop.bound, loop.start)
        if self.facts.compare(LESS, *map(self.facts.form, ends)):
            return [*adds]
        safe: list[ir.Stmt] = [a for a in adds if self.is_there(a)]
        others: list[ir.Stmt] = [a for a in adds if not any(a is s for s in safe)]
        if not others:
            return safe
        test = ir.Var(ir.SYNTHETIC, BOOL)
        asked = ir.Let(test, "less", ends, {}, loop.loc)
        return [*safe, asked, ir.If(test, ir.Block((), others), ir.Block(), (), loop.loc)]

    def is_there(self, add: ir.Add) -> bool:
        """Whether the element to which a statement adds is known to be within the array."""
        for axis, at in enumerate(add.args):
            index = self.forms.of(at)
            sizes = self.sizes.get((add.buf, axis), ())
            if not self.facts.is_not_negative(index):
                return False
            if not any(self.facts.compare(LESS, index, self.facts.form(s)) for s in sizes):
                return False
        return True

    def is_alone(self, add: ir.Add, loop: ir.For, own: set[ir.Var]) -> bool:
        """Whether the element to which ``add`` adds is the same in all iterations, and every other access in the loop that may
        touch it is an addition to it in the same block."""
        if add.buf.type.dtype not in SUMS or add.buf in own:
            return False
        place = [self.forms.of(a) for a in add.args]
        if any(f.atoms & own for f in place):
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
                if isinstance(stmt, ir.Add) and other == place and any(stmt is s for s in loop.body.stmts):
                    continue
                if not never_meet(place, other, facts):
                    return False
        return True


def sizes_of(fn: ir.Function) -> dict[tuple[ir.Var, int], list[ir.Operand]]:
    """For each array and axis, the operands known to be its size."""
    found: dict[tuple[ir.Var, int], list[ir.Operand]] = {}
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.Alloc):
            for axis, size in enumerate(stmt.args):
                found.setdefault((stmt.var, axis), []).append(size)
        elif isinstance(stmt, ir.Let) and stmt.prim == "dim" and isinstance(stmt.args[0], ir.Var):
            found.setdefault((stmt.args[0], stmt.params["axis"]), []).append(stmt.var)
    return found
