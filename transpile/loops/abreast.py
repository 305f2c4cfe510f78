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
it was takes the trips that are left, or all where arrays would be large. Which loops: `transpile.loops.trips`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transpile.core.dims import Dim
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
)
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import Cloner, defines, free, uses
from transpile.loops.adds import as_additions
from transpile.loops.affine import Forms
from transpile.loops.contract import points
from transpile.loops.facts import Facts, is_integer
from transpile.loops.folds import held_by
from transpile.loops.rebuild import with_blocks, with_body, with_stmts
from transpile.loops.trips import ABREAST, AT_ONCE, Search, Trips, is_guard, may_gain

ROOM = 32_768  # elements of arrays of the trips' own, at most: what the second cache holds


def abreast(fn: Function) -> Function:
    """The function with such loops in blocks of trips."""
    return with_body(fn, _Abreast(fn).block(fn.body, None))


class _Abreast:
    def __init__(self, fn: Function) -> None:
        self.fn = fn
        self.search: Search | None = None  # made when the first loop asks for it
        self.around: list[tuple[Block, For | None]] = []

    def block(self, block: Block, loop: For | None) -> Block:
        self.around.append((block, loop))
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            found = self.blocks(stmt) if isinstance(stmt, For) and may_gain(stmt) else None
            if found is not None:
                stmts += found
                continue
            inner = stmt if isinstance(stmt, For) else None
            stmts.append(with_blocks(stmt, lambda b, inner=inner: self.block(b, inner)))  # type: ignore[misc]
        self.around.pop()
        return with_stmts(block, stmts)

    def blocks(self, loop: For) -> list[Stmt] | None:
        if self.search is None:
            self.search = Search(self.fn)
        search = self.search
        if not search.has_recurrences(loop):
            return None
        new = as_additions(loop, search.forms, search.roots)
        trips = search.trips(new, self.facts(search.forms))
        return None if trips is None else _Blocks(new, trips).statements(loop)

    def facts(self, forms: Forms) -> Facts:
        """What is known where the search is now."""
        facts = Facts(forms)
        for block, loop in self.around:
            if loop is not None:
                facts.enter(loop)
            for stmt in block.stmts:
                if isinstance(stmt, Let) and is_integer(stmt.var):
                    facts.define(stmt)
        return facts


@dataclass
class _Run:
    """Statements of a loop over lanes, and what it puts into arrays of lanes at its end."""

    stmts: list[Stmt] = field(default_factory=list)
    puts: list[tuple[Var, Operand]] = field(default_factory=list)


