"""Reverse mode, first half: the reverse sweep, built as if every value of the forward sweep were still available.

    forward:  for i in range(n):            reverse:  for i in reversed(range(n)):
                  x = sin(x)                              x_bar = cos(x) * x_bar

The reverse sweep refers to the variables of the forward sweep directly (the ``x`` in ``cos(x)`` is the one of the same
iteration). `transpile.transform.recording` then decides how each value is obtained: still there, recomputed, read again, or
recorded. ``mirrors`` maps each loop and branch of the reverse sweep to the forward statement that it mirrors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

from transpile.analysis.activity import active, carries_derivative
from transpile.analysis.overwrites import Overwrites
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import product
from transpile.core.inline import splice
from transpile.core.peephole import definition, is_const
from transpile.core.places import may_repeat
from transpile.core.types import INT, Type
from transpile.core.walk import defined, free, statements, written_in
from transpile.ops.record import REFUSED, UNWRITTEN, ZERO, Op
from transpile.ops.tables import prims, record_of
from transpile.transform.adjoint_table import Adjoints, Pending
from transpile.transform.calculus import plus, times, zero
from transpile.transform.custom_rules import check_sizes, transposed
from transpile.transform.function_derivatives import adjoints
from transpile.transform.linear_rules import solved_adjoints
from transpile.transform.mirror_table import Twins
from transpile.transform.prepare import refuse, refuse_rule
from transpile.transform.selfupdate import keep_self_updates


@dataclass
class Sweep:
    """A reverse sweep. ``seeds`` are the cotangent variables; ``block`` yields one adjoint for each of ``wrt``.

    In the sweep of an iteration that is recomputed (`transpile.transform.recompute`), ``mapping`` maps each variable of the
    user's function to its copy, and ``origins`` maps each copy to the statement that it is a copy of.
    """

    block: ir.Block
    seeds: tuple[ir.Var, ...]
    mirrors: Twins[ir.Stmt] = field(default_factory=Twins)  # a reverse For or If -> its forward statement
    sides: Twins[ir.Block] = field(default_factory=Twins)  # a reverse block -> the forward block that it mirrors
    mapping: dict[ir.Var, ir.Operand] = field(default_factory=dict)
    origins: dict[ir.Var, ir.Stmt] = field(default_factory=dict)

    def current(self, operand: ir.Operand) -> ir.Operand:
        """The copy that stands for a variable of the user's function in the function that is being linked; the operand itself
        if there is no copy."""
        return self.mapping.get(operand, operand) if isinstance(operand, ir.Var) else operand


@dataclass(frozen=True)
class Nested:
    """Functions that give the reverse derivative of a called function, with cotangents as parameters: ``rule`` for the
    functions of the user's custom rules, ``routine`` for kept functions."""

    rule: Callable[[ir.Function, Sequence[int]], ir.Function]
    routine: Callable[[ir.Function, Sequence[int]], ir.Function]


def reverse_sweep(
    fn: ir.Function, wrt: Sequence[int], results: Sequence[int], b: Builder, seed: bool, nested: Nested
) -> Sweep:
    """The reverse sweep of ``fn``: adjoints of the parameters at the positions ``wrt`` from cotangents of the results at the
    positions ``results``.

    With ``seed``, the cotangents are new parameters; without, each is 1, as for a single scalar result. ``nested``
    differentiates called functions.
    """
    variables = [fn.params[k] for k in wrt]
    outputs = [fn.body.yields[k] for k in results]
    return _Reverse(fn, b, active(fn, variables, outputs), nested).run(variables, outputs, seed)


