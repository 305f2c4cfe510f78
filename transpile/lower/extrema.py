"""Extrema and where they are, as loops that carry the best so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements
from transpile.lower.fold_loops import count, fold_axes, number, op
from transpile.lower.indices import ravel
from transpile.lower.lowered_effects import raise_value
from transpile.lower.lowering import Lowering
from transpile.ops.reduction import lowest


def not_empty(lw: Lowering, x: Elements, axes: Sequence[int], name: str) -> None:
    """Raises where an axis that is folded without a neutral element has no entries."""
    b = lw.b
    n = count(lw, x, axes)
    if isinstance(n.op, ir.Const):
        return
    text = f"zero-size array to reduction operation {name} which has no identity"
    with b.into(ir.Block()) as raises:
        b.emit(raise_value(b.loc, text))
    b.emit(ir.If(n.eq(0).op, raises, ir.Block(), (), b.loc))


def _extremum(prim: str, sign: int, skips_nan: bool = False) -> Callable[[Lowering, Any], Elements]:
    def rule(lw: Lowering, stmt: Any) -> Elements:
        x = lw.elements(stmt.args[0])
        dtype, axes = x.dtype, stmt.params["axes"]
        if stmt.params.get("initial") is None:
            not_empty(lw, x, axes, prim)
        is_float = np.dtype(dtype).kind == "f"
        first = number(lw, math.nan if skips_nan and is_float else lowest(dtype, sign), dtype)
        choose = ("fmax" if sign > 0 else "fmin") if skips_nan else prim
        return fold_axes(
            lw, x, axes, stmt.params["keepdims"], [first], lambda v, e: [op(lw, choose, v[0], e)], lambda v: v[0], dtype
        )

    return rule


def is_nan(lw: Lowering, e: Expr) -> Expr:
    return op(lw, "isnan", e, dtype="bool")


def _position(prim: str) -> Callable[[Lowering, Any], Elements]:
    """The first place of an extremum; NaN wins."""

    def rule(lw: Lowering, stmt: Any) -> Elements:
        b = lw.b
        x = lw.elements(stmt.args[0])
        axis, keepdims = stmt.params["axis"], stmt.params.get("keepdims", False)
        axes = tuple(range(x.rank)) if axis is None else (axis,)
        not_empty(lw, x, axes, f"arg{'max' if prim == 'greater' else 'min'}")
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
                take = op(lw, "logical_or", place < 0, op(lw, prim, e, best, dtype="bool"))
                if np.dtype(x.dtype).kind == "f":
                    new_nan = op(
                        lw, "logical_and", is_nan(lw, e), op(lw, "logical_not", is_nan(lw, best), dtype="bool")
                    )
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

    return rule


TABLE: dict[str, Callable[[Lowering, Any], Elements]] = {
    "max": _extremum("maximum", 1),
    "min": _extremum("minimum", -1),
    "nanmax": _extremum("maximum", 1, skips_nan=True),
    "nanmin": _extremum("minimum", -1, skips_nan=True),
    "argmax": _position("greater"),
    "argmin": _position("less"),
}
