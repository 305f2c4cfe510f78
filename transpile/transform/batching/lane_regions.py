"""A region: statements of one lane, in a loop over the lanes.

out = np.empty(batch)
for lane in range(batch):
    x_lane = x[lane]                inputs are read
    ...                             the statements, unchanged
    out[lane] = y                   values that are read later are stored
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import INT
from transpile.core.walk import defined, defines, index_symbols, map_reads, resize, statements, symbols
from transpile.transform.batching.all_lanes import AllLanes
from transpile.transform.batching.lane_places import of_lane
from transpile.transform.batching.lane_raises import in_lane, named, names_lane
from transpile.transform.batching.statement_order import Step

LANE = "lane"


class Region:
    """Emits one region."""

    def __init__(self, w: AllLanes, step: Step) -> None:
        self.w, self.b, self.step = w, w.b, step
        self.lane = ir.Var(LANE, INT)
        self.own = set(defined(ir.Block((), step.stmts)))
        self.read: dict[ir.Var, ir.Operand] = {}  # inputs, read at the top
        self.top = ir.Block()

    def emit(self) -> None:
        """Emits memory for all lanes of the results that are read later, the loop over the lanes with the statements of the
        region, and reads of the results."""
        w, b = self.w, self.b
        with b.at(self.step.stmts[0].loc):
            results = {v: self.memory_of(v, s) for s in self.step.stmts for v in defines(s) if v in self.step.outside}
        with b.into(ir.Block()) as body:
            stmts = [one for s in self.step.stmts for one in self.moved(s)]
            body.stmts += stmts
            self.name_sizes(body)
            body.stmts[:0] = self.top.stmts
            for var, buf in results.items():
                if not var.buffer:
                    with b.at(self.step.stmts[-1].loc):
                        b.store(buf, _one(var.type.rank), [self.lane], b.cast(var, buf.type.dtype))
        loc = self.step.stmts[0].loc
        bound = b.dim(w.lanes).op
        b.emit(ir.For(self.lane, ir.Const(0, INT), bound, ir.Const(1, INT), (), body, loc=loc, lanes=True))
        for var, buf in results.items():
            if not var.buffer:
                w.alls[var] = b.read(buf, name=var.name).op

    def memory_of(self, var: ir.Var, stmt: ir.Stmt) -> ir.Var:
        """New memory, emitted, for the values of all lanes of ``var``, a result of the region that ``stmt`` defines; noted in
        ``memory`` if ``var`` is a buffer."""
        w = self.w
        type_ = w.batched(var.type)
        reason = stmt.reason if isinstance(stmt, (ir.Let, ir.Alloc, ir.Call)) else ""
        buf = self.b.alloc(var.name, type_, "empty", dims=type_.dims, dtype=type_.dtype, reason=reason)
        if var.buffer:
            w.memory[var] = (buf, ())
        return buf

    def name_sizes(self, body: ir.Block) -> None:
        """Binds the symbols of sizes and integers that differ between lanes to their values in this lane; a symbol that an
        earlier region has bound is renamed in ``body``, in place."""
        w, b = self.w, self.b
        renamed: dict[str, Dim] = {}
        of_loops = {name for s in statements(body) for name in index_symbols(s)}  # a mirrored loop may share another's
        for name in symbols(body):
            old = w.fn.symbols.get(name)
            if not isinstance(old, ir.Var) or not w.mapped.has(old):
                continue
            if old in self.own or name in of_loops:
                w.named.add(name)
                continue
            with b.into(self.top):
                value = self.operand(old)
            if name in w.named:
                renamed[name] = b.fresh_symbol(name.split(".")[0])
            w.named.add(name)
            new = renamed.get(name, Dim.symbol(name))
            b.symbols[str(new)] = value
        if renamed:
            resize(body, renamed)

    # ---- statements of the lane

    def operand(self, op: ir.Operand) -> ir.Operand:
        """The operand of this lane. A value for all lanes is read at the top of the region, once; the number of the lane is the
        loop's index."""
        if not isinstance(op, ir.Var) or op in self.own or not self.w.mapped.has(op) or op in self.w.memory:
            return op
        if op in self.w.numbers:
            return self.lane
        if op not in self.read:
            with self.b.into(self.top):
                whole = self.w.alls[op]
                assert isinstance(whole, ir.Var)
                name = f"{op.name}_lane" if op.name else ""
                self.read[op] = self.b.read(whole, _one(op.type.rank), [self.lane], name=name).op
        return self.read[op]

    def moved(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that do for this lane what ``stmt`` does: one, or two or none for a buffer that has become memory for
        all lanes."""
        new = map_reads(stmt, self.operand)
        match new:
            case ir.Let() if new.args and new.args[0] in self.w.memory and new.prim in ("index", "dim"):
                return [self.of_memory(new)]
            case ir.Alloc() if new.var in self.w.memory:  # a result of the region has memory for all lanes
                value = ir.Var(new.var.name, new.var.type)
                path, args = self.place(new.var, (), ())
                stored = ir.Store(self.w.memory[new.var][0], path, args, value, new.loc)
                if new.prim == "empty":
                    return []
                prim = "identity" if new.prim == "copy" else new.prim
                return [ir.Let(value, prim, new.args, new.params, new.loc), stored]
            case ir.Store() | ir.Add() if new.buf in self.w.memory:
                path, args = self.place(new.buf, new.path, new.args)
                return [replace(new, buf=self.w.memory[new.buf][0], path=path, args=args)]
            case ir.Raise():
                return [self.named(new)]
            case ir.Call() if self.w.diagonals is None:
                return [named(new, self.lane)]
            case ir.If():
                return [replace(new, then=self.inner(new.then), orelse=self.inner(new.orelse))]
            case ir.For():
                return [replace(new, body=self.inner(new.body))]
            case ir.While():
                return [replace(new, test=self.inner(new.test), body=self.inner(new.body))]
        return [new]

    def inner(self, block: ir.Block) -> ir.Block:
        """A new block that does for this lane what the nested ``block`` does."""
        stmts = [one for s in block.stmts for one in self.moved(s)]
        stop = None if block.stop is None else self.operand(block.stop)
        return ir.Block(block.params, stmts, tuple(self.operand(y) for y in block.yields), stop)

    def of_memory(self, stmt: ir.Let) -> ir.Let:
        """The statement ``stmt``, which reads a buffer or its size, on the buffer's memory for all lanes, at this lane."""
        source, *args = stmt.args
        assert isinstance(source, ir.Var)
        buf, first = self.w.memory[source]
        if stmt.prim == "dim":
            axis = stmt.params["axis"]
            lanes_at = self.w.axes[self.w.fn.params.index(source)] if first else 0
            assert lanes_at is not None
            return replace(stmt, args=(buf,), params={"axis": axis + (axis >= lanes_at)})
        path, ready = self.place(source, stmt.params["path"], args)
        return replace(stmt, args=(buf, *ready), params={"path": path, "dims": stmt.var.type.dims})

    def place(
        self, source: ir.Var, path: ir.Path, args: tuple[ir.Operand, ...] | list[ir.Operand]
    ) -> tuple[ir.Path, tuple[ir.Operand, ...]]:
        """The path of this lane in the memory for all lanes of ``source``, and its operands, the lane's number last."""
        _, first = self.w.memory[source]
        return (*first, *of_lane(path, source.type.rank, len(args))), (*args, self.lane)

    def named(self, stmt: ir.Raise) -> ir.Raise:
        """The exception; if the lanes are those of a user's `vmap`, not directions, its message names the lane."""
        return in_lane(stmt, self.lane) if self.w.diagonals is None and names_lane(stmt) else stmt


def _one(rank: int) -> ir.Path:
    return (ir.Index((ir.Point(0), *(ir.Slice(),) * rank)),)
