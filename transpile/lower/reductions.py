"""Sums, means, norms, products, ``any`` and ``all``, and cumulative folds: each a fold with its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.extrema import is_nan, not_empty
from transpile.lower.fold_loops import add_up, cast, count, fold_axes, number, op, wide
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import entry_of, library_call
from transpile.lower.sums import disguised, peek, summed
from transpile.ops.lowering_kinds import Sum
from transpile.ops.tables import neutral_of, record_of


def sum_of(lw: Lowering, stmt: Any, how: Sum) -> Elements:
    """The sum over the statement's axes of what each element contributes, divided or with a root taken as ``how`` says."""
    if how == Sum():
        return _plain(lw, stmt)
    axes, keepdims, dtype = stmt.params["axes"], stmt.params["keepdims"], stmt.var.type.dtype
    carried = wide(dtype)
    x = lw.elements(stmt.args[0])
    if how.mean and how.of:
        x = lw.steady(x, "x")  # it is read twice
    n = cast(lw, count(lw, x, axes), carried) if how.mean and how.of != "number" else None
    terms = _about_mean(lw, x, axes, n, carried) if how.centred and n is not None else x
    terms = _CONTRIBUTED[how.of](lw, terms, carried) if how.of else terms
    if not how.mean and not how.root:
        return add_up(lw, terms, axes, keepdims, dtype)
    total = add_up(lw, terms, axes, keepdims, carried)
    divisor = _divisor(lw, stmt, x, n) if how.mean else None

    def at(idx: Sequence[Expr]) -> Expr:
        e = total.at(idx)
        e = e if divisor is None else op(lw, "div", e, cast(lw, divisor.at(idx), carried))
        return cast(lw, op(lw, "sqrt", e) if how.root else e, dtype)

    return total.each(at, dtype)


def _plain(lw: Lowering, stmt: Any) -> Elements:
    """The sum of the elements themselves: pending calls of BLAS if the operand is a product of matrices, else a loop."""
    axes, keepdims, dtype = stmt.params["axes"], stmt.params["keepdims"], stmt.var.type.dtype
    waiting = peek(lw, stmt.args[0])
    product = None if waiting is None or waiting.dtype != dtype else summed(lw, waiting, axes, keepdims)
    if product is not None:
        return product
    x = lw.elements(stmt.args[0])
    product = disguised(lw, x, axes, keepdims, dtype)
    return product if product is not None else add_up(lw, x, axes, keepdims, dtype, stmt.var.name)


def _about_mean(lw: Lowering, x: Elements, axes: Sequence[int], n: Expr, carried: str) -> Elements:
    """The elements less their mean along ``axes``, in the dtype ``carried``; ``n`` is the number of elements along them."""
    total = add_up(lw, x, axes, False, carried)
    mean = lw.in_memory_if_array(total.each(lambda idx: op(lw, "div", total.at(idx), n)), "mean")
    kept = [k for k in range(x.rank) if k not in axes]
    return x.each(lambda idx: op(lw, "sub", cast(lw, x.at(idx), carried), mean.at([idx[k] for k in kept])), carried)


def _divisor(lw: Lowering, stmt: Any, x: Elements, n: Expr | None) -> Elements:
    """The number of elements that contribute (``n`` None: those that are not NaN), less the delta degrees of freedom, at least
    0."""
    if n is None:
        return add_up(lw, _is_number(lw, x), stmt.params["axes"], stmt.params["keepdims"], "float64")
    if "ddof" in stmt.params:
        freedom = op(lw, "sub", n, number(lw, stmt.params["ddof"], n.dtype))
        n = op(lw, "maximum", freedom, number(lw, 0, n.dtype))
    found = n
    return Elements((), n.dtype, lambda idx: found)


def _square(lw: Lowering, x: Elements, carried: str) -> Elements:
    def at(idx: Sequence[Expr]) -> Expr:
        e = cast(lw, x.at(idx), carried)
        return op(lw, "mul", e, e)

    return x.each(at, carried)


def _truth(lw: Lowering, x: Elements, carried: str) -> Elements:
    return x.each(lambda idx: cast(lw, cast(lw, x.at(idx), "bool"), "int64"), "int64")


def _is_number(lw: Lowering, x: Elements) -> Elements:
    """1.0 for each element that is not NaN, else 0.0."""
    return x.each(
        lambda idx: cast(lw, op(lw, "logical_not", is_nan(lw, x.at(idx)), dtype="bool"), "float64"), "float64"
    )


def _without_nan(lw: Lowering, x: Elements, carried: str) -> Elements:
    """The elements with 0 in place of NaN."""
    if np.dtype(x.dtype).kind != "f":
        return x

    def at(idx: Sequence[Expr]) -> Expr:
        e = x.at(idx)
        return lw.compute("where", [is_nan(lw, e), number(lw, 0, x.dtype), e], Type(x.dtype), {})

    return x.each(at)


_CONTRIBUTED = {"square": _square, "truth": _truth, "number": _without_nan}
"""The contribution of an element to a sum, by `Sum.of`."""


def diagonal_sum(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The sum of the main diagonal of a matrix."""
    x = lw.elements(stmt.args[0])
    b, dtype = lw.b, stmt.var.type.dtype
    m, n = x.sizes
    size = m if m == n else Expr(b, b.bind("size", INT, "minimum", (m, n), {"py": True})).op
    line = Elements((size,), x.dtype, lambda idx: x.at([idx[0], idx[0]]), deps=x.deps, cheap=False)
    return add_up(lw, line, (0,), False, dtype)


def operand_sum(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The sum of a vector, or of scalar operands stored in one, in float64 and rounded only once, as a scalar."""
    if stmt.args[0].type.dims:
        terms = lw.rooted(lw.elements(stmt.args[0]), "terms").root
    else:
        terms = lw.memory("terms", "float64", (lw.b.operand(len(stmt.args)),))
        for k, a in enumerate(stmt.args):
            write(lw.b, terms, [lw.b.expr(k)], cast(lw, lw.scalar(a), "float64"))
    assert terms is not None
    total = Expr(lw.b, library_call(lw.b, "total", Type("float64"), entry_of(stmt), (terms,)))
    return Elements((), "float64", lambda idx: total)


def folded(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The fold over the statement's axes by the record's primitive, from its neutral element; ValueError at run time for a
    maximum or minimum of nothing without ``initial``."""
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


def scanned(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The cumulative fold along one axis, in new memory: each element is the fold of the elements up to it."""
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