class _Blocks:
    """Makes the statements that a loop becomes."""

    def __init__(self, loop: For, trips: Trips) -> None:
        self.loop, self.trips, self.loc = loop, trips, loop.loc
        self.uses = Counter(o for o in uses(loop.body) if isinstance(o, Var))
        self.first = Var("first", INT)
        self.same = Cloner({})  # what is the same in all lanes, and arrays of the trips' own
        self.lanes: dict[Var, Var] = {}  # the arrays of lanes of numbers
        self.made: list[Stmt] = []  # their allocations
        self.out: list[Stmt] = []
        self.run = _Run()

    # ---- around the blocks

    def statements(self, rest_of: For) -> list[Stmt]:
        """The blocks, and the loop that takes the rest of the trips."""
        loop, up = self.loop, _step(self.loop) > 0
        ends = (loop.bound, loop.start) if up else (loop.start, loop.bound)
        trips = self.let("maximum", self.let("sub", *ends), Const(0, INT))
        whole = self.let("mul", self.let("quick_div", trips, _number(AT_ONCE, INT)), _number(AT_ONCE, INT))
        test = self.let("greater", whole, Const(0, INT), type=BOOL)
        room = self.room()
        if room is not None:
            test = self.let("logical_and", test, self.let("less_equal", room, _number(ROOM, INT), type=BOOL), type=BOOL)
        before, self.out = self.out, []
        rest = self.let("add" if up else "sub", loop.start, whole)
        low, high = (loop.start, rest) if up else (self.let("add", e, Const(1, INT)) for e in (rest, loop.start))
        totals = self.blocks(low, high)
        then = Block((), self.out, (rest, *totals))
        start, *inits = (Var(v.name, v.type) for v in (rest, *loop.body.params))
        choice = If(test, then, Block((), [], (loop.start, *loop.inits)), (start, *inits), self.loc)
        return [*before, choice, replace(rest_of, start=start, inits=tuple(inits))]

    def blocks(self, low: Operand, high: Operand) -> list[Var]:
        """Makes the loop over blocks, with what it needs; gives what the carried values are after it."""
        loop, ends = self.loop, self.out
        params = loop.body.params
        for k, param in enumerate(params):
            held = held_by(loop, k)
            self.lanes.update((v, self.array(param)) for v in (held if self.is_chain(held) else (param,)))
        self.out = []
        self.run.puts += [(self.lanes[p], _number(0, p.type)) for p in params]
        self.flush()
        zeros, self.out = self.out, []
        self.block(loop.body, params)
        body = Block((), self.out)
        self.out = [*ends, *self.made, *zeros]
        self.out.append(For(self.first, low, high, _number(AT_ONCE, INT), (), body, loc=self.loc))
        return [self.total(p, i) for p, i in zip(params, loop.inits)]

    def room(self) -> Operand | None:
        """How many elements the arrays of the trips' own have; None if there are none."""
        found: Operand | None = None
        for alloc in self.trips.private.values():
            size: Operand = _number(AT_ONCE, INT)
            for n in alloc.args:
                size = self.let("mul", size, n)
            found = size if found is None else self.let("add", found, size)
        return found

    def is_chain(self, held: set[Var]) -> bool:
        """Whether of what a trip holds of a sum on the way nothing is needed when there is more of it."""
        body = self.loop.body
        each = [{*uses(Block((), [s]))} & held for s in body.stmts]
        found = Counter(v for vs in (*each, {*body.yields} & held) for v in vs)
        return all(n == 1 for n in found.values())

    def total(self, param: Var, init: Operand) -> Var:
        """What a carried value is with the lanes' sums added."""
        lane, total, result = Var("lane", INT, note=ABREAST), Var(param.name, param.type), Var(param.name, param.type)
        value, new = self.read(self.lanes[param], lane), Var(SYNTHETIC, param.type)
        body = Block((total,), [value, Let(new, "add", (total, value.var), {}, self.loc)], (new,))
        self.out.append(_over_lanes(lane, body, (init,), (result,)))
        return result

    # ---- blocks of statements

    def block(self, block: Block, params: Sequence[Var]) -> tuple[Operand, ...]:
        """Makes the statements of a block, which ends with new values for ``params``; gives those that are no lanes'."""
        for stmt in block.stmts:
            self.stmt(stmt)
        for param, out in zip(params, block.yields):
            if param in self.lanes:
                self.put(self.lanes[param], out)
        self.flush()
        return tuple(self.same.operand(y) for p, y in zip(params, block.yields) if p not in self.lanes)

    def stmt(self, stmt: Stmt) -> None:
        if isinstance(stmt, For):
            self.inner(stmt)
        elif isinstance(stmt, If) and is_guard(stmt):
            self.guard(stmt)
        elif isinstance(stmt, Alloc):
            var = self.same.mapping[stmt.var] = _with_lanes(stmt.var)
            self.out.append(Alloc(var, "empty", (*stmt.args, _number(AT_ONCE, INT)), {}, stmt.loc))
        elif isinstance(stmt, (Store, Add)) or not self.trips.varying.isdisjoint(defines(stmt)):
            if not self.trips.steps.keys() & set(defines(stmt)):
                self.run.stmts.append(stmt)
        else:
            self.out.append(self.same.stmt(stmt))

    def guard(self, stmt: If) -> None:
        self.flush()
        around, sides = self.out, []
        for block in (stmt.then, stmt.orelse):
            self.out = []
            self.block(block, ())
            sides.append(Block((), self.out))
        self.out = [*around, If(self.same.operand(stmt.test), *sides, (), stmt.loc)]

    def inner(self, loop: For) -> None:
        carried = list(zip(loop.inits, loop.body.params, loop.results))
        alike = [(i, p, r) for i, p, r in carried if p not in self.trips.varying]
        for init, param, result in carried:
            if param in self.trips.varying:
                self.lanes[result] = self.lanes[param] = self.lanes.get(result) or self.array(param)
                self.put(self.lanes[param], init)
        self.flush()
        inits = tuple(self.same.operand(i) for i, _, _ in alike)
        start, bound = self.same.operand(loop.start), self.same.operand(loop.bound)
        index, params = self.same.fresh(loop.index), tuple(self.same.fresh(p) for _, p, _ in alike)
        around, self.out = self.out, []
        yields = self.block(loop.body, loop.body.params)
        body, self.out = Block(params, self.out, yields), around
        results = tuple(self.same.fresh(r) for _, _, r in alike)
        self.out.append(replace(loop, index=index, start=start, bound=bound, inits=inits, body=body, results=results))

    # ---- loops over lanes

    def put(self, array: Var, value: Operand) -> None:
        """Lets the array have a value, if it is not there already."""
        is_there = isinstance(value, Var) and self.lanes.get(value) is array
        if not is_there or any(value in defines(s) for s in self.run.stmts):
            self.run.puts.append((array, value))

    def flush(self) -> None:
        """Makes the loop over lanes of the statements that have come together."""
        run, self.run = self.run, _Run()
        inside = [o for o in uses(Block((), run.stmts)) if isinstance(o, Var)]
        local = Counter([*inside, *(o for _, o in run.puts if isinstance(o, Var))])
        for stmt in run.stmts:
            run.puts += [(self.array(v), v) for v in defines(stmt) if self.uses[v] > local[v]]
        if run.stmts or run.puts:
            self.out += _Lane(self, run).statements()

    # ---- small statements

    def let(self, prim: str, *args: Operand, type: Type = INT) -> Var:
        var = Var(SYNTHETIC, type)
        self.out.append(Let(var, prim, args, {"py": True} if prim == "maximum" else {}, self.loc))
        return var

    def array(self, var: Var) -> Var:
        """The array of lanes of a number."""
        if var not in self.lanes:
            new = self.lanes[var] = _with_lanes(var)
            self.made.append(Alloc(new, "empty", (_number(AT_ONCE, INT),), {}, self.loc))
        return self.lanes[var]

    def read(self, array: Var, *at: Operand) -> Let:
        value = Var(array.name, Type(array.type.dtype))
        return Let(value, "index", (array, *at), {"path": points(len(at)), "dims": ()}, self.loc)


