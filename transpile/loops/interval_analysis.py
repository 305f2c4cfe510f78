"""Interval analysis of integers: runs every operation, branch and loop on intervals until nothing changes.

    for i in range(n):                    i is 0 to n - 1, at most 2 ** 48
        if x[i] > 0:
            count += 1                    0 to 2 ** 48: at most so many iterations, each adds at most 1

A result lies in the interval of its operation if that fits into 64 bits or a check stands before it; otherwise it may be any
number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from transpile.analysis.undefined import is_left
from transpile.analysis.value_ranges import LONGEST
from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.ops import interval_arithmetic as intervals
from transpile.ops.interval_arithmetic import FULL, Interval, is_inside, meet, union
from transpile.ops.tables import record_of
from transpile.ops.traits import LESS, Relation

STEPS = [0, 1, 2**8, 2**16, 2**31, 2**32, 2**48, 2**49, 2**50, 2**53, 2**62, 2**63 - 1]
"""Values to which a growing bound is widened: the next larger one."""

ROUNDS = 12
COUNTED = 2**62  # iterations of a `while`: no program runs that many
Axes = tuple[ir.Var, frozenset[int]]
Change = tuple["Interval | None", "Interval | None"]  # the interval of the added amount; the interval of other values


class Ranges:
    """Intervals of one function's integers; subclasses look at them in `visit` while the blocks are walked."""

    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.known: dict[ir.Var, Interval] = {}
        self.latest: dict[ir.Var, Interval] = {}  # at the definition, in the last walk
        self.exact: set[ir.Var] = set()  # values that cannot have wrapped
        self.lets = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let)}
        self.asked = {(record_of(s).asks, s.args) for s in self.lets.values() if record_of(s).asks}
        self.parts: dict[ir.Var, tuple[ir.If | ir.For, int]] = {}  # for results, the statement and the position
        self.trips: dict[int, int] = {}  # the largest trip count, by the id of the loop
        self.axes: dict[ir.Var, Axes] = {}  # numbers from 0 up to a product of sizes of one array
        self.indices: set[ir.Var] = set()
        self.block(fn.body)

    # ---- asking

    def of(self, op: ir.Operand) -> Interval:
        """The interval of an operand as known at this point of the walk; that of its dtype if nothing else is known."""
        if isinstance(op, ir.Const) and (not isinstance(op.value, float) or op.value.is_integer()):
            return int(op.value), int(op.value)  # a fraction, NaN or infinity is no integer interval
        if isinstance(op, ir.Var) and op in self.known:
            return self.known[op]
        return _of_dtype(op.type.dtype)

    def visit(self, stmt: ir.Stmt) -> None:
        """Does nothing here; subclasses override it. It is called with each *let* and check, with the ranges that hold there,
        perhaps several times; the last call counts."""

    # ---- blocks

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A context that restores the known intervals at its end."""
        saved = dict(self.known)
        yield
        self.known = saved

    def block(self, block: ir.Block) -> None:
        """Walks over a block and notes the intervals of its integers in ``known``."""
        for stmt in block.stmts:
            match stmt:
                case ir.Let():
                    self.visit(stmt)
                    if _is_integer(stmt.var):
                        self.define(stmt.var, self.value(stmt))
                case ir.Check():
                    self.visit(stmt)
                    self.assume(stmt.test, False)
                case ir.If():
                    self.branch(stmt)
                case ir.For():
                    self.loop(stmt)
                case ir.While():
                    self.repeat(stmt)
                case _:
                    for inner in blocks(stmt):
                        self.block(inner)

    def define(self, var: ir.Var, range_: Interval) -> None:
        self.known[var] = self.latest[var] = range_

    def value(self, let: ir.Let) -> Interval:
        """The interval of the variable of a *let*; notes in ``exact`` whether it cannot have wrapped."""
        found = self.raw(let)
        self.exact.discard(let.var)
        if found is None or let.var.type.dtype != "int64":
            return _of_dtype(let.var.type.dtype)
        if is_inside(found) or (let.prim, let.args) in self.asked:
            self.exact.add(let.var)
            return meet(FULL, found)
        return FULL

    def raw(self, let: ir.Let) -> Interval | None:
        """The interval of the result in exact arithmetic; None if unknown."""
        match let.prim:
            case "dim":
                self.axes[let.var] = let.args[0], frozenset((let.params["axis"],))  # type: ignore[assignment]
                return 0, LONGEST
            case "item":
                call = self.lets.get(let.args[0])  # type: ignore[arg-type]
                asked = call is not None and record_of(call).interval is not None
                return interval_of(call.prim, [self.of(a) for a in call.args]) if asked else None  # type: ignore[union-attr]
            case "cast" if let.args[0].type.is_float:
                return None
        area = self.area(let) if record_of(let).multiplies else None
        if area is not None:
            return area
        if any(a.type.dims or not (a.type.is_int or a.type.is_bool) for a in let.args):
            return None
        return interval_of(let.prim, [self.of(a) for a in let.args])

    def area(self, let: ir.Let) -> Interval | None:
        """The interval of a product of sizes of one array, or of indices below these sizes: memory bounds it, since the array
        has that many elements, or none. None for other products."""
        a, b = (self.axes.get(x) if isinstance(x, ir.Var) else None for x in let.args)
        if a is None or b is None or a[0] is not b[0] or a[1] & b[1]:
            return None
        self.axes[let.var] = a[0], a[1] | b[1]
        return 0, (2**63 - 1) // np.dtype(a[0].type.dtype).itemsize

    # ---- tests

    def assume(self, test: ir.Operand, holds: bool) -> None:
        """Narrows the operands of a test that is known to be true (``holds``) or to be false."""
        let = self.lets.get(test) if isinstance(test, ir.Var) else None
        if let is None:
            return
        record = record_of(let)
        for k, truth in record.implies(holds) if record.implies is not None else ():
            self.assume(let.args[k], truth)
        if record.relation is not None and all(_is_integer(a) for a in let.args):
            self.compared(record.relation if holds else record.relation.negated, *let.args)

    def compared(self, relation: Relation, a: ir.Operand, b: ir.Operand) -> None:
        """Narrows two operands of which it is known that ``a`` and ``b`` are in this relation."""
        (a_low, a_high), (b_low, b_high) = self.of(a), self.of(b)
        match relation.cases:
            case True, equal, False:
                self.learn(a, (FULL[0], b_high - (not equal)))
                self.learn(b, (a_low + (not equal), FULL[1]))
            case False, _, True:
                self.compared(relation.turned, b, a)
            case False, True, False:
                self.learn(a, (b_low, b_high))
                self.learn(b, (a_low, a_high))
            case _:
                for x, (low, high), y in ((a, (b_low, b_high), (a_low, a_high)), (b, (a_low, a_high), (b_low, b_high))):
                    if low == high and low in y:
                        self.learn(x, (low + 1, FULL[1]) if low == y[0] else (FULL[0], low - 1))

    def learn(self, op: ir.Operand, within: Interval) -> None:
        """Narrows an operand to the interval ``within``; if it is a sum with a constant, also the other term."""
        if not isinstance(op, ir.Var):
            return
        self.known[op] = meet(self.of(op), within)
        let = self.lets.get(op)
        if let is not None and record_of(let).is_sum and isinstance(let.args[1], ir.Const) and op in self.exact:
            back = intervals.plus if record_of(let).is_difference else intervals.minus
            self.learn(let.args[0], back(self.known[op], self.of(let.args[1])))

    # ---- control

    def branch(self, stmt: ir.If) -> None:
        """Walks over both sides; results get the union of their intervals. If one side always raises, the test is known
        afterwards."""
        found: list[list[Interval]] = []
        for side, holds in ((stmt.then, True), (stmt.orelse, False)):
            with self.inside():
                self.assume(stmt.test, holds)
                self.block(side)
                if not is_left(side):
                    found.append([self.of(y) for y in side.yields])
        for k, result in enumerate(stmt.results):
            self.parts[result] = stmt, k
            if _is_integer(result) and found:
                self.define(result, _joined([f[k] for f in found]))
        if is_left(stmt.then) != is_left(stmt.orelse):
            self.assume(stmt.test, is_left(stmt.orelse))

    def loop(self, stmt: ir.For) -> None:
        """Notes the largest trip count and walks over the body until the intervals of carried values hold."""
        start, bound = self.of(stmt.start), self.of(stmt.bound)
        step = stmt.step.value if isinstance(stmt.step, ir.Const) else 0
        counts = max(0, -(-(bound[1] - start[0]) // step) if step > 0 else 0)
        if step < 0:
            counts = max(0, -(-(start[1] - bound[0]) // -step))
        if not step:
            counts = 2**64
        self.trips[id(stmt)] = counts
        low, high = (start[0], bound[1] - 1) if step > 0 else (bound[0] + 1, start[1])

        def enter() -> None:
            self.indices.add(stmt.index)
            self.define(stmt.index, meet(FULL, (low, high)) if step and low <= high else FULL)
            first, last = (stmt.start, stmt.bound) if step > 0 else (stmt.bound, stmt.start)
            if step:
                self.compared(LESS, first, last)
            if step > 0 and start[0] >= 0 and isinstance(stmt.bound, ir.Var) and stmt.bound in self.axes:
                self.axes[stmt.index] = self.axes[stmt.bound]

        def trip() -> None:
            enter()
            self.block(stmt.body)

        self.carried(stmt, trip, counts)
        if stmt.trips is not None:
            self.known[stmt.trips] = meet(FULL, (0, counts))

    def repeat(self, stmt: ir.While) -> None:
        """Walks over test and body of a ``while`` loop until the intervals of carried values hold."""

        def trip() -> None:
            for test, param in zip(stmt.test.params, stmt.body.params):
                if param in self.known:
                    self.known[test] = self.known[param]
            self.block(stmt.test)
            self.assume(stmt.test.yields[0], True)
            for test, param in zip(stmt.test.params, stmt.body.params):
                if test in self.known:
                    self.known[param] = self.known[test]
            self.block(stmt.body)

        self.carried(stmt, trip, None)
        if stmt.trips is not None:
            self.known[stmt.trips] = (0, FULL[1])

    def carried(self, stmt: ir.For | ir.While, trip: Callable[[], None], counts: int | None) -> None:
        """Finds intervals of carried values that hold before every iteration, and sets those of the results. ``trip`` analyses
        the body once; ``counts`` bounds the trip count, None if it is unknown."""
        params = stmt.body.params
        mine = [k for k, p in enumerate(params) if _is_integer(p)]
        inits = {k: self.of(stmt.inits[k]) for k in mine}

        def run(now: dict[int, Interval]) -> dict[int, Interval]:
            with self.inside():
                self.known.update({params[k]: r for k, r in now.items()})
                trip()
                return {k: self.of(stmt.body.yields[k]) for k in mine}

        if not mine:
            run({})
            return
        free = {k: _of_dtype(params[k].type.dtype) for k in mine}
        run(free)
        caps = self.capped(stmt, inits, counts)
        for _ in range(2):
            held, out = self.fixed(run, inits, caps)
            tighter = self.capped(stmt, inits, counts)
            if tighter == caps:
                break
            caps = tighter
        for k, result in enumerate(stmt.results):
            if isinstance(stmt, ir.For):
                self.parts[result] = stmt, k
            if k in held:
                self.define(result, meet(union(inits[k], out[k]), caps[k][1]))

    def fixed(self, run, inits, caps):  # type: ignore[no-untyped-def]
        """A pair of dicts by position of the carried value: intervals that contain ``inits`` and that one iteration maps into
        themselves, and the intervals after an iteration. ``run`` maps intervals by an iteration; ``caps`` bounds them."""
        now = dict(inits)
        for round_ in range(ROUNDS):
            out = run(now)
            new = {k: meet(union(r, out[k]), caps[k][0]) for k, r in now.items()}
            if all(is_inside(new[k], r) for k, r in now.items()):
                return now, out
            if round_ > 1:
                new = {k: meet(_widened(now[k], r), caps[k][0]) for k, r in new.items()}
            now = new
        now = {k: meet(FULL, caps[k][0]) for k in now}
        return now, run(now)

    def capped(
        self, stmt: ir.For | ir.While, inits: dict[int, Interval], counts: int | None
    ) -> dict[int, tuple[Interval, Interval]]:
        """For each carried value a pair of the intervals that it can reach by adding up: before an iteration, and after all of
        them. ``counts`` bounds the trip count; None if it is unknown."""
        caps: dict[int, tuple[Interval, Interval]] = {}
        for k, init in inits.items():
            change, other = self.change(stmt.body.yields[k], stmt.body.params[k])
            each = change or (0, 0)
            begin = init if other is None else union(init, other)
            most = counts
            if counts is None and is_inside(each, (-1, 1)) and is_inside(begin, (-COUNTED, COUNTED)):
                most = COUNTED
            if most is None:
                caps[k] = FULL, FULL
                continue
            found = [intervals.plus(begin, intervals.times(each, n)) for n in (max(most - 1, 0), most)]
            caps[k] = meet(FULL, found[0]), meet(FULL, found[1])
        return caps

    def change(self, op: ir.Operand, param: ir.Var) -> Change:
        """A pair for ``op``, the value that an iteration gives the carried value ``param``: the interval of the amount added,
        and the interval of values it may have instead.

        The first is None if ``op`` is not reached from ``param`` by sums that cannot have wrapped; the second if there are no
        other values.
        """
        if op is param:
            return (0, 0), None
        let = self.lets.get(op) if isinstance(op, ir.Var) else None
        if let is not None and record_of(let).is_sum and let.var in self.exact:
            a, b = let.args
            for one, other in ((a, b), (b, a))[: 1 if record_of(let).is_difference else 2]:
                each, reset = self.change(one, param)
                by = interval_of(let.prim, [(0, 0), self.last(other)])
                if each is not None and by is not None:
                    return intervals.plus(each, by), None if reset is None else intervals.plus(reset, by)
        if let is not None and let.prim == "where":
            return _either([self.change(a, param) for a in let.args[1:]])
        stmt, k = self.parts.get(op, (None, 0)) if isinstance(op, ir.Var) else (None, 0)
        if isinstance(stmt, ir.If):
            return _either([self.change(b.yields[k], param) for b in (stmt.then, stmt.orelse) if not is_left(b)])
        if isinstance(stmt, ir.For) and id(stmt) in self.trips:
            first, trip = self.change(stmt.inits[k], param), self.change(stmt.body.yields[k], stmt.body.params[k])
            if first[0] is not None and first[1] is None and trip[0] is not None and trip[1] is None:
                return intervals.plus(first[0], intervals.times(trip[0], self.trips[id(stmt)])), None
        return None, self.last(op)

    def last(self, op: ir.Operand) -> Interval:
        """The interval of an operand where it was defined."""
        return self.latest[op] if isinstance(op, ir.Var) and op in self.latest else self.of(op)


def interval_of(prim: str, args: Sequence[Interval]) -> Interval | None:
    """The interval of the result of ``prim`` in exact arithmetic, for operands in these intervals; None if its record has no
    rule."""
    rule = record_of(prim).interval
    found: Interval | None = None if rule is None else rule(*args)
    return found


def _either(changes: Sequence[Change]) -> Change:
    """The change that covers all of several cases; a part is None only if it is so in all of them."""
    sums, others = ([c[k] for c in changes if c[k] is not None] for k in (0, 1))
    return (_joined(sums) if sums else None), (_joined(others) if others else None)


def _joined(ranges: Sequence[Interval | None]) -> Interval:
    """The smallest interval that contains all of these; None entries are left out."""
    found = [r for r in ranges if r is not None]
    return min(r[0] for r in found), max(r[1] for r in found)


def _widened(old: Interval, new: Interval) -> Interval:
    """The interval ``new``; an end that has moved outwards from ``old`` goes on to the next of `STEPS`."""
    low = new[0] if new[0] >= old[0] else max(-s - 1 for s in STEPS if -s - 1 <= new[0])
    high = new[1] if new[1] <= old[1] else min(s for s in STEPS if s >= new[1])
    return low, high


def _of_dtype(dtype: str) -> Interval:
    """The interval of the values that a dtype can hold; of int64 for floats."""
    if dtype == "bool":
        return 0, 1
    if dtype in ("uint64", "int64") or "int" not in dtype:
        return FULL if dtype != "uint64" else (0, 2**64 - 1)
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _is_integer(op: ir.Operand) -> bool:
    """Whether the operand is a scalar of any integer dtype, a boolean or an integer constant."""
    if isinstance(op, ir.Const):
        return isinstance(op.value, int)
    return (
        isinstance(op, ir.Var) and (op.type.is_int or op.type.is_bool) and not op.type.dims and op.type.kind == "array"
    )
