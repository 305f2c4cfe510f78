"""Positions of extrema, as loops that carry the best element so far, and checks for empty reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements
from transpile.lower.fold_loops import count, number, op
from transpile.lower.indices import ravel
from transpile.lower.lowered_effects import raise_value
from transpile.lower.lowering import Lowering
from transpile.ops.tables import record_of


def not_empty(lw: Lowering, x: Elements, axes: Sequence[int], name: str) -> None:
    """Emits a check that raises ValueError if the array has no elements along ``axes``; ``name``: the reduction, for the
    message."""
    b = lw.b
    n = count(lw, x, axes)
    if isinstance(n.op, ir.Const) and n.op.value:
        return
    text = f"zero-size array to reduction operation {name} which has no identity"
    with b.into(ir.Block()) as raises:
        b.emit(raise_value(b.loc, text))
    b.emit(ir.If(n.eq(0).op, raises, ir.Block(), (), b.loc))


def is_nan(lw: Lowering, e: Expr) -> Expr:
    return op(lw, "isnan", e, dtype="bool")


def position(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``argmax`` or ``argmin``: the first position of the extremum, in C order if the axis is None; NaN counts as the
    extremum."""
    greatest = record_of(record_of(stmt).fold).extreme > 0
    b = lw.b
    x = lw.elements(stmt.args[0])
    axis, keepdims = stmt.params["axis"], stmt.params.get("keepdims", False)
    axes = tuple(range(x.rank)) if axis is None else (axis,)
    not_empty(lw, x, axes, stmt.prim)
    kept = [k for k in range(x.rank) if k not in axes]

    def value(idx: Sequence[Expr]) -> Expr:
        def body(inner: list[Expr], values: list[Expr]) -> list[Expr]:
            full: list[Any] = [None] * x.rank
            for k, i in zip(kept, idx):
                full[k] = i
            for a, i in zip(axes, inner):
                full[a] = i
            best, place = values
            e = x.at(full)
            take = op(lw, "logical_or", place < 0, op(lw, "greater" if greatest else "less", e, best, dtype="bool"))
            if np.dtype(x.dtype).kind == "f":
                new_nan = op(lw, "logical_and", is_nan(lw, e), op(lw, "logical_not", is_nan(lw, best), dtype="bool"))
                take = op(lw, "logical_or", take, new_nan)
            here = ravel(lw, inner, [x.sizes[a] for a in axes])
            return [
                lw.compute("where", [take, e, best], Type(x.dtype), {}),
                lw.compute("where", [take, here, place], INT, {}),
            ]

        inits = [number(lw, False if x.dtype == "bool" else 0, x.dtype), b.expr(-1)]
        return lw.fold([x.sizes[a] for a in axes], inits, body, ("best", "place"))[1]

    if not kept:
        result = value(())
        sizes: tuple[ir.Operand, ...] = tuple(ir.Const(1, INT) for _ in axes) if keepdims else ()
        return Elements(sizes, "int64", lambda idx: result)
    if keepdims:
        sizes = tuple(ir.Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes))
        return Elements(sizes, "int64", lambda idx: value([idx[k] for k in kept]), deps=x.deps, cheap=False)
    return Elements(tuple(x.sizes[k] for k in kept), "int64", value, deps=x.deps, cheap=False)