class _Lane:
    """Makes one loop over lanes."""

    def __init__(self, around: _Blocks, run: _Run) -> None:
        self.around, self.run = around, run
        self.lane = Var("lane", INT, note=ABREAST)
        self.cloner = Cloner(around.same.mapping)
        self.known: set[Var] = set()  # numbers of this trip that are there
        self.out: list[Stmt] = []
        self.sums: list[tuple[Add, Var, Var]] = []  # what is added up, the sum before this lane and after it

    def statements(self) -> list[Stmt]:
        for stmt in self.run.stmts:
            self.stmt(stmt)
        values = [self.operand(op) for _, op in self.run.puts]
        for (array, _), value in zip(self.run.puts, values):
            self.out.append(Store(array, points(1), (self.lane,), value, self.around.loc))
        results = [Var("total", p.type) for _, p, _ in self.sums]
        body = Block(tuple(p for _, p, _ in self.sums), self.out, tuple(v for _, _, v in self.sums))
        loop = _over_lanes(self.lane, body, [_number(0, r.type) for r in results], results)
        same = self.around.same
        adds = [replace(a, args=tuple(map(same.operand, a.args)), value=r) for (a, _, _), r in zip(self.sums, results)]
        return [loop, *adds]

    def stmt(self, stmt: Stmt) -> None:
        for var in free(Block((), [stmt])):
            self.operand(var)
        if isinstance(stmt, Add) and stmt.buf in self.around.trips.summed:
            param, total = (Var(SYNTHETIC, Type(stmt.buf.type.dtype)) for _ in range(2))
            self.out.append(Let(total, "add", (param, self.operand(stmt.value)), {}, stmt.loc))
            self.sums.append((stmt, param, total))
            return
        self.out.append(self.in_lane(self.cloner.stmt(stmt)))
        self.known.update(defines(stmt))

    def in_lane(self, stmt: Stmt) -> Stmt:
        """A statement with the lane as one more subscript of the arrays that have it."""
        mine = {self.around.same.mapping[v] for v in self.around.trips.private if v in self.around.same.mapping}
        match stmt:
            case Let(prim="index") if stmt.args[0] in mine:
                args = (*stmt.args, self.lane)
                return replace(stmt, args=args, params={**stmt.params, "path": points(len(args) - 1)})
            case Store() | Add() if stmt.buf in mine:
                args = (*stmt.args, self.lane)
                return replace(stmt, args=args, path=points(len(args)))
        return with_blocks(stmt, lambda b: replace(b, stmts=[self.in_lane(s) for s in b.stmts]))

    def operand(self, op: Operand) -> Operand:
        """A number of this trip, read or computed where it is not there yet."""
        around = self.around
        if not isinstance(op, Var) or op not in around.trips.varying or op in self.known:
            return self.cloner.operand(op)
        self.known.add(op)
        if op is around.loop.index:
            new = Let(Var(op.name, INT), "add", (around.first, self.lane), {}, around.loc)
        elif op in around.trips.steps:
            let = around.trips.steps[op]
            new = replace(let, var=Var(op.name, op.type), args=tuple(map(self.operand, let.args)))
        else:
            new = around.read(around.lanes[op], self.lane)
        self.out.append(new)
        self.cloner.mapping[op] = new.var
        return new.var


def _step(loop: For) -> int:
    assert isinstance(loop.step, Const)
    return int(loop.step.value)


def _over_lanes(lane: Var, body: Block, inits: Sequence[Operand], results: Sequence[Var]) -> For:
    return For(lane, Const(0, INT), _number(AT_ONCE, INT), Const(1, INT), tuple(inits), body, tuple(results))


def _with_lanes(var: Var) -> Var:
    """An array of what a variable is in each lane."""
    dims = (*var.type.dims, Dim.of(AT_ONCE))
    return Var(var.name, Type(var.type.dtype, dims), buffer=True, note=var.note)


def _number(value: int, type_: Type) -> Const:
    return Const(float(value) if type_.is_float else value, type_)
