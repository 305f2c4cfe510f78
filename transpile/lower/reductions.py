"""Sums, means, norms, products, truth over axes, and cumulative folds: each a fold with its step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.extrema import is_nan, not_empty
from transpile.lower.fold_loops import add_up, cast, count, fold_axes, number, op, wide
from transpile.lower.lowering import Lowering
from transpile.lower.sums import disguised, peek, summed
from transpile.ops.tables import neutral_of, record_of


def _sum(lw: Lowering, stmt: Any) -> Elements:
    axes, keepdims, dtype = stmt.params["axes"], stmt.params["keepdims"], stmt.var.type.dtype
    waiting = peek(lw, stmt.args[0])
    product = None if waiting is None or waiting.dtype != dtype else summed(lw, waiting, axes, keepdims)
    if product is not None:
        return product
    x = lw.elements(stmt.args[0])
    product = disguised(lw, x, axes, keepdims, dtype)
    return product if product is not None else add_up(lw, x, axes, keepdims, dtype, stmt.var.name)


def _scaled(lw: Lowering, total: Elements, by: Expr, dtype: str) -> Elements:
    return total.each(lambda idx: cast(lw, op(lw, "div", total.at(idx), by), dtype), dtype)


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

        squares = x.each(square, carried)
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

    squares = x.each(square, carried)
    total = add_up(lw, squares, axes, stmt.params["keepdims"], carried)
    return total.each(lambda idx: cast(lw, op(lw, "sqrt", total.at(idx)), dtype), dtype)


def _nansum(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    found = _without_nan(lw, x)
    return add_up(lw, found, stmt.params["axes"], stmt.params["keepdims"], stmt.var.type.dtype)


def _without_nan(lw: Lowering, x: Elements) -> Elements:
    if np.dtype(x.dtype).kind != "f":
        return x

    def at(idx: Sequence[Expr]) -> Expr:
        e = x.at(idx)
        return lw.compute("where", [is_nan(lw, e), number(lw, 0, x.dtype), e], Type(x.dtype), {})

    return x.each(at)


def _nanmean(lw: Lowering, stmt: Any) -> Elements:
    x = lw.steady(lw.elements(stmt.args[0]), "x")
    axes, dtype, keepdims = stmt.params["axes"], stmt.var.type.dtype, stmt.params["keepdims"]
    carried = wide(dtype)
    total = add_up(lw, _without_nan(lw, x), axes, keepdims, carried)
    valid = x.each(
        lambda idx: cast(lw, op(lw, "logical_not", is_nan(lw, x.at(idx)), dtype="bool"), "float64"), "float64"
    )
    n = add_up(lw, valid, axes, keepdims, "float64")
    return total.each(lambda idx: cast(lw, op(lw, "div", total.at(idx), cast(lw, n.at(idx), carried)), dtype), dtype)


def _count_nonzero(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    truth = x.each(lambda idx: cast(lw, cast(lw, x.at(idx), "bool"), "int64"), "int64")
    return add_up(lw, truth, stmt.params["axes"], stmt.params["keepdims"], "int64")


def _trace(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    b, dtype = lw.b, stmt.var.type.dtype
    m, n = x.sizes
    size = m if m == n else Expr(b, b.bind("size", INT, "minimum", (m, n), {"py": True})).op
    line = Elements((size,), x.dtype, lambda idx: x.at([idx[0], idx[0]]), deps=x.deps, cheap=False)
    return add_up(lw, line, (0,), False, dtype)


def _fsum(lw: Lowering, stmt: Any) -> Elements:
    total = number(lw, 0, "float64")
    for a in stmt.args:
        total = op(lw, "add", total, cast(lw, lw.scalar(a), "float64"))
    return Elements((), "float64", lambda idx: total)


def folded(lw: Lowering, stmt: Any) -> Elements:
    """A fold by the primitive that the record says, from what changes nothing in it."""
    x = lw.elements(stmt.args[0])
    prim, dtype = record_of(stmt).fold, stmt.var.type.dtype
    by = record_of(prim)
    if by.extreme and stmt.params.get("initial") is None:
        not_empty(lw, x, stmt.params["axes"], "maximum" if by.extreme > 0 else "minimum")
    carried = wide(dtype) if by.is_polynomial else dtype
    first = number(lw, neutral_of(prim, dtype), carried)
    return fold_axes(
        lw,
        x,
        stmt.params["axes"],
        stmt.params["keepdims"],
        [first],
        lambda v, e: [op(lw, prim, v[0], cast(lw, e, carried))],
        lambda v: cast(lw, v[0], dtype),
        dtype,
    )


def scanned(lw: Lowering, stmt: Any) -> Elements:
    """Each element is the fold of those up to it."""
    b, axis, dtype = lw.b, stmt.params["axis"], stmt.var.type.dtype
    prim = record_of(stmt).fold
    x = lw.elements(stmt.args[0])
    var = lw.memory(stmt.var.name, dtype, x.sizes)
    first = number(lw, neutral_of(prim, dtype), dtype)

    def line(outer: list[Expr]) -> None:
        def body(inner: list[Expr], values: list[Expr]) -> list[Expr]:
            idx = [*outer[:axis], inner[0], *outer[axis:]]
            value = op(lw, prim, values[0], cast(lw, x.at(idx), dtype))
            write(b, var, idx, value)
            return [value]

        lw.fold([x.sizes[axis]], [first], body)

    lw.nest([s for k, s in enumerate(x.sizes) if k != axis], line)
    return stored(b, var, x.sizes)


TABLE: dict[str, Callable[[Lowering, Any], Elements]] = {
    "sum": _sum,
    "mean": _mean,
    "var": _moment(False),
    "std": _moment(True),
    "norm": _norm,
    "nansum": _nansum,
    "nanmean": _nanmean,
    "count_nonzero": _count_nonzero,
    "trace": _trace,
    "fsum": _fsum,
}
