"""Medians, quantiles and percentiles of NumPy by dotted name: all by sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim, product
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, axes_of, strong
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_reduction import REDUCED, Axis, reduce
from transpile.ops import language as m
from transpile.ops.slicing import gather, point, raise_if, slice_axis
from transpile.ops.sorting import take_along


def _sorted_along(x: Expr, axis: Axis) -> tuple[Expr, tuple[int, ...]]:
    """``x`` sorted along the reduced axes, which are merged into the last one."""
    axes = axes_of(axis, x.rank)
    kept = [k for k in range(x.rank) if k not in axes]
    if len(axes) == 1:
        order = [*kept, *axes]
        return x.b.let("sort", m.transpose(x, order), axis=x.rank - 1), axes
    merged = m.transpose(x, [*kept, *axes])
    flat = x.b.let("reshape", merged, dims=(*(x.dims[k] for k in kept), product([x.dims[k] for k in axes])))
    return x.b.let("sort", flat, axis=len(kept)), axes


def _kept(y: Expr, x: Expr, axes: Sequence[int], keepdims: bool) -> Expr:
    return (
        y.b.let("reshape", y, dims=tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims))) if keepdims else y
    )


def _check_shares(b: Builder, q: Any, scale: float) -> None:
    """Refuses shares that are out of range, or makes the program raise where only the run knows them."""
    for given in q if isinstance(q, (list, tuple)) else [q]:
        share = array(b, given)
        value = share.op.value if isinstance(share.op, ir.Const) else None
        if isinstance(value, (int, float)):
            if not 0 <= value <= scale:
                raise RuleError(f"a quantile lies between 0 and {scale:g}, not {value}", "T131")
            continue
        inside = m.logical_and(share >= 0, share <= scale)
        what = "Percentiles must be in the range [0, 100]" if scale != 1 else "Quantiles must be in the range [0, 1]"
        raise_if(m.logical_not(reduce("all", inside) if inside.rank else inside), "ValueError", what)


def _quantile_of(b: Builder, a: Any, q: Any, axis: Axis, keepdims: bool, method: str, scale: float) -> Expr:
    x = array(b, a)
    chosen = method in _CHOSEN and not x.type.is_float  # integers, of which one is the result
    if x.type.is_bool and not chosen:
        raise RuleError(
            "NumPy does not subtract truth values, which it would for a quantile", "T201", "use .astype(float)"
        )
    x = x if x.type.is_float or chosen else b.cast(x, "float64")
    share = array(b, q)
    if share.rank > 1:
        raise RuleError("quantiles are a number or a vector", "T201")
    _check_shares(b, q, scale)
    if not x.rank:
        axes_of(axis, 0)
        return b.broadcast(strong(x), share.dims) if share.rank else strong(x)
    ordered, axes = _sorted_along(x, axis)
    if ordered.dims[-1] == Dim(0):
        raise RuleError("there is no quantile of no entries", "T202")
    n = m.size(ordered, (ordered.rank - 1,))
    part_of = share / scale if scale != 1 else share
    if method in _OPEN:
        alpha, beta = _OPEN[method]
        place = m.minimum(m.maximum(part_of * (n + (1 - alpha - beta)) + (alpha - 1), 0.0), n - 1)
    else:
        place = part_of * (n - 1)
    low = m.floor(place)
    part = _PARTS[method](place, low) if method in _PARTS else place - low
    first = b.cast(low, "int64")
    second = m.minimum(first + 1, n - 1)
    part = b.cast(part, x.dtype) if (share.type.weak or method in _CHOSEN) and not chosen else part
    if share.rank:
        lower, upper = gather(ordered, -1, first), gather(ordered, -1, second)
        y = m.where(part > 0.5, upper, lower) if chosen else lower + (upper - lower) * part
        if not chosen:
            y = m.where(m.isnan(slice_axis(ordered, -1, ordered.dims[-1] - 1)), np.nan, y)
        y = m.transpose(y, [y.rank - 1, *range(y.rank - 1)])
        kept = tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims))
        return b.let("reshape", y, dims=(share.dims[0], *kept)) if keepdims else y
    lower, upper = point(ordered, -1, first), point(ordered, -1, second)
    if chosen:
        return _kept(m.where(part > 0.5, upper, lower), x, axes, keepdims)
    return _kept(_nan_checked(lower + (upper - lower) * part, ordered), x, axes, keepdims)


_CHOSEN = ("lower", "higher", "nearest")
"""The methods that give one of the elements."""
_OPEN: dict[str, tuple[float, float]] = {
    "weibull": (0.0, 0.0),
    "hazen": (0.5, 0.5),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
"""The plotting positions alpha, beta of Hyndman & Fan (1996) for the methods that interpolate."""
_PARTS: dict[str, Callable[[Expr, Expr], Any]] = {
    "lower": lambda place, low: place * 0.0,
    "higher": lambda place, low: m.where(place > low, 1.0, 0.0),
    "midpoint": lambda place, low: m.where(place > low, 0.5, 0.0),
    "nearest": lambda place, low: m.elementwise("round", place) - low,
}


def _nan_checked(y: Expr, ordered: Expr) -> Expr:
    """NaN sorts last; one of them makes the result NaN."""
    last = point(ordered, -1, -1)
    return m.where(m.isnan(last), np.nan, y)


def _quantile(scale: float) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Expr:
        if method != "linear" and method not in _PARTS and method not in _OPEN:
            raise RuleError(f"the quantile method {method!r} is not supported", "T201", "use 'linear'")
        return _quantile_of(b, a, q, axis, keepdims, method, scale)

    return build


def _median(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    x = array(b, a)
    x = x if x.type.is_float else b.cast(x, "float64")
    if not x.rank:
        axes_of(axis, 0)
        return strong(x)
    ordered, axes = _sorted_along(x, axis)
    size = ordered.dims[-1]
    if size.is_const and size.const % 2:
        middle = point(ordered, -1, size.const // 2)
    else:
        n = b.dim(size)
        middle = (point(ordered, -1, (n - 1) // 2) + point(ordered, -1, n // 2)) / 2
    return _kept(_nan_checked(middle, ordered), x, axes, keepdims)


def _guarded(x: Expr) -> Expr:
    """``x``; to what NaN was computed from no adjoint goes."""
    return m.where(m.isnan(x), np.nan, x)


def _nan_median(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    """NaN sorts last: the middle of what comes before."""
    x = array(b, a)
    if not x.type.is_float:
        return _median(b, x, axis, keepdims)
    ordered, axes = _sorted_along(_guarded(x), axis)
    last = ordered.rank - 1
    count = b.let("sum", m.logical_not(m.isnan(ordered)), axes=(last,), keepdims=True)
    if ordered.rank == 1:
        count = point(count, 0, 0)
        middle = (point(ordered, 0, (count - 1) // 2) + point(ordered, 0, count // 2)) / 2
        return _kept(middle, x, axes, keepdims)
    low = b.let("take_along_axis", ordered, (count - 1) // 2, axis=last)
    high = b.let("take_along_axis", ordered, count // 2, axis=last)
    return _kept(point((low + high) / 2, -1, 0), x, axes, keepdims)


def _nan_quantile(scale: float) -> Callable[..., Expr]:
    """NaN sorts last: the quantile of what comes before. One share, linear between entries."""

    def build(b: Builder, a: Any, q: Any, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Expr:
        x = array(b, a)
        if not x.type.is_float:
            return _quantile(scale)(b, x, q, axis, method, keepdims)
        share = array(b, q)
        if method != "linear":
            raise RuleError(f"np.nanquantile: the method {method!r} is not supported", "T201", "use 'linear'")
        if share.rank:
            if share.rank > 1 or not share.dims[0].is_const:
                raise RuleError("np.nanquantile takes a number or a vector of known length", "T203")
            one = [build(b, x, point(share, 0, k), axis, method, keepdims) for k in range(share.dims[0].const)]
            return b.let("stack", *one, axis=0)
        _check_shares(b, q, scale)
        ordered, axes = _sorted_along(_guarded(x), axis)
        last = ordered.rank - 1
        valid = b.let("sum", m.logical_not(m.isnan(ordered)), axes=(last,), keepdims=True)
        place = (share / scale if scale != 1 else share) * m.maximum(valid - 1, 0)
        low = m.floor(place)
        first = b.cast(low, "int64")
        lower = take_along(ordered, first, last)
        upper = take_along(ordered, m.minimum(first + 1, m.maximum(valid - 1, 0)), last)
        part = place - low
        y = lower + (upper - lower) * (b.cast(part, x.dtype) if share.type.weak else part)
        return _kept(point(y, -1, 0), x, axes, keepdims)

    return build


_STATIC = (*REDUCED, "method")

_NUMPY: dict[str, Entry] = {
    "median": Entry(_median, static=_STATIC),
    "nanmedian": Entry(_nan_median, static=_STATIC, memory=lambda bound: "array" if bound.get("keepdims") else "new"),
    "quantile": Entry(_quantile(1), static=_STATIC),
    "nanquantile": Entry(_nan_quantile(1), static=_STATIC),
    "nanpercentile": Entry(_nan_quantile(100), static=_STATIC),
    "percentile": Entry(_quantile(100), static=_STATIC),
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
