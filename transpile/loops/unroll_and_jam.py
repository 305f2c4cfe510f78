"""Several trips of a loop at once, side by side, where the loops inside are recurrences: a vector holds one number of each trip.

    for i in range(n):                            for first in range(0, n // 16 * 16, 16):
        error = y[i]                                  for lane in range(16):
        power = 1.0                                       error[lane] = y[first + lane]
        for j in range(m):                                power[lane] = 1.0
            error = error - x[j] * power      ->      for j in range(m):
            power = power * t                             for lane in range(16):
        total = total + error * error                         error[lane] = error[lane] - x[j] * power[lane]
                                                              power[lane] = power[lane] * t
                                                      for lane in range(16):
                                                          sums[lane] = sums[lane] + error[lane] * error[lane]
                                                  for lane in range(16):
                                                      total = total + sums[lane]

A number that differs from trip to trip and is needed by several of the loops over lanes has an array of 16, which LLVM keeps in
registers; an array of the trip's own has 16 for each element. What trips add to sums in memory the lanes add up first. The loop as
it was takes the trips that are left, or all where arrays would be large. Which loops: `transpile.loops.unroll_and_jam_legality`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from transpile.analysis.affine import Forms
from transpile.analysis.loop_reductions import held_by
from transpile.analysis.value_ranges import Facts, is_integer
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, INT
from transpile.core.walk import blocks, defined, statements, uses
from transpile.loops.jammed_rows import with_rows
from transpile.loops.memory_sums import as_additions
from transpile.loops.unroll_and_jam_code import Bodies, number, over_lanes
from transpile.loops.unroll_and_jam_legality import AT_ONCE, Search, Trips, may_gain
from transpile.ops.tables import record_of

ROOM = 32_768  # elements of arrays of the trips' own, at most: what the second cache holds
PLENTY = 8 * ROOM  # where elementary functions take longer than memory does
FEW = 32  # trips of inner loops that LLVM could make vectors of, which are short ones then


def unroll_and_jam(fn: ir.Function) -> ir.Function:
    """The function with such loops in blocks of trips."""
    return with_body(fn, _Abreast(fn).block(fn.body, None))


class _Abreast:
    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.search: Search | None = None  # made when the first loop asks for it
        self.around: list[tuple[ir.Block, ir.For | None]] = []

    def block(self, block: ir.Block, loop: ir.For | None) -> ir.Block:
        self.around.append((block, loop))
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            found = self.blocks(stmt) if isinstance(stmt, ir.For) and may_gain(stmt) else None
            if found is not None:
                stmts += found
                continue
            inner = stmt if isinstance(stmt, ir.For) else None
            stmts.append(with_blocks(stmt, lambda b, inner=inner: self.block(b, inner)))  # type: ignore[misc]
        self.around.pop()
        return with_stmts(block, stmts)

    def blocks(self, loop: ir.For) -> list[ir.Stmt] | None:
        if self.search is None:
            self.search = Search(self.fn)
        search = self.search
        waits = search.has_recurrences(loop)
        if not waits and not (loop.lanes and (is_dear(loop) or has_nested_sums(loop))):
            return None
        before, new = with_rows(as_additions(loop, search.forms, search.roots), search.forms, search.roots)
        trips = search.trips(new, self.facts(search.forms))
        return None if trips is None else [*before, *_Blocks(new, trips, waits).statements(loop)]

    def facts(self, forms: Forms) -> Facts:
        """What is known where the search is now."""
        facts = Facts(forms)
        for block, loop in self.around:
            if loop is not None:
                facts.enter(loop)
            for stmt in block.stmts:
                if isinstance(stmt, ir.Let) and is_integer(stmt.var):
                    facts.define(stmt)
        return facts


class _Blocks(Bodies):
    """Makes the statements that a loop becomes. Without ``waits`` LLVM could make vectors of each of the loops inside."""

    def __init__(self, loop: ir.For, trips: Trips, waits: bool) -> None:
        super().__init__(loop, trips)
        self.waits = waits

    def statements(self, rest_of: ir.For) -> list[ir.Stmt]:
        """The blocks, and the loop that takes the rest of the trips."""
        loop, up = self.loop, _step(self.loop) > 0
        ends = (loop.bound, loop.start) if up else (loop.start, loop.bound)
        trips = self.let("maximum", self.let("sub", *ends), ir.Const(0, INT))
        whole = self.let("mul", self.let("quick_div", trips, number(AT_ONCE, INT)), number(AT_ONCE, INT))
        test = self.let("greater", whole, ir.Const(0, INT), type=BOOL)
        few = [] if self.waits else [(n, FEW) for n in self.inner_trips(rest_of)]
        limits = [(self.room(), PLENTY if is_dear(self.loop) else ROOM), *few]
        for size, most in limits:
            if size is not None:
                fits = self.let("less_equal", size, number(most, INT), type=BOOL)
                test = self.let("logical_and", test, fits, type=BOOL)
        before, self.out = self.out, []
        rest = self.let("add" if up else "sub", loop.start, whole)
        low, high = (loop.start, rest) if up else (self.let("add", e, ir.Const(1, INT)) for e in (rest, loop.start))
        totals = self.blocks(low, high)
        then = ir.Block((), self.out, (rest, *totals))
        start, *inits = (ir.Var(v.name, v.type) for v in (rest, *loop.body.params))
        choice = ir.If(test, then, ir.Block((), [], (loop.start, *loop.inits)), (start, *inits), self.loc)
        return [*before, choice, replace(rest_of, start=start, inits=tuple(inits))]

    def blocks(self, low: ir.Operand, high: ir.Operand) -> list[ir.Var]:
        """Makes the loop over blocks, with what it needs; gives what the carried values are after it."""
        loop, ends = self.loop, self.out
        params = loop.body.params
        for k, param in enumerate(params):
            held = held_by(loop, k)
            self.lanes.update((v, self.array(param)) for v in (held if self.is_chain(held, loop.body) else (param,)))
        self.out = []
        self.run.puts += [(self.lanes[p], number(0, p.type)) for p in params]
        self.flush()
        zeros, self.out = self.out, []
        self.block(loop.body, params)
        body = ir.Block((), self.out)
        self.out = [*ends, *self.made, *zeros]
        self.out.append(ir.For(self.first, low, high, number(AT_ONCE, INT), (), body, loc=self.loc))
        return [self.total(p, i) for p, i in zip(params, loop.inits)]

    def room(self) -> ir.Operand | None:
        """How many elements the arrays of the trips' own have; None if there are none."""
        found: ir.Operand | None = None
        for alloc in self.trips.private.values():
            size: ir.Operand = number(AT_ONCE, INT)
            for n in alloc.args:
                size = self.let("mul", size, n)
            found = size if found is None else self.let("add", found, size)
        return found

    def inner_trips(self, loop: ir.For) -> list[ir.Operand]:
        """The numbers of trips of the loops inside, as far as they are known outside."""
        own = {loop.index, *defined(loop.body)}
        inner = [s for s in statements(loop.body) if isinstance(s, ir.For)]
        ends = dict.fromkeys((s.bound, s.start) for s in inner if not own & {s.bound, s.start})
        return [self.let("sub", *pair) for pair in ends]

    def is_chain(self, held: set[ir.Var], block: ir.Block) -> bool:
        """Whether of what a trip holds of a sum on the way nothing is needed when there is more of it, in branches neither."""
        each = [{*uses(ir.Block((), [s]))} & held for s in block.stmts]
        found = Counter(v for vs in (*each, {*block.yields} & held) for v in vs)
        sides = [b for s in block.stmts if isinstance(s, ir.If) for b in blocks(s)]
        return all(n == 1 for n in found.values()) and all(self.is_chain(held, b) for b in sides)

    def total(self, param: ir.Var, init: ir.Operand) -> ir.Var:
        """What a carried value is with the lanes' sums added."""
        lane, total, result = ir.Var("lane", INT), ir.Var(param.name, param.type), ir.Var(param.name, param.type)
        value, new = self.read(self.lanes[param], lane), ir.Var(ir.SYNTHETIC, param.type)
        body = ir.Block((total,), [value, ir.Let(new, "add", (total, value.var), {}, self.loc)], (new,))
        self.out.append(over_lanes(lane, body, (init,), (result,)))
        return result


def is_dear(loop: ir.For) -> bool:
    return any(isinstance(s, ir.Let) and record_of(s).is_dear for s in statements(loop.body))


def has_nested_sums(loop: ir.For) -> bool:
    """Whether more is added up than there are elements, so that it pays to copy these: in a loop that is in a loop inside."""
    inner = [s for s in statements(loop.body) if isinstance(s, ir.For)]
    deep = [s for f in inner for s in statements(f.body) if isinstance(s, ir.For)]
    return any(f.inits or any(isinstance(s, ir.Add) for s in f.body.stmts) for f in deep)


def _step(loop: ir.For) -> int:
    assert isinstance(loop.step, ir.Const)
    return int(loop.step.value)
