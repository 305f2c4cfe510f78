"""Batching: the function of one lane becomes the function of all lanes.

    for lane in range(batch):
        y = ...                     (the function of x[lane], in line)
        out[lane] = y

This is right for every function whose results have one size in all lanes: for branches, loops that end when they like, recursion,
what is printed and raised. What all lanes can do at once is to be moved out of the loop (issue "batching").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core.builder import Builder, unify_any
from transpile.core.dims import Dim
from transpile.core.nodes import Block, Const, For, Function, Index, Let, Operand, Path, Point, Slice, Var
from transpile.core.types import INT, Type
from transpile.errors import error
from transpile.transform.custom import splice

BATCH = "batch"


def by_lane(fn: Function, axes: Sequence[int | None], outs: Sequence[int | None]) -> Function:
    """``fn`` for all lanes: ``axes`` says for each parameter which axis is that of the lanes, ``outs`` for each result.

    Parameters with an axis, and results with one, have one dim more, of the size ``batch``. Results without an
    axis are left out. At least one parameter has an axis. Arguments that the function writes are written lane by lane.
    """
    return _ByLane(fn, axes, outs).run()


class _ByLane:
    def __init__(self, fn: Function, axes: Sequence[int | None], outs: Sequence[int | None]) -> None:
        self.fn, self.axes, self.outs = fn, axes, outs
        self.b = Builder()
        self.b.unify = unify_any
        self.b.loc = fn.loc
        names = {name for p in fn.params for d in p.type.dims for name in d.symbols()} | set(fn.symbols)
        name = BATCH
        while name in names:
            name += "_"
        self.batch = Dim.symbol(name)
        self.params = tuple(Var(p.name, self.whole(p.type, a), p.buffer) for p, a in zip(fn.params, axes))

    def whole(self, lane: Type, axis: int | None) -> Type:
        return lane if axis is None else Type(lane.dtype, (*lane.dims[:axis], self.batch, *lane.dims[axis:]))

    def run(self) -> Function:
        fn, b = self.fn, self.b
        self.sizes()
        results = [None if a is None else self.result(y, a) for y, a in zip(fn.body.yields, self.outs)]
        lane = Var("lane", INT)
        with b.into(Block()) as body:
            args = [self.of_lane(p, a, lane) for p, a in zip(self.params, self.axes)]
            found = splice(b, fn, args)
            for param, axis, arg in zip(self.params, self.axes, args):
                if param.buffer and axis is not None:
                    b.store(param, _place(param.type, axis), [lane], b.read(arg))
            for buf, axis, value in zip(results, self.outs, found):
                if buf is not None and axis is not None:
                    b.store(buf, _place(buf.type, axis), [lane], b.cast(value, buf.type.dtype))
        b.emit(For(lane, Const(0, INT), b.dim(self.batch).op, Const(1, INT), (), body, loc=fn.loc))
        outs = tuple(b.read(r, name=r.name).op for r in results if r is not None)
        return replace(
            fn, name=f"{fn.name}_vmap", params=self.params, body=Block((), b.block.stmts, outs), symbols=b.symbols
        )

    def sizes(self) -> None:
        """The sizes of the parameters have their names before the loop; so has the number of lanes."""
        for param in self.params:
            for axis, dim in enumerate(param.type.dims):
                name = dim.as_symbol
                if name is not None and name not in self.b.symbols:
                    size = Var(name, INT, form=dim)
                    self.b.emit(Let(size, "dim", (param,), {"axis": axis}, self.fn.loc))
                    self.b.symbols[name] = size

    def result(self, lane: Operand, axis: int) -> Var:
        """Memory for a result of all lanes."""
        type_ = self.whole(lane.type, axis)
        if any(name not in self.b.symbols for d in type_.dims for name in d.symbols()):
            raise error(
                "T205",
                f"the size of a result of {self.fn.name!r} depends on the data, and may differ between lanes",
                self.fn.loc,
            )
        return self.b.alloc(getattr(lane, "label", "y"), type_, "empty", dims=type_.dims, dtype=type_.dtype)

    def of_lane(self, param: Var, axis: int | None, lane: Var) -> Operand:
        if axis is None:
            return param
        found = self.b.read(param, _place(param.type, axis), [lane], name=param.name)
        return self.b.copy(param.name, found) if param.buffer else found.op


def _place(type_: Type, axis: int) -> Path:
    return (Index(tuple(Point(0) if k == axis else Slice() for k in range(len(type_.dims)))),)
