"""One nest in place of several that write boxes of one array: each element of a row of the core is written once.

The core is the intersection of the boxes. A row outside the core is written by each nest in turn, as before. In a row of the
core the few elements to the left and right are written once too, by the nests that reach them.
"""

from __future__ import annotations

from dataclasses import dataclass

from transpile.analysis.affine import Linear
from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT, Type
from transpile.loops.boxes import Boxes, Nest, number
from transpile.ops.tables import record_of

LEAST = 3  # distinct offsets of boxes that are added to


@dataclass(frozen=True)
class Side:
    """Starts, or ends, of boxes along an axis. ``later``: distance of each from the first; it is exact if all values in
    ``assumed`` are not negative."""

    ends: tuple[Linear, ...]
    later: tuple[int, ...]
    assumed: dict[ir.Var, Linear]

    @staticmethod
    def of(ends: tuple[Linear, ...], boxes: Boxes) -> Side | None:
        """The side with these ends; None if their distances are not constant."""
        gaps = [e - ends[0] for e in ends]
        assumed: dict[ir.Var, Linear] = {}
        if any(g.terms for g in gaps):
            plain = [boxes.plain(e, assumed) for e in ends]
            gaps = [e - plain[0] for e in plain]
        return None if any(g.terms for g in gaps) else Side(ends, tuple(g.const for g in gaps), assumed)

    @property
    def differs(self) -> bool:
        """Whether the boxes end (or start) at different places."""
        return len(set(self.later)) > 1

    @property
    def last(self) -> Linear:
        """The greatest of the ends."""
        return self.ends[self.later.index(max(self.later))]

    @property
    def first(self) -> Linear:
        """The least of the ends."""
        return self.ends[self.later.index(min(self.later))]


