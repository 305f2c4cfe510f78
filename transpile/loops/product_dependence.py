"""Whether the products of all iterations of a loop may be computed before the loop, or after it.

No other statement of the loop may write what the products read, or touch what they write, on the wrong side: earlier iterations
and earlier statements of the same one if the products move before the loop; later ones if they move after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transpile.analysis.accesses import accesses
from transpile.analysis.affine import Linear
from transpile.analysis.element_dependence import never_meet
from transpile.analysis.value_ranges import Facts, is_integer
from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.core.walk import blocks, statements
from transpile.loops.product_statements import Letter, Product, lying
from transpile.loops.small_integers import Small
from transpile.loops.terms import Code, Read

SAME, EARLIER, LATER = "same", "earlier", "later"


@dataclass(frozen=True)
class Spot:
    """An access of a statement: an element, or the whole array if ``at`` is None; ``boxes`` are index variables that run over
    the part a call takes."""

    var: ir.Var
    at: tuple[Linear, ...] | None
    kind: str
    boxes: tuple[Letter, ...] = ()
    loops: tuple[ir.For, ...] = ()  # around the access


class Conflicts:
    """Dependence tests for one function."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.spots: dict[int, tuple[ir.Stmt, list[Spot]]] = {}
        self.small = Small(code.fn, code.forms)
        self.base = Facts(code.forms)
        for stmt in statements(code.fn.body):
            if isinstance(stmt, ir.Let) and is_integer(stmt.var):
                self.base.define(stmt)

    # ---- accesses

    def of(self, stmt: ir.Stmt) -> list[Spot]:
        """The accesses of a statement and of all statements inside it."""
        held = self.spots.get(id(stmt))
        if held is None or held[0] is not stmt:
            held = self.spots[id(stmt)] = (stmt, list(self._spots(stmt)))
        return held[1]

    def _spots(self, stmt: ir.Stmt) -> Iterator[Spot]:
        """The accesses that `of` collects; those in a loop have it in ``loops``."""
        for found in accesses(stmt):
            if isinstance(stmt, ir.Call):
                yield self._whole(found.var, found.kind)
            else:
                at = None if found.indices is None else tuple(self.code.forms.of(i) for i in found.indices)
                yield Spot(found.var, at, found.kind)
        around = (stmt,) if isinstance(stmt, ir.For) else ()
        for block in blocks(stmt):
            for inner in block.stmts:
                for spot in self.of(inner):
                    yield replace(spot, loops=(*around, *spot.loops)) if around else spot

    def _whole(self, var: ir.Var, kind: str) -> Spot:
        """The access of this ``kind`` that a call makes to its operand ``var``: the part of an array that it views, as ranges
        of subscripts; the whole array if that is not known."""
        found = lying(self.code, var)
        if found is None or any(isinstance(part, tuple) and part[1] is None for part in found.parts):
            return Spot(var if found is None else found.var, None, kind)
        at: list[Linear] = []
        boxes: list[Letter] = []
        for part in found.parts:
            if isinstance(part, Linear):
                at.append(part)
                continue
            assert part[1] is not None
            box = Letter(ir.Var(ir.SYNTHETIC, INT), Linear(0), part[1])
            at.append(part[0] + box.form)
            boxes.append(box)
        return Spot(found.var, tuple(at), kind, tuple(boxes))

    # ---- dependences

    def is_plain(self, loop: ir.For, around: tuple[ir.For, ...]) -> bool:
        """Whether a loop runs in steps of 1 over indices that are not negative, never stops early, and has no effects.
        ``around``: the loops around it."""
        if loop.body.stop is not None or loop.trips is not None or not isinstance(loop.step, ir.Const):
            return False
        if loop.step.value != 1 or not self.small.is_small(loop.bound):
            return False
        if not isinstance(loop.start, ir.Const) or loop.start.value != 0:
            facts = self.base.inner()
            for outer in around:
                facts.enter(outer)
            if not facts.is_not_negative(self.code.forms.of(loop.start)):
                return False  # not an array index
        return not any(isinstance(s, ir.Effect) for s in statements(loop.body))

    def allow(self, loop: ir.For, p: Product, before: bool, around: tuple[ir.For, ...]) -> set[ir.Var] | None:
        """Arrays that the product ``p`` must read from a copy, since it also adds to them; None if the product cannot leave the
        loop.

        ``before``: to the place before the loop, else after it. ``around``: the loops around this one. The letters of the
        product are distinct variables.
        """
        useless = self.useless(loop, p)
        others = [s for s in self.rest(loop, p.stmt) if not any(s[1] is u for u in useless)]
        for relation in (SAME, EARLIER if before else LATER):
            facts, q = self.facts(loop, p, relation, around)
            for side, stmt in others:
                if relation == SAME and side == before:
                    continue
                for spot in self.of(stmt):
                    if self.meets(spot, q, facts, loop, relation):
                        return None
        return self.copies(loop, p, around)

    def rest(self, loop: ir.For, stmt: ir.Stmt) -> Iterator[tuple[bool, ir.Stmt]]:
        """The other statements of the loop, each as a pair of True if it comes after ``stmt`` and the statement; those beside
        it at each level, not what is inside them."""
        after = False
        path = self.code.path[id(stmt)]
        depth = next(k for k, (b, _) in enumerate(path) if b is loop.body)

        def visit(level: int) -> Iterator[tuple[bool, ir.Stmt]]:
            nonlocal after
            block, at = path[level]
            for k, s in enumerate(block.stmts):
                if k == at and level + 1 < len(path):
                    yield from visit(level + 1)
                elif k == at:
                    after = True
                else:
                    yield after, s

        yield from visit(depth)

    def useless(self, loop: ir.For, p: Product) -> list[ir.Stmt]:
        """Statements of the loop that only fill temporaries which nothing reads once the product has left."""
        nests = [s for _, s in self.rest(loop, p.stmt) if isinstance(s, ir.For) and not s.inits]
        touch = self.code.touches.of
        needed = {self.code.roots.of(r.var) for r in p.reads}
        if p.target is not None:
            needed.add(self.code.roots.of(p.target.var))
        found: list[ir.Stmt] = []
        left = nests[::-1]
        while True:
            more = []
            for s in left:
                written = touch(s).written | touch(s).added
                if not written or written & needed or not all(self.is_own(w, loop) for w in written):
                    continue
                readers = [r for w in written for r in self.code.readers.get(w, ())]
                inside = [p.stmt, s, *found]
                if all(any(self.code.is_within(r, o) for o in inside) for r in readers):
                    more.append(s)
            if not more:
                return found
            found += more
            left = [s for s in left if not any(s is m for m in more)]

    def facts(self, loop: ir.For, p: Product, relation: str, around: tuple[ir.For, ...]) -> tuple[Facts, Product]:
        """A pair of facts about the indices, and the product ``p`` in terms of its own iteration: the same as that of the other
        statements, an earlier or a later one (``relation``). ``around``: the loops around this one."""
        facts = self.base.inner()
        for outer in (*around, loop):
            facts.enter(outer)
        if relation != SAME:
            twin = Letter(ir.Var(ir.SYNTHETIC, INT), self.code.forms.of(loop.start), self.code.forms.of(loop.bound))
            p = p.replaced(loop.index, twin.form)
            learn(facts, twin)
            mine, other = self.code.forms.of(loop.index), twin.form
            first, second = (mine, other) if (relation == EARLIER) != loop.backwards else (other, mine)
            facts.less(first, second)
        for letter in p.letters:
            learn(facts, letter)
        return facts, p

    def meets(self, spot: Spot, p: Product, facts: Facts, loop: ir.For, relation: str) -> bool:
        """Whether the access ``spot`` may conflict with the product ``p``, given the ``facts`` of that relation; two reads or
        two additions never do."""
        root = self.code.roots.of(spot.var)
        is_own = self.is_own(spot.var, loop)
        if is_own and relation != SAME:
            return False
        mine: list[tuple[Read, str]] = [(r, "read") for r in p.reads]
        if p.target is not None:
            mine.append((p.target, "write" if p.fills else "add"))
        for read, kind in mine:
            if self.code.roots.of(read.var) is not root or kind == spot.kind == "read" or kind == spot.kind == "add":
                continue
            if not self.is_never(spot, read, facts):
                return True
        return False

    def is_own(self, var: ir.Var, loop: ir.For) -> bool:
        """Whether each iteration of the loop has its own array, because the array is allocated inside the loop."""
        alloc = self.code.definer.get(self.code.roots.of(var))
        return isinstance(alloc, ir.Alloc) and any(b is loop.body for b, _ in self.code.path[id(alloc)])

    def is_never(self, spot: Spot, read: Read, facts: Facts) -> bool:
        """Whether surely the access ``spot`` and the element ``read`` of the product are never the same element, given these
        facts."""
        if spot.var is not read.var or spot.at is None:
            return False
        if spot.boxes or spot.loops:
            facts = facts.inner()
            for loop in spot.loops:
                facts.enter(loop)
            for box in spot.boxes:
                learn(facts, box)
        return never_meet(spot.at, read.at, facts)

    def copies(self, loop: ir.For, p: Product, around: tuple[ir.For, ...]) -> set[ir.Var] | None:
        """Arrays to be copied, because the product reads from them elements to which it adds later; None if a copy does not
        suffice."""
        if p.target is None or (p.fills and p.is_own):
            return set()
        found: set[ir.Var] = set()
        root = self.code.roots.of(p.target.var)
        reads = [r for r in p.reads if self.code.roots.of(r.var) is root]
        if not reads:
            return found
        new = {c.index: ir.Var(ir.SYNTHETIC, INT) for c in p.letters}
        written = p.target
        boxes = list(p.letters)
        for old, var in new.items():
            by = Linear.atom(var)
            written = written.replaced(old, by)
            boxes = [
                Letter(var if c.index is old else c.index, c.low.replaced(old, by), c.high.replaced(old, by))
                for c in boxes
            ]
        spot = Spot(written.var, written.at, "add", tuple(boxes))
        for relation in (SAME, EARLIER, LATER):
            facts, q = self.facts(loop, p, relation, around)
            for r in q.reads:
                if self.code.roots.of(r.var) is not root or self.is_never(spot, r, facts):
                    continue
                if relation != LATER or r.var is not written.var:
                    return None
                found.add(r.var)
        return found


def learn(facts: Facts, letter: Letter) -> None:
    """Adds to the facts that the letter lies in its range."""
    facts.at_most(letter.low, letter.form)
    facts.less(letter.form, letter.high)
