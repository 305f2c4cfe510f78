"""Array core to scalar core: the walk over statements.

Each array value becomes `Elements`; one that is read once, or only maps indices, is computed by the loops of what reads it,
the others get memory of their own. Every array variable of the result is C-contiguous.

Snapshots: an element function may read a buffer. Before the buffer is written, what depends on it and is still to be read gets
memory (`settle`); a buffer that is never written again is read in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from typing import Any

from transpile.core.builder import Builder, Expr
from transpile.core.dims import ANY, Dim
from transpile.core.nodes import (
    SYNTHETIC,
    Add,
    Alloc,
    Block,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    NewStack,
    Operand,
    Pop,
    Push,
    Stmt,
    Store,
    Undef,
    Var,
    While,
)
from transpile.core.routines import Routine
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import blocks, defined, defines, free, leaves, reads, statements, uses, written, written_in
from transpile.errors import error
from transpile.lower import arrays, draws, effects, folds, kept, library, linear, overflow, products, sums
from transpile.lower.elements import Elements, is_one, read, stored, write
from transpile.lower.given import check_given
from transpile.lower.places import Place, at_least_zero
from transpile.lower.shared import Matrices

Held = Any  # Operand of a scalar, Elements of an array, a list of these for a value with several items


def lower(fn: Function, routines: Mapping[Routine, str] | None = None, is_kept: bool = False) -> Function:
    """The scalar core of ``fn``: the same parameters and results, arrays C-contiguous.

    ``routines`` are the names of the kept functions that it calls. One that ``is_kept`` itself counts calls in its last parameter.
    """
    return Lowering(fn, routines or {}, is_kept).run()


class Lowering:
    def __init__(self, fn: Function, routines: Mapping[Routine, str], is_kept: bool) -> None:
        self.fn = fn
        self.routines, self.is_kept = routines, is_kept
        self.depth: Var | None = None  # how many calls there are around
        self.b = Builder()
        self.env: dict[Var, Held] = {}
        self.left: Counter[Var] = Counter(o for o in uses(fn.body) if isinstance(o, Var))
        self.total = Counter(self.left)
        self.position: dict[int, int] = {}
        self.last_write: dict[Var, int] = {}
        self._number(fn.body, [])
        self.now = 0
        self.snapshots: dict[Var, None] = {}  # values that are not in memory and may have to be put there
        self.buffers: dict[Var, Var] = {}  # buffer of the source -> variable of the result
        self.origin: dict[Var, Var] = {}  # variable of the result -> the buffer of the source that it is
        self.ranges: dict[str, tuple[Dim | None, Dim | None]] = {}  # loop index -> its least and its greatest value
        self.matrices = Matrices(fn)
        self.owned: set[Var] = set()  # variables of the result with memory of their own, not a parameter's
        self.shapes = {p.type.dims for p in fn.params}  # those that arrays in scope have
        sizes = {s.var for s in statements(fn.body) if isinstance(s, Let) and s.prim == "dim"}
        self.counted, self.integers = overflow.only_floats(fn), overflow.integers_as_floats(fn)
        self.measured = {name for name, op in fn.symbols.items() if op in sizes}  # the symbols that are sizes of arrays

    # ---- where buffers are written for the last time

    def _number(self, block: Block, around: list[Stmt]) -> None:
        for stmt in block.stmts:
            self.position[id(stmt)] = len(self.position) + 1
            root = written(stmt)
            if root is not None:
                self.last_write[root] = self.position[id(stmt)]
            inside: dict[Var, None] = {}
            for inner in blocks(stmt):
                self._number(inner, [*around, stmt])
                inside.update(dict.fromkeys(written_in(inner)))
            if isinstance(stmt, (For, While)):
                end = len(self.position)  # a write in a loop may come again until the loop ends
                own = {v for inner in blocks(stmt) for v in defined(inner)}
                for v in inside:
                    if v not in own:
                        self.last_write[v] = max(self.last_write.get(v, 0), end)

    def is_stable(self, buf: Var) -> bool:
        """Whether the buffer is not written from here on."""
        return self.last_write.get(buf, 0) <= self.now

    def deps_of(self, var: Var) -> frozenset[Var]:
        """The buffers (of the source) that a variable of the result stands for and that may still be written."""
        buf = self.origin.get(var)
        return frozenset((buf,)) if buf is not None and not self.is_stable(buf) else frozenset()

    # ---- run

    def run(self) -> Function:
        fn, b = self.fn, self.b
        params = []
        for p in fn.params:
            new = Var(p.name, p.type, buffer=p.buffer)
            params.append(new)
            if p.type.dims:
                if p.buffer:
                    self.buffers[p], self.origin[new] = new, p
                self.env[p] = stored(b, new, self.own_sizes(new))
            else:
                self.env[p] = new
        if self.is_kept:
            self.depth = params[-1]
            kept.check_depth(self, self.depth)
        self.block(fn.body)
        self.now = len(self.position) + 1
        taken: set[Var] = set()
        results = [self.result(y, taken) for y in fn.body.yields]
        body = Block((), b.block.stmts, tuple(results))
        return replace(fn, params=tuple(params), body=body, symbols={})

    def result(self, y: Operand, taken: set[Var]) -> Operand:
        """A result with memory of its own."""
        held = self.held(y)
        if not isinstance(held, Elements):
            return held
        self.use(y)
        var = held.root
        if var is None or var in taken or var not in self.owned:
            var = self.materialise(held, _name(y))
        taken.add(var)
        return var

    # ---- operands

    def held(self, op: Operand) -> Held:
        if isinstance(op, Undef) and op.type.dims:
            sizes = tuple(Const(0, INT) for _ in op.type.dims)
            return stored(self.b, self.memory("none", op.type.dtype, sizes), sizes)
        if not isinstance(op, Var):
            overflow.check_constant(op, self.b.loc)
            return op
        found = self.env[op]
        if isinstance(found, Elements) and found.root is not None and op.buffer:
            return replace(found, deps=self.deps_of(found.root))
        return found

    def use(self, op: Operand) -> None:
        if isinstance(op, Var):
            self.left[op] -= 1

    def scalar(self, op: Operand) -> Expr:
        """The operand of a scalar, as an expression of the result."""
        held = self.held(op)
        if isinstance(held, Elements):
            return held.at(())
        return self.b.expr(held)

    def place(self, op: Operand) -> Expr:
        """A scalar that says where something stands or how many there are: an integer of 64 bits."""
        x = self.scalar(op)
        return self.b.cast(x, "int64") if x.dtype != "int64" else x

    def elements(self, op: Operand) -> Elements:
        """An operand as an array; a scalar is one of rank 0."""
        held = self.held(op)
        if isinstance(held, sums.Pending):
            held = self.env[op] = sums.formed(self, held, _name(op))  # type: ignore[index]
        if isinstance(held, Elements):
            return held
        return Elements((), op.type.dtype, lambda idx: self.b.expr(held))

    def dim(self, dim: Dim) -> Operand:
        """The run-time value of a dimension, in the result."""

        b = self.b
        b.symbols.update({s: self.symbol(s) for s in dim.symbols()})
        return b.dim(dim).op

    def symbol(self, name: str) -> Operand:
        """The value of a symbol: its own operand, or, if that was dead code, the size of an array that has it."""
        op = self.fn.symbols.get(name)
        if op is not None and (not isinstance(op, Var) or op in self.env):
            return self.place(op).op
        for var, held in self.env.items():
            if isinstance(held, Elements):
                for dim, size in zip(var.type.dims, held.sizes):
                    if dim.as_symbol == name:
                        return size
        raise KeyError(f"the size {name} is not known here")

    def is_known(self, name: str) -> bool:
        """Whether a symbol has a value here."""
        try:
            self.symbol(name)
        except KeyError:
            return False
        return True

    def sizes(self, dims: Sequence[Dim]) -> tuple[Operand, ...]:
        return tuple(self.dim(d) for d in dims)

    # ---- memory and loops

    def memory(self, name: str, dtype: str, sizes: Sequence[Operand]) -> Var:
        """A new array, not filled."""
        self.check_dtype(dtype)
        var = Var(name, Type(dtype, (ANY,) * len(sizes)), buffer=True)
        self.b.emit(Alloc(var, "empty", tuple(sizes), {}, self.b.loc))
        self.owned.add(var)
        return var

    def check_dtype(self, dtype: str) -> None:
        if dtype == "float16":
            raise error("T502", "Numba has no float16", self.b.loc, hint="use float32")

    def nest(
        self, sizes: Sequence[Operand], body: Callable[[list[Expr]], None], order: Sequence[int] | None = None
    ) -> None:
        """Loops over all indices of ``sizes``; ``order`` lists the axes from the outermost loop to the innermost."""
        order = list(range(len(sizes))) if order is None else list(order)
        indices: list[Expr | None] = [None] * len(sizes)

        def level(k: int) -> None:
            if k == len(order):
                body(indices)  # type: ignore[arg-type]
                return
            axis = order[k]
            if is_one(sizes[axis]):
                indices[axis] = self.b.expr(0)
                level(k + 1)
                return
            index = Var("ijklmn"[axis] if axis < 6 else f"i{axis}", INT)
            index.form = Dim.integer(f"{index.name}#{id(index)}")
            self.b.symbols[str(index.form)] = index
            indices[axis] = self.b.expr(index)
            with self.b.into(Block()) as block:
                level(k + 1)
            self.b.emit(For(index, Const(0, INT), sizes[axis], Const(1, INT), (), block, loc=self.b.loc))

        level(0)

    def fold(
        self,
        sizes: Sequence[Operand],
        inits: Sequence[Expr],
        body: Callable[[list[Expr], list[Expr]], Sequence[Expr]],
        names: Sequence[str] = ("total",),
    ) -> list[Expr]:
        """Loops that carry scalars: ``body(indices, values)`` gives the new values."""
        b = self.b

        def level(k: int, indices: list[Expr], values: list[Expr]) -> list[Expr]:
            if k == len(sizes):
                return list(body(indices, values))
            if is_one(sizes[k]):
                return level(k + 1, [*indices, b.expr(0)], values)
            index = Var("ijklmn"[k] if k < 6 else f"i{k}", INT)
            index.form = Dim.integer(f"{index.name}#{id(index)}")
            b.symbols[str(index.form)] = index
            params = tuple(Var(n, v.type.strong) for n, v in zip(names, values))
            with b.into(Block(params)) as block:
                outs = level(k + 1, [*indices, b.expr(index)], [b.expr(p) for p in params])
                block.yields = tuple(o.op for o in outs)
            results = tuple(Var(p.name, p.type) for p in params)
            inits_ = tuple(v.op for v in values)
            b.emit(For(index, Const(0, INT), sizes[k], Const(1, INT), inits_, block, results, loc=b.loc))
            return [b.expr(r) for r in results]

        return level(0, [], list(inits))

    def materialise(self, elements: Elements, name: str) -> Var:
        """Memory that holds the elements."""
        var = self.memory(name, elements.dtype, elements.sizes)
        self.fill(var, elements)
        return var

    def fill(self, var: Var, elements: Elements) -> None:
        if isinstance(elements, sums.Pending):
            sums.fill(self, var, elements)
            return
        order = loop_order(elements)
        self.nest(elements.sizes, lambda idx: write(self.b, var, idx, elements.at(idx)), order)

    def rooted(self, elements: Elements, name: str) -> Elements:
        """The same elements with memory."""
        if elements.root is not None:
            return elements
        return self.in_memory(elements, name)

    def in_memory(self, elements: Elements, name: str) -> Elements:
        var = self.materialise(elements, name)
        return stored(self.b, var, elements.sizes)

    def steady(self, elements: Elements, name: str) -> Elements:
        """The same elements, cheap to read any number of times."""
        return elements if elements.cheap else self.in_memory(elements, name)

    def in_memory_if_array(self, elements: Elements, name: str) -> Elements:
        return self.rooted(elements, name) if elements.rank else elements

    def least(self, form: Dim) -> Dim:
        """A form that is never more, by the ranges of the loop indices in it."""
        for _ in range(4):  # a range may be bounded by an outer index
            total, changed = Dim(form.const), False
            for atom, coef in form.terms:
                ends = self.ranges.get(atom.name) if atom.name else None
                end = None if ends is None else ends[0] if coef > 0 else ends[1]
                if end is None:
                    total = total + Dim(0, ((atom, coef),))
                else:
                    total, changed = total + end.scale(coef), True
            form = total
            if not changed:
                break
        return form

    def at_least_zero(self, x: Expr) -> Expr:
        return at_least_zero(self, x)

    # ---- statements

    def block(self, block: Block) -> None:
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
    def stmt(self, stmt: Stmt) -> None:
        raise TypeError(stmt)

    @stmt.register
    def _(self, stmt: Let) -> None:
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

    def keep(self, elements: Elements, var: Var) -> Elements:
        """What to hold of an array value: its elements, or memory if it is read more than once and dear."""
        if elements.cheap or elements.root is not None or self.total[var] <= 1:
            if elements.deps or not elements.cheap:
                self.snapshots[var] = None
            return elements
        return self.in_memory(elements, _name(var))

    def array(self, stmt: Let | Alloc) -> Elements:
        """The elements of an array primitive."""
        prim = self.b.prims.get(stmt.prim)  # None of what `transpile.lower.adjoints` has put together
        if prim is not None and prim.elementwise:
            return sums.linear(self, stmt) or arrays.elementwise(self, stmt)
        rule = ARRAYS.get(stmt.prim)
        if rule is None:
            raise error("T501", f"'{stmt.prim}' cannot be compiled yet", stmt.loc)
        if stmt.prim != "index":  # that clips what it is given
            check_given(self, stmt.var.type.dims, stmt.args)
        found: Elements = rule(self, stmt)
        if any(d.is_one and not is_one(s) for d, s in zip(stmt.var.type.dims, found.sizes)):
            sizes = tuple(Const(1, INT) if d.is_one else s for d, s in zip(stmt.var.type.dims, found.sizes))
            found = replace(found, sizes=sizes)  # a size that a check has shown to be 1
        return found

    def number(self, stmt: Let) -> Operand:
        """The scalar that a primitive gives."""
        prim = self.b.prims[stmt.prim]
        if prim.elementwise or stmt.prim == "cast":
            if prim.elementwise and any(o.type.dims for o in stmt.args):
                return arrays.elementwise(self, stmt).at(()).op
            return overflow.compute(self, stmt, [self.scalar(a) for a in stmt.args]).op
        if stmt.prim in ("copy", "identity"):
            return self.scalar(stmt.args[0]).op
        rule = ARRAYS.get(stmt.prim)
        if rule is None:
            raise error("T501", f"'{stmt.prim}' cannot be compiled yet", stmt.loc)
        found = rule(self, stmt)
        value = found.at(()) if isinstance(found, Elements) else found
        return self.named(value, stmt.var)

    def named(self, value: Expr, var: Var) -> Operand:
        """The value under the user's name, if it has none yet."""
        if isinstance(value.op, Var) and value.op.name in (SYNTHETIC, "total") and var.name != SYNTHETIC:
            value.op.name = var.name
        return value.op

    def compute(self, prim: str, args: Sequence[Expr], var: Var | Type, params: Any) -> Expr:
        """One scalar operation with exactly this result type."""
        name, type_ = (SYNTHETIC, var) if isinstance(var, Type) else (var.name, var.type)
        type_ = Type(type_.dtype, (), type_.weak)
        self.check_dtype(type_.dtype)
        if prim == "cast":
            (x,) = args
            return x if x.dtype == type_.dtype else Expr(self.b, self.b.bind(name, type_, "cast", (x.op,), params))
        return Expr(self.b, self.b.bind(name, type_, prim, tuple(a.op for a in args), params))

    def several(self, stmt: Let) -> list[Held]:
        rule = SEVERAL.get(stmt.prim)
        if rule is None:
            raise error("T501", f"'{stmt.prim}' cannot be compiled yet", stmt.loc)
        return rule(self, stmt)

    # ---- writes

    @stmt.register
    def _(self, stmt: Alloc) -> None:
        source = self.array(stmt) if stmt.var.type.dims else None
        if source is None:  # a buffer of rank 0
            var = self.memory(stmt.var.name, stmt.var.type.dtype, ())
            if stmt.prim != "empty":
                write(
                    self.b,
                    var,
                    (),
                    self.b.expr(
                        self.number(Let(Var(SYNTHETIC, stmt.var.type), stmt.prim, stmt.args, stmt.params, stmt.loc))
                    ),
                )
            self.define(stmt.var, var, ())
            return
        if stmt.prim == "empty":
            var = self.memory(stmt.var.name, stmt.var.type.dtype, source.sizes)
        else:
            var = self.materialise(source, stmt.var.name)
        self.define(stmt.var, var, source.sizes)

    def define(self, buf: Var, var: Var, sizes: Sequence[Operand]) -> None:
        self.buffers[buf], self.origin[var] = var, buf
        self.env[buf] = stored(self.b, var, sizes)

    @stmt.register(Store)
    @stmt.register(Add)
    def _(self, stmt: Store | Add) -> None:
        self.settle(stmt.buf, but=stmt.value)
        target: Elements = self.env[stmt.buf]
        place = Place.of(self, stmt.path, stmt.args, target.sizes)
        waiting = sums.peek(self, stmt.value)
        if waiting is not None and sums.write(self, stmt, waiting, place):
            return
        value = self.elements(stmt.value)
        if stmt.buf in value.deps and not (isinstance(stmt.value, Var) and self.same_place(stmt, value)):
            value = self.in_memory(value, _name(stmt.value))
        self.put(stmt, place, value)

    def put(self, stmt: Store | Add, place: Place, value: Elements) -> None:
        """Writes elements that do not read what is written before them."""
        var = self.buffers[stmt.buf]
        adds = isinstance(stmt, Add)

        def put(idx: Sequence[Expr]) -> None:
            write(self.b, var, place.at(idx), value.at(idx) if value.rank else value.at(()), adds)

        place.each(self, put, order=loop_order(value) if value.rank else None)

    def same_place(self, stmt: Store | Add, value: Elements) -> bool:
        """Whether the value reads the buffer only where it is about to write."""
        return False

    def settle(self, buf: Var, but: Operand | None = None) -> None:
        """Before ``buf`` is written: what depends on it and is still to be read gets memory."""
        for var in list(self.snapshots):
            held = self.env.get(var)
            if not isinstance(held, Elements) or self.left[var] <= 0:
                continue
            if buf in held.deps and not (var is but and self.left[var] <= 1):
                self.env[var] = self.in_memory(held, _name(var))

    def settle_outer(self, stmt: Stmt, loop: bool) -> None:
        """Before a nested statement: what it would invalidate gets memory; in a loop, also what it would compute again."""
        changed: dict[Var, None] = {}
        inside: dict[Var, None] = {}
        for inner in blocks(stmt):
            changed.update(dict.fromkeys(written_in(inner)))
            inside.update(dict.fromkeys(free(inner)))
        for var in list(self.snapshots):
            held = self.env.get(var)
            if not isinstance(held, Elements) or self.left[var] <= 0:
                continue
            if any(c in held.deps for c in changed) or (loop and var in inside and not held.cheap):
                self.env[var] = self.in_memory(held, _name(var))

    # ---- control

    def pass_on(self, op: Operand) -> Operand:
        """A value that control flow carries: a scalar, or an array in memory that is never written again."""
        if isinstance(op, Undef):
            return op
        held = self.held(op)
        if not isinstance(held, Elements):
            return held
        if held.root is None or held.deps:
            return self.materialise(held, _name(op))
        return held.root

    def receive(self, var: Var, new: Var) -> None:
        """What holds a carried value from here on."""
        if new.type.dims:
            self.env[var] = stored(self.b, new, self.own_sizes(new, known=True))
        else:
            self.env[var] = new

    def own_sizes(self, var: Var, known: bool = False) -> tuple[Operand, ...]:
        """The sizes of an array variable; a 1 is what its type says. With ``known`` (no parameter) all are, where they can be
        said: operands that do not change in a loop let its temporaries out of it."""
        sizes: list[Operand] = []
        for k, dim in enumerate(var.type.dims):
            if dim.is_one or (known and dim.is_const):
                sizes.append(Const(dim.const, INT))
                continue
            if known and dim.as_symbol is not None and self.is_known(dim.as_symbol):
                sizes.append(self.symbol(dim.as_symbol))
                continue
            size = self.b.let("dim", var, axis=k, name=dim.as_symbol or "size").op
            size.form = dim  # type: ignore[union-attr]
            sizes.append(size)
        return tuple(sizes)

    @stmt.register
    def _(self, stmt: If) -> None:
        self.settle_outer(stmt, loop=False)
        test = self.scalar(stmt.test).op
        sides = []
        for block in (stmt.then, stmt.orelse):
            saved = dict(self.env)
            with self.b.into(Block()) as side:
                self.block(block)
                side.yields = tuple(self.pass_on(y) for y in block.yields)
                for y in leaves(block):
                    self.use(y)
            self.env = saved
            sides.append(side)
        results = tuple(_twin(r) for r in stmt.results)
        self.b.emit(If(test, sides[0], sides[1], results, stmt.loc))
        for r, new in zip(stmt.results, results):
            self.receive(r, new)

    def body(self, block: Block, params: Sequence[Var]) -> Block:
        saved = dict(self.env)
        with self.b.into(Block(tuple(params))) as new:
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
    def _(self, stmt: For) -> None:
        self.settle_outer(stmt, loop=True)
        start, bound, step = (self.place(o).op for o in (stmt.start, stmt.bound, stmt.step))
        overflow.check_range(self, start, bound, step)
        inits = tuple(self.pass_on(i) for i in stmt.inits)
        index = Var(stmt.index.name, stmt.index.type, form=stmt.index.form)
        self.env[stmt.index] = index
        self.note_range(index, start, bound, step)
        body = self.body(stmt.body, [_twin(p) for p in stmt.body.params])
        self.finish(stmt, replace(stmt, index=index, start=start, bound=bound, step=step, inits=inits, body=body))

    def note_range(self, index: Var, start: Operand, bound: Operand, step: Operand) -> None:
        """Remembers between what a loop index lies, for index checks."""
        name = None if index.form is None else index.form.as_symbol
        if name is None or name in self.ranges:
            index.form = Dim.integer(f"{index.name}@{len(self.ranges)}")
            name = str(index.form)
        self.b.symbols[name] = index
        if isinstance(step, Const):
            low, high = (start, bound) if step.value > 0 else (bound, start)
            shift = -1 if step.value > 0 else 1
            first, last = form_of(low), form_of(high)
            if step.value > 0:
                self.ranges[name] = (first, None if last is None else last + shift)
            else:
                self.ranges[name] = (None if first is None else first + shift, last)

    @stmt.register
    def _(self, stmt: While) -> None:
        self.settle_outer(stmt, loop=True)
        inits = tuple(self.pass_on(i) for i in stmt.inits)
        test = self.body(stmt.test, [_twin(p) for p in stmt.test.params])
        body = self.body(stmt.body, [_twin(p) for p in stmt.body.params])
        self.finish(stmt, replace(stmt, inits=inits, test=test, body=body))

    def finish(self, stmt: For | While, new: For | While) -> None:
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
    def _(self, stmt: NewStack) -> None:
        new = _twin(stmt.var)
        self.env[stmt.var] = new
        self.b.emit(NewStack(new, stmt.loc))

    @stmt.register
    def _(self, stmt: Push) -> None:
        self.b.emit(Push(self.env[stmt.stack], self.pass_on(stmt.value), stmt.loc))

    @stmt.register
    def _(self, stmt: Pop) -> None:
        new = _twin(stmt.var)
        self.b.emit(Pop(new, self.env[stmt.stack], stmt.loc))
        self.receive(stmt.var, new)

    @stmt.register
    def _(self, stmt: Effect) -> None:
        effects.lower_effect(self, stmt)


def _twin(var: Var) -> Var:
    return Var(var.name, var.type, var.buffer, None, var.note)


def form_of(op: Operand) -> Dim | None:
    if isinstance(op, Const):
        return Dim(int(op.value))
    return op.form if isinstance(op, Var) else None


def _name(op: Operand) -> str:
    return op.name if isinstance(op, Var) else SYNTHETIC


def loop_order(elements: Elements) -> list[int] | None:
    """The axes with the one that is contiguous innermost; None for the order that they have."""
    if elements.unit is None or elements.unit == elements.rank - 1:
        return None
    return [*(k for k in range(elements.rank) if k != elements.unit), elements.unit]


ARRAYS: dict[str, Callable[[Lowering, Any], Any]] = {
    **arrays.TABLE,
    **folds.TABLE,
    **products.TABLE,
    **library.TABLE,
    **draws.TABLE,
    **linear.TABLE,
    "invoke": kept.one,
}
SEVERAL: dict[str, Callable[[Lowering, Any], list[Held]]] = {**library.SEVERAL, **linear.SEVERAL, "invoke": kept.call}

__all__ = ["BOOL", "Lowering", "is_one", "lower", "read"]
