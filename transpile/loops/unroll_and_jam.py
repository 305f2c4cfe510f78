"""Runs several iterations of a loop side by side if the inner loops are recurrences: a vector holds one value of each
iteration.

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

A varying value that several loops over lanes need gets an array of 16, which LLVM keeps in registers; a private array of an
iteration gets 16 values per element. Sums in memory are first summed over the lanes. The original loop runs the remaining
iterations, or all of them if the arrays would be large. Legality: `transpile.loops.unroll_and_jam_legality`.
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

ROOM = 32_768  # largest number of elements of private arrays: the size of the second-level cache
PLENTY = 8 * ROOM  # the same if elementary functions take longer than memory accesses
FEW = 32  # largest trip count of inner loops that LLVM could vectorise


def unroll_and_jam(fn: ir.Function) -> ir.Function:
    """The function with loops around recurrences in blocks of `AT_ONCE` iterations that run side by side."""
    return with_body(fn, _Abreast(fn).block(fn.body, None))


class _Abreast:
    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.search: Search | None = None  # made for the first loop that needs it
        self.around: list[tuple[ir.Block, ir.For | None]] = []

    def block(self, block: ir.Block, loop: ir.For | None) -> ir.Block:
        """The block with loops jammed, nested blocks included; ``loop``: the loop of which it is the body, None for others."""
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
        """The statements that replace a loop: buffers for rows, the loop over blocks of iterations, and the loop for the rest;
        None if jamming is illegal or does not pay."""
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
        """Facts about integers that hold in the block that is being rewritten."""
        facts = Facts(forms)
        for block, loop in self.around:
            if loop is not None:
                facts.enter(loop)
            for stmt in block.stmts:
                if isinstance(stmt, ir.Let) and is_integer(stmt.var):
                    facts.define(stmt)
        return facts


class _Blocks(Bodies):
    """Builds the statements that replace a loop. Without ``waits``, LLVM could vectorise the inner loops themselves."""

    def __init__(self, loop: ir.For, trips: Trips, waits: bool) -> None:
        super().__init__(loop, trips)
        self.waits = waits

    def statements(self, rest_of: ir.For) -> list[ir.Stmt]:
        """The statements that replace the loop: a branch with the loop over blocks of iterations, and ``rest_of``, the original
        loop, for the remaining iterations or for all."""
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
        """Appends the loop over the blocks from ``low`` to ``high`` and the statements that prepare it; returns the carried
        values after it."""
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
        """Number of elements of the private arrays of all lanes, as an operand computed by appended statements; None if there
        are none."""
        found: ir.Operand | None = None
        for alloc in self.trips.private.values():
            size: ir.Operand = number(AT_ONCE, INT)
            for n in alloc.args:
                size = self.let("mul", size, n)
            found = size if found is None else self.let("add", found, size)
        return found

    def inner_trips(self, loop: ir.For) -> list[ir.Operand]:
        """The number ``bound - start`` for each inner loop whose ends are known outside, without repetition; what computes them
        is appended."""
        own = {loop.index, *defined(loop.body)}
        inner = [s for s in statements(loop.body) if isinstance(s, ir.For)]
        ends = dict.fromkeys((s.bound, s.start) for s in inner if not own & {s.bound, s.start})
        return [self.let("sub", *pair) for pair in ends]

    def is_chain(self, held: set[ir.Var], block: ir.Block) -> bool:
        """Whether each partial value of a sum (``held``) is used only once, in branches too, so that one array can hold all."""
        each = [{*uses(ir.Block((), [s]))} & held for s in block.stmts]
        found = Counter(v for vs in (*each, {*block.yields} & held) for v in vs)
        sides = [b for s in block.stmts if isinstance(s, ir.If) for b in blocks(s)]
        return all(n == 1 for n in found.values()) and all(self.is_chain(held, b) for b in sides)

    def total(self, param: ir.Var, init: ir.Operand) -> ir.Var:
        """The variable with the initial value ``init`` plus the sums of all lanes of ``param``; appends the loop that adds
        them."""
        lane, total, result = ir.Var("lane", INT), ir.Var(param.name, param.type), ir.Var(param.name, param.type)
        value, new = self.read(self.lanes[param], lane), ir.Var(ir.SYNTHETIC, param.type)
        body = ir.Block((total,), [value, ir.Let(new, "add", (total, value.var), {}, self.loc)], (new,))
        self.out.append(over_lanes(lane, body, (init,), (result,)))
        return result


def is_dear(loop: ir.For) -> bool:
    """Whether a loop has an operation that is much faster in vectors."""
    return any(isinstance(s, ir.Let) and record_of(s).is_dear for s in statements(loop.body))


def has_nested_sums(loop: ir.For) -> bool:
    """Whether a loop nested in an inner loop accumulates: it then sums more terms than there are elements, so copying the
    elements pays."""
    inner = [s for s in statements(loop.body) if isinstance(s, ir.For)]
    deep = [s for f in inner for s in statements(f.body) if isinstance(s, ir.For)]
    return any(f.inits or any(isinstance(s, ir.Add) for s in f.body.stmts) for f in deep)


def _step(loop: ir.For) -> int:
    assert isinstance(loop.step, ir.Const)
    return int(loop.step.value)
