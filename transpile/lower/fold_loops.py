"""Reductions and cumulative folds as loops that carry scalars.

Sums of float32 are carried in float64 and rounded once: NumPy's pairwise sum is that accurate, a plain one is not. The fold of
an axis is itself an element function, so that its reader needs no array, unless the remaining axes are contiguous: then the
loops run in memory order and add to an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.lowering import Lowering
from transpile.lower.sums import disguised

Step = Callable[[list[Expr], Expr], list[Expr]]


def wide(dtype: str) -> str:
    """The dtype in which a sum of this dtype is carried: float64 for narrower floats, else the same."""
    return "float64" if dtype in ("float32", "float16") else dtype


def number(lw: Lowering, value: Any, dtype: str) -> Expr:
    """A constant of this dtype."""
    kind = np.dtype(dtype).kind
    return lw.b.expr(ir.Const(value if kind == "b" else float(value) if kind == "f" else int(value), Type(dtype)))


def cast(lw: Lowering, x: Expr, dtype: str) -> Expr:
    """The scalar in this dtype, cast if it has another."""
    return lw.compute("cast", [x], Type(dtype), {})


def op(lw: Lowering, prim: str, *args: Expr, dtype: str = "") -> Expr:
    """One scalar operation; ``dtype`` "" is the dtype of the first operand."""
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
    """The fold of ``x`` over ``axes``, as elements over the remaining axes; with ``keepdims``, the folded axes have size 1.

    ``inits`` are the carried scalars at first, ``step(scalars, element)`` those after an element, ``final(scalars)`` the result
    of dtype ``dtype``.
    """
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
        sizes = tuple(ir.Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes))
        at = lambda idx: value([idx[k] for k in kept])  # noqa: E731
    if not kept:
        result = at([lw.b.expr(0)] * len(sizes))
        return Elements(sizes, dtype, lambda idx: result)
    unit = len(sizes) - 1
    return Elements(sizes, dtype, at, deps=x.deps, cheap=False, unit=unit)


def add_up(lw: Lowering, x: Elements, axes: Sequence[int], keepdims: bool, dtype: str, name: str = "total") -> Elements:
    """The sum over ``axes`` in this dtype, as elements; ``name`` is for the memory of the sum if it needs any."""
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
    """The sum over ``axes``, in memory named ``name`` of dtype ``carried``: loops in memory order add to it. ``kept``: the
    other axes."""
    b = lw.b
    sizes = tuple(x.sizes[k] for k in kept)
    var = lw.memory(name, carried, sizes)
    zero = number(lw, 0, carried)
    lw.nest(sizes, lambda idx: write(b, var, idx, zero))
    assert x.unit is not None
    order = [*(a for a in range(x.rank) if a in axes), *(k for k in kept if k != x.unit), x.unit]
    if len(kept) > 1:  # outer remaining axes stay outside
        order = [*(k for k in kept if k != x.unit), *axes, x.unit]

    def put(idx: list[Expr]) -> None:
        write(b, var, [idx[k] for k in kept], cast(lw, x.at(idx), carried), add=True)

    lw.nest(x.sizes, put, order)
    found = stored(b, var, sizes)
    if carried != dtype:
        found = replace(found, dtype=dtype, root=None, at=lambda idx: cast(lw, stored(b, var, sizes).at(idx), dtype))
    if not keepdims:
        return found
    full = tuple(ir.Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes))
    inner = found
    return replace(inner, sizes=full, root=None, unit=None, at=lambda idx: inner.at([idx[k] for k in kept]))


def count(lw: Lowering, x: Elements, axes: Sequence[int]) -> Expr:
    """The number of elements along ``axes``, the product of their sizes."""
    n = lw.b.expr(1)
    for a in axes:
        n = n * lw.b.expr(x.sizes[a])
    return n
