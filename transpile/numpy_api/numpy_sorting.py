"""NumPy's functions for sorting, searching, selecting and counting, by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import (
    array,
    arrays,
    axis_of,
    demand_integers,
    integer,
    must_agree,
    one_of,
    places_of,
    size_of,
    strong,
)
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_reduction import ravel, reduce
from transpile.ops import language as m
from transpile.ops.slicing import at_least, fresh_size, gather, on_axis, point, raise_if, settle_size, slice_axis
from transpile.ops.tables import neutral_of

# --------------------------------------------------------------------------------------------------------- sort


def _flat(x: Expr, axis: Any) -> tuple[Expr, int]:
    """The array and the axis, counted from the front; for None the flattened array and 0."""
    return (ravel(x), 0) if axis is None else (x, axis_of(axis, x.rank))


_KINDS = frozenset("qhmsQHMS")


def _check_sort(what: str, kind: Any, stable: Any) -> None:
    """Raises T131 for a sort kind that NumPy does not accept, or if ``stable`` is given too."""
    if kind is not None and (not isinstance(kind, str) or kind[:1] not in _KINDS or kind.lower() not in _SORTS):
        raise RuleError(f"{what}: kind={kind!r} is not a kind of sort of NumPy's", "T131", "write kind='stable'")
    if kind is not None and stable is not None:
        raise RuleError("`kind` and `stable` parameters can't be provided at the same time.", "T131")


_SORTS = tuple("quicksort heapsort mergesort stable quick heap merge q h m s".split())


def _sort(b: Builder, a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Expr:
    _check_sort("np.sort", kind, stable)
    x, at = _flat(array(b, a), axis)
    return b.let("sort", x, axis=at)


def _argsort(b: Builder, a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Expr:
    _check_sort("np.argsort", kind, stable)
    x, at = _flat(array(b, a), axis)
    return b.let("argsort", x, axis=at, kind="stable" if stable else kind)


def _partition(prim: str) -> Callable[..., Expr]:
    """The builder of ``np.partition`` or ``np.argpartition``; ``kth`` must consist of known integers (T201)."""

    def build(b: Builder, a: Any, kth: Any, axis: Any = -1) -> Expr:
        x, at = _flat(array(b, a), axis)
        if any(not isinstance(k, int) for k in (kth if isinstance(kth, (tuple, list)) else (kth,))):
            raise RuleError(f"np.{prim} takes integers for 'kth', not {kth!r}", "T201")
        n, places = x.dims[at % x.rank], kth if isinstance(kth, (tuple, list)) else (kth,)
        need = max((k + 1 if k >= 0 else -k for k in places), default=0)
        at_least(b, n, need, f"kth(={kth}) out of bounds", unless_empty=x.dims)
        return b.let(prim, x, kth=kth, axis=at)

    return build


def _lexsort(b: Builder, keys: Any) -> Expr:
    found = arrays(b, keys)
    if not all(key.rank for key in found):
        raise RuleError("np.lexsort takes arrays of keys, not numbers", "T202")
    for key in found[1:]:
        must_agree(b, key, found[0], "all keys need to be the same shape")
    return b.let("lexsort", *found)


def _searchsorted(b: Builder, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Expr:
    """``np.searchsorted``; ``sorter`` (None: none) is applied to ``a`` first."""
    x = array(b, a)
    one_of("np.searchsorted", "side", side, "left", "right")
    if x.rank != 1:
        raise RuleError(f"np.searchsorted searches in a vector, not {x.type}", "T203", "pass a sorted vector")
    if sorter is not None:
        order = array(b, sorter)
        must_agree(b, order, x, "sorter.size must equal a.size")
        x = gather(x, 0, order)
    return b.let("searchsorted", x, strong(array(b, v)), side=side)


def _digitize(b: Builder, x: Any, bins: Any, right: bool = False) -> Expr:
    """``np.digitize``; ValueError at run time for edges that neither rise nor fall."""
    edges = array(b, bins)
    if isinstance(bins, Expr) and edges.rank:
        n = edges.dims[0]
        here, there = slice_axis(edges, 0, 0, n - 1, clip=True), slice_axis(edges, 0, 1, n, clip=True)
        both = m.logical_and(reduce("any", here < there), reduce("any", here > there))
        raise_if(both, "ValueError", "bins must be monotonically increasing or decreasing")
    return b.let("digitize", strong(array(b, x)), edges, right=bool(right))


def _unique(
    b: Builder,
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
) -> Any:
    """``np.unique`` of all elements: the values, or a tuple of them and the results asked for. T201 for an axis of an array of
    rank 2 or more."""
    given = array(b, ar)
    x = given if given.rank else ravel(strong(given))
    if axis is not None and x.rank != 1:
        raise RuleError(
            "np.unique along an axis is not supported", "T201", "leave axis out, or sort the rows in a loop"
        )
    if axis is not None:
        axis_of(axis, given.rank)
    symbol = fresh_size(b, "unique")
    params: dict[str, Any] = {
        "return_index": return_index,
        "return_inverse": return_inverse,
        "return_counts": return_counts,
    }
    found = b.let("unique", x, dims=(symbol,), **params)
    if found.type.kind != "tuple":
        return settle_size(b, found, 0, symbol)
    items = [b.let("item", found, k=k) for k in range(len(found.type.items))]
    settle_size(b, items[0], 0, symbol)
    if return_inverse and not given.rank:
        at = 1 + bool(return_index)
        items[at] = b.let("reshape", items[at], dims=())
    return tuple(items)


def _unique_values(b: Builder, x: Any) -> Any:
    if array(b, x).type.is_float:
        message = "np.unique_values of floats, which keeps every NaN, is not supported"
        raise RuleError(message, "T201", "use np.unique, which keeps one")
    return _unique(b, x)


def _isin(b: Builder, element: Any, test_elements: Any, invert: bool = False, *, kind: Any = None) -> Expr:
    one_of("np.isin", "kind", kind, None, "sort", "table")
    return b.let("isin", strong(array(b, element)), array(b, test_elements), invert=bool(invert))


def _in1d(b: Builder, ar1: Any, ar2: Any, invert: bool = False, *, kind: Any = None) -> Expr:
    return _isin(b, ravel(array(b, ar1)), ar2, invert, kind=kind)


# ---------------------------------------------------------------------------------------------------- positions


def nonzero(b: Builder, a: Any) -> tuple[Expr, ...]:
    """A tuple of one index array for each axis; their length is known at run time only. T202 for a number."""
    x = array(b, a)
    if not x.rank:
        raise RuleError("np.nonzero takes an array, not a number", "T202", "use np.atleast_1d")
    symbol = fresh_size(b, "found")
    found = b.let("nonzero", x, dims=(symbol,))
    items = tuple(b.let("item", found, k=k) for k in range(x.rank))
    settle_size(b, items[0], 0, symbol)
    return items


def flat_nonzero(b: Builder, a: Any) -> Expr:
    """The indices of the nonzero elements in the flattened array, a vector; its length is known at run time only."""
    return nonzero(b, ravel(array(b, a)))[0]


def _argwhere(b: Builder, a: Any) -> Expr:
    items = nonzero(b, a)
    return b.let("stack", *items, axis=1)


def compressed(b: Builder, mask: Expr, x: Expr, axis: int) -> Expr:
    """The entries of an axis of ``x`` where a mask of the same length holds; their number is known at run time only."""
    return b.read(x, on_axis(x.rank, axis, ir.Mask(0)), (mask,), name="kept")


def _compress(b: Builder, condition: Any, a: Any, axis: Any = None) -> Expr:
    """``np.compress``; the mask may have another length than the axis."""
    x, at = _flat(array(b, a), axis)
    mask = array(b, condition)
    if mask.rank != 1:
        raise RuleError("the condition of np.compress must be a vector", "T202", "use np.extract or x[mask]")
    mask = mask if mask.type.is_bool else mask.ne(0)
    if b.surely(mask.dims[0], x.dims[at]):
        return compressed(b, mask, x, at)
    return gather(x, at, flat_nonzero(b, mask))  # a longer mask may have only False beyond the end


def _extract(b: Builder, condition: Any, arr: Any) -> Expr:
    mask, x = array(b, condition), array(b, arr)
    mask = mask if mask.type.is_bool else mask.ne(0)
    if mask.rank == x.rank and all(b.surely(d, e) for d, e in zip(mask.dims, x.dims)):
        return compressed(b, ravel(mask), ravel(x), 0)
    return gather(ravel(x), 0, flat_nonzero(b, mask))


# -------------------------------------------------------------------------------------------------------- taking


def _take(b: Builder, a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Expr:
    """``np.take``; booleans are the indices 0 and 1 here, no mask."""
    one_of("np.take", "mode", mode, "raise", "clip", "wrap")
    x, at = _flat(array(b, a), axis)
    where = places_of(b, "np.take", indices)
    where = b.cast(where, "int64") if where.type.is_bool else where  # booleans are the indices 0 and 1 here, no mask
    n = b.dim(x.dims[at])
    if mode == "clip":
        where = m.minimum(m.maximum(where, 0), n - 1)
    elif mode == "wrap":
        where = where % n
    return point(x, at, where) if not where.rank else gather(x, at, where)


def _take_along_axis(b: Builder, arr: Any, indices: Any, axis: Any = -1) -> Expr:
    """``np.take_along_axis``; array and indices are broadcast against each other along the other axes."""
    x, where = array(b, arr), places_of(b, "np.take_along_axis", indices)
    if where.type.is_bool or where.rank != (1 if axis is None else x.rank):
        raise RuleError("np.take_along_axis takes an integer index array with as many axes as the array has", "T202")
    if axis is None:
        return gather(ravel(x), 0, ravel(where))
    at = axis_of(axis, x.rank)
    if x.rank == 1:
        return gather(x, 0, where)
    wide = b.broadcast_dims([tuple(Dim(1) if k == at else d for k, d in enumerate(t.dims)) for t in (x, where)])
    x, where = (_beside_axis(t, wide, at) for t in (x, where))
    return b.let("take_along_axis", x, where, axis=at)


def _beside_axis(x: Expr, wide: Sequence[Dim], axis: int) -> Expr:
    """``x`` broadcast to the sizes ``wide`` on all axes but ``axis``."""
    dims = tuple(x.dims[axis] if k == axis else d for k, d in enumerate(wide))
    return x.b.broadcast(x.b.stretched(x, dims), dims)


# ------------------------------------------------------------------------------------------------------ counting


def _bincount(b: Builder, x: Any, weights: Any = None, minlength: Any = 0) -> Expr:
    """``np.bincount``: int64 counts, or float64 sums of the weights."""
    where = array(b, x)
    if not np.can_cast(where.dtype, "int64", "safe"):
        raise RuleError(f"np.bincount counts integers, not {where.type}", "T201", "convert with .astype(int)")
    least = integer(minlength)
    more = [] if weights is None else [b.cast(array(b, weights), "float64")]
    if more:
        must_agree(b, where, more[0], "The weights and list don't have the same length")
    if least is None:  # known at run time only: count with weights of 1
        more = more or [b.let("full", 1.0, dims=where.dims, dtype="float64")]
        more.append(b.expr(minlength))
    symbol = fresh_size(b, "bins")
    params: dict[str, Any] = {"minlength": size_of(b, minlength) if least is None else least}
    found = settle_size(b, b.let("bincount", where, *more, dims=(symbol,), **params), 0, symbol)
    return b.cast(found, "int64") if weights is None else found


def _ends(b: Builder, x: Expr) -> tuple[Expr, Expr]:
    """The smallest and the largest element of a vector; 0 and 1 if there is none."""
    if x.dims[0].is_const and x.dims[0] != Dim(0):
        return reduce("min", x), reduce("max", x)
    low = reduce("min", x, initial=neutral_of("minimum", x.dtype))
    high = reduce("max", x, initial=neutral_of("maximum", x.dtype))
    is_nothing = low > high
    return m.where(is_nothing, 0, low), m.where(is_nothing, 1, high)


def _histogram(b: Builder, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """``(counts, edges)`` of ``np.histogram``; the counts have a derivative in the weights only."""
    x = ravel(array(b, a))
    x = b.cast(x, "uint8") if x.type.is_bool else x
    if weights is not None:
        must_agree(b, array(b, a), array(b, weights), "weights should have the same shape as a")
    edges = array(b, bins)
    if edges.rank > 1:
        raise RuleError("`bins` must be 1d, when an array", "T202")
    if not edges.rank:
        demand_integers("np.histogram: the number of `bins`", edges)
        low, high = _ends(b, x) if range is None else (b.expr(range[0]), b.expr(range[1]))
        count = b.form(edges)
        at_least(b, count, 1, "`bins` must be positive, when an integer")
        dtype = x.dtype if x.type.is_float else "float64"
        wide = dtype if range is None else "float64"  # edges from Python numbers are rounded only once
        low, high = b.cast(low, wide), b.cast(high, wide)
        if range is not None:
            raise_if(low > high, "ValueError", "max must be larger than min in range parameter.")
        if x.type.is_float or range is not None:
            said = "autodetected" if range is None else "supplied"
            ends_known = m.logical_and(b.elementwise("isfinite", low), b.elementwise("isfinite", high))
            raise_if(m.logical_not(ends_known), "ValueError", f"{said} range is not finite")
        pad = m.where(low.eq(high), 0.5, 0.0)  # as NumPy does if all values are equal
        ends = b.cast(low - pad, wide), b.cast(high + pad, wide)
        spaced = b.let("linspace", *ends, edges + 1, dims=(count + 1,), dtype=wide, endpoint=True)
        edges = b.cast(spaced, dtype)
    else:
        falls = slice_axis(edges, 0, 1) < slice_axis(edges, 0, 0, edges.dims[0] - 1)
        raise_if(reduce("any", falls), "ValueError", "`bins` must increase monotonically, when an array")
    n = edges.dims[0] - 1
    if n == Dim(0):  # a single edge bounds no bin
        return b.let("full", 0, dims=(n,), dtype="float64" if density else "int64"), edges
    at_least(b, edges.dims[0], 2, "np.histogram takes two edges or more")
    last = point(edges, 0, -1)
    inside = m.logical_and(x >= point(edges, 0, 0), x <= last)
    place = m.minimum(b.let("searchsorted", edges, x, side="right") - 1, b.dim(n) - 1)
    one = (
        b.let("full", 1.0, dims=x.dims, dtype="float64")
        if weights is None
        else b.cast(ravel(array(b, weights)), "float64")
    )
    total = b.let("scatter_add", m.where(inside, place, 0), m.where(inside, one, 0.0), b.dim(n), dims=(n,))
    counts = b.cast(total, array(b, weights).dtype if weights is not None else "float64" if density else "int64")
    if density:
        width = slice_axis(edges, 0, 1) - slice_axis(edges, 0, 0, n)
        counts = total / width / b.let("sum", total, axes=(0,), keepdims=False)
    return counts, edges


def _interp(b: Builder, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Expr:
    """``np.interp``: ``left`` and ``right`` (None: the end values) stand beyond the ends; both are ignored with a
    ``period``."""
    at, places, values = (b.cast(array(b, v), "float64") for v in (x, xp, fp))
    at_least(b, places.dims[0], 1, "array of sample points is empty")
    must_agree(b, places, values, "fp and xp are not of the same length")
    if period is not None:  # x and xp are reduced to one period, and xp is extended by one point on each side
        left = right = None
        wide = m.absolute(b.expr(period))
        raise_if(wide.eq(0), "ValueError", "period must be a non-zero value")
        at, places = at % wide, places % wide
        order = b.let("argsort", places, axis=0)
        places, values = gather(places, 0, order), gather(values, 0, order)
        ends = [slice_axis(v, 0, k, None if k else 1) for v in (places, values) for k in (places.dims[0] - 1, 0)]
        places = b.let("concatenate", ends[0] - wide, places, ends[1] + wide, axis=0)
        values = b.let("concatenate", ends[2], values, ends[3], axis=0)
    if any(b.expr(end).rank for end in (left, right) if end is not None):
        raise RuleError("np.interp takes numbers for left and right", "T201")
    y = b.let("interp", at, places, values)
    if left is not None:
        y = m.where(at < point(places, 0, 0), left, y)
    return y if right is None else m.where(at > point(places, 0, -1), right, y)


_NUMPY: dict[str, Entry] = {
    "sort": Entry(_sort, static=("axis", "kind", "stable")),
    "argsort": Entry(_argsort, static=("axis", "kind", "stable")),
    "partition": Entry(_partition("partition"), static=("kth", "axis")),
    "argpartition": Entry(_partition("argpartition"), static=("kth", "axis")),
    "lexsort": Entry(_lexsort),
    "searchsorted": Entry(_searchsorted, static=("side",)),
    "digitize": Entry(_digitize, static=("right",)),
    "unique": Entry(_unique, static=("return_index", "return_inverse", "return_counts", "axis"), idle=("sorted",)),
    "unique_values": Entry(_unique_values),
    "isin": Entry(_isin, static=("invert", "kind"), idle=("assume_unique",), memory="array"),
    "in1d": Entry(_in1d, static=("invert", "kind"), idle=("assume_unique",)),
    "nonzero": Entry(nonzero),
    "flatnonzero": Entry(flat_nonzero),
    "argwhere": Entry(_argwhere),
    "compress": Entry(_compress, static=("axis",)),
    "extract": Entry(_extract),
    "take": Entry(_take, static=("axis", "mode")),
    "take_along_axis": Entry(_take_along_axis, static=("axis",)),
    "select": Entry(source="library_composites:select", memory="array"),
    "bincount": Entry(_bincount),
    "histogram": Entry(_histogram, static=("density",), memory="itself"),
    "interp": Entry(_interp),
}

TABLE: dict[str, Entry] = {
    **{f"numpy.{name}": entry for name, entry in _NUMPY.items()},
    "ndarray.sort": _NUMPY["sort"],
    "ndarray.partition": _NUMPY["partition"],
    "ndarray.compress": Entry(lambda b, a, condition, axis=None: _compress(b, condition, a, axis), static=("axis",)),
}
