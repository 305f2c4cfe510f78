"""Memory and loops of the lowered function: arrays filled element by element, scalars that loops carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import ANY, Dim
from transpile.core.types import INT, Type
from transpile.errors import error
from transpile.lower.element_functions import Elements, is_one, loop_order, stored, write
from transpile.ops.tables import records


class Nests:
    """Emits memory and loop nests."""

    def __init__(self, fn: ir.Function) -> None:
        self.b = Builder(records(), fn=fn)
        self.owned: set[ir.Var] = set()  # variables of the result with memory of their own, not a parameter's

    def memory(self, name: str, dtype: str, sizes: Sequence[ir.Operand]) -> ir.Var:
        """A new array of this name and dtype, uninitialised; its allocation is emitted."""
        self.check_dtype(dtype)
        var = ir.Var(name, Type(dtype, (ANY,) * len(sizes)), buffer=True)
        self.b.emit(ir.Alloc(var, "empty", tuple(sizes), {}, self.b.loc))
        self.owned.add(var)
        return var

    def check_dtype(self, dtype: str) -> None:
        """T502 for float16, which Numba lacks."""
        if dtype == "float16":
            raise error("T502", "Numba has no float16", self.b.loc, hint="use float32")

    def nest(
        self, sizes: Sequence[ir.Operand], body: Callable[[list[Expr]], None], order: Sequence[int] | None = None
    ) -> None:
        """Emits loops over all indices of ``sizes`` and in them ``body(index)``, one number for each axis; an axis of size 1
        gets index 0 and no loop.

        ``order`` lists the axes from the outermost loop to the innermost; None: as they are.
        """
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
            index = ir.Var("ijklmn"[axis] if axis < 6 else f"i{axis}", INT)
            self.b.bind_symbol(Dim.integer(f"{index.name}#{id(index)}"), index)
            indices[axis] = self.b.expr(index)
            with self.b.into(ir.Block()) as block:
                level(k + 1)
            self.b.emit(ir.For(index, ir.Const(0, INT), sizes[axis], ir.Const(1, INT), (), block, loc=self.b.loc))

        level(0)

    def fold(
        self,
        sizes: Sequence[ir.Operand],
        inits: Sequence[Expr],
        body: Callable[[list[Expr], list[Expr]], Sequence[Expr]],
        names: Sequence[str] = ("total",),
    ) -> list[Expr]:
        """The final values of scalars that loops over all indices of ``sizes`` carry, first ``inits``; the loops are emitted.

        ``body(index, values)`` gives the values after an iteration; ``names`` are the names of their variables.
        """
        b = self.b

        def level(k: int, indices: list[Expr], values: list[Expr]) -> list[Expr]:
            if k == len(sizes):
                return list(body(indices, values))
            if is_one(sizes[k]):
                return level(k + 1, [*indices, b.expr(0)], values)
            index = ir.Var("ijklmn"[k] if k < 6 else f"i{k}", INT)
            b.bind_symbol(Dim.integer(f"{index.name}#{id(index)}"), index)
            params = tuple(ir.Var(n, v.type.strong) for n, v in zip(names, values))
            with b.into(ir.Block(params)) as block:
                outs = level(k + 1, [*indices, b.expr(index)], [b.expr(p) for p in params])
                block.yields = tuple(o.op for o in outs)
            results = tuple(ir.Var(p.name, p.type) for p in params)
            inits_ = tuple(v.op for v in values)
            b.emit(ir.For(index, ir.Const(0, INT), sizes[k], ir.Const(1, INT), inits_, block, results, loc=b.loc))
            return [b.expr(r) for r in results]

        return level(0, [], list(inits))

    def materialise(self, elements: Elements, name: str) -> ir.Var:
        """A new variable that holds the elements; its allocation and their computation are emitted."""
        var = self.memory(name, elements.dtype, elements.sizes)
        self.fill(var, elements)
        return var

    def fill(self, var: ir.Var, elements: Elements) -> None:
        """Emits the computation of the elements into ``var``, memory of their sizes, in the loop order that suits them."""
        if not elements.put_into(var):
            order = loop_order(elements)
            self.nest(elements.sizes, lambda idx: write(self.b, var, idx, elements.at(idx)), order)

    def rooted(self, elements: Elements, name: str) -> Elements:
        """The same elements, in memory: unchanged if they have some, else in new memory with this name."""
        if elements.root is not None:
            return elements
        return self.in_memory(elements, name)

    def in_memory(self, elements: Elements, name: str) -> Elements:
        """The same elements, computed here into new memory with this name."""
        var = self.materialise(elements, name)
        return stored(self.b, var, elements.sizes)

    def steady(self, elements: Elements, name: str) -> Elements:
        """The elements unchanged if they are cheap to read any number of times, else in new memory with this name."""
        return elements if elements.cheap else self.in_memory(elements, name)

    def in_memory_if_array(self, elements: Elements, name: str) -> Elements:
        """The same elements, in memory; a scalar (rank 0) is unchanged."""
        return self.rooted(elements, name) if elements.rank else elements

    def compute(self, prim: str, args: Sequence[Expr], var: ir.Var | Type, params: Any) -> Expr:
        """The result of one scalar operation, emitted, with the dtype and the weakness of ``var``, and its name if it is a
        variable.

        A cast to the dtype that the argument has gives the argument itself.
        """
        name, type_ = (ir.SYNTHETIC, var) if isinstance(var, Type) else (var.name, var.type)
        type_ = Type(type_.dtype, (), type_.weak)
        self.check_dtype(type_.dtype)
        if prim == "cast":
            (x,) = args
            params = {**params, "dtype": type_.dtype, "weak": type_.weak}
            return x if x.dtype == type_.dtype else Expr(self.b, self.b.bind(name, type_, "cast", (x.op,), params))
        return Expr(self.b, self.b.bind(name, type_, prim, tuple(a.op for a in args), params))
