"""Medians, quantiles and percentiles of NumPy, by dotted name; all sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim, product
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, axes_of, strong
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_reduction import REDUCED, Axis, holds, ravel, weights_beside
from transpile.ops import language as m
from transpile.ops.slicing import gather, new_axis, point, raise_if, slice_axis
from transpile.ops.sorting import take_along


def _sorted_along(x: Expr, axis: Axis) -> tuple[Expr, tuple[int, ...]]:
    """``x`` with the reduced axes merged into a last one and sorted along it, and the numbers of these axes."""
    axes = axes_of(axis, x.rank)
    return _sorted(_rows(x, axes)), axes


def _sorted(rows: Expr) -> Expr:
    return rows.b.let("sort", rows, axis=rows.rank - 1)


def _rows(x: Expr, axes: Sequence[int]) -> Expr:
    """``x`` with ``axes`` merged into a last one."""
    kept = [k for k in range(x.rank) if k not in axes]
    moved = m.transpose(x, [*kept, *axes])
    if len(axes) == 1:
        return moved
    return m.reshape(moved, (*(x.dims[k] for k in kept), product([x.dims[k] for k in axes])))


def _kept(y: Expr, x: Expr, axes: Sequence[int], keepdims: bool) -> Expr:
    return (
        y.b.let("reshape", y, dims=tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims))) if keepdims else y
    )


def _check_shares(b: Builder, q: Any, scale: float) -> None:
    """Raises T131 for known shares ``q`` outside [0, ``scale``]; for others emits a check that raises ValueError."""
    for given in q if isinstance(q, (list, tuple)) else [q]:
        share = array(b, given)
        value = share.op.value if isinstance(share.op, ir.Const) else None
        if isinstance(value, (int, float)):
            if not 0 <= value <= scale:
                message = f"a quantile must lie between 0 and {scale:g}, but {value} does not"
                raise RuleError(message, "T131", "correct q; np.percentile takes percent, np.quantile fractions")
            continue
        inside = m.logical_and(share >= 0, share <= scale)
        what = "Percentiles must be in the range [0, 100]" if scale != 1 else "Quantiles must be in the range [0, 1]"
        raise_if(m.logical_not(holds("all", inside)), "ValueError", what)


def _between(alpha: float, beta: float) -> Callable[[Expr, Expr], Expr]:
    """A function of a share q and the number of elements n that gives the position for the plotting parameters alpha and beta
    of Hyndman & Fan (1996), counted from 0 and clipped."""
    return lambda q, n: _inside(q * (n + (1 - alpha - beta)) + (alpha - 1), n)


def _inside(place: Expr, n: Expr) -> Expr:
    return m.minimum(m.maximum(place, 0.0), n - 1)


def _averaged(q: Expr, n: Expr) -> Expr:
    """Position of ``averaged_inverted_cdf`` for the share ``q`` of ``n`` elements: midway to the next element if q * n is
    whole, else the next element."""
    place = q * n - 1
    low = m.floor(place)
    return _inside(m.where(place > low, low + 1, place + 0.5), n)


def _closest(q: Expr, n: Expr) -> Expr:
    """Position of ``closest_observation`` for the share ``q`` of ``n`` elements: the next element, or the element at the
    position if this is an odd whole number (from 0)."""
    place = q * n - 1.5
    low = m.floor(place)
    return m.maximum(m.where(m.logical_or(place > low, m.elementwise("mod", low, 2).eq(0)), low + 1, low), 0.0)


def _half_way(q: Expr, n: Expr) -> Expr:
    place = q * (n - 1)
    return (m.floor(place) + m.elementwise("ceil", place)) * 0.5


_INTERPOLATED: dict[str, Callable[[Expr, Expr], Expr]] = {
    "linear": lambda q, n: q * (n - 1),
    "midpoint": _half_way,
    "averaged_inverted_cdf": _averaged,
    "weibull": _between(0.0, 0.0),
    "hazen": _between(0.5, 0.5),
    "interpolated_inverted_cdf": _between(0.0, 1.0),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
}
"""The position of the share q among n sorted elements, from 0; it may lie between two elements."""
_CHOSEN: dict[str, Callable[[Expr, Expr], Expr]] = {
    "lower": lambda q, n: m.floor(q * (n - 1)),
    "higher": lambda q, n: m.elementwise("ceil", q * (n - 1)),
    "nearest": lambda q, n: m.elementwise("round", q * (n - 1)),
    "inverted_cdf": lambda q, n: m.maximum(m.elementwise("ceil", q * n - 1), 0.0),
    "closest_observation": _closest,
}
"""The index of the element, for methods that return one of the elements."""


def _at(ordered: Expr, place: Expr) -> Expr:
    """The elements of sorted rows at these positions of the last axis, one set for all rows or, if the ranks are equal, one for
    each."""
    if place.rank == ordered.rank and place.rank > 1:
        return take_along(ordered, place, place.rank - 1)
    return gather(ordered, -1, place) if place.rank else point(ordered, -1, place)


def _cut(ordered: Expr, share: Expr, n: Expr, method: str, is_weak: bool) -> Expr:
    """The quantiles of sorted rows, of which the first n elements count; ``share`` is between 0 and 1. ``is_weak``: the shares
    are Python numbers, which leave the dtype of the rows."""
    if method in _CHOSEN:
        return _at(ordered, ordered.b.cast(_CHOSEN[method](share, n), "int64"))
    place = _INTERPOLATED[method](share, n)
    low = m.floor(place)
    first, part = ordered.b.cast(low, "int64"), place - low
    lower, upper = _at(ordered, first), _at(ordered, m.minimum(first + 1, n - 1))
    return lower + (upper - lower) * (ordered.b.cast(part, ordered.dtype) if is_weak else part)


def _quantile(scale: float, skips_nan: bool = False) -> Callable[..., Expr]:
    """The builder of quantiles (``scale`` 1) or percentiles (100). NaN sorts last; a NaN makes its row NaN, or with
    ``skips_nan`` is skipped."""

    def build(
        b: Builder,
        a: Any,
        q: Any,
        axis: Axis = None,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Expr:
        x, share = array(b, a), array(b, q)
        if method not in _CHOSEN and method not in _INTERPOLATED:
            known = ", ".join(map(repr, (*_INTERPOLATED, *_CHOSEN)))
            raise RuleError(f"{method!r} is not a quantile method", "T131", f"the methods are {known}")
        if x.type.is_bool and method not in _CHOSEN:
            raise RuleError(
                "a quantile of truth values is not defined, as NumPy does not subtract them",
                "T201",
                "use .astype(float)",
            )
        if weights is not None and method != "inverted_cdf":
            raise RuleError("Only method 'inverted_cdf' supports weights.", "T131")
        if share.rank > 2:
            raise RuleError("q must be a scalar or 1d", "T203")
        x = x if x.type.is_float or method in _CHOSEN else b.cast(x, "float64")
        _check_shares(b, q, scale)
        if not x.rank:
            axes_of(axis, 0)
            return b.broadcast(strong(x), share.dims) if share.rank else strong(x)
        x = _guarded(x) if skips_nan and x.type.is_float else x
        axes = axes_of(axis, x.rank)
        if any(x.dims[k] == Dim(0) for k in axes):
            raise RuleError("the quantile of an empty array is not defined", "T202", "test the size first")
        part = b.cast(share, x.dtype) if share.type.weak and x.type.is_float else share
        part = ravel(part) if part.rank > 1 else part
        part = part / scale if scale != 1 else part
        rows = _rows(x, axes)
        if weights is None:
            y = _of_rows(_sorted(rows), part, method, share.type.weak, skips_nan)
        else:
            given = array(b, weights)
            raise_if(holds("any", given < 0), "ValueError", "Weights must be non-negative.")
            whole = m.broadcast(weights_beside(x, given, axis), x.dims)
            y = _weighted(rows, _rows(whole, axes), part, skips_nan)
        return _shaped(y, share.dims, x, axes, keepdims)

    return build


def _of_rows(ordered: Expr, share: Expr, method: str, is_weak: bool, skips_nan: bool) -> Expr:
    """The quantile of each sorted row, or, if ``share`` is a vector, its quantiles along a last axis."""
    last = ordered.rank - 1
    if not skips_nan or not ordered.type.is_float:
        y = _cut(ordered, share, m.size(ordered, (last,)), method, is_weak)
        return _nan_checked(y, slice_axis(ordered, -1, ordered.dims[-1] - 1) if share.rank else point(ordered, -1, -1))
    valid = m.call("sum", m.logical_not(m.isnan(ordered)), axes=(last,), keepdims=True)
    y = _cut(ordered, share, m.maximum(valid, 1), method, is_weak)
    return y if share.rank else point(y, -1, 0)


def _weighted(rows: Expr, weights: Expr, share: Expr, skips_nan: bool) -> Expr:
    """For each row of ``rows``, not sorted, the first element in order at which the cumulative weight reaches ``share`` of the
    total; for a vector of shares along a last axis. ``skips_nan``: NaN has weight 0. ValueError at run time for a total of 0,
    infinity or NaN."""
    b, last = rows.b, rows.rank - 1
    skips_nan = skips_nan and rows.type.is_float
    if skips_nan:
        weights = m.where(m.isnan(rows), 0, weights)
    order = m.call("argsort", rows, axis=last)
    ordered, weights = take_along(rows, order, last), take_along(weights, order, last)
    reached = m.call("cumsum", b.cast(weights, "float64"), axis=last)
    total = _end(reached, -1)
    is_sum = m.logical_and(total > 0, total < np.inf)
    if skips_nan:
        is_sum = m.logical_or(is_sum, m.isnan(_end(ordered, 0)))
    raise_if(m.logical_not(holds("all", is_sum)), "ValueError", "Weights included NaN, inf or were all zero.")
    parts = reached / total
    parts = b.cast(parts, share.dtype) if share.type.is_float else parts
    parts = m.where(parts.eq(0), -1, parts)
    if share.rank:
        parts, share = new_axis(parts, last), new_axis(share, 1)
    is_row = not share.rank and last > 0
    before = m.call("sum", parts < share, axes=(parts.rank - 1,), keepdims=is_row)
    y = _at(ordered, m.minimum(before, m.size(ordered, (last,)) - 1))
    y = y if skips_nan else _nan_checked(y, _end(ordered, -1))
    return point(y, -1, 0) if is_row else y


def _end(rows: Expr, k: int) -> Expr:
    """The first (0) or last (-1) element of each row, as an axis of size 1 unless there is one row only."""
    if rows.rank == 1:
        return point(rows, 0, k)
    first = Dim(0) if k == 0 else rows.dims[-1] - 1
    return slice_axis(rows, -1, first, first + 1)


def _shaped(y: Expr, shares: tuple[Dim, ...], x: Expr, axes: Sequence[int], keepdims: bool) -> Expr:
    """The result with the axes of the shares first, and reduced axes of size 1 if ``keepdims``."""
    if not shares:
        return _kept(y, x, axes, keepdims)
    y = m.transpose(y, [y.rank - 1, *range(y.rank - 1)])
    rest = tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims)) if keepdims else y.dims[1:]
    return m.reshape(y, (*shares, *rest)) if keepdims or len(shares) > 1 else y


def _nan_checked(y: Expr, last: Expr) -> Expr:
    """``y``, or NaN where ``last``, the last sorted element, is NaN: NaN sorts last."""
    return m.where(m.isnan(last), np.nan, y) if last.type.is_float else y


def _median(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    """``np.median``: the mean of both middle elements of an even number; NaN if there is a NaN."""
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
    return _kept(_nan_checked(middle, point(ordered, -1, -1)), x, axes, keepdims)


def _guarded(x: Expr) -> Expr:
    """``x``, with no derivative where it is NaN."""
    return m.where(m.isnan(x), np.nan, x)


def _nan_median(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    """``np.nanmedian``: NaN sorts last, so the median is in the middle of the elements before."""
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


def _memory(bound: Mapping[str, Any]) -> str:
    return "new" if bound.get("weights") is None else "array"


_STATIC = (*REDUCED, "method")

_NUMPY: dict[str, Entry] = {
    "median": Entry(_median, static=_STATIC),
    "nanmedian": Entry(_nan_median, static=_STATIC, memory=lambda bound: "array" if bound.get("keepdims") else "new"),
    "quantile": Entry(_quantile(1), static=_STATIC, memory=_memory),
    "nanquantile": Entry(_quantile(1, skips_nan=True), static=_STATIC, memory=_memory),
    "nanpercentile": Entry(_quantile(100, skips_nan=True), static=_STATIC, memory=_memory),
    "percentile": Entry(_quantile(100), static=_STATIC, memory=_memory),
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
