"""Reductions, cumulative sums and norms of NumPy by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.rules import language as m
from transpile.rules.api import Entry
from transpile.rules.arguments import array, axes_of, axis_of, cast_to, integer, product, strong
from transpile.rules.prim import RuleError
from transpile.rules.slicing import gather, point, slice_axis

Axis = Any  # None, an int or a tuple of ints

REDUCED = ("axis", "dtype", "keepdims")


def reduce(prim: str, x: Expr, axis: Axis = None, keepdims: bool = False, **params: Any) -> Expr:
    axes = axes_of(axis, x.rank)
    if not x.rank and prim in ("sum", "prod", "mean", "max", "min", "nansum", "nanmax", "nanmin", "nanmean"):
        return _of_number(prim, x)
    return x.b.let(prim, x, axes=axes, keepdims=bool(keepdims), **params)


def _of_number(prim: str, x: Expr) -> Expr:
    if prim == "nansum":
        return m.where(m.isnan(x), 0.0, strong(x)) if x.type.is_float else strong(x)
    if prim in ("mean", "nanmean") and not x.type.is_float:
        return x.b.cast(x, "float64")
    if prim in ("sum", "prod") and x.type.is_bool:
        return x.b.cast(x, "int64")
    return strong(x)


def _masked(b: Builder, x: Expr, where: Any, neutral: Any) -> Expr:
    """``x`` where the mask holds, what changes nothing elsewhere."""
    if where is None or where is True:
        return x
    return b.elementwise("where", array(b, where), x, neutral)


# ------------------------------------------------------------------------------------------------ sum and prod


def _folded(prim: str, neutral: int, join: str) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, initial: Any = None,
              where: Any = None) -> Expr:
        x = cast_to(array(b, a), dtype)
        x = _masked(b, x, where, float(neutral) if x.type.is_float else bool(neutral) if x.type.is_bool else neutral)
        y = reduce(prim, x, axis, keepdims)
        return y if initial is None else b.elementwise(join, y, initial, strong=True)

    return build


def _mean(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None) -> Expr:
    x = cast_to(array(b, a), dtype)
    if where is None:
        return reduce("mean", x, axis, keepdims)
    return reduce("sum", _masked(b, x, where, 0.0), axis, keepdims) / _count(b, x, where, axis, keepdims)


def _count(b: Builder, x: Expr, where: Any, axis: Axis, keepdims: bool) -> Expr:
    mask = b.broadcast(array(b, where), x.dims)
    return b.cast(reduce("count_nonzero", mask, axis, keepdims), x.dtype if x.type.is_float else "float64")


def _nan_prod(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, initial: Any = None,
              where: Any = None) -> Expr:
    x = array(b, a)
    x = m.where(m.isnan(x), 1.0, x) if x.type.is_float else x
    return _folded("prod", 1, "mul")(b, x, axis, dtype, keepdims, initial, where)


def _nan_folded(prim: str, plain: Callable[..., Expr]) -> Callable[..., Expr]:
    """``nansum`` and ``nanmean``: without a mask one primitive."""

    def build(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, initial: Any = None,
              where: Any = None) -> Expr:
        x = cast_to(array(b, a), dtype)
        if not x.type.is_float:
            return plain(b, x, axis, None, keepdims, **({} if where is None else {"where": where}))
        if where is not None:
            x = _masked(b, x, where, np.nan)
        y = reduce(prim, x, axis, keepdims)
        return y if initial is None else b.elementwise("add", y, initial, strong=True)

    return build


# ------------------------------------------------------------------------------------------------- max and min


def _extremum(prim: str, join: str, worst: float) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Expr:
        x = array(b, a)
        if where is not None:
            if initial is None:
                raise RuleError(f"reduction operation '{join}' does not have an identity, so to use a where mask one has "
                                "to specify 'initial'", "T201")
            x = _masked(b, x, where, worst if x.type.is_float else initial)
        y = reduce(prim, x, axis, keepdims)
        return y if initial is None else b.elementwise(join, y, initial, strong=True)

    return build


def _ptp(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    x = array(b, a)
    return reduce("max", x, axis, keepdims) - reduce("min", x, axis, keepdims)


# ------------------------------------------------------------------------------------------------- var and std


def _spread(prim: str) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False,
              where: Any = None, mean: Any = None, correction: Any = None) -> Expr:
        x = cast_to(array(b, a), dtype)
        ddof = ddof if correction is None else correction
        if where is None and mean is None and x.rank:
            return reduce(prim, x, axis, keepdims, ddof=ddof)
        centre = _mean(b, x, axis, None, True, where) if mean is None else array(b, mean)
        d = x - centre
        if where is None:
            n = m.size(x, axes_of(axis, x.rank))
            y = reduce("sum", d * d, axis, keepdims) / (n - ddof if ddof else n)
        else:
            n = _count(b, x, where, axis, keepdims)
            y = reduce("sum", _masked(b, d * d, where, 0.0), axis, keepdims) / (n - ddof if ddof else n)
        return _root(y) if prim == "std" else y

    return build


def _root(y: Expr) -> Expr:
    """``sqrt`` with derivative 0 at 0: no spread."""
    none = y.eq(0)
    return m.where(none, 0.0, m.sqrt(m.where(none, 1.0, y)))


def _nan_spread(prim: str) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, ddof: Any = 0, keepdims: bool = False) -> Expr:
        x = cast_to(array(b, a), dtype)
        if not x.type.is_float:
            return _spread(prim)(b, x, axis, None, ddof, keepdims)
        return _spread(prim)(b, x, axis, None, ddof, keepdims, where=m.logical_not(m.isnan(x)))

    return build


# ------------------------------------------------------------------------------------------------ truth, places


def _truth(prim: str, neutral: bool) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False, where: Any = None) -> Expr:
        x = array(b, a)
        if where is not None:
            x = _masked(b, x if x.type.is_bool else x.ne(0), where, neutral)
        if not x.rank:
            return b.cast(x, "bool") if x.type.is_bool else x.ne(0)
        return reduce(prim, x, axis, keepdims)

    return build


def _count_nonzero(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    x = array(b, a)
    return reduce("count_nonzero", x, axis, keepdims) if x.rank else b.cast(x.ne(0), "int64")


def _position(prim: str, worst: float | None = None) -> Callable[..., Expr]:
    """``argmax`` and ``argmin``; those that leave NaN out put ``worst`` there."""

    def build(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
        x = array(b, a)
        if worst is not None and x.type.is_float:
            x = m.where(m.isnan(x), worst, x)
        return b.let(prim, x, axis=None if axis is None else axis_of(axis, x.rank), keepdims=bool(keepdims))

    return build


# -------------------------------------------------------------------------------------------------- cumulative


def ravel(x: Expr) -> Expr:
    return x if x.rank == 1 else x.b.let("reshape", x, dims=(product(x.dims),))


def _cumulative(prim: str, default: int | None = None) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Any = default, dtype: Any = None) -> Expr:
        x = cast_to(array(b, a), dtype)
        if axis is None:
            x, axis = ravel(x), 0
        return b.let(prim, x, axis=axis_of(axis, x.rank))

    return build


def _nan_cumulative(prim: str, neutral: float) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, axis: Any = None, dtype: Any = None) -> Expr:
        x = array(b, a)
        x = m.where(m.isnan(x), neutral, x) if x.type.is_float else x
        return _cumulative(prim)(b, x, axis, dtype)

    return build


def _cumulative_array(prim: str, neutral: float) -> Callable[..., Expr]:
    """``cumulative_sum`` and ``cumulative_prod``."""

    def build(b: Builder, x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Expr:
        y = array(b, x)
        if axis is None and y.rank != 1:
            raise RuleError("needs an axis for an array of more than one dimension", "T201")
        axis = axis_of(0 if axis is None else axis, y.rank)
        y = _cumulative(prim)(b, y, axis, dtype)
        if not include_initial:
            return y
        dims = tuple(Dim(1) if k == axis else d for k, d in enumerate(y.dims))
        return b.let("concatenate", b.let("full", neutral, dims=dims, dtype=y.dtype), y, axis=axis)

    return build


def _diff(b: Builder, a: Any, n: Any = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Expr:
    x = array(b, a)
    axis = axis_of(axis, x.rank)
    parts = [x]
    for extra, at in ((prepend, 0), (append, len(parts))):
        if extra is not None:
            e = array(b, extra)
            dims = tuple(Dim(1) if k == axis else d for k, d in enumerate(x.dims))
            parts.insert(at if at == 0 else len(parts), e if e.rank else b.broadcast(b.cast(e, x.dtype), dims))
    if len(parts) > 1:
        from transpile.rules.arguments import same_dtype

        x = b.let("concatenate", *same_dtype(b, parts), axis=axis)
    for _ in range(n):
        after = slice_axis(x, axis, 1)
        before = slice_axis(x, axis, 0, x.dims[axis] - 1)
        x = b.elementwise("not_equal" if x.type.is_bool else "sub", after, before)
    return x


def _ediff1d(b: Builder, ary: Any, to_end: Any = None, to_begin: Any = None) -> Expr:
    from transpile.rules.arguments import same_dtype

    x = _diff(b, ravel(array(b, ary)))
    ends = [(None if e is None else ravel(as_vector(array(b, e)))) for e in (to_begin, to_end)]
    parts = [e for e in (ends[0], x, ends[1]) if e is not None]
    return x if len(parts) == 1 else b.let("concatenate", *same_dtype(b, parts), axis=0)


def as_vector(x: Expr) -> Expr:
    return x if x.rank else x.b.let("reshape", strong(x), dims=(Dim(1),))


def _trapezoid(b: Builder, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Expr:
    f = array(b, y)
    axis = axis_of(axis, f.rank)
    total = slice_axis(f, axis, 1) + slice_axis(f, axis, 0, f.dims[axis] - 1)
    if x is None:
        half = reduce("sum", total, axis) / 2.0
        return half if integer(dx) == 1 or (isinstance(dx, float) and dx == 1.0) else half * b.expr(dx)
    width = array(b, x)
    width = _diff(b, width, 1, -1 if width.rank == 1 else axis)
    if width.rank == 1 and f.rank > 1:
        width = b.let("reshape", width, dims=tuple(width.dims[0] if k == axis else Dim(1) for k in range(f.rank)))
    return reduce("sum", width * total, axis) / 2.0


# ----------------------------------------------------------------------------------------------------- average


def _average(b: Builder, a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    x = array(b, a)
    if weights is None:
        y = reduce("mean", x, axis, keepdims)
        count = b.cast(m.size(x, axes_of(axis, x.rank)), y.dtype)
        return (y, b.broadcast(count, y.dims)) if returned else y
    w = array(b, weights)
    if w.rank != x.rank:
        at = axis_of(axis, x.rank) if isinstance(axis, int) else None
        if at is None or w.rank != 1:
            raise RuleError("Axis must be specified when shapes of a and weights differ.", "T202")
        w = w if at == x.rank - 1 else b.let("reshape", w, dims=tuple(w.dims[0] if k == at else Dim(1) for k in range(x.rank)))
        total = reduce("sum", w, None)
    else:
        total = reduce("sum", w, axis, keepdims)
    y = reduce("sum", x * w, axis, keepdims) / total
    return (y, b.broadcast(total, y.dims)) if returned else y


# --------------------------------------------------------------------------------------------------- quantiles


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
    return y.b.let("reshape", y, dims=tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims))) if keepdims else y


def _quantile_of(b: Builder, a: Any, q: Any, axis: Axis, keepdims: bool, method: str, scale: float) -> Expr:
    x = array(b, a)
    x = x if x.type.is_float else b.cast(x, "float64")
    share = array(b, q)
    if share.rank > 1:
        raise RuleError("quantiles are a number or a vector", "T201")
    if not x.rank:
        return strong(x)
    ordered, axes = _sorted_along(x, axis)
    n = m.size(ordered, (ordered.rank - 1,))
    place = (share / scale if scale != 1 else share) * (n - 1)
    low = m.floor(place)
    part = place - low if method == "linear" else _PARTS[method](place, low)
    first = b.cast(low, "int64")
    second = m.minimum(first + 1, n - 1)
    if share.rank:
        lower, upper = gather(ordered, -1, first), gather(ordered, -1, second)
        y = lower + (upper - lower) * b.cast(part, x.dtype)
        y = m.where(m.isnan(slice_axis(ordered, -1, ordered.dims[-1] - 1)), np.nan, y)
        y = m.transpose(y, [y.rank - 1, *range(y.rank - 1)])
        kept = tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims))
        return b.let("reshape", y, dims=(share.dims[0], *kept)) if keepdims else y
    lower, upper = point(ordered, -1, first), point(ordered, -1, second)
    return _kept(_nan_checked(lower + (upper - lower) * b.cast(part, x.dtype), ordered), x, axes, keepdims)


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
        if method != "linear" and method not in _PARTS:
            raise RuleError(f"the quantile method {method!r} is not supported", "T201", "use 'linear'")
        return _quantile_of(b, a, q, axis, keepdims, method, scale)

    return build


def _median(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    x = array(b, a)
    x = x if x.type.is_float else b.cast(x, "float64")
    if not x.rank:
        return strong(x)
    ordered, axes = _sorted_along(x, axis)
    size = ordered.dims[-1]
    if size.is_const and size.const % 2:
        middle = point(ordered, -1, size.const // 2)
    else:
        n = b.dim(size)
        middle = (point(ordered, -1, (n - 1) // 2) + point(ordered, -1, n // 2)) / 2
    return _kept(_nan_checked(middle, ordered), x, axes, keepdims)


def _nan_median(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    """NaN sorts last: the middle of what comes before."""
    x = array(b, a)
    if not x.type.is_float:
        return _median(b, x, axis, keepdims)
    ordered, axes = _sorted_along(x, axis)
    last = ordered.rank - 1
    count = b.let("sum", m.logical_not(m.isnan(ordered)), axes=(last,), keepdims=True)
    if ordered.rank == 1:
        count = point(count, 0, 0)
        middle = (point(ordered, 0, (count - 1) // 2) + point(ordered, 0, count // 2)) / 2
        return _kept(middle, x, axes, keepdims)
    low = b.let("take_along_axis", ordered, (count - 1) // 2, axis=last)
    high = b.let("take_along_axis", ordered, count // 2, axis=last)
    return _kept(point((low + high) / 2, -1, 0), x, axes, keepdims)


# ---------------------------------------------------------------------------------------------- ufunc methods


def _ufunc_reduce(build: Callable[..., Expr]) -> Callable[..., Expr]:
    """``np.add.reduce``: the axis is 0 unless said otherwise."""

    def reduced(b: Builder, array: Any, axis: Axis = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None,
                where: Any = None) -> Expr:
        x = cast_to(m.array(b, array), dtype)
        more = {k: v for k, v in (("initial", initial), ("where", where)) if v is not None}
        return build(b, x, axis, keepdims=keepdims, **more)

    return reduced


def _log_sum(b: Builder, array: Any, axis: Axis = 0, dtype: Any = None, keepdims: bool = False) -> Expr:
    """``np.logaddexp.reduce``: the largest comes out, so that nothing overflows."""
    x = cast_to(m.array(b, array), dtype)
    top = b.elementwise("stop_gradient", reduce("max", x, axis, True))
    finite = m.where(b.elementwise("isfinite", top), top, 0.0)
    total = m.log(reduce("sum", m.exp(x - finite), axis, True)) + finite
    axes = axes_of(axis, x.rank)
    return total if keepdims else b.let("reshape", total, dims=tuple(d for k, d in enumerate(x.dims) if k not in axes))


_SUM, _PROD = _folded("sum", 0, "add"), _folded("prod", 1, "mul")
_MAX, _MIN = _extremum("max", "maximum", -np.inf), _extremum("min", "minimum", np.inf)
_ALL, _ANY = _truth("all", True), _truth("any", False)
_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
_REDUCE = {
    "add": _SUM, "multiply": _PROD, "maximum": _MAX, "minimum": _MIN, "logical_and": _ALL, "logical_or": _ANY,
    "fmax": _extremum("nanmax", "fmax", -np.inf), "fmin": _extremum("nanmin", "fmin", np.inf),
}  # fmt: skip


def _entry(build: Callable[..., Any], *more: str) -> Entry:
    return Entry(build, static=(*REDUCED, *more))


_NUMPY: dict[str, Entry] = {
    "sum": _entry(_SUM),
    "prod": _entry(_PROD),
    "mean": _entry(_mean),
    "nansum": _entry(_nan_folded("nansum", _SUM)),
    "nanprod": _entry(_nan_prod),
    "nanmean": _entry(_nan_folded("nanmean", _mean)),
    **{name: _entry(_MAX) for name in ("max", "amax")},
    **{name: _entry(_MIN) for name in ("min", "amin")},
    "nanmax": _entry(_extremum("nanmax", "fmax", -np.inf)),
    "nanmin": _entry(_extremum("nanmin", "fmin", np.inf)),
    "ptp": _entry(_ptp),
    "var": _entry(_spread("var"), "ddof", "correction"),
    "std": _entry(_spread("std"), "ddof", "correction"),
    "nanvar": _entry(_nan_spread("var"), "ddof"),
    "nanstd": _entry(_nan_spread("std"), "ddof"),
    "all": _entry(_ALL),
    "any": _entry(_ANY),
    "count_nonzero": _entry(_count_nonzero),
    "argmax": _entry(_position("argmax")),
    "argmin": _entry(_position("argmin")),
    "nanargmax": _entry(_position("argmax", -np.inf)),
    "nanargmin": _entry(_position("argmin", np.inf)),
    "cumsum": _entry(_cumulative("cumsum")),
    "cumprod": _entry(_cumulative("cumprod")),
    "nancumsum": _entry(_nan_cumulative("cumsum", 0.0)),
    "nancumprod": _entry(_nan_cumulative("cumprod", 1.0)),
    "cumulative_sum": _entry(_cumulative_array("cumsum", 0.0), "include_initial"),
    "cumulative_prod": _entry(_cumulative_array("cumprod", 1.0), "include_initial"),
    "diff": _entry(_diff, "n"),
    "ediff1d": _entry(_ediff1d),
    "trapezoid": _entry(_trapezoid),
    "trapz": _entry(_trapezoid),
    "average": _entry(_average, "returned"),
    "median": _entry(_median),
    "nanmedian": _entry(_nan_median),
    "quantile": _entry(_quantile(1), "method"),
    "percentile": _entry(_quantile(100), "method"),
    **{f"{name}.reduce": _entry(_ufunc_reduce(build)) for name, build in _REDUCE.items()},
    **{f"{name}.accumulate": _entry(_cumulative(prim, 0)) for name, prim in _ACCUMULATE.items()},
    "logaddexp.reduce": _entry(_log_sum),
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