class _Reverse:
    """Builds the reverse sweep of a function, from the last statement to the first."""

    def __init__(self, fn: ir.Function, b: Builder, active_vars: set[ir.Var], nested: Nested) -> None:
        self.fn, self.b, self.active, self.nested = fn, b, active_vars, nested
        self.prims = prims()
        self.adj = Adjoints(b, active_vars)
        self.overwrites = Overwrites(fn)
        lets = [s for s in statements(fn.body) if isinstance(s, ir.Let) and s.prim == "item"]
        self.items = {(s.args[0], s.params["k"]): s.var for s in lets}
        self.forward_block: ir.Block = fn.body  # the block that is being mirrored
        self.mirrors: Twins[ir.Stmt] = Twins()
        self.sides: Twins[ir.Block] = Twins()

    def run(self, wrt: Sequence[ir.Var], outputs: Sequence[ir.Operand], seed: bool) -> Sweep:
        """The reverse sweep: adjoints of ``wrt`` from cotangents of ``outputs``, which are new parameters if ``seed`` is set,
        else 1."""
        b = self.b
        seeds: list[ir.Var] = []
        with b.into(ir.Block()) as block:
            for k, output in enumerate(outputs):
                if seed:
                    named = (
                        isinstance(output, ir.Var) and output.name != ir.SYNTHETIC and not output.name.startswith("_")
                    )
                    name = output.name if named else f"y{k or ''}"  # type: ignore[union-attr]
                    seeds.append(ir.Var(f"{name}_bar", output.type.strong if output.type.dims else output.type))
                    self.adj.add(output, b.expr(seeds[-1]))
                else:
                    self.adj.add(output, b.expr(ir.Const(1.0, output.type)))
            self.block(self.fn.body)
            with b.at(self.fn.loc):
                block.yields = tuple(self.adj.value_or_zero(v, v.type) for v in wrt)
        self.sides[block] = self.fn.body
        keep_self_updates(block)
        return Sweep(block, tuple(seeds), self.mirrors, self.sides)

    def block(self, block: ir.Block) -> None:
        """Emits the adjoints of a forward block's statements, from the last to the first, into the current block."""
        around, self.forward_block = self.forward_block, block
        for stmt in reversed(block.stmts):
            with self.b.at(stmt.loc):
                self.stmt(stmt)
        self.forward_block = around

    # ---- straight statements

    @singledispatchmethod
    def stmt(self, stmt: ir.Stmt) -> None:
        """Emits what adds to the adjoints of the statement's operands; nothing if its result has no adjoint."""
        raise TypeError(stmt)

    @stmt.register
    def _(self, stmt: ir.Let) -> None:
        var = stmt.var
        if var not in self.active:
            return
        if stmt.prim == "item":
            bar = self.adj.settle(var)
            if bar is not None:
                slots = self.adj.items.setdefault(stmt.args[0], {})  # type: ignore[arg-type]
                k = stmt.params["k"]
                slots[k] = slots[k] + bar if k in slots else bar
            return
        prim = self.prims[stmt.prim]
        if var.type.kind == "tuple":
            self.several(stmt, prim)
        elif prim.elementwise:
            pending = self.adj.take(var)
            if pending is not None:
                self.elementwise(stmt, prim, pending)
        else:
            bar = self.adj.settle(var)
            if bar is not None:
                self.structural(stmt, prim, bar)

    def wants(self, args: Sequence[ir.Operand]) -> tuple[bool, ...]:
        """For each operand, whether it needs an adjoint: it is an active variable."""
        return tuple(isinstance(a, ir.Var) and a in self.active for a in args)

    def elementwise(self, stmt: ir.Let | ir.Alloc, prim: Op, bar: Pending) -> None:
        """Adds ``bar``, the adjoint of the result, times each partial to the adjoint of the operand. T303 or T304 if a partial
        that is needed is missing."""
        b = self.b
        if stmt.prim == "where":
            self.where(stmt, bar)
            return
        args = [b.expr(a) for a in stmt.args]
        found: dict[ir.Operand, Expr] = {}  # an operand that is read twice (``x * x``) gets one contribution
        is_zero = bar.is_zero
        for k, (arg, partial, wanted) in enumerate(
            zip(stmt.args, prim.partials_of(stmt.params), self.wants(stmt.args))
        ):
            if not wanted or partial is ZERO:
                continue
            if partial is REFUSED or partial is UNWRITTEN:
                refuse(stmt, partial, k)
            b.via = stmt.params.get("via", "")
            factor = partial(b.expr(stmt.var), *args)
            value = times(bar.value, factor)
            b.via = ""
            is_zero = is_zero and isinstance(factor, (int, float))
            if value is not None:
                found[arg] = plus(found[arg], value) if arg in found else value
        for arg, value in found.items():
            self.adj.add(arg, self.without_nan(stmt, value) if bar.mask is None else Pending(value, bar.mask, is_zero))

    def where(self, stmt: ir.Let | ir.Alloc, bar: Pending) -> None:
        """Passes ``bar``, the adjoint of the result, to both choices, each with its mask, to be applied after the partials of
        the selected value, not before."""
        b = self.b
        test, then, orelse = stmt.args
        for arg, mask in ((then, b.expr(test)), (orelse, None)):
            if not (isinstance(arg, ir.Var) and arg in self.active):
                continue
            if mask is None:
                mask = b.elementwise("logical_not", test)
            if bar.mask is not None:
                mask = b.elementwise("logical_and", bar.mask, mask)
            self.adj.add(arg, Pending(bar.value, mask))

    def structural(self, stmt: ir.Let | ir.Alloc, prim: Op, bar: Expr) -> None:
        """Adds the contributions of a primitive that is not elementwise; ``bar`` is the adjoint of its only result."""
        self.contribute(stmt, prim, self.b.expr(stmt.var), self.adj.full(bar, stmt.var.type))

    def several(self, stmt: ir.Let, prim: Op) -> None:
        """Adds the contributions of a primitive with several results and removes their adjoints; does nothing if none has an
        adjoint."""
        slots = self.adj.items.pop(stmt.var, None)
        if slots is None:
            return
        items = stmt.var.type.items
        y = tuple(self.b.expr(self.item(stmt.var, k)) for k in range(len(items)))
        bars = tuple(self.adj.full(slots[k], t) if k in slots else None for k, t in enumerate(items))
        self.contribute(stmt, prim, y, bars)

    def item(self, var: ir.Var, k: int) -> ir.Operand:
        """Result ``k`` of ``var``, which holds several results: the variable that the forward sweep has for it, else a new
        ``item`` statement."""
        found = self.items.get((var, k))
        return self.b.let("item", var, k=k).op if found is None else found

    def contribute(self, stmt: ir.Let | ir.Alloc, prim: Op, y: Any, y_bar: Any) -> None:
        """Adds the contributions that the ``vjp`` rule of the primitive gives from the result ``y`` and its adjoint ``y_bar``,
        both tuples if there are several results. T303 if it has no derivative."""
        wants = self.wants(stmt.args)
        if prim.vjp is ZERO or not any(wants):
            return
        if prim.vjp is REFUSED:
            refuse(stmt, REFUSED)
        parts = prim.vjp(y, y_bar, [self.b.expr(a) for a in stmt.args], wants, stmt.params)
        self.add_parts(stmt, parts)

    def add_parts(self, stmt: ir.Let | ir.Alloc | ir.Call, parts: Sequence[Any]) -> None:
        """Adds to the adjoint of each active operand of a statement the contribution at its position in ``parts``; those of an
        operand read twice are summed first."""
        found: dict[ir.Operand, Expr] = {}  # an operand that is read twice (``x @ x``) gets one contribution
        for arg, part, wanted in zip(stmt.args, parts, self.wants(stmt.args)):
            if wanted and isinstance(part, Expr):
                found[arg] = plus(found[arg], part) if arg in found else part
            elif wanted:
                self.adj.add(arg, part)
        for arg, value in found.items():
            self.adj.add(arg, self.without_nan(stmt, value))

    def without_nan(self, stmt: ir.Let | ir.Alloc | ir.Call, value: Expr) -> Pending:
        """The contribution ``value``; if the primitive skips NaN and ``value`` is a ``where`` with 0 on one side, the other
        side, with the test as its mask."""
        leaves_out = not isinstance(stmt, ir.Call) and record_of(stmt).skips_nan
        made = definition(self.b, value.op) if leaves_out else None
        if made is None or made.prim != "where":
            return Pending(value)
        test, then, orelse = made.args
        if is_const(orelse, 0):
            return Pending(self.b.expr(then), self.b.expr(test))
        if is_const(then, 0):
            return Pending(self.b.expr(orelse), self.b.elementwise("logical_not", test))
        return Pending(value)

    @stmt.register
    def _(self, stmt: ir.Alloc) -> None:
        if stmt.var not in self.active:
            return
        if stmt.prim == "copy" and stmt.var in self.adj.buffers:
            self.adj.of_copy(stmt.var, stmt.args[0])
            return
        bar = self.adj.settle(stmt.var)
        prim = self.prims[stmt.prim]
        if bar is None or not any(self.wants(stmt.args)):
            return
        if prim.elementwise:
            self.elementwise(stmt, prim, Pending(bar))
        else:
            self.structural(stmt, prim, bar)

    @stmt.register
    def _(self, stmt: ir.Store) -> None:
        """Emits ``value_bar += place_bar; place_bar = 0``."""
        bar = self.adj.buffers.get(stmt.buf)
        if bar is None:
            return
        if stmt.value in self.active:
            self.adj.add(stmt.value, self.place(bar, stmt))
        if not stmt.path and self.is_local(stmt.buf):
            self.adj.buffers.pop(stmt.buf)  # all of it is overwritten: contributions from here on start anew
        elif self.is_touched_before(stmt):
            self.b.store(bar, stmt.path, stmt.args, ir.Const(0.0, Type(stmt.buf.type.dtype)))

    def is_local(self, buf: ir.Var) -> bool:
        """Whether the buffer is allocated in the very block that is being mirrored."""
        alloc = self.overwrites.allocs.get(buf)
        return alloc is not None and self.overwrites.at[id(alloc)].block is self.forward_block

    def is_touched_before(self, stmt: ir.Store) -> bool:
        """Whether a statement that ran before the store may have read or written the elements that it overwrites, or the buffer
        began with active values. Only then does the reverse sweep return to their adjoints, which must be zero."""
        alloc = self.overwrites.allocs.get(stmt.buf)
        if alloc is None or any(self.wants(alloc.args)):
            return True
        return not self.overwrites.is_first_touch(stmt)

    def place(self, bar: ir.Var, stmt: ir.Store | ir.Add) -> Expr:
        """The adjoint of the elements that ``stmt`` writes, read from ``bar``, the adjoint of the buffer; for a store with
        repeated indices, 0 where a later write counts."""
        b = self.b
        if not stmt.path:
            return b.read(bar)
        repeated = isinstance(stmt, ir.Store) and may_repeat(stmt.path)
        args = [b.expr(a) for a in stmt.args]
        value = b.let("index", bar, *args, path=stmt.path, dims=stmt.value.type.dims)
        return self.last_writer(stmt, value) if repeated else value

    def last_writer(self, stmt: ir.Store | ir.Add, value: Expr) -> Expr:
        """``value``, the adjoint of what ``stmt`` stores, with 0 for elements that the same store overwrites later: with
        repeated indices only the last write counts."""
        b = self.b
        count = b.let(
            "reshape", b.let("arange", b.size(value.dims), dtype="int64", dims=(product(value.dims),)), dims=value.dims
        )
        order = b.alloc("order", Type("int64", stmt.buf.type.dims), "empty", dims=stmt.buf.type.dims, dtype="int64")
        b.store(order, stmt.path, stmt.args, count)
        last = b.let("index", order, *stmt.args, path=stmt.path, dims=value.dims)
        return b.elementwise("where", last.eq(count), value, 0.0)

    @stmt.register
    def _(self, stmt: ir.Add) -> None:
        bar = self.adj.buffers.get(stmt.buf)
        if bar is not None and stmt.value in self.active:
            self.adj.add(stmt.value, self.place(bar, stmt))

    # ---- stacks

    @stmt.register
    def _(self, stmt: ir.NewStack) -> None:
        self.adj.buffers.pop(stmt.var, None)

    @stmt.register
    def _(self, stmt: ir.Push) -> None:
        stack = self.adj.buffers.get(stmt.stack)
        if stack is None:
            return
        bar = ir.Var(self.adj.name(stmt.value) if isinstance(stmt.value, ir.Var) else ir.SYNTHETIC, stmt.value.type)
        self.b.emit(ir.Pop(bar, stack, self.b.loc))
        self.adj.add(stmt.value, self.b.expr(bar))

    @stmt.register
    def _(self, stmt: ir.Pop) -> None:
        if stmt.stack not in self.active:
            return
        value = self.adj.value_or_zero(stmt.var, stmt.var.type)  # the stack's type has sizes of the loop that pushes
        self.b.emit(ir.Push(self.stack(stmt.stack), value, self.b.loc))

    def stack(self, var: ir.Var) -> ir.Var:
        """The stack of adjoints for the stack ``var``; created here if there is none yet."""
        if var not in self.adj.buffers:
            bar = ir.Var(self.adj.name(var), var.type)
            self.b.emit(ir.NewStack(bar, self.b.loc))
            self.adj.buffers[var] = bar
        return self.adj.buffers[var]

    @stmt.register
    def _(self, stmt: ir.Effect) -> None:
        pass

    @stmt.register
    def _(self, stmt: ir.Call) -> None:
        if isinstance(stmt.function, ir.Routine):
            self.kept(stmt)
        else:
            self.custom(stmt)

    def kept(self, stmt: ir.Call) -> None:
        """Emits a call of the pullback of the kept function and adds its results to the adjoints of the arguments; nothing if
        no result has an adjoint."""
        found = [self.adj.settle(r) if r in self.active else None for r in stmt.results]
        wants = self.wants(stmt.args)
        if all(v is None for v in found) or not any(wants):
            return
        bars = [None if v is None else self.adj.full(v, r.type) for v, r in zip(found, stmt.results)]
        args = [self.b.expr(a) for a in stmt.args]
        self.add_parts(stmt, adjoints(stmt.routine, args, bars, wants, self.nested.routine))

    def custom(self, stmt: ir.Call) -> None:
        """Emits the user's pullback, or the transpose of the user's tangent rule, and adds its results to the adjoints of the
        arguments."""
        outs = stmt.results[: stmt.custom.outputs]
        if not any(r in self.active for r in outs):
            return
        bars = [self.adj.settle(r) for r in outs]
        if all(v is None for v in bars):
            return
        refuse_rule(stmt, self.active)
        full = [zero(self.b, r.type) if v is None else self.adj.full(v, r.type) for r, v in zip(outs, bars)]
        if stmt.custom.rule == "linear":
            for k, part in solved_adjoints(self.b, stmt, full, self.wants(stmt.args), self.nested.rule).items():
                self.adj.add(stmt.args[k], part)
            return
        cts = [v.op for r, v in zip(outs, full) if carries_derivative(r)]
        floats = [a for a in stmt.args if carries_derivative(a)]
        if stmt.custom.rule == "vjp":
            found = splice(self.b, stmt.custom.derivative, (*stmt.results[stmt.custom.outputs :], *cts))
        elif stmt.custom.pullback is not None:
            found = splice(self.b, stmt.custom.pullback, (*stmt.args, *outs, *cts))
        else:
            dots = [zero(self.b, a.type).op for a in floats]
            known = (*stmt.args, *outs) if stmt.custom.rule == "implicit" else stmt.args
            back, used = transposed(stmt, self.nested.rule)
            floats, found = [floats[k] for k in used], splice(self.b, back, (*known, *dots, *cts))
        check_sizes(self.b, stmt, found, floats)
        for arg, bar in zip(floats, found):
            if not (isinstance(bar, ir.Const) and bar.type.rank < arg.type.rank):  # no adjoint
                self.adj.add(arg, self.b.expr(bar))

    # ---- control

    def share(self, blocks: Sequence[ir.Block]) -> list[ir.Var]:
        """The active scalars that the nested ``blocks`` read from outside: control flow must carry their adjoints. Active
        arrays, buffers and stacks that they read from outside get adjoint buffers here."""
        scalars: dict[ir.Var, None] = {}
        own_params = {p for block in blocks for p in block.params}
        for block in blocks:
            for var in free(block):
                if var not in self.active or var in own_params:
                    continue
                if var.type.kind == "stack":
                    self.stack(var)
                elif var.buffer or var.type.dims:
                    self.adj.buffer(var)
                elif var.type.kind == "array":
                    scalars[var] = None
        return list(scalars)

    @stmt.register
    def _(self, stmt: ir.If) -> None:
        b = self.b
        bars = {r: self.adj.settle(r) for r in stmt.results if r in self.active}
        if not any(v is not None for v in bars.values()) and not self.touches(stmt.then, stmt.orelse):
            return
        scalars = self.share((stmt.then, stmt.orelse))
        scalars = self.with_yields(stmt, scalars)
        before = {s: self.adj.values.pop(s, None) for s in scalars}
        start = {s: None if p is None else p.settle() for s, p in before.items()}
        sides = []
        for block in (stmt.then, stmt.orelse):
            with b.into(ir.Block()) as side:
                for s, value in start.items():
                    if value is not None:
                        self.adj.values[s] = Pending(value)
                for result, out in zip(stmt.results, block.yields):
                    if bars.get(result) is not None:
                        self.adj.add(out, bars[result])
                self.block(block)
                side.yields = tuple(self.adj.value_or_zero(s, s.type) for s in scalars)
            self.sides[side] = block
            sides.append(side)
        results = tuple(ir.Var(self.adj.name(s), s.type) for s in scalars)
        mirror = ir.If(stmt.test, sides[0], sides[1], results, b.loc)
        self.mirrors[mirror] = stmt
        b.emit(mirror)
        for s, r in zip(scalars, results):
            self.adj.values[s] = Pending(b.expr(r))

    def with_yields(self, stmt: ir.If, scalars: list[ir.Var]) -> list[ir.Var]:
        """``scalars``, then the active outer scalars that a side of the branch yields unchanged; active outer arrays that it
        yields get adjoint buffers here."""
        found = dict.fromkeys(scalars)
        inner = {*_defined_here(stmt.then), *_defined_here(stmt.orelse)}
        for result, *outs in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
            for out in outs:
                if isinstance(out, ir.Var) and out in self.active and out not in inner and result in self.active:
                    if out.type.dims or out.buffer:
                        self.adj.buffer(out)
                    else:
                        found[out] = None
        return list(found)

    def touches(self, *blocks: ir.Block) -> bool:
        """Whether a block writes a buffer that has an adjoint buffer by now, or pushes to or pops from a stack."""
        return any(v in self.adj.buffers or v.type.kind == "stack" for block in blocks for v in written_in(block))

    @stmt.register
    def _(self, stmt: ir.For) -> None:
        index = ir.Var(stmt.index.name, stmt.index.type)
        if stmt.body.stop is None:
            self.loop(stmt, index, stmt.start, stmt.bound, stmt.step, not stmt.backwards)
        else:
            assert stmt.trips is not None, "a loop that stops counts its trips"
            self.loop(stmt, index, ir.Const(0, INT), stmt.trips, ir.Const(1, INT), True)

    @stmt.register
    def _(self, stmt: ir.While) -> None:
        assert stmt.trips is not None, "a while loop counts its trips"
        self.loop(stmt, ir.Var("trip", INT), ir.Const(0, INT), stmt.trips, ir.Const(1, INT), True)

    def loop(
        self,
        stmt: ir.For | ir.While,
        index: ir.Var,
        start: ir.Operand,
        bound: ir.Operand,
        step: ir.Operand,
        backwards: bool,
    ) -> None:
        """Emits the mirror of the loop ``stmt``, unless nothing in it has an adjoint; ``index``, ``start``, ``bound``, ``step``
        and ``backwards`` are those of the mirror."""
        b, body = self.b, stmt.body
        carried = [k for k, p in enumerate(body.params) if p in self.active or stmt.results[k] in self.active]
        bars = {k: self.adj.settle(stmt.results[k]) for k in carried}
        if not any(v is not None for v in bars.values()) and not self.touches(body):
            return
        scalars = self.share((body,))
        inner = set(_defined_here(body))
        for k in carried:  # an outer variable that the body yields unchanged
            out = body.yields[k]
            if isinstance(out, ir.Var) and out not in inner and out in self.active and not out.buffer:
                if out.type.dims:
                    self.adj.buffer(out)
                elif out not in scalars:
                    scalars.append(out)
        inits = []
        for k in carried:
            bar = bars[k]
            type_ = body.params[k].type
            inits.append(zero(b, type_).op if bar is None else self.adj.full(bar, type_).op)
        for s in scalars:
            pending = self.adj.values.pop(s, None)
            inits.append(zero(b, s.type).op if pending is None else self.adj.full(pending.settle(), s.type).op)
        params = [ir.Var(self.adj.name(body.params[k]), body.params[k].type) for k in carried]
        params += [ir.Var(self.adj.name(s), s.type) for s in scalars]
        with b.into(ir.Block(tuple(params))) as mirrored:
            for s, param in zip(scalars, params[len(carried) :]):
                self.adj.values[s] = Pending(b.expr(param))
            for k, param in zip(carried, params):
                self.adj.add(body.yields[k], b.expr(param))
            self.block(body)
            adjoints = [*(body.params[k] for k in carried), *scalars]
            outs = [self.adj.value_or_zero(s, s.type, param) for s, param in zip(adjoints, params)]
            mirrored.yields = tuple(outs)
        self.sides[mirrored] = body
        results = tuple(ir.Var(p.name, p.type) for p in params)
        lanes = isinstance(stmt, ir.For) and stmt.lanes and not inits
        mirror = ir.For(index, start, bound, step, tuple(inits), mirrored, results, None, backwards, b.loc, lanes)
        self.mirrors[mirror] = stmt
        b.emit(mirror)
        for s, r in zip(scalars, results[len(carried) :]):
            self.adj.values[s] = Pending(b.expr(r))
        for k, r in zip(carried, results):
            self.adj.add(stmt.inits[k], b.expr(r))


def _defined_here(block: ir.Block) -> list[ir.Var]:
    return list(defined(block))