@dataclass
class Gathered:
    """Nests to be gathered, the array axes that their loops run along, and the two sides of the boxes along each axis."""

    nests: list[Nest]
    boxes: Boxes
    axes: tuple[int, ...]
    low: dict[int, Side]
    high: dict[int, Side]

    @staticmethod
    def of(nests: list[Nest], boxes: Boxes) -> Gathered | None:
        """The nests as one, if they write boxes of one array at constant distances and at least `LEAST` of them add at distinct
        offsets; else None."""
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
        sums = [k for k, n in enumerate(nests) if not isinstance(n.write.value, ir.Const)]
        places = {tuple(low[a].later[k] for a in axes) for k in sums}
        if len(places) < LEAST:
            return None
        return Gathered(nests, boxes, axes, low, high)

    def stmts(self) -> list[ir.Stmt]:
        """The statements that replace the nests."""
        stmts: list[ir.Stmt] = []
        test = self.has_core(stmts)
        return [*stmts, *self.rows(0, {}, test)]

    def has_core(self, stmts: list[ir.Stmt]) -> list[ir.Operand]:
        """A list of one test, that the distances of the sides are as assumed and that the boxes share a column; empty if
        nothing is to be tested. Appends to ``stmts``."""
        assumed: dict[ir.Var, Linear] = {}
        for side in (*self.low.values(), *self.high.values()):
            assumed.update(side.assumed)
        tests: list[ir.Operand] = []
        for inside in assumed.values():
            tests.append(compare("greater_equal", self.boxes.operand(inside, stmts), ir.Const(0, INT), stmts))
        low, high = self.low[self.axes[-1]], self.high[self.axes[-1]]
        if low.differs or high.differs:
            ends = (self.boxes.operand(low.last, stmts), self.boxes.operand(high.first, stmts))
            tests.append(compare("less", *ends, stmts))
        return [both(tests, stmts)] if tests else []

    def either(self, tests: list[ir.Operand], then: list[ir.Stmt], orelse: list[ir.Stmt]) -> list[ir.Stmt]:
        """A branch on the conjunction of the tests, with the sides ``then`` and ``orelse``; ``then`` alone if there are no
        tests."""
        if not tests:
            return then
        stmts: list[ir.Stmt] = []
        test = both(tests, stmts)
        return [*stmts, ir.If(test, ir.Block((), then), ir.Block((), orelse), (), self.nests[0].write.loc)]

    # ---- rows

    def rows(self, depth: int, fixed: dict[int, ir.Operand], tests: list[ir.Operand]) -> list[ir.Stmt]:
        """Loops over the hull of the boxes along the axes from ``depth`` on, except for the last axis. ``fixed``: the
        subscripts of the outer axes; ``tests`` must hold for a row to be in the core."""
        if depth + 1 == len(self.axes):
            return self.either(tests, self.columns(fixed), self.one_by_one(fixed) if tests else [])
        axis = self.axes[depth]
        low, high = self.low[axis], self.high[axis]
        stmts: list[ir.Stmt] = []
        start = self.extreme("minimum", low, stmts)
        bound = self.extreme("maximum", high, stmts)
        index = self.index(axis)
        body: list[ir.Stmt] = []
        tests = list(tests)
        if low.differs:
            tests.append(compare("greater_equal", index, self.boxes.operand(low.last, stmts), body))
        if high.differs:
            tests.append(compare("less", index, self.boxes.operand(high.first, stmts), body))
        body += self.rows(depth + 1, {**fixed, axis: index}, tests)
        return [*stmts, self.range(index, start, bound, body)]

    def one_by_one(self, fixed: dict[int, ir.Operand]) -> list[ir.Stmt]:
        """Each nest in a row that is outside the core; ``fixed``: the subscripts of the row."""
        stmts: list[ir.Stmt] = []
        for k, nest in enumerate(self.nests):
            tests: list[ir.Operand] = []
            for axis, at in fixed.items():
                low, high = self.low[axis], self.high[axis]
                if low.differs or low.assumed:
                    tests.append(compare("greater_equal", at, self.boxes.operand(low.ends[k], stmts), stmts))
                if high.differs or high.assumed:
                    tests.append(compare("less", at, self.boxes.operand(high.ends[k], stmts), stmts))
            stmts += self.either(tests, self.boxes.trips(nest, fixed), [])
        return stmts

    def extreme(self, prim: str, side: Side, stmts: list[ir.Stmt]) -> ir.Operand:
        """The least (``prim`` "minimum") or greatest ("maximum") of the ends of ``side``, as an operand that is right whether
        or not the assumptions hold; the computation is appended to ``stmts``."""
        found: dict[frozenset[tuple[ir.Var, int]], Linear] = {}
        for end in side.ends:
            other = found.get(end.key)
            if other is None or (end.const < other.const) == (record_of(prim).extreme < 0):
                found[end.key] = end
        first, *rest = [self.boxes.operand(f, stmts) for f in found.values()]
        for other_end in rest:
            first = number(prim, first, other_end, stmts)
        return first

    def index(self, axis: int) -> ir.Var:
        """A new index variable for a loop along this axis, with the name that the first nest uses."""
        nest = self.nests[0]
        return ir.Var(nest.loops[nest.axes.index(axis)].index.name, INT)

    def range(self, index: ir.Var, start: ir.Operand, bound: ir.Operand, stmts: list[ir.Stmt]) -> ir.For:
        """The loop ``for index in range(start, bound)`` around the statements."""
        return ir.For(index, start, bound, ir.Const(1, INT), (), ir.Block((), stmts), loc=self.nests[0].write.loc)

    # ---- columns

    def columns(self, fixed: dict[int, ir.Operand]) -> list[ir.Stmt]:
        """A row of the core, with the subscripts ``fixed``: single elements to the left and right, and a loop over the columns
        that all boxes share."""
        axis = self.axes[-1]
        low, high = self.low[axis], self.high[axis]
        stmts: list[ir.Stmt] = []
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

    def element(self, nests: list[Nest], fixed: dict[int, ir.Operand], at: ir.Operand) -> list[ir.Stmt]:
        """The statements that compute the sum of what these nests contribute to the element at ``at`` of a row and write it
        once: a store if one of them stores, else an addition. ``fixed``: the subscripts of the outer axes."""
        fixed = {**fixed, self.axes[-1]: at}
        stmts: list[ir.Stmt] = []
        total: ir.Operand | None = None
        is_new = False
        for nest in nests:
            lets, write, _ = self.boxes.copy(nest, fixed)
            is_new = is_new or isinstance(write, ir.Store)
            if isinstance(write, ir.Store):
                stmts, total = [], None
            stmts += lets
            if total is None or (isinstance(total, ir.Const) and total.value == 0.0):
                total = write.value
            else:
                var = ir.Var(ir.SYNTHETIC, Type(write.buf.type.dtype))
                stmts.append(ir.Let(var, "add", (total, write.value), {}, write.loc))
                total = var
        assert total is not None
        first = nests[0].write
        args = tuple(
            fixed[k] if k in fixed else self.boxes.operand(nests[0].shifts[k], stmts) for k in range(len(first.args))
        )
        made = ir.Store if is_new else ir.Add
        return [*stmts, made(first.buf, first.path, args, total, first.loc)]


def compare(prim: str, a: ir.Operand, b: ir.Operand, stmts: list[ir.Stmt]) -> ir.Var:
    """The boolean variable of the comparison ``prim`` of two operands, whose *let* is appended to ``stmts``."""
    var = ir.Var(ir.SYNTHETIC, BOOL)
    stmts.append(ir.Let(var, prim, (a, b), {}))
    return var


def both(tests: list[ir.Operand], stmts: list[ir.Stmt]) -> ir.Operand:
    """The conjunction of the tests, of which there is at least one; the *lets* that compute it are appended to ``stmts``."""
    found = tests[0]
    for test in tests[1:]:
        var = ir.Var(ir.SYNTHETIC, BOOL)
        stmts.append(ir.Let(var, "logical_and", (found, test), {}))
        found = var
    return found
