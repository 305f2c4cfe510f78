"""Emits the function for all lanes, as its modes say: whole statements by the rules of their families, regions lane by lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.core.walk import uses
from transpile.transform.batching import collective_rules
from transpile.transform.batching.all_lanes import AllLanes
from transpile.transform.batching.decided import Decided
from transpile.transform.batching.families import FAMILIES, Made, transposed
from transpile.transform.batching.lane_calls import call, invoked
from transpile.transform.batching.lane_places import Shifted, is_fill
from transpile.transform.batching.lane_regions import Region
from transpile.transform.function_derivatives import OfLanes


class Emit(AllLanes):
    """Emits the function for all lanes. ``batch`` gives the batched functions that it calls."""

    def __init__(
        self,
        found: Decided,
        axes: Sequence[int | None],
        outs: Sequence[int | None],
        count: int | None,
        batch: OfLanes,
        checked: bool = True,
    ) -> None:
        super().__init__(found, axes, count)
        self.outs, self.batch, self.checked = outs, batch, checked

    def called(
        self, found: Decided, axes: Sequence[int | None], outs: Sequence[int | None], count: int | None
    ) -> ir.Function:
        """The function ``found`` of a call, for all lanes, without checks of sizes; ``axes``, ``outs`` and ``count`` are as for
        `batch`."""
        return Emit(found, axes, outs, count, self.batch, checked=False).run()

    # ---- the function

    def run(self) -> ir.Function:
        """The function for all lanes, with ``_vmap`` after its name."""
        fn, b = self.fn, self.b
        if self.diagonals is None or self.diagonals.count is None:
            self.sizes()
        for param, new, axis in zip(fn.params, self.params, self.axes):
            if axis is None:
                if self.mapped.has(param):  # a shared argument that lanes change: one copy per lane
                    self.alls[param] = self.whole(param)
                continue
            first: ir.Path = () if axis == 0 else (ir.Permute((axis, *(k for k in range(new.type.rank) if k != axis))),)
            if param.buffer:
                self.memory[param] = (new, first)
            else:
                self.alls[param] = b.read(new, first, name=param.name).op if first else new
        if self.diagonals is not None:
            self.diagonals.start(self)
        self.block(fn.body)
        outs = tuple(self.result(y, axis) for y, axis in zip(fn.body.yields, self.outs))
        for name, op in fn.symbols.items():
            if self.mapped.has(op) and name not in self.named:
                b.symbols.pop(name, None)
        return replace(
            fn,
            name=f"{fn.name}_vmap",
            params=tuple(p for p in map(self.param, self.params) if p is not None),
            body=ir.Block((), b.block.stmts, outs),
            symbols=b.symbols,
        )

    def param(self, var: ir.Var) -> ir.Var | None:
        """The parameter itself; for the axis of collectives, the number of lanes in a function that is called, else None: it is
        dropped."""
        if self.axis is None or var is not self.axis.var:
            return var
        return self.axis.size if not self.checked and isinstance(self.axis.size, ir.Var) else None

    def sizes(self) -> None:
        """Emits the number of lanes, read from the first parameter with a lane axis, and, if ``checked``, checks that the
        others have as many. In a called function with collectives, it is the parameter for their axis."""
        name = self.lanes.as_symbol
        if self.axis is not None and not self.checked:
            if name is not None:
                self.b.bind_symbol(self.lanes, self.axis.size)
            return
        first: tuple[str, ir.Operand] | None = None
        for param, axis in zip(self.params, self.axes):
            if axis is None:
                continue
            size = ir.Var(ir.SYNTHETIC if first else name or ir.SYNTHETIC, INT)
            if first is None and self.axis is not None and isinstance(self.axis.size, ir.Var):
                size = self.axis.size
            self.b.emit(ir.Let(size, "dim", (param,), {"axis": axis}, self.fn.loc))
            if first is None:
                first = param.name, size
                self.b.learn(size, self.lanes)
                if name is not None:
                    self.b.symbols[name] = size
                if not self.checked:
                    break
                continue
            test = self.b.elementwise("not_equal", size, first[1]).op
            text = f"{param.name} has "
            parts = (text, (0, "", ""), f" lanes along axis {axis}, {first[0]} has ", (1, "", ""))
            failed = ir.Block(stmts=[ir.Raise((size, first[1]), "ValueError", parts, is_check=True, loc=self.fn.loc)])
            self.b.emit(ir.If(test, failed, ir.Block(), (), self.fn.loc))

    def result(self, y: ir.Operand, axis: int | None) -> ir.Operand:
        """The result ``y`` for all lanes with its lane axis at ``axis``, broadcast if lanes share it; ``y`` itself if ``axis``
        is None."""
        if axis is None:
            return y
        if self.diagonals is not None and self.is_apart(y):
            return self.diagonals.whole(y, axis)
        if not self.differs(y):
            found: ir.Operand = self.b.read(self.b.copy(getattr(y, "label", "y"), self.whole(y))).op
        else:
            found = self.of(y)
        order = [*range(1, axis + 1), 0, *range(axis + 1, found.type.rank)]
        return transposed(self, found, order)

    # ---- statements

    def is_apart(self, op: ir.Operand) -> TypeGuard[ir.Var]:
        """Whether the value exists only as its diagonals: it has not been completed with zeros."""
        return self.diagonals is not None and self.diagonals.has(op) and op not in self.alls

    def block(self, block: ir.Block) -> None:
        """Emits a block's statements for all lanes, in the order that the modes give, regions lane by lane."""
        for step in self.modes.steps[id(block)]:
            if self.diagonals is not None and block is self.fn.body:
                if id(step.stmts[0]) in self.diagonals.stmts:
                    with self.b.at(step.stmts[0].loc):
                        self.diagonals.emit(self, step.stmts[0])
                    continue
                for op in dict.fromkeys(uses(ir.Block((), step.stmts))):
                    if self.is_apart(op):
                        self.alls[op] = self.diagonals.whole(op, 0)
            if step.is_region:
                Region(self, step).emit()
            else:
                with self.b.at(step.stmts[0].loc):
                    self.stmt(step.stmts[0])

    def stmt(self, stmt: ir.Stmt) -> None:
        """Emits a statement for all lanes at once; one that lanes share is emitted unchanged."""
        if self.modes.is_shared(stmt):
            self.b.emit(stmt)
            return
        match stmt:
            case ir.Let() if self.mapped.collective(stmt) is not None:
                collective_rules.emit(self, stmt)
            case ir.Let():
                self.let(stmt)
            case ir.Alloc():
                self.alloc(stmt)
            case ir.Store() | ir.Add():
                self.store(stmt)
            case ir.If():
                then, orelse = (self.inner(side, stmt.results) for side in (stmt.then, stmt.orelse))
                self.b.emit(replace(stmt, then=then, orelse=orelse, results=self.declared(stmt.results)))
            case ir.For() | ir.While():
                self.loop(stmt)
            case ir.NewStack():
                var = ir.Var(stmt.var.name, self.with_lanes(stmt.var.type, 0))
                self.memory[stmt.var] = (var, ())
                self.b.emit(ir.NewStack(var, stmt.loc, stmt.reason))
            case ir.Push():
                self.b.emit(ir.Push(self.memory[stmt.stack][0], self.whole(stmt.value), stmt.loc))
            case ir.Pop():
                var = ir.Var(stmt.var.name, self.batched(stmt.var.type))
                self.alls[stmt.var] = var
                self.b.emit(ir.Pop(var, self.memory[stmt.stack][0], stmt.loc))
            case ir.Call(function=ir.Routine()):
                invoked(self, stmt, self.batch)
            case ir.Call():
                call(self, self.modes.calls[id(stmt)], self.called)
            case _:
                raise TypeError(stmt)

    def let(self, stmt: ir.Let) -> None:
        """Emits a *let* for all lanes by the rule of its family and keeps its value; the size of an array that differs skips
        the lane axis."""
        family = self.modes.prims[stmt.prim].family
        if family == "size":
            (x,) = stmt.args
            buf = self.memory[x][0] if x in self.memory else self.of(x)
            axis = stmt.params["axis"]
            lanes_at = self.axes[self.fn.params.index(x)] if x in self.fn.params else 0
            if lanes_at is not None and x in self.fn.params:
                buf = self.params[self.fn.params.index(x)]
            self.b.emit(replace(stmt, args=(buf,), params={"axis": axis + (lanes_at is not None and axis >= lanes_at)}))
            return
        if family == "place":
            found = self.read(stmt)
        else:
            found = FAMILIES[family].rule(self, Made(stmt.prim, stmt.args, stmt.params, stmt.var.type))
        self.keep(found, stmt.var)

    def read(self, stmt: ir.Let) -> ir.Operand:
        """The elements that an ``index`` statement reads, for all lanes; emitted."""
        source, *args = stmt.args
        assert isinstance(source, ir.Var)
        memory, first = self.memory.get(source, (None, ()))
        is_mapped = self.differs(source)
        found, ready = self.shifted(stmt.params["path"], args, is_mapped)
        x = memory if memory is not None else self.of(source)
        dims = self.batched(stmt.var.type).dims
        given = dims if found.order is None else tuple(dims[found.order.index(k)] for k in range(len(dims)))
        path = (*first, *found.path)
        if not path and not (isinstance(x, ir.Var) and x.buffer):
            return x
        params = {"path": path, "dims": given} if path else {"path": ()}
        value = self.b.bind("", stmt.var.type.strong.with_dims(given), "index", (x, *ready), params)
        return value if found.order is None else transposed(self, value, found.order)

    def alloc(self, stmt: ir.Alloc) -> None:
        """Emits the allocation of memory for all lanes, lane axis in front, and notes it in ``memory``."""
        b, name = self.b, stmt.var.name
        type_ = self.batched(stmt.var.type)
        if stmt.prim in ("full", "empty") and not any(self.differs(a) for a in stmt.args):
            params = {**stmt.params, "dims": (self.lanes, *stmt.params["dims"])}
            buf = b.alloc(name, type_, stmt.prim, *stmt.args, reason=stmt.reason, **params)
        else:
            if any(self.differs(a) for a in stmt.args):
                made = Made(stmt.prim, stmt.args, stmt.params, stmt.var.type)
                found = FAMILIES[self.modes.prims[stmt.prim].family].rule(self, made)
            elif stmt.prim == "copy":
                found = self.whole(stmt.args[0])
            else:
                value = ir.Var(ir.SYNTHETIC, stmt.var.type)
                b.emit(ir.Let(value, stmt.prim, stmt.args, stmt.params, stmt.loc))
                found = b.let("broadcast", value, dims=type_.dims).op
            buf = b.alloc(name, type_, "copy", found, reason=stmt.reason)
        self.memory[stmt.var] = (buf, ())

    def store(self, stmt: ir.Store | ir.Add) -> None:
        """Emits a store or an addition to memory for all lanes."""
        buf, first = self.memory[stmt.buf]
        if is_fill(stmt) and self.differs(stmt.args[0]):  # the mask covers the lanes too
            self.b.emit(replace(stmt, buf=buf, path=(*first, *stmt.path), args=(self.of(stmt.args[0]),)))
            return
        found, ready = self.shifted(stmt.path, stmt.args, True)
        value = self.placed_value(stmt, found)
        self.b.emit(replace(stmt, buf=buf, path=(*first, *found.path), args=tuple(ready), value=value))

    def placed_value(self, stmt: ir.Store | ir.Add, found: Shifted) -> ir.Operand:
        """The value of a store for all lanes, with its axes in the order in which the path ``found`` gives them; a constant as
        it is."""
        if isinstance(stmt.value, ir.Const):
            return stmt.value
        value = self.b.cast(self.whole(stmt.value), stmt.buf.type.dtype).op
        if found.order is None:
            return value
        inverse = [found.order.index(k) for k in range(len(found.order))]
        return transposed(self, value, inverse)

    # ---- control

    def inner(self, block: ir.Block, taken: Sequence[ir.Var], params: tuple[ir.Var, ...] = ()) -> ir.Block:
        """A new block that does for all lanes what ``block`` does for one. ``taken``: the variables that take its yields; where
        one differs, the yield gets a lane axis. ``params``: the parameters of the new block."""
        with self.b.into(ir.Block(params, stop=block.stop)) as made:
            self.block(block)
            made.yields = tuple(self.whole(y) if self.differs(v) else y for y, v in zip(block.yields, taken))
        return made

    def declared(self, variables: Sequence[ir.Var]) -> tuple[ir.Var, ...]:
        """The variables, each that differs replaced by a new one for all lanes, which control flow will define and which stands
        for the old one from here on."""
        made = tuple(ir.Var(v.name, self.batched(v.type)) if self.differs(v) else v for v in variables)
        self.alls.update((v, m) for v, m in zip(variables, made) if m is not v)
        return made

    def loop(self, stmt: ir.For | ir.While) -> None:
        """Emits a loop whose iterations all lanes do together; carried values that differ get a lane axis."""
        inits = tuple(self.whole(i) if self.differs(r) else i for i, r in zip(stmt.inits, stmt.results))
        if isinstance(stmt, ir.While):
            params = self.declared(stmt.test.params)
            with self.b.into(ir.Block(params)) as test:
                self.block(stmt.test)
                test.yields = stmt.test.yields
            body = self.inner(stmt.body, stmt.results, self.declared(stmt.body.params))
            self.b.emit(replace(stmt, inits=inits, test=test, body=body, results=self.declared(stmt.results)))
            return
        body = self.inner(stmt.body, stmt.results, self.declared(stmt.body.params))
        self.b.emit(replace(stmt, inits=inits, body=body, results=self.declared(stmt.results)))
