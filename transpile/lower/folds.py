"""Reductions and cumulative folds as loops that carry scalars.

Sums of float32 are carried in float64 and rounded once: NumPy's pairwise sum is that accurate, a plain one is not. The
fold of an axis is itself an element function, so that what consumes it needs no array, unless the axes that stay are
contiguous: then the loops run in memory order and add to an array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core.builder import Expr
from transpile.core.nodes import Block, Const, If, Operand
from transpile.core.types import INT, Type
from transpile.lower.effects import raise_value
from transpile.lower.elements import Elements, stored, write
from transpile.lower.indices import ravel
from transpile.lower.lowering import Lowering
from transpile.lower.sums import disguised, peek, summed
from transpile.rules.reduction import lowest

Step = Callable[[list[Expr], Expr], list[Expr]]


def wide(dtype: str) -> str:
    """The dtype that a sum is carried in."""
    return "float64" if dtype in ("float32", "float16") else dtype


def number(lw: Lowering, value: Any, dtype: str) -> Expr:
    kind = np.dtype(dtype).kind
    return lw.b.expr(Const(value if kind == "b" else float(value) if kind == "f" else int(value), Type(dtype)))


def cast(lw: Lowering, x: Expr, dtype: str) -> Expr:
    return lw.compute("cast", [x], Type(dtype), {})


def op(lw: Lowering, prim: str, *args: Expr, dtype: str = "") -> Expr:
    return lw.compute(prim, args, Type(dtype or args[0].dtype), {})


def fold_axes(
    lw: Lowering,
    x: Elements,
    axes: Sequence[int],
    keepdims: bool,
    inits: Sequence[Expr],
    step: Step,
    final: Callable[[list[Expr]], Expr],
    dtype: str,
) -> Elements:
    """The fold of ``axes`` as elements over the axes that stay."""
    kept = [k for k in range(x.rank) if k not in axes]
    order = [a for a in axes if a != x.unit] + [a for a in axes if a == x.unit]
    folded = [x.sizes[a] for a in order]
    names = ("total",) if len(inits) == 1 else tuple(f"total{k}" for k in range(len(inits)))

    def value(idx: Sequence[Expr]) -> Expr:
        def body(inner: list[Expr], values: list[Expr]) -> list[Expr]:
            full: list[Any] = [None] * x.rank
            for k, i in zip(kept, idx):
                full[k] = i
            for a, i in zip(order, inner):
                full[a] = i
            return step(values, x.at(full))

        return final(lw.fold(folded, inits, body, names))

    if not keepdims:
        sizes = tuple(x.sizes[k] for k in kept)
        at: Any = value
    else:
        sizes = tuple(Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes))
        at = lambda idx: value([idx[k] for k in kept])  # noqa: E731
    if not kept:
        result = at([lw.b.expr(0)] * len(sizes))
        return Elements(sizes, dtype, lambda idx: result)
    unit = len(sizes) - 1
    return Elements(sizes, dtype, at, deps=x.deps, cheap=False, unit=unit)


def add_up(lw: Lowering, x: Elements, axes: Sequence[int], keepdims: bool, dtype: str, name: str = "total") -> Elements:
    """The sum over ``axes``."""
    carried = wide(dtype)
    kept = [k for k in range(x.rank) if k not in axes]
    product = disguised(lw, x, axes, keepdims, dtype)
    if product is not None:
        return product.formed(name)
    if not axes:
        return replace(x, root=None, made=None, dtype=dtype, at=lambda idx: cast(lw, x.at(idx), dtype))
    if kept and x.unit in kept:
        return _sum_in_order(lw, x, axes, kept, keepdims, carried, dtype, name)

    def step(values: list[Expr], e: Expr) -> list[Expr]:
        return [op(lw, "add", values[0], cast(lw, e, carried))]

    return fold_axes(lw, x, axes, keepdims, [number(lw, 0, carried)], step, lambda v: cast(lw, v[0], dtype), dtype)


def _sum_in_order(
    lw: Lowering,
    x: Elements,
    axes: Sequence[int],
    kept: Sequence[int],
    keepdims: bool,
    carried: str,
    dtype: str,
    name: str,
) -> Elements:
    b = lw.b
    sizes = tuple(x.sizes[k] for k in kept)
    var = lw.memory(name, carried, sizes)
    zero = number(lw, 0, carried)
    lw.nest(sizes, lambda idx: write(b, var, idx, zero))
    assert x.unit is not None
    order = [*(a for a in range(x.rank) if a in axes), *(k for k in kept if k != x.unit), x.unit]
    if len(kept) > 1:  # outer axes that stay remain outside
        order = [*(k for k in kept if k != x.unit), *axes, x.unit]

    def put(idx: list[Expr]) -> None:
        write(b, var, [idx[k] for k in kept], cast(lw, x.at(idx), carried), add=True)

    lw.nest(x.sizes, put, order)
    found = stored(b, var, sizes)
    if carried != dtype:
        found = replace(found, dtype=dtype, root=None, at=lambda idx: cast(lw, stored(b, var, sizes).at(idx), dtype))
    if not keepdims:
        return found
    full = tuple(Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes))
    inner = found
    return replace(inner, sizes=full, root=None, unit=None, at=lambda idx: inner.at([idx[k] for k in kept]))


# ----------------------------------------------------------------------------------------------- the primitives


def _sum(lw: Lowering, stmt: Any) -> Elements:
    axes, keepdims, dtype = stmt.params["axes"], stmt.params["keepdims"], stmt.var.type.dtype
    waiting = peek(lw, stmt.args[0])
    product = None if waiting is None or waiting.dtype != dtype else summed(lw, waiting, axes, keepdims)
    if product is not None:
        return product
    x = lw.elements(stmt.args[0])
    product = disguised(lw, x, axes, keepdims, dtype)
    return product if product is not None else add_up(lw, x, axes, keepdims, dtype, stmt.var.name)


def count(lw: Lowering, x: Elements, axes: Sequence[int]) -> Expr:
    n = lw.b.expr(1)
    for a in axes:
        n = n * lw.b.expr(x.sizes[a])
    return n


def _scaled(lw: Lowering, total: Elements, by: Expr, dtype: str) -> Elements:
    return replace(
        total,
        root=None,
        made=None,
        dtype=dtype,
        cheap=False,
        at=lambda idx: cast(lw, op(lw, "div", total.at(idx), by), dtype),
    )


def _mean(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    axes, dtype = stmt.params["axes"], stmt.var.type.dtype
    carried = wide(dtype)
    n = cast(lw, count(lw, x, axes), carried)
    return _scaled(lw, add_up(lw, x, axes, stmt.params["keepdims"], carried), n, dtype)


def _moment(root: bool) -> Callable[[Lowering, Any], Elements]:
    """Variance, and its root."""

    def rule(lw: Lowering, stmt: Any) -> Elements:
        axes, dtype = stmt.params["axes"], stmt.var.type.dtype
        carried = wide(dtype)
        x = lw.steady(lw.elements(stmt.args[0]), "x")
        n = cast(lw, count(lw, x, axes), carried)
        mean = lw.in_memory_if_array(_scaled(lw, add_up(lw, x, axes, False, carried), n, carried), "mean")
        kept = [k for k in range(x.rank) if k not in axes]

        def square(idx: Sequence[Expr]) -> Expr:
            d = op(lw, "sub", cast(lw, x.at(idx), carried), mean.at([idx[k] for k in kept]))
            return op(lw, "mul", d, d)

        squares = replace(x, root=None, made=None, dtype=carried, at=square, cheap=False)
        total = add_up(lw, squares, axes, stmt.params["keepdims"], carried)
        freedom = op(lw, "maximum", op(lw, "sub", n, number(lw, stmt.params["ddof"], carried)), number(lw, 0, carried))
        found = _scaled(lw, total, freedom, carried)
        finish = (lambda e: op(lw, "sqrt", e)) if root else (lambda e: e)
        return replace(found, dtype=dtype, at=lambda idx: cast(lw, finish(found.at(idx)), dtype))

    return rule


def _norm(lw: Lowering, stmt: Any) -> Elements:
    axes, dtype = stmt.params["axes"], stmt.var.type.dtype
    carried = wide(dtype)
    x = lw.elements(stmt.args[0])

    def square(idx: Sequence[Expr]) -> Expr:
        e = cast(lw, x.at(idx), carried)
        return op(lw, "mul", e, e)

    squares = replace(x, root=None, made=None, dtype=carried, at=square, cheap=False)
    total = add_up(lw, squares, axes, stmt.params["keepdims"], carried)
    return replace(
        total,
        root=None,
        made=None,
        cheap=False,
        dtype=dtype,
        at=lambda idx: cast(lw, op(lw, "sqrt", total.at(idx)), dtype),
    )


def _prod(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    dtype = stmt.var.type.dtype
    carried = wide(dtype)
    return fold_axes(
        lw,
        x,
        stmt.params["axes"],
        stmt.params["keepdims"],
        [number(lw, 1, carried)],
        lambda v, e: [op(lw, "mul", v[0], cast(lw, e, carried))],
        lambda v: cast(lw, v[0], dtype),
        dtype,
    )


def not_empty(lw: Lowering, x: Elements, axes: Sequence[int], name: str) -> None:
    """Raises where an axis that is folded without a neutral element has no entries."""
    b = lw.b
    n = count(lw, x, axes)
    if isinstance(n.op, Const):
        return
    text = f"zero-size array to reduction operation {name} which has no identity"
    with b.into(Block()) as raises:
        b.emit(raise_value(b.loc, text))
    b.emit(If(n.eq(0).op, raises, Block(), (), b.loc))


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


def _is_nan(lw: Lowering, e: Expr) -> Expr:
    return op(lw, "isnan", e, dtype="bool")


def _nansum(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    found = _without_nan(lw, x)
    return add_up(lw, found, stmt.params["axes"], stmt.params["keepdims"], stmt.var.type.dtype)


def _without_nan(lw: Lowering, x: Elements) -> Elements:
    if np.dtype(x.dtype).kind != "f":
        return x

    def at(idx: Sequence[Expr]) -> Expr:
        e = x.at(idx)
        return lw.compute("where", [_is_nan(lw, e), number(lw, 0, x.dtype), e], Type(x.dtype), {})

    return replace(x, root=None, made=None, at=at, cheap=False)


def _nanmean(lw: Lowering, stmt: Any) -> Elements:
    x = lw.steady(lw.elements(stmt.args[0]), "x")
    axes, dtype, keepdims = stmt.params["axes"], stmt.var.type.dtype, stmt.params["keepdims"]
    carried = wide(dtype)
    total = add_up(lw, _without_nan(lw, x), axes, keepdims, carried)
    valid = replace(
        x,
        root=None,
        made=None,
        dtype="float64",
        at=lambda idx: cast(lw, op(lw, "logical_not", _is_nan(lw, x.at(idx)), dtype="bool"), "float64"),
    )
    n = add_up(lw, valid, axes, keepdims, "float64")
    return replace(
        total,
        root=None,
        made=None,
        cheap=False,
        dtype=dtype,
        at=lambda idx: cast(lw, op(lw, "div", total.at(idx), cast(lw, n.at(idx), carried)), dtype),
    )


def _truth(all_of: bool) -> Callable[[Lowering, Any], Elements]:
    def rule(lw: Lowering, stmt: Any) -> Elements:
        x = lw.elements(stmt.args[0])
        prim = "logical_and" if all_of else "logical_or"
        return fold_axes(
            lw,
            x,
            stmt.params["axes"],
            stmt.params["keepdims"],
            [number(lw, all_of, "bool")],
            lambda v, e: [op(lw, prim, v[0], cast(lw, e, "bool"))],
            lambda v: v[0],
            "bool",
        )

    return rule


def _count_nonzero(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    truth = replace(
        x, root=None, made=None, dtype="int64", at=lambda idx: cast(lw, cast(lw, x.at(idx), "bool"), "int64")
    )
    return add_up(lw, truth, stmt.params["axes"], stmt.params["keepdims"], "int64")


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
                        lw, "logical_and", _is_nan(lw, e), op(lw, "logical_not", _is_nan(lw, best), dtype="bool")
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
            sizes: tuple[Operand, ...] = tuple(Const(1, INT) for _ in axes) if keepdims else ()
            return Elements(sizes, "int64", lambda idx: result)
        if keepdims:
            sizes = tuple(Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes))
            return Elements(sizes, "int64", lambda idx: value([idx[k] for k in kept]), deps=x.deps, cheap=False)
        return Elements(tuple(x.sizes[k] for k in kept), "int64", value, deps=x.deps, cheap=False)

    return rule


def _trace(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    b, dtype = lw.b, stmt.var.type.dtype
    m, n = x.sizes
    size = m if m == n else Expr(b, b.bind("size", INT, "call", (m, n), {"fn": "min"})).op
    line = Elements((size,), x.dtype, lambda idx: x.at([idx[0], idx[0]]), deps=x.deps, cheap=False)
    return add_up(lw, line, (0,), False, dtype)


def _fsum(lw: Lowering, stmt: Any) -> Elements:
    total = number(lw, 0, "float64")
    for a in stmt.args:
        total = op(lw, "add", total, cast(lw, lw.scalar(a), "float64"))
    return Elements((), "float64", lambda idx: total)


# --------------------------------------------------------------------------------------------------- cumulative


def _cumulative(prim: str, start: Any) -> Callable[[Lowering, Any], Elements]:
    def rule(lw: Lowering, stmt: Any) -> Elements:
        b, axis, dtype = lw.b, stmt.params["axis"], stmt.var.type.dtype
        x = lw.elements(stmt.args[0])
        var = lw.memory(stmt.var.name, dtype, x.sizes)
        first = number(lw, start(dtype) if callable(start) else start, dtype)

        def line(outer: list[Expr]) -> None:
            def body(inner: list[Expr], values: list[Expr]) -> list[Expr]:
                idx = [*outer[:axis], inner[0], *outer[axis:]]
                value = op(lw, prim, values[0], cast(lw, x.at(idx), dtype))
                write(b, var, idx, value)
                return [value]

            lw.fold([x.sizes[axis]], [first], body)

        lw.nest([s for k, s in enumerate(x.sizes) if k != axis], line)
        return stored(b, var, x.sizes)

    return rule


TABLE: dict[str, Callable[[Lowering, Any], Elements]] = {
    "sum": _sum,
    "mean": _mean,
    "var": _moment(False),
    "std": _moment(True),
    "norm": _norm,
    "prod": _prod,
    "max": _extremum("maximum", 1),
    "min": _extremum("minimum", -1),
    "nanmax": _extremum("maximum", 1, skips_nan=True),
    "nanmin": _extremum("minimum", -1, skips_nan=True),
    "nansum": _nansum,
    "nanmean": _nanmean,
    "all": _truth(True),
    "any": _truth(False),
    "count_nonzero": _count_nonzero,
    "argmax": _position("greater"),
    "argmin": _position("less"),
    "trace": _trace,
    "fsum": _fsum,
    "cumsum": _cumulative("add", 0),
    "cumprod": _cumulative("mul", 1),
    "cummax": _cumulative("maximum", lambda dtype: lowest(dtype, 1)),
    "cummin": _cumulative("minimum", lambda dtype: lowest(dtype, -1)),
}
