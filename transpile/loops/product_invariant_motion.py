"""Products with a matrix that is the same in all trips of a loop leave the loop.

One whose sides are both the same is computed before it. Of those that are added up only the other sides are added up, and that
sum is multiplied once:

    for j in range(n):                            t = a.T @ b
        t = a.T @ b                               s = np.zeros_like(x[0])
        ... t ...                      ->         for j in range(n):
        c += a @ (d[j] * x[j])                        ... t ...
                                                      s += d[j] * x[j]
                                                  c += a @ s

What is added is added in another order; nothing else is changed. A loop that may have no trips is asked: what it would not have
computed is neither read nor written. What stands after a check of the loop is not computed before it: the check would come too
late. What the caller sees is added to where it was: he also sees how far a loop came that raised an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transpile.analysis.accesses import is_array, may_raise
from transpile.analysis.affine import form_of
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import blocks, leaves, statements
from transpile.loops.array_contraction import points
from transpile.loops.product_calls import Maker, nest
from transpile.loops.product_statements import Lying, lying
from transpile.loops.terms import Code

PRODUCTS = ("blas.gemm", "blas.gemv")
ROUNDS = 40  # loops of one function from which something is taken


def take_sides(fn: ir.Function) -> ir.Function:
    """The function with such products outside of loops."""
    for _ in range(ROUNDS):
        if not any(_has_product(s) for s in statements(fn.body) if isinstance(s, ir.For)):
            return fn
        search = _Search(Code(fn))
        body = search.block(fn.body)
        if body is fn.body:
            return fn
        fn = with_body(fn, body)
    return fn


def _has_product(loop: ir.For) -> bool:
    return any(is_product(s) for s in loop.body.stmts)


def is_product(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Let) and stmt.prim == "call" and stmt.params.get("fn") in PRODUCTS


class _Search:
    """Changes the first loop that can be, inner ones before outer ones."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.is_done = False

    def block(self, block: ir.Block) -> ir.Block:
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            new = with_blocks(stmt, self.block) if blocks(stmt) and not self.is_done else stmt
            if isinstance(new, ir.For) and not self.is_done and _has_product(new):
                taken = _Taken(self.code, new)
                stmts += taken.run()
                self.is_done = taken.is_changed
            else:
                stmts.append(new)
        return with_stmts(block, stmts)


