"""Array core to loop core: the walk over statements.

Each array value becomes `Elements`. A value that is read once, or that only maps indices, is computed in the loops of its
reader; others get memory of their own. Every array variable of the result is C-contiguous.

Snapshots: an element function may read a buffer. Before the buffer is written, values that depend on it and are still to be
read get memory (`settle`); a buffer that is never written again is read in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.functions import Routine
from transpile.core.walk import blocks, defines, leaves, reads, statements
from transpile.lower import sums
from transpile.lower.carried_values import Carried
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.index_maps import place_of
from transpile.lower.lowered_effects import lower_effect
from transpile.lower.lowered_functions import check_depth
from transpile.lower.lowering import name_of
from transpile.lower.mapped_places import put
from transpile.lower.overflow import check_range


class Traversal(Carried):
    """Lowers a function, statement by statement."""

    def run(self) -> ir.Function:
        """The function in loop core, with new parameters of the same names and types, and no symbols."""
        fn, b = self.fn, self.b
        params = []
        for p in fn.params:
            new = ir.Var(p.name, p.type, buffer=p.buffer)
            params.append(new)
            if p.type.dims:
                if p.buffer:
                    self.buffers[p], self.origin[new] = new, p
                self.env[p] = stored(b, new, self.own_sizes(new))
            else:
                self.env[p] = new
        if self.is_kept:
            self.depth = params[-1]
            check_depth(self, self.depth)
        self.block(fn.body)
        self.now = len(self.position) + 1
        taken: set[ir.Var] = set()
        results = [self.result(y, taken) for y in fn.body.yields]
        body = ir.Block((), b.block.stmts, tuple(results))
        return replace(fn, params=tuple(params), body=body, symbols={})

    # ---- statements

    def block(self, block: ir.Block) -> None:
        """Emits the lowered statements of a block of the source into the current block."""
        outside = set(self.shapes)
        for stmt in block.stmts:
            self.now = self.position[id(stmt)]
            with self.b.at(stmt.loc):
                self.stmt(stmt)
                for op in reads(stmt):
                    self.use(op)
            self.shapes.update(v.type.dims for v in defines(stmt))
        self.shapes = outside

    @singledispatchmethod
    def stmt(self, stmt: ir.Stmt) -> None:
        """Emits the lowered form of a statement; ``env`` gets the lowered form of each variable that it defines."""
        raise TypeError(stmt)

    @stmt.register
    def _(self, stmt: ir.Let) -> None:
        var = stmt.var
        if var.type.kind == "tuple":
            self.env[var] = self.several(stmt)
        elif stmt.prim == "item":
            self.env[var] = self.held(stmt.args[0])[stmt.params["k"]]
        elif stmt.prim == "dim":
            self.env[var] = self.elements(stmt.args[0]).sizes[stmt.params["axis"]]
        elif var.type.dims:
            self.env[var] = self.keep(self.array(stmt), var)
        else:
            self.env[var] = self.number(stmt)

    @stmt.register
    def _(self, stmt: ir.Call) -> None:
        self.called(stmt)

    # ---- writes

    @stmt.register
    def _(self, stmt: ir.Alloc) -> None:
        source = self.array(stmt) if stmt.var.type.dims else None
        if source is None:  # a buffer of rank 0
            var = self.memory(stmt.var.name, stmt.var.type.dtype, ())
            if stmt.prim != "empty":
                write(
                    self.b,
                    var,
                    (),
                    self.b.expr(
                        self.number(
                            ir.Let(ir.Var(ir.SYNTHETIC, stmt.var.type), stmt.prim, stmt.args, stmt.params, stmt.loc)
                        )
                    ),
                )
            self.define(stmt.var, var, ())
            return
        if stmt.prim == "empty":
            var = self.memory(stmt.var.name, stmt.var.type.dtype, source.sizes)
        else:
            var = self.materialise(source, stmt.var.name)
        self.define(stmt.var, var, source.sizes)

    def define(self, buf: ir.Var, var: ir.Var, sizes: Sequence[ir.Operand]) -> None:
        """Makes ``var``, memory in the result, the memory of ``buf``, a buffer of the source."""
        self.buffers[buf], self.origin[var] = var, buf
        self.env[buf] = stored(self.b, var, sizes)

    @stmt.register(ir.Store)
    @stmt.register(ir.Add)
    def _(self, stmt: ir.Store | ir.Add) -> None:
        self.settle(stmt.buf, but=stmt.value)
        target: Elements = self.env[stmt.buf]
        place = place_of(self, stmt.path, stmt.args, target.sizes)
        waiting = sums.peek(self, stmt.value)
        if waiting is not None and sums.write(self, stmt, waiting, place):
            return
        value = self.elements(stmt.value)
        if stmt.buf in value.deps:
            value = self.in_memory(value, name_of(stmt.value))
        put(self, stmt, place, value)

    # ---- control

    @stmt.register
    def _(self, stmt: ir.If) -> None:
        self.settle_outer(stmt, loop=False)
        test = self.scalar(stmt.test).op
        sides = []
        for block in (stmt.then, stmt.orelse):
            saved = dict(self.env)
            with self.b.into(ir.Block()) as side:
                self.block(block)
                side.yields = tuple(self.pass_on(y) for y in block.yields)
                for y in leaves(block):
                    self.use(y)
            self.env = saved
            sides.append(side)
        results = tuple(_twin(r) for r in stmt.results)
        self.b.emit(ir.If(test, sides[0], sides[1], results, stmt.loc))
        for r, new in zip(stmt.results, results):
            self.receive(r, new)

    def body(self, block: ir.Block, params: Sequence[ir.Var]) -> ir.Block:
        """The lowered form of a nested block of the source, with ``params``, variables of the result, for its parameters."""
        saved = dict(self.env)
        with self.b.into(ir.Block(tuple(params))) as new:
            for p, q in zip(block.params, params):
                self.receive(p, q)
            self.block(block)
            new.yields = tuple(self.pass_on(y) for y in block.yields)
            new.stop = None if block.stop is None else self.scalar(block.stop).op
            for y in leaves(block):
                self.use(y)
        self.env = saved
        return new

    @stmt.register
    def _(self, stmt: ir.For) -> None:
        self.settle_outer(stmt, loop=True)
        start, bound, step = (self.place(o).op for o in (stmt.start, stmt.bound, stmt.step))
        check_range(self, start, bound, step)
        inits = tuple(self.pass_on(i) for i in stmt.inits)
        index = ir.Var(stmt.index.name, stmt.index.type)
        self.env[stmt.index] = index
        self.note_range(index, stmt.symbol, start, bound, step)
        body = self.body(stmt.body, [_twin(p) for p in stmt.body.params])
        self.finish(
            stmt, replace(stmt, index=index, start=start, bound=bound, step=step, inits=inits, body=body, symbol=None)
        )

    def note_range(
        self, index: ir.Var, symbol: Dim | None, start: ir.Operand, bound: ir.Operand, step: ir.Operand
    ) -> None:
        """Records the range of a loop index for index checks, under its symbol, or under a new one if this is None or taken. No
        range if the step is known only at run time."""
        if symbol is None or symbol.as_symbol is None or symbol.as_symbol in self.ranges:
            symbol = Dim.integer(f"{index.name}@{len(self.ranges)}")
        name = str(symbol)
        self.b.bind_symbol(symbol, index)
        if isinstance(step, ir.Const):
            low, high = (start, bound) if step.value > 0 else (bound, start)
            shift = -1 if step.value > 0 else 1
            first, last = self.b.form_of(low), self.b.form_of(high)
            if step.value > 0:
                self.ranges[name] = (first, None if last is None else last + shift)
            else:
                self.ranges[name] = (None if first is None else first + shift, last)

    @stmt.register
    def _(self, stmt: ir.While) -> None:
        self.settle_outer(stmt, loop=True)
        inits = tuple(self.pass_on(i) for i in stmt.inits)
        test = self.body(stmt.test, [_twin(p) for p in stmt.test.params])
        body = self.body(stmt.body, [_twin(p) for p in stmt.body.params])
        self.finish(stmt, replace(stmt, inits=inits, test=test, body=body))

    def finish(self, stmt: ir.For | ir.While, new: ir.For | ir.While) -> None:
        """Emits ``new``, the lowered form of the loop ``stmt``, with results and trip count, to which those of ``stmt`` are
        bound."""
        new.results = tuple(_twin(r) for r in stmt.results)
        if stmt.trips is not None:
            new.trips = _twin(stmt.trips)
            self.env[stmt.trips] = new.trips
        self.b.emit(new)
        self.now = self.position[id(stmt)] + sum(len(list(statements(b))) for b in blocks(stmt))
        for r, q in zip(stmt.results, new.results):
            self.receive(r, q)

    # ---- stacks and effects

    @stmt.register
    def _(self, stmt: ir.NewStack) -> None:
        new = _twin(stmt.var)
        self.env[stmt.var] = new
        self.b.emit(ir.NewStack(new, stmt.loc))

    @stmt.register
    def _(self, stmt: ir.Push) -> None:
        self.b.emit(ir.Push(self.env[stmt.stack], self.pass_on(stmt.value), stmt.loc))

    @stmt.register
    def _(self, stmt: ir.Pop) -> None:
        new = _twin(stmt.var)
        self.b.emit(ir.Pop(new, self.env[stmt.stack], stmt.loc))
        self.receive(stmt.var, new)

    @stmt.register(ir.Print)
    @stmt.register(ir.Raise)
    def _(self, stmt: ir.Print | ir.Raise) -> None:
        lower_effect(self, stmt)


def _twin(var: ir.Var) -> ir.Var:
    return ir.Var(var.name, var.type, var.buffer)


def lower(fn: ir.Function, routines: Mapping[Routine, str] | None = None, is_kept: bool = False) -> ir.Function:
    """``fn`` in loop core, with the same parameters and results; arrays are C-contiguous.

    ``routines`` are the names of the kept functions that it calls. If ``is_kept``, the last parameter is the depth of the
    calls.
    """
    return Traversal(fn, routines or {}, is_kept).run()
