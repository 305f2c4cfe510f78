"""The body of a loop for several iterations at once: statements between its inner loops become loops over lanes.

Statements that are the same in all iterations stay outside those. A value that one loop over lanes computes and another reads
goes through an array; an integer computed from the index alone is recomputed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT, Type
from transpile.core.walk import Cloner, defines, free, uses
from transpile.loops.array_contraction import points
from transpile.loops.unroll_and_jam_legality import AT_ONCE, Trips, is_guard
from transpile.ops.tables import record_of


@dataclass
class _Run:
    """Statements of a loop over lanes, and the values that it stores into arrays of lanes at its end."""

    stmts: list[ir.Stmt] = field(default_factory=list)
    puts: list[tuple[ir.Var, ir.Operand]] = field(default_factory=list)
    is_across: bool = False

    def is_copied_by(self, stmt: ir.Stmt) -> bool:
        """Whether a statement is a store of a value that this loop over lanes defines, and may join it: elements far apart are
        then written by the loop that reads, or the loop has only read elements so far."""
        if not isinstance(stmt, ir.Store) or not any(stmt.value in defines(s) for s in self.stmts):
            return False
        return self.is_across or all(isinstance(s, ir.Let) and s.prim == "index" for s in self.stmts)


class Bodies:
    """Builds the statements; `first` is the index of the first lane."""

    def __init__(self, loop: ir.For, trips: Trips) -> None:
        self.loop, self.trips, self.loc = loop, trips, loop.loc
        self.uses = Counter(o for o in uses(loop.body) if isinstance(o, ir.Var))
        self.first = ir.Var("first", INT)
        self.same = Cloner({})  # values that are the same in all lanes, and private arrays
        self.lanes: dict[ir.Var, ir.Var] = {}  # the arrays of lanes of varying values
        self.made: list[ir.Stmt] = []  # their allocations
        self.out: list[ir.Stmt] = []
        self.run = _Run()

    # ---- blocks of statements

    def block(self, block: ir.Block, params: Sequence[ir.Var]) -> tuple[ir.Operand, ...]:
        """The new values of those ``params`` that are the same in all lanes, in order; appends the statements of the block.

        The block ends with a new value for each of ``params``. Statements that vary go into loops over lanes, which store the
        new values of the other params in their arrays of lanes.
        """
        for stmt in block.stmts:
            self.stmt(stmt)
        for param, out in zip(params, block.yields):
            if param in self.lanes:
                self.put(self.lanes[param], out)
        self.flush()
        return tuple(self.same.operand(y) for p, y in zip(params, block.yields) if p not in self.lanes)

    def stmt(self, stmt: ir.Stmt) -> None:
        """Appends a statement, or adds it to the loop over lanes that is being collected if it varies."""
        if isinstance(stmt, ir.For):
            self.inner(stmt)
        elif isinstance(stmt, ir.If) and (is_guard(stmt) or self.is_choice(stmt)):
            self.guard(stmt)
        elif isinstance(stmt, ir.Alloc):
            var = self.same.mapping[stmt.var] = _with_lanes(stmt.var)
            self.out.append(ir.Alloc(var, "empty", (*stmt.args, number(AT_ONCE, INT)), {}, stmt.loc))
        elif isinstance(stmt, (ir.Store, ir.Add)) or not self.trips.varying.isdisjoint(defines(stmt)):
            if not self.trips.steps.keys() & set(defines(stmt)):
                self.add(stmt)
        else:
            self.out.append(self.same.stmt(stmt))

    def add(self, stmt: ir.Stmt) -> None:
        """Adds a statement to the loop over lanes that is being collected. Accesses to elements far apart, and their copies,
        get loops of their own, so that the others vectorise."""
        is_across = id(stmt) in self.trips.across
        if is_across != self.run.is_across and not self.run.is_copied_by(stmt):
            self.flush()
        self.run.is_across |= is_across
        self.run.stmts.append(stmt)

    def is_choice(self, stmt: ir.If) -> bool:
        """Whether all lanes take the same side of a branch whose results all vary."""
        varying = self.trips.varying
        return stmt.test not in varying and all(r in varying for r in stmt.results)

    def guard(self, stmt: ir.If) -> None:
        """Appends a branch whose side is the same for all lanes: each side has its own loops over lanes, which LLVM can
        vectorise."""
        for result in stmt.results:
            self.array(result)
        self.flush()
        then, orelse = self.side(stmt.then, stmt.results), self.side(stmt.orelse, stmt.results)
        self.out.append(ir.If(self.same.operand(stmt.test), then, orelse, (), stmt.loc))

    def side(self, block: ir.Block, results: Sequence[ir.Var]) -> ir.Block:
        """The block of one side of a branch, with loops over lanes that store the values of ``results`` in their arrays of
        lanes."""
        around, self.out = self.out, []
        self.block(block, results)
        made, self.out = self.out, around
        return ir.Block((), made)

    def inner(self, loop: ir.For) -> None:
        """Appends an inner loop, with the values that vary in arrays of lanes."""
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
        body, self.out = ir.Block(params, self.out, yields), around
        results = tuple(self.same.fresh(r) for _, _, r in alike)
        self.out.append(replace(loop, index=index, start=start, bound=bound, inits=inits, body=body, results=results))

    # ---- loops over lanes

    def put(self, array: ir.Var, value: ir.Operand) -> None:
        """Has the loop over lanes that is being collected store ``value`` into an array of lanes at its end, unless it is there
        already."""
        is_there = isinstance(value, ir.Var) and self.lanes.get(value) is array
        if not is_there or any(value in defines(s) for s in self.run.stmts):
            self.run.puts.append((array, value))

    def flush(self) -> None:
        """Appends the loop over lanes with the statements collected so far, if any, and starts to collect a new one. Values
        that other statements need are stored in arrays of lanes."""
        run, self.run = self.run, _Run()
        inside = [o for o in uses(ir.Block((), run.stmts)) if isinstance(o, ir.Var)]
        local = Counter([*inside, *(o for _, o in run.puts if isinstance(o, ir.Var))])
        for stmt in run.stmts:
            run.puts += [(self.array(v), v) for v in defines(stmt) if self.uses[v] > local[v]]
        if run.stmts or run.puts:
            self.out += _Lane(self, run).statements()

    # ---- small statements

    def let(self, prim: str, *args: ir.Operand, type: Type = INT) -> ir.Var:
        """The new variable of a *let*, an integer by default, which is appended."""
        var = ir.Var(ir.SYNTHETIC, type)
        self.out.append(ir.Let(var, prim, args, {"py": True} if record_of(prim).extreme else {}, self.loc))
        return var

    def array(self, var: ir.Var) -> ir.Var:
        """The array of the lanes of a value; allocated (in ``made``) at the first request."""
        if var not in self.lanes:
            new = self.lanes[var] = _with_lanes(var)
            self.made.append(ir.Alloc(new, "empty", (number(AT_ONCE, INT),), {}, self.loc))
        return self.lanes[var]

    def read(self, array: ir.Var, *at: ir.Operand) -> ir.Let:
        """A *let* of a new variable that reads an element; not appended."""
        value = ir.Var(array.name, Type(array.type.dtype))
        return ir.Let(value, "index", (array, *at), {"path": points(len(at)), "dims": ()}, self.loc)


class _Lane:
    """Builds one loop over lanes."""

    def __init__(self, around: Bodies, run: _Run) -> None:
        self.around, self.run = around, run
        self.lane = ir.Var("lane", INT)
        self.cloner = Cloner(around.same.mapping)
        self.known: set[ir.Var] = set()  # varying values available in this loop
        self.out: list[ir.Stmt] = []
        self.sums: list[tuple[ir.Add, ir.Var, ir.Var]] = []  # an addition, the sum before this lane and after it

    def statements(self) -> list[ir.Stmt]:
        """The loop over lanes, then the additions of its sums to memory."""
        for stmt in self.run.stmts:
            self.stmt(stmt)
        values = [self.operand(op) for _, op in self.run.puts]
        for (array, _), value in zip(self.run.puts, values):
            self.out.append(ir.Store(array, points(1), (self.lane,), value, self.around.loc))
        results = [ir.Var("total", p.type) for _, p, _ in self.sums]
        body = ir.Block(tuple(p for _, p, _ in self.sums), self.out, tuple(v for _, _, v in self.sums))
        loop = over_lanes(self.lane, body, [number(0, r.type) for r in results], results)
        same = self.around.same
        adds = [replace(a, args=tuple(map(same.operand, a.args)), value=r) for (a, _, _), r in zip(self.sums, results)]
        return [loop, *adds]

    def stmt(self, stmt: ir.Stmt) -> None:
        """Adds a statement to the body; an addition to an element that all lanes share becomes a carried sum."""
        for var in free(ir.Block((), [stmt])):
            self.operand(var)
        if isinstance(stmt, ir.Add) and stmt.buf in self.around.trips.summed:
            param, total = (ir.Var(ir.SYNTHETIC, Type(stmt.buf.type.dtype)) for _ in range(2))
            self.out.append(ir.Let(total, "add", (param, self.operand(stmt.value)), {}, stmt.loc))
            self.sums.append((stmt, param, total))
            return
        self.out.append(self.in_lane(self.cloner.stmt(stmt)))
        self.known.update(defines(stmt))

    def in_lane(self, stmt: ir.Stmt) -> ir.Stmt:
        """The statement, nested blocks included, with the lane as a last subscript of private arrays."""
        mine = {self.around.same.mapping[v] for v in self.around.trips.private if v in self.around.same.mapping}
        match stmt:
            case ir.Let(prim="index") if stmt.args[0] in mine:
                args = (*stmt.args, self.lane)
                return replace(stmt, args=args, params={**stmt.params, "path": points(len(args) - 1)})
            case ir.Store() | ir.Add() if stmt.buf in mine:
                args = (*stmt.args, self.lane)
                return replace(stmt, args=args, path=points(len(args)))
        return with_blocks(stmt, lambda b: replace(b, stmts=[self.in_lane(s) for s in b.stmts]))

    def operand(self, op: ir.Operand) -> ir.Operand:
        """A value of this lane; appends a read or a computation if it is not available yet."""
        around = self.around
        if not isinstance(op, ir.Var) or op not in around.trips.varying or op in self.known:
            return self.cloner.operand(op)
        self.known.add(op)
        if op is around.loop.index:
            new = ir.Let(ir.Var(op.name, INT), "add", (around.first, self.lane), {}, around.loc)
        elif op in around.trips.steps:
            let = around.trips.steps[op]
            new = replace(let, var=ir.Var(op.name, op.type), args=tuple(map(self.operand, let.args)))
        else:
            new = around.read(around.lanes[op], self.lane)
        self.out.append(new)
        self.cloner.mapping[op] = new.var
        return new.var


def over_lanes(lane: ir.Var, body: ir.Block, inits: Sequence[ir.Operand], results: Sequence[ir.Var]) -> ir.For:
    """The vector loop over `AT_ONCE` lanes with this body; the carried values, from ``inits`` to ``results``, are sums."""
    zero, end, one, sums = ir.Const(0, INT), number(AT_ONCE, INT), ir.Const(1, INT), ("add",) * len(results)
    return ir.For(lane, zero, end, one, tuple(inits), body, tuple(results), kind="vector", combiners=sums)


def _with_lanes(var: ir.Var) -> ir.Var:
    """A new array variable with the axes of ``var`` and a last axis of `AT_ONCE` lanes."""
    dims = (*var.type.dims, Dim.of(AT_ONCE))
    return ir.Var(var.name, Type(var.type.dtype, dims), buffer=True)


def number(value: int, type_: Type) -> ir.Const:
    """The number as a constant of this type."""
    return ir.Const(float(value) if type_.is_float else value, type_)