@dataclass
class _Taken:
    """What one loop becomes."""

    code: Code
    loop: ir.For
    before: list[ir.Stmt] = field(default_factory=list)
    first: list[ir.Stmt] = field(default_factory=list)  # before the loop, if that has a trip
    last: list[ir.Stmt] = field(default_factory=list)  # after the loop, if that had a trip

    def __post_init__(self) -> None:
        self.own = self.code.inside(self.loop)
        touch = self.code.touches.of(self.loop)
        self.written = touch.written | touch.added
        self.carried = {self.code.roots.of(v) for v in leaves(self.loop.body) if is_array(v)}  # type: ignore[arg-type]

    @property
    def is_changed(self) -> bool:
        return bool(self.first or self.last)

    def run(self) -> list[ir.Stmt]:
        """What stands in the place of the loop."""
        loop, trips = self.loop, _trips(self.loop)
        if loop.body.stop is not None or not isinstance(loop.step, ir.Const) or (trips is not None and trips < 2):
            return [loop]
        stmts: list[ir.Stmt] = []
        gone: list[ir.Stmt] = []
        is_checked = False
        for k, stmt in enumerate(loop.body.stmts):
            if isinstance(stmt, ir.Let) and is_product(stmt):
                alloc = None if is_checked else self.as_fixed(stmt, k)
                if alloc is not None:
                    gone += alloc
                    self.move(stmt, alloc)
                    continue
                instead = self.as_sum(stmt)
                if instead is not None:
                    stmts += instead
                    continue
            is_checked = is_checked or _raises(stmt)
            stmts.append(stmt)
        if not self.is_changed:
            return [loop]
        stmts = [s for s in stmts if not any(s is g for g in gone)]
        body = replace(loop.body, stmts=stmts)
        return [*self.before, *self.asked(self.first), replace(loop, body=body), *self.asked(self.last)]

    def asked(self, stmts: list[ir.Stmt]) -> list[ir.Stmt]:
        """The statements, if the loop has a trip."""
        trips, loop = _trips(self.loop), self.loop
        if not stmts or (trips is not None and trips > 0):
            return stmts
        ends = (loop.start, loop.bound)
        assert isinstance(loop.step, ir.Const)
        test = ir.Var(ir.SYNTHETIC, BOOL)
        asked = ir.Let(test, "less", ends if loop.step.value > 0 else ends[::-1], {}, loop.loc)
        return [asked, ir.If(test, ir.Block((), list(stmts)), ir.Block(), (), loop.loc)]

    # ---- what is the same in all trips

    def is_fixed(self, op: ir.Operand) -> bool:
        """Whether it is, or names, the same in all trips."""
        if not isinstance(op, ir.Var) or op not in self.own:
            return True
        let = self.code.definer.get(op)
        if not isinstance(let, ir.Let) or not (let.prim in ("row", "swap") or _is_number(let)):
            return False
        return all(self.is_fixed(a) for a in let.args)

    def is_same(self, op: ir.Operand) -> bool:
        """Whether it is a matrix with the same elements in all trips."""
        return self.is_fixed(op) and isinstance(op, ir.Var) and self.code.roots.of(op) not in self.written

    def is_alone(self, let: ir.Let, root: ir.Var) -> bool:
        """Whether nothing else in the loop writes an array."""
        if root in self.carried or root in self.code.roots.written_params:
            return False
        inner = [s for s in statements(self.loop.body) if not isinstance(s, (ir.Alloc, ir.For, ir.If)) and s is not let]
        return all(root not in self.code.touches.changed(s) for s in inner)

    def as_fixed(self, let: ir.Let, at: int) -> list[ir.Stmt] | None:
        """The allocation that goes with a product that is the same in all trips, if it has one in the loop; None if it is not."""
        alpha, a, b, beta, c = let.args
        if not (self.is_fixed(alpha) and self.is_same(a) and self.is_same(b) and ir.is_literal(beta, 0.0)):
            return None
        assert isinstance(c, ir.Var)
        root = self.code.roots.of(c)
        if not self.is_alone(let, root):
            return None
        stmts = self.loop.body.stmts
        alloc = self.code.definer.get(root)
        if root in self.own:
            found = next((s for s in stmts[:at] if s is alloc), None)
            if not isinstance(found, ir.Alloc) or found.prim != "empty" or not all(map(self.is_fixed, found.args)):
                return None
            return [found] if c is root else None
        if not self.is_fixed(c) or any(root in self.code.touches.of(s).read for s in stmts[:at]):
            return None
        return []

    def move(self, let: ir.Let, alloc: Sequence[ir.Stmt]) -> None:
        """Puts the product before the loop."""
        for made in alloc:
            assert isinstance(made, ir.Alloc)
            args = tuple(self.copied(a, self.before) for a in made.args)
            self.before.append(replace(made, args=args))
            self.own = self.own - {made.var}
        args = tuple(self.copied(a, self.first) for a in let.args)
        self.first.append(replace(let, var=ir.Var(let.var.name, let.var.type), args=args))

    def copied(self, op: ir.Operand, into: list[ir.Stmt]) -> ir.Operand:
        """The operand outside of the loop."""
        if not isinstance(op, ir.Var) or op not in self.own:
            return op
        let = self.code.definer[op]
        assert isinstance(let, ir.Let)
        new = ir.Var(op.name, op.type, op.buffer, op.form)
        into.append(replace(let, var=new, args=tuple(self.copied(a, into) for a in let.args)))
        return new

    # ---- sums

    def as_sum(self, let: ir.Let) -> list[ir.Stmt] | None:
        """What adds up the side of a product that differs; None if that cannot be."""
        alpha, a, b, beta, c = let.args
        sides = (self.is_same(a), self.is_same(b))
        if all(sides) or not any(sides) or not self.is_fixed(c) or not ir.is_literal(beta, 1.0):
            return None
        assert isinstance(c, ir.Var) and isinstance(a, ir.Var) and isinstance(b, ir.Var)
        same, other = (a, b) if sides[0] else (b, a)
        root = self.code.roots.of(c)
        lies, fixed = lying(self.code, other), lying(self.code, same)
        if lies is None or fixed is None or not self.is_alone(let, root) or self.is_read(let, root):
            return None
        if not self.saves(let, fixed, is_left=sides[0]):
            return None
        sizes = lies.sizes()
        if any(s is None or any(not self.is_fixed(v) or v in self.own for v in s.atoms) for s in sizes):
            return None
        inside, total = self.added(let, lies, None if self.is_fixed(alpha) else alpha)
        args = tuple(self.copied(x, self.last) for x in (alpha if self.is_fixed(alpha) else _one(alpha), same, c))
        pair = (args[1], total) if sides[0] else (total, args[1])
        self.last.append(replace(let, var=ir.Var(let.var.name, let.var.type), args=(args[0], *pair, beta, args[2])))
        return inside

    def is_read(self, let: ir.Let, root: ir.Var) -> bool:
        """Whether anything in the loop, the sides of the product too, reads what it adds to."""
        if any(self.code.roots.of(a) is root for a in let.args[1:3]):  # type: ignore[arg-type]
            return True
        return any(s is not let and root in self.code.touches.of(s).read for s in self.loop.body.stmts)

    def saves(self, let: ir.Let, fixed: Lying, is_left: bool) -> bool:
        """Whether an element of the other side is multiplied more than once: it is to be added up only once."""
        if let.params["fn"] == "blas.gemv" and not is_left:
            return False
        uses = fixed.sizes()[0 if is_left else 1]
        return uses is None or bool(uses.terms) or uses.const > 1

    def added(self, let: ir.Let, lies: Lying, factor: ir.Operand | None) -> tuple[list[ir.Stmt], ir.Operand]:
        """The statements that add to the sum in a trip, and the sum as an operand after the loop. It lies as the side does."""
        outside, make = Maker(self.code, let.loc), Maker(self.code, let.loc)
        axes = sorted(lies.order)
        forms = [s for _, s in sorted(zip(lies.order, lies.sizes())) if s is not None]
        sizes = tuple(outside.length(s) for s in forms)
        total = ir.Var(ir.SYNTHETIC, Type(lies.var.type.dtype, (ANY,) * len(sizes)), buffer=True)
        self.code.sizes[total] = sizes
        zero = ir.Const(0.0, Type(lies.var.type.dtype))
        indices = tuple(ir.Var(n, INT) for n in "ij"[: len(sizes)])
        filled = nest(indices, sizes, [ir.Store(total, points(len(sizes)), indices, zero, let.loc)], let.loc)
        self.before += [*outside.stmts, ir.Alloc(total, "empty", sizes, {}, let.loc), *filled]
        indices = tuple(ir.Var(n, INT) for n in "ij"[: len(sizes)])
        at = [form_of(indices[axes.index(axis)]) for axis in lies.order]
        value: ir.Var = make.element(lies.at(*at))
        if factor is not None:
            value = make.let("mul", (factor, value), value.type)
        make.stmts.append(ir.Add(total, points(len(sizes)), indices, value, let.loc))
        inside = nest(indices, sizes, make.stmts, let.loc)
        if list(lies.order) == axes:
            return inside, total
        turned = ir.Var(ir.SYNTHETIC, Type(lies.var.type.dtype, (ANY,) * len(sizes)))
        self.last.append(ir.Let(turned, "swap", (total,), {}, let.loc))
        return inside, turned


def _one(like: ir.Operand) -> ir.Const:
    return ir.Const(1.0, Type(like.type.dtype))


def _is_number(let: ir.Let) -> bool:
    """Whether a number is computed from numbers, and nothing can go wrong."""
    return not is_array(let.var) and not any(is_array(a) for a in let.args) and not may_raise(let)


def _raises(stmt: ir.Stmt) -> bool:
    """Whether it may raise; the sizes of a product have been compared before."""
    inner = (s for b in blocks(stmt) for s in statements(b))
    return any(
        isinstance(s, ir.Effect) or (isinstance(s, ir.Let) and may_raise(s) and not is_product(s))
        for s in (stmt, *inner)
    )


def _trips(loop: ir.For) -> int | None:
    """How many trips it has, if that is known."""
    ends = (loop.start, loop.bound, loop.step)
    return len(range(*(e.value for e in ends))) if all(isinstance(e, ir.Const) for e in ends) else None  # type: ignore[union-attr]
