"""Interchanges two nested loops, so that the loop along the rows of arrays becomes the inner one.

    for k in range(m):                    for k in range(m):
        total = 0.0                           sums[k] = 0.0
        for i in range(n):                for i in range(n):
            total = total + a[i, k]  ->       for k in range(m):
        out[k] = total                            sums[k] = sums[k] + a[i, k]
                                          for k in range(m):
                                              out[k] = sums[k]

Scalars computed before the inner loop are recomputed where needed; values that the inner loop carries become arrays. The order
of iterations changes: no two may touch one element unless both add to it, and statements after the inner loop must touch
nothing that a later iteration reads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from transpile.analysis.accesses import Access, Roots, Touches, is_pure
from transpile.analysis.affine import Forms
from transpile.analysis.element_dependence import OtherTrip
from transpile.analysis.value_ranges import Facts, is_integer
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import INT, Type
from transpile.core.walk import Cloner, blocks, defined, reads, statements
from transpile.loops.array_contraction import points
from transpile.loops.fusion import is_conflict
from transpile.loops.small_integers import Small

WIDE = 8


def interchange_loops(fn: ir.Function) -> ir.Function:
    """The function with pairs of nested loops interchanged where that is legal and pays, innermost pairs first."""
    return with_body(fn, _Order(fn).block(fn.body, None))


class _Order:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.facts = Facts(self.forms)
        self.small = Small(fn, self.forms)

    def block(self, block: ir.Block, loop: ir.For | None) -> ir.Block:
        """The block with loops interchanged, nested blocks first; ``loop``: the loop of which it is the body, None for
        others."""
        around, self.facts = self.facts, self.facts.inside(loop)
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            self.facts.learn(stmt)
            if isinstance(stmt, ir.For):
                new = with_blocks(stmt, lambda b, loop=stmt: self.block(b, loop))  # type: ignore[misc]
                assert isinstance(new, ir.For)
                found = _Pair.of(self, new)
                if found is not None and found.pays() and found.is_legal():
                    stmts += found.exchanged()
                else:
                    stmts.append(new)
            elif blocks(stmt):
                stmts.append(with_blocks(stmt, lambda b: self.block(b, None)))
            else:
                stmts.append(stmt)
        self.facts = around
        return with_stmts(block, stmts)


@dataclass
class _Pair:
    """A loop, the only loop in it, and the statements before and after the latter."""

    around: _Order
    outer: ir.For
    inner: ir.For
    before: list[ir.Let]
    early: list[ir.Stmt]  # writes before the inner loop, which get a loop of their own
    after: list[ir.Stmt]

    @staticmethod
    def of(around: _Order, outer: ir.For) -> _Pair | None:
        """The pair with this outer loop; None if its body has another form."""
        loops = [k for k, s in enumerate(outer.body.stmts) if isinstance(s, (ir.For, ir.While))]
        if len(loops) != 1 or outer.body.stop is not None or outer.trips is not None:
            return None
        inner = outer.body.stmts[loops[0]]
        if not isinstance(inner, ir.For) or inner.body.stop is not None or inner.trips is not None:
            return None
        start, after = outer.body.stmts[: loops[0]], outer.body.stmts[loops[0] + 1 :]
        early = [s for s in start if isinstance(s, (ir.Store, ir.Add))]
        before = [s for s in start if isinstance(s, ir.Let) and is_pure(s) and not s.var.type.dims]
        if len(before) + len(early) != len(start):
            return None
        inside = list(statements(inner.body))
        if not all(is_plain(s) for s in (*inside, *after)):
            return None
        if not isinstance(outer.step, ir.Const) or abs(outer.step.value) != 1 or not is_integer(outer.start):
            return None
        found = _Pair(around, outer, inner, before, early, after)  # type: ignore[arg-type]
        return found if not inner.inits or found.counts_up() else None

    # ---- profit and legality

    def strides(self, index: ir.Var) -> int:
        """Cost of strided accesses in the inner loop if this index is innermost: a step along an axis counts as `WIDE` steps
        along the next."""
        found = 0
        for a in self.around.touches.of(self.inner).found:
            if a.indices:
                forms = [self.around.forms.of(i) for i in a.indices]
                last = len(forms) - 1
                found += sum(WIDE ** (last - k) for k, f in enumerate(forms[:-1]) if f.coefficient(index))
                found += abs(forms[-1].coefficient(index)) > 1
        return found

    def pays(self) -> bool:
        """Whether accesses are closer together with the loops interchanged."""
        return self.strides(self.outer.index) < self.strides(self.inner.index)

    def is_legal(self) -> bool:
        """Whether the interchange keeps the order of conflicting accesses, and the inner range is known outside."""
        of = self.around.touches.of
        own = {self.outer.index, *defined(self.outer.body)}
        forms = self.around.forms
        for end in (self.inner.start, self.inner.bound, self.inner.step):
            if isinstance(end, ir.Var) and (end in own or forms.of(end).atoms & own):
                return False
        params = set(self.outer.body.params)
        inner = of(self.inner)
        if params & inner.uses or any(not params.isdisjoint(reads(s)) for s in (*self.before, *self.early)):
            return False
        facts = self.around.facts
        beside, other = OtherTrip((self.outer,), own, facts), OtherTrip((self.outer, self.inner), own, facts)
        mine = inner.found  # these accesses imply an iteration of the inner loop, the others do not
        first, early, late = ([a for s in part for a in of(s).found] for part in (self.early, self.before, self.after))
        never = [(first, [*early, *late], beside), (first, mine, other), (early, mine, other)]
        owned = [(mine, mine, other), (mine, late, other), (early, late, beside)]
        return all(
            whether(x, y, known)
            for whether, pairs in ((self.is_never, never), (self.is_own, owned))
            for some, others, known in pairs
            for x in some
            for y in others
            if self.meet(x, y)
        )

    def meet(self, x: Access, y: Access) -> bool:
        """Whether two accesses may touch the same memory and their order matters."""
        return self.around.roots.of(x.var) is self.around.roots.of(y.var) and is_conflict(x, y)

    def is_own(self, x: Access, y: Access, other: OtherTrip) -> bool:
        """Whether both accesses surely touch a common element only in the same iteration of the outer loop; the inner
        iterations then keep their order."""
        if x.var is not y.var or x.indices is None or y.indices is None:
            return False
        if self.is_never(x, y, other):
            return True
        forms = self.around.forms
        pairs = [(forms.of(i), forms.of(j)) for i, j in zip(x.indices, y.indices)]
        fixed = set(defined(self.outer.body))
        same = [
            p for p, q in pairs if p == q and not p.without(self.outer.index).without(self.inner.index).atoms & fixed
        ]
        return any(p.coefficient(self.outer.index) and not p.coefficient(self.inner.index) for p in same)

    def is_never(self, x: Access, y: Access, other: OtherTrip) -> bool:
        """Whether the accesses surely have no element in common in any two iterations that ``other`` tells apart."""
        if x.var is not y.var or x.indices is None or y.indices is None:
            return False
        of = self.around.forms.of
        return other.never_meet(tuple(map(of, x.indices)), tuple(map(of, y.indices)))

    # ---- the new loops

    def exchanged(self) -> list[ir.Stmt]:
        """The statements that replace the pair: arrays for carried values and loops that fill them, the interchanged nest, and
        a loop for the statements after the inner loop."""
        outer, inner = self.outer, self.inner
        count = len(inner.inits)
        sums = [self.array(p) for p in inner.body.params]
        allocs: list[ir.Stmt] = []
        loops: list[ir.Stmt] = []
        if count:
            size = self.size(allocs)
            allocs += [ir.Alloc(s, "empty", (size,), {}, outer.loc) for s in sums]
            first = Cloner()
            index = first.fresh(outer.index)
            stmts = [first.stmt(s) for s in self.before]
            stmts += [ir.Store(s, points(1), (index,), first.operand(i), outer.loc) for s, i in zip(sums, inner.inits)]
            loops.append(self.loop(index, stmts))
        if self.early:
            alone = Cloner()
            index = alone.fresh(outer.index)
            loops.append(self.loop(index, [alone.stmt(s) for s in (*self.before, *self.early)]))
        copy = Cloner()
        index = copy.fresh(outer.index)
        row = copy.fresh(inner.index)
        stmts = [copy.stmt(s) for s in self.before]
        for s, p in zip(sums, inner.body.params):
            stmts.append(read(copy.fresh(p), s, index, inner))
        stmts += [copy.stmt(s) for s in inner.body.stmts]
        stmts += [ir.Store(s, points(1), (index,), copy.operand(y), inner.loc) for s, y in zip(sums, inner.body.yields)]
        loops.append(replace(inner, index=row, inits=(), results=(), body=ir.Block((), [self.loop(index, stmts)])))
        if self.after or outer.results:
            last = Cloner()
            index = last.fresh(outer.index)
            params = tuple(last.fresh(p) for p in outer.body.params)
            stmts = [last.stmt(s) for s in self.before]
            stmts += [read(last.fresh(r), s, index, inner) for s, r in zip(sums, inner.results)]
            stmts += [last.stmt(s) for s in self.after]
            yields = tuple(last.operand(y) for y in outer.body.yields)
            loops.append(replace(outer, index=index, body=ir.Block(params, stmts, yields)))
        return [*allocs, *loops]

    def counts_up(self) -> bool:
        """Whether the indices of the outer loop are not negative and its end is no larger than array sizes, so that they can
        subscript an array."""
        of, step = self.around.facts.form, self.outer.step.value  # type: ignore[union-attr]
        least = of(self.outer.start) if step > 0 else of(self.outer.bound) + 1
        most = self.outer.bound if step > 0 else self.outer.start
        return self.around.facts.is_not_negative(least) and self.around.small.is_small(most)

    def size(self, stmts: list[ir.Stmt]) -> ir.Operand:
        """The variable with the size of an array that the outer loop's index can subscript: its greatest value plus 1, or 0.
        Appends to ``stmts`` what computes it."""
        outer = self.outer
        size: ir.Operand = outer.bound
        if outer.step.value < 0:  # type: ignore[union-attr]
            size = ir.Var(ir.SYNTHETIC, INT)
            stmts.append(ir.Let(size, "add", (outer.start, ir.Const(1, INT)), {}, outer.loc))
        found = ir.Var(ir.SYNTHETIC, INT)
        stmts.append(ir.Let(found, "maximum", (size, ir.Const(0, INT)), {"py": True}, outer.loc))
        return found

    def array(self, param: ir.Var) -> ir.Var:
        """A new array variable of rank 1 for the values of ``param`` in all iterations of the outer loop; not allocated
        here."""
        return ir.Var(param.name or ir.SYNTHETIC, Type(param.type.dtype, (ANY,)), buffer=True)

    def loop(self, index: ir.Var, stmts: list[ir.Stmt]) -> ir.For:
        """A loop over the range of the outer loop, upwards, around other statements; it carries nothing."""
        outer = self.outer
        return replace(outer, index=index, inits=(), results=(), body=ir.Block((), stmts), backwards=False)


def is_plain(stmt: ir.Stmt) -> bool:
    """Whether a statement is a *let* that cannot raise, a store or addition to an element, or a loop that carries nothing."""
    if isinstance(stmt, ir.For):
        return not stmt.inits and stmt.trips is None and stmt.body.stop is None
    return is_pure(stmt) if isinstance(stmt, ir.Let) else isinstance(stmt, (ir.Store, ir.Add))


def read(var: ir.Var, array: ir.Var, index: ir.Operand, loop: ir.For) -> ir.Let:
    """A *let* of ``var`` that reads ``array[index]``."""
    return ir.Let(var, "index", (array, index), {"path": points(1), "dims": ()}, loop.loc)
