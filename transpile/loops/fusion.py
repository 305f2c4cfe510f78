"""Fuses loops over the same range that share memory, if the order of accesses allows it.

    for i in range(n):                    for i in range(n):
        z[i] = x[i] * w[i]                    z[i] = x[i] * w[i]
    for i in range(n):            ->          total = total + z[i]
        total = total + z[i]

Two loops may be fused if no iteration of the first touches what an earlier iteration of the second touches. The subscripts show
it: along one axis both are the same linear form of the loop index, up to a distance in the right direction.

A loop that LLVM vectorises is not fused with one that it cannot vectorise, unless the former only does a few operations with
what the other writes or reads: a sum of gathered elements, each with a check.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import Access, Roots, Touch, Touches, has_order, is_ordered
from transpile.analysis.affine import Forms, Linear
from transpile.analysis.element_dependence import never_meet
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, map_operands, statements
from transpile.loops.loop_shape import Kind, kind_of

LIMIT = 120  # statements of a fused loop
TRIES = 12  # earlier loops tried for one loop, of those where fusing pays
WINDOW = 300  # statements searched backwards, so that the time is not quadratic


def fuse_loops(fn: ir.Function) -> ir.Function:
    """The function with loops over the same range fused where that is legal and pays, from the outermost loops inwards."""
    return with_body(fn, _Fusion(fn).block(fn.body, None))


class _Fusion:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.touches = Touches(Roots(fn))
        self.facts = Facts(self.forms)
        self.known: dict[int, tuple[ir.For, Kind, int]] = {}  # by id; holding the loop keeps the id unique

    def block(self, block: ir.Block, loop: ir.For | None) -> ir.Block:
        """The block with loops fused, the outer ones first; ``loop``: the loop of which it is the body, None for others."""
        around, self.facts = self.facts, self.facts.inside(loop)
        for stmt in block.stmts:
            self.facts.learn(stmt)
        stmts = list(block.stmts)
        at = 0
        while at < len(stmts):
            stmt = stmts[at]
            found = self.partner(stmts, at, stmt) if isinstance(stmt, ir.For) else None
            if found is not None:
                at, stmts = found
            at += 1
        stmts = [self.inside(s) if blocks(s) else s for s in stmts]
        self.facts = around
        return with_stmts(block, stmts)

    def inside(self, stmt: ir.Stmt) -> ir.Stmt:
        loop = stmt if isinstance(stmt, ir.For) else None
        return with_blocks(stmt, lambda b: self.block(b, loop))

    # ---- two loops of one block

    def partner(self, stmts: list[ir.Stmt], second: int, b: ir.For) -> tuple[int, list[ir.Stmt]] | None:
        """A pair of the position of the nearest earlier loop with which fusing ``b``, the loop at ``second``, is legal and
        pays, and the new statements; None if there is none.

        One walk backwards: ``needed`` collects what the loop depends on among the statements in between. An earlier loop that
        must precede these statements cannot be fused.
        """
        needed, own, tried = Touch(), self.touches.of(b), 0
        for first in range(second - 1, max(second - WINDOW, 0) - 1, -1):
            a = stmts[first]
            touch = self.touches.of(a)
            if isinstance(a, ir.For) and have_one_range(a, b) and self.pays(a, b):
                if not is_ordered(touch, needed) and self.is_legal(a, b):
                    return first, self.join(stmts, first, second)
                tried += 1
                if tried == TRIES:
                    return None
            if is_ordered(touch, own) or is_ordered(touch, needed):
                needed.include(touch)
        return None

    def join(self, stmts: list[ir.Stmt], first: int, second: int) -> list[ir.Stmt]:
        """The statements with the loop at ``second`` fused into the one at ``first``. Statements in between stand before it, or
        after it if they must stay after the first."""
        a, b = stmts[first], stmts[second]
        assert isinstance(a, ir.For) and isinstance(b, ir.For)
        between = stmts[first + 1 : second]
        after = {id(s) for s in self.touches.after(a, between)}
        before = [s for s in between if id(s) not in after]
        return [
            *stmts[:first],
            *before,
            self.joined(a, b),
            *(s for s in between if id(s) in after),
            *stmts[second + 1 :],
        ]

    def pays(self, a: ir.For, b: ir.For) -> bool:
        """Whether fusing the loops saves memory traffic without losing vectorisation."""
        one, two = self.touches.of(a), self.touches.of(b)
        shared = (one.read | one.written | one.added) & (two.read | two.written | two.added)
        if not shared:
            return False
        (first, size), (second, more) = self.about(a), self.about(b)
        if size + more > LIMIT or not (first.goes_with(second) or self.is_handed(first, second, one, two, size, more)):
            return False
        return first.nested or second.nested or first.serial or second.serial or self.is_in_step(a, b, one, two)

    def is_handed(self, first: Kind, second: Kind, one: Touch, two: Touch, size: int, more: int) -> bool:
        """Whether fusing a loop that LLVM vectorises with one that it cannot vectorise pays: the second reads what the first
        writes, neither is nested or has expensive operations, and the former is small.

        ``one`` and ``two``: their touches; ``size`` and ``more``: the sizes of the first and the second.
        """
        if first.nested or second.nested or first.dear or second.dear or not one.written & two.read:
            return False
        return (more if first.serial else size) <= 4

    def about(self, loop: ir.For) -> tuple[Kind, int]:
        """Kind of a loop, and its number of statements without reads."""
        found = self.known.get(id(loop))
        if found is None:
            found = self.known[id(loop)] = loop, kind_of(loop), _size(loop)
        return found[1:]

    def is_in_step(self, a: ir.For, b: ir.For, one: Touch, two: Touch) -> bool:
        """Whether surely no iteration of the fused loop touches what another one writes, so that LLVM can vectorise it; ``one``
        and ``two`` are the touches of the loops."""
        of = self.touches.roots.of
        here = self.forms.of(a.index)
        pairs = [
            (x, y) for x in one.found for y in two.found if of(x.var) is of(y.var) and {x.kind, y.kind} != {"read"}
        ]
        for x, y in pairs:
            if x.var is not y.var or x.indices is None or y.indices is None:
                return False
            forms = [(self.forms.of(i), self.forms.of(j).replaced(b.index, here)) for i, j in zip(x.indices, y.indices)]
            apart = any(p.key == q.key and p.const != q.const and not p.coefficient(a.index) for p, q in forms)
            if not apart and any(p != q for p, q in forms) and not self.is_never(x, y, a, b):
                return False
        return True

    def is_legal(self, a: ir.For, b: ir.For) -> bool:
        """Whether fusing keeps the order of all conflicting accesses."""
        one, two = self.touches.of(a), self.touches.of(b)
        if one.defs & two.uses - {a.index} or has_order(one, two):
            return False
        clash = (one.read & (two.written | two.added)) | (one.written & (two.read | two.written | two.added))
        clash |= one.added & (two.read | two.written)
        roots = self.touches.roots
        pairs = [
            (x, y)
            for x in one.found
            if roots.of(x.var) in clash
            for y in two.found
            if roots.of(x.var) is roots.of(y.var)
        ]
        return all(self.is_apart(x, y, a, b, one, two) for x, y in pairs if is_conflict(x, y))

    def is_apart(self, x: Access, y: Access, a: ir.For, b: ir.For, one: Touch, two: Touch) -> bool:
        """Whether surely no iteration of ``a`` touches by ``x`` an element that an earlier iteration of ``b`` touches by ``y``;
        ``one`` and ``two`` are the touches of the loops."""
        if x.var is not y.var or x.indices is None or y.indices is None or x.var in one.defs or x.var in two.defs:
            return False
        here = self.forms.of(a.index)
        inside = (one.defs | two.defs) - {a.index}
        for i, j in zip(x.indices, y.indices):
            p, q = self.forms.of(i), self.forms.of(j).replaced(b.index, here)
            if (p.atoms | q.atoms) & inside:
                continue
            if is_never_later(p, q, a):
                return True
        return self.is_never(x, y, a, b)

    def is_never(self, x: Access, y: Access, a: ir.For, b: ir.For) -> bool:
        """Whether surely no iteration of ``a`` touches by ``x`` an element that any iteration of ``b`` touches by ``y``."""
        assert x.indices is not None and y.indices is not None
        facts = self.facts.inner()
        facts.enter(a)
        facts.enter(b)
        at, other = (tuple(map(self.forms.of, one.indices)) for one in (x, y) if one.indices is not None)
        return never_meet(at, other, facts)

    def joined(self, a: ir.For, b: ir.For) -> ir.For:
        """One loop with the bodies of both, first that of ``a``; the index of ``b`` becomes an alias of the index of ``a``."""

        def operand(o: ir.Operand) -> ir.Operand:
            return a.index if o is b.index else o

        self.forms.alias(b.index, a.index)
        stmts = [*a.body.stmts, *(map_operands(s, operand) for s in b.body.stmts)]
        yields = (*a.body.yields, *(operand(y) for y in b.body.yields))
        body = ir.Block((*a.body.params, *b.body.params), stmts, yields)
        return replace(a, inits=(*a.inits, *b.inits), results=(*a.results, *b.results), body=body)


def have_one_range(a: ir.For, b: ir.For) -> bool:
    """Whether both loops surely run over the same indices in the same order and never stop early."""
    if a.body.stop is not None or b.body.stop is not None or a.trips is not None or b.trips is not None:
        return False
    return a.backwards == b.backwards and all(
        same(x, y) for x, y in zip((a.start, a.bound, a.step), (b.start, b.bound, b.step))
    )


def same(x: ir.Operand, y: ir.Operand) -> bool:
    """Whether two operands are one variable or equal constants."""
    return x is y or (isinstance(x, ir.Const) and isinstance(y, ir.Const) and x.value == y.value)


def is_conflict(x: Access, y: Access) -> bool:
    """Whether the order of two accesses of one element matters: at least one writes or adds, and they do not both add."""
    return (x.kind != "read" or y.kind != "read") and not x.kind == y.kind == "add"


def is_never_later(p: Linear, q: Linear, loop: ir.For) -> bool:
    """Whether surely the value of ``p`` in one iteration of ``loop`` never equals the value of ``q`` in an earlier one."""
    coef = p.coefficient(loop.index)
    p, other, q = p.without(loop.index), q.coefficient(loop.index), q.without(loop.index)
    if coef != other or p.key != q.key:
        return False
    gap = q.const - p.const
    if coef == 0:
        return gap != 0
    if gap % coef:
        return True
    if not isinstance(loop.step, ir.Const):
        return gap == 0
    ahead = gap // coef * (1 if loop.step.value > 0 else -1) * (-1 if loop.backwards else 1)
    return ahead <= 0


def _size(loop: ir.For) -> int:
    """Number of statements of the loop, nested ones included, reads of elements not."""
    return sum(not (isinstance(s, ir.Let) and s.prim == "index") for s in statements(loop.body))
