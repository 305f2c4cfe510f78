"""Cumulative folds along one axis.

``cumprod`` is exact with a zero on the axis: its derivative uses products without the first zero and never divides by it.
``cummax`` and ``cummin`` give the adjoint of an element to the latest position that attains it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.core.builder import Expr
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.record import Op
from transpile.ops.reduction import sample
from transpile.ops.slicing import along
from transpile.ops.sorting import scatter_along_axis
from transpile.ops.spelling import Spelling


def flip(x: Expr, axis: int) -> Expr:
    return m.call("flip", x, axes=(axis,))


def cumsum(x: Expr, axis: int) -> Expr:
    return m.call("cumsum", x, axis=axis)


def _reverse_cumsum(x: Expr, axis: int) -> Expr:
    return flip(cumsum(flip(x, axis), axis), axis)


def _cumsum_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else cumsum(dots[0], params["axis"])


def _cumsum_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (_reverse_cumsum(y_bar, params["axis"]),)


# ---------------------------------------------------------------------------------------------------- cumprod


def _without_first_zero(x: Expr, axis: int) -> tuple[Expr, Expr, Expr, Expr]:
    """The mask of zeros, the mask of the first zero of each line, ``x`` with 1 for its zeros, and the products without the
    first zero."""
    zero = x.eq(0)
    first = m.logical_and(zero, cumsum(zero, axis).eq(1))
    return zero, first, m.where(zero, 1.0, x), m.call("cumprod", m.where(first, 1.0, x), axis=axis)


def _cumprod_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """The tangent of ``cumprod``: before the first zero, each product is divided by the factor that varies; from the zero on,
    only its own tangent contributes."""
    x_dot, axis = dots[0], params["axis"]
    if x_dot is None:
        return None
    zero, first, safe, others = _without_first_zero(args[0], axis)
    return y * cumsum(m.where(zero, 0.0, x_dot / safe), axis) + others * cumsum(m.where(first, x_dot, 0.0), axis)


def _cumprod_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    axis = params["axis"]
    zero, first, safe, others = _without_first_zero(args[0], axis)
    apart = m.where(zero, 0.0, _reverse_cumsum(y_bar * y, axis) / safe)
    return (m.where(first, _reverse_cumsum(y_bar * others, axis), apart),)


# ------------------------------------------------------------------------------------------- running extrema


def _winners(y: Expr, x: Expr, axis: int) -> Expr:
    """For each position, the latest position up to it that attains the running extremum."""
    place = m.broadcast(along(x.b, x.dims, axis), x.dims)
    return m.call("cummax", m.where(x.eq(y), place, 0), axis=axis)


def _running_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    axis = params["axis"]
    return None if dots[0] is None else m.call("take_along_axis", dots[0], _winners(y, args[0], axis), axis=axis)


def _running_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    axis = params["axis"]
    return (scatter_along_axis(args[0], _winners(y, args[0], axis), axis, y_bar),)


def along_axis(call: str) -> Spelling:
    """The spelling ``call({0}, axis=...)``; the axis is left out for a vector."""
    return Spelling(
        lambda params, types: f"{call}({{0}})" if types[0].rank == 1 else f"{call}({{0}}, axis={params['axis']})"
    )


def _wide(types, params) -> Type:  # type: ignore[no-untyped-def]
    dtype = {"bool": "int64", "int8": "int64", "int16": "int64", "int32": "int64"}.get(types[0].dtype, types[0].dtype)
    return Type({"uint8": "uint64", "uint16": "uint64", "uint32": "uint64"}.get(dtype, dtype), types[0].dims)


def _same(types, params) -> Type:  # type: ignore[no-untyped-def]
    return types[0].strong


_CASES = tuple((sample(*s), {"axis": a}) for s, a in (((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1)))
_ZEROS = (
    (lambda: (np.array([2.0, 0.0, 3.0, -1.5]),), {"axis": 0}),
    (lambda: (np.array([[2.0, 0.0, 3.0], [1.0, 4.0, 0.0]]),), {"axis": 1}),
)

TABLE = [
    Op("cumsum", _wide, along_axis("np.cumsum"), kind="scan", fold="add", jvp=_cumsum_jvp, vjp=_cumsum_vjp, linear=True,
         examples=_CASES, family="axis"),
    Op("cumprod", _wide, along_axis("np.cumprod"), kind="scan", fold="mul", jvp=_cumprod_jvp, vjp=_cumprod_vjp, cost=2,
         examples=(*_CASES, *_ZEROS), family="axis"),
    Op("cummax", _same, along_axis("np.maximum.accumulate"), kind="scan", fold="maximum", jvp=_running_jvp, vjp=_running_vjp,
         examples=_CASES, family="axis"),
    Op("cummin", _same, along_axis("np.minimum.accumulate"), kind="scan", fold="minimum", jvp=_running_jvp, vjp=_running_vjp,
         examples=_CASES, family="axis"),
]  # fmt: skip
