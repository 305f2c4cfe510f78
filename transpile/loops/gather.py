"""What several nests add to one array, each at places of its own, is added up where it goes: one write of an element, not many.

    for i in range(n):                    for i in range(1, n - 1):
        b[i] += x[i]                          b[i] += x[i] + x[i - 1] + x[i - 2]
    for i in range(n):
        b[i + 1] += x[i]        ->        b[0] += x[0]
    for i in range(n):                    ...
        b[i + 2] += x[i]

The adjoint of a stencil is such nests, over boxes that overlap but for a border (`transpile.loops.boxes`). In the core, which is in all
of them, an element is written once. What is read there is what the nests read; at the border each nest does what it did: rows
outside the core as loops, the few columns beside it one by one. A nest that overwrites belongs to the others: what the
elements of the core held before it is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from transpile.core.nodes import (
    SYNTHETIC,
    Add,
    Alloc,
    Block,
    Const,
    For,
    Function,
    If,
    Let,
    Operand,
    Stmt,
    Store,
    Var,
    While,
)
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import blocks
from transpile.loops.affine import Forms, Linear
from transpile.loops.boxes import Boxes, Nest, number
from transpile.loops.memory import Roots, Touches
from transpile.loops.rebuild import with_blocks
from transpile.loops.sources import Sources
from transpile.loops.splits import Split

FAR = 120  # statements between the first nest and the last one
REACH = 4  # columns between where the first box and another one begin or end
LEAST = 3  # places of which one element is written
LARGE = 80  # statements of all nests


def gather(fn: Function) -> Function:
    """The function with such nests gathered."""
    search = _Search(fn)
    body = search.block(fn.body)
    return replace(fn, body=body) if search.changed else fn


@dataclass(frozen=True)
class Side:
    """Where boxes begin, or end, along an axis: by how much later than the first box does, and what must not be negative for
    that to be so."""

    ends: tuple[Linear, ...]
    later: tuple[int, ...]
    assumed: dict[Var, Linear]

    @staticmethod
    def of(ends: tuple[Linear, ...], boxes: Boxes) -> Side | None:
        gaps = [e.plus(ends[0], -1) for e in ends]
        assumed: dict[Var, Linear] = {}
        if any(g.terms for g in gaps):
            plain = [boxes.plain(e, assumed) for e in ends]
            gaps = [e.plus(plain[0], -1) for e in plain]
        return None if any(g.terms for g in gaps) else Side(ends, tuple(g.const for g in gaps), assumed)

    @property
    def differs(self) -> bool:
        return len(set(self.later)) > 1

    @property
    def last(self) -> Linear:
        return self.ends[self.later.index(max(self.later))]

    @property
    def first(self) -> Linear:
        return self.ends[self.later.index(min(self.later))]


class _Search:
    def __init__(self, fn: Function) -> None:
        self.changed = False
        self.depth = 0  # of loops around
        self.forms = Forms(fn.body)
        self.boxes = Boxes(fn, self.forms)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.sources = Sources(fn, self.boxes, self.touches)

    def block(self, block: Block) -> Block:
        stmts = [new for s in block.stmts for new in self.ready(s)]
        at = 0
        while at < len(stmts):
            nests = self.nests(stmts, at)
            found = _Gathered.of(nests, self.boxes)
            if found is not None:
                end = next(k for k, s in enumerate(stmts) if s is nests[-1].stmt)
                found.nests, moved = self.sources.seen_through(nests, stmts[: end + 1])
                if self.depth and len(found.axes) == 1 and self.sources.is_made_beside(found.nests, stmts[:end]):
                    found = None
            if found is None:
                at += 1
                continue
            self.changed = True
            gone = [n.stmt for n in nests] + moved
            before = [s for s in stmts[: end + 1] if not any(s is g for g in gone)]
            stmts = [*before, *found.stmts(), *moved, *stmts[end + 1 :]]
        return replace(block, stmts=stmts)

    def ready(self, stmt: Stmt) -> list[Stmt]:
        """The statement with what is nested in it gathered, or the nests that it is split into."""
        if not blocks(stmt) or self.boxes.of(stmt) is not None:
            return [stmt]
        split = Split.of(stmt, self.boxes, self.touches)
        found = None if split is None else split.made(lambda nests: _Gathered.of(nests, self.boxes) is not None)
        if found is None:
            self.depth += isinstance(stmt, (For, While))
            found = [with_blocks(stmt, self.block)]
            self.depth -= isinstance(stmt, (For, While))
            return found
        self.changed = True
        return found

    def nests(self, stmts: list[Stmt], at: int) -> list[Nest]:
        """The nest that stands there and those that may be put together with it, all of them at the place of the last one."""
        first = self.boxes.of(stmts[at])
        if first is None or not self.is_open(first):
            return []
        found = [first]
        for stmt in stmts[at + 1 : at + FAR]:
            nest = self.boxes.of(stmt)
            if sum(len(n.lets) + 1 for n in found) > LARGE:
                break
            if nest is not None and self.is_open(nest) and self.goes_with(first, nest):
                found.append(nest)
            elif any(self.touches.ordered(n.stmt, stmt) for n in found) or reads_whole(stmt):
                break
        return found

    def is_open(self, nest: Nest) -> bool:
        """Whether it reads nothing of what it writes."""
        return self.roots.of(nest.write.buf) not in self.touches.of(nest.stmt).read

    def goes_with(self, a: Nest, b: Nest) -> bool:
        if a.write.buf is not b.write.buf or set(a.axes) != set(b.axes):
            return False
        if any(a.shifts[k] != b.shifts[k] for k in range(len(a.shifts)) if k not in a.axes):
            return False
        if self.roots.of(a.write.buf) in self.touches.of(b.stmt).read:
            return False
        for axis in a.axes:
            for ends in ((a.low[axis], b.low[axis]), (a.high[axis], b.high[axis])):
                side = Side.of(ends, self.boxes)
                if side is None or (axis == max(a.axes) and abs(side.later[1]) > REACH):
                    return False
        return True


def reads_whole(stmt: Stmt) -> bool:
    """Whether it is new memory filled with what arrays hold."""
    return isinstance(stmt, Alloc) and any(isinstance(a, Var) and a.type.dims for a in stmt.args)


@dataclass
class _Gathered:
    """Nests that go together, and the axes that their boxes differ in."""

    nests: list[Nest]
    boxes: Boxes
    axes: tuple[int, ...]
    low: dict[int, Side]
    high: dict[int, Side]

    @staticmethod
    def of(nests: list[Nest], boxes: Boxes) -> _Gathered | None:
        """What becomes of the nests; None if that would not pay."""
        if len(nests) < LEAST:
            return None
        axes = tuple(sorted(nests[0].axes))
        low, high = {}, {}
        for axis in axes:
            first = Side.of(tuple(n.low[axis] for n in nests), boxes)
            after = Side.of(tuple(n.high[axis] for n in nests), boxes)
            if first is None or after is None:
                return None
            low[axis], high[axis] = first, after
        sums = [k for k, n in enumerate(nests) if not isinstance(n.write.value, Const)]
        places = {tuple(low[a].later[k] for a in axes) for k in sums}
        if len(places) < LEAST:
            return None
        return _Gathered(nests, boxes, axes, low, high)

    def stmts(self) -> list[Stmt]:
        stmts: list[Stmt] = []
        test = self.has_core(stmts)
        return [*stmts, *self.rows(0, {}, test)]

    def has_core(self, stmts: list[Stmt]) -> list[Operand]:
        """Tests that hold where boxes differ by what is known, and have a common column."""
        assumed: dict[Var, Linear] = {}
        for side in (*self.low.values(), *self.high.values()):
            assumed.update(side.assumed)
        tests: list[Operand] = []
        for inside in assumed.values():
            tests.append(compare("greater_equal", self.boxes.operand(inside, stmts), Const(0, INT), stmts))
        low, high = self.low[self.axes[-1]], self.high[self.axes[-1]]
        if low.differs or high.differs:
            ends = (self.boxes.operand(low.last, stmts), self.boxes.operand(high.first, stmts))
            tests.append(compare("less", *ends, stmts))
        return [both(tests, stmts)] if tests else []

    def either(self, tests: list[Operand], then: list[Stmt], orelse: list[Stmt]) -> list[Stmt]:
        if not tests:
            return then
        stmts: list[Stmt] = []
        test = both(tests, stmts)
        return [*stmts, If(test, Block((), then), Block((), orelse), (), self.nests[0].write.loc)]

    # ---- rows

    def rows(self, depth: int, fixed: dict[int, Operand], tests: list[Operand]) -> list[Stmt]:
        """The loops over all that the boxes take of the axes from this one on, but for the last one."""
        if depth + 1 == len(self.axes):
            return self.either(tests, self.columns(fixed), self.one_by_one(fixed) if tests else [])
        axis = self.axes[depth]
        low, high = self.low[axis], self.high[axis]
        stmts: list[Stmt] = []
        start = self.extreme("minimum", low, stmts)
        bound = self.extreme("maximum", high, stmts)
        index = self.index(axis)
        body: list[Stmt] = []
        tests = list(tests)
        if low.differs:
            tests.append(compare("greater_equal", index, self.boxes.operand(low.last, stmts), body))
        if high.differs:
            tests.append(compare("less", index, self.boxes.operand(high.first, stmts), body))
        body += self.rows(depth + 1, {**fixed, axis: index}, tests)
        return [*stmts, self.range(index, start, bound, body)]

    def one_by_one(self, fixed: dict[int, Operand]) -> list[Stmt]:
        """Each nest in a row that is not in all of the boxes."""
        stmts: list[Stmt] = []
        for k, nest in enumerate(self.nests):
            tests: list[Operand] = []
            for axis, at in fixed.items():
                low, high = self.low[axis], self.high[axis]
                if low.differs or low.assumed:
                    tests.append(compare("greater_equal", at, self.boxes.operand(low.ends[k], stmts), stmts))
                if high.differs or high.assumed:
                    tests.append(compare("less", at, self.boxes.operand(high.ends[k], stmts), stmts))
            stmts += self.either(tests, self.boxes.trips(nest, fixed), [])
        return stmts

    def extreme(self, prim: str, side: Side, stmts: list[Stmt]) -> Operand:
        """The least or the greatest of the ends, whatever is assumed of them."""
        found: dict[frozenset[tuple[Var, int]], Linear] = {}
        for end in side.ends:
            other = found.get(end.terms)
            if other is None or (end.const < other.const) == (prim == "minimum"):
                found[end.terms] = end
        first, *rest = [self.boxes.operand(f, stmts) for f in found.values()]
        for other_end in rest:
            first = number(prim, first, other_end, stmts)
        return first

    def index(self, axis: int) -> Var:
        nest = self.nests[0]
        return Var(nest.loops[nest.axes.index(axis)].index.name, INT)

    def range(self, index: Var, start: Operand, bound: Operand, stmts: list[Stmt]) -> For:
        return For(index, start, bound, Const(1, INT), (), Block((), stmts), loc=self.nests[0].write.loc)

    # ---- columns

    def columns(self, fixed: dict[int, Operand]) -> list[Stmt]:
        """A row of the core: what is left and right of what the boxes have in common, and that."""
        axis = self.axes[-1]
        low, high = self.low[axis], self.high[axis]
        stmts: list[Stmt] = []
        for gap in range(min(low.later) - max(low.later), 0):
            reached = [n for n, later in zip(self.nests, low.later) if later - max(low.later) <= gap]
            stmts += self.element(reached, fixed, self.boxes.operand(low.last.plus(Linear(gap)), stmts))
        for gap in range(max(high.later) - min(high.later)):
            reached = [n for n, later in zip(self.nests, high.later) if later - min(high.later) > gap]
            stmts += self.element(reached, fixed, self.boxes.operand(high.first.plus(Linear(gap)), stmts))
        start = self.boxes.operand(low.last, stmts)
        bound = self.boxes.operand(high.first, stmts)
        index = self.index(axis)
        stmts.append(self.range(index, start, bound, self.element(self.nests, fixed, index)))
        return stmts

    def element(self, nests: list[Nest], fixed: dict[int, Operand], at: Operand) -> list[Stmt]:
        """All that goes to one element: written once."""
        fixed = {**fixed, self.axes[-1]: at}
        stmts: list[Stmt] = []
        total: Operand | None = None
        is_new = False
        for nest in nests:
            lets, _, write = self.boxes.copy(nest, fixed)
            is_new = is_new or isinstance(write, Store)
            if isinstance(write, Store):
                stmts, total = [], None
            stmts += lets
            if total is None or (isinstance(total, Const) and total.value == 0.0):
                total = write.value
            else:
                var = Var(SYNTHETIC, Type(write.buf.type.dtype))
                stmts.append(Let(var, "add", (total, write.value), {}, write.loc))
                total = var
        assert total is not None
        first = nests[0].write
        args = tuple(
            fixed[k] if k in fixed else self.boxes.operand(nests[0].shifts[k], stmts) for k in range(len(first.args))
        )
        made = Store if is_new else Add
        return [*stmts, made(first.buf, first.path, args, total, first.loc)]


def compare(prim: str, a: Operand, b: Operand, stmts: list[Stmt]) -> Var:
    var = Var(SYNTHETIC, BOOL)
    stmts.append(Let(var, prim, (a, b), {}))
    return var


def both(tests: list[Operand], stmts: list[Stmt]) -> Operand:
    found = tests[0]
    for test in tests[1:]:
        var = Var(SYNTHETIC, BOOL)
        stmts.append(Let(var, "logical_and", (found, test), {}))
        found = var
    return found
