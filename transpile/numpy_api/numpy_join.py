"""NumPy's functions that join and split arrays, by dotted name; all are built from ``concatenate``, ``stack`` and slices."""

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
    cast_to,
    divide,
    integer,
    into,
    known_integer,
    places_of,
    same_dtype,
    shape_text,
    size_of,
    stack,
    strong,
)
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_reduction import holds, ravel
from transpile.numpy_api.numpy_shape import moved, reshape
from transpile.numpy_api.numpy_sorting import compressed
from transpile.ops import language as m
from transpile.ops.slicing import arange, at_least, gather, new_axis, on_axis, point, raise_if, slice_axis, smaller


def concatenate(b: Builder, parts: Sequence[Expr], axis: int) -> Expr:
    """``np.concatenate`` of arrays of one dtype along ``axis``, the array itself if there is one only; T202 if other sizes
    differ."""
    first = parts[0]
    if not first.rank:
        raise RuleError("zero-dimensional arrays cannot be concatenated", "T202", "use np.stack")
    axis = axis_of(axis, first.rank)
    for x in parts[1:]:
        fits = x.rank == first.rank and all(
            k == axis or b.same(d, e) for k, (d, e) in enumerate(zip(first.dims, x.dims))
        )
        if not fits:
            text = f"{shape_text(first.dims)} and {shape_text(x.dims)}"
            raise RuleError(f"arrays of shapes {text} cannot be concatenated along axis {axis}", "T202")
    return first if len(parts) == 1 else b.let("concatenate", *parts, axis=axis)


def _joined(b: Builder, values: Any, dtype: Any = None, casting: Any = "same_kind", weak: bool = False) -> list[Expr]:
    """The arrays of a sequence in their common dtype, then cast to ``dtype`` (None: not). T202 for no arrays, T131 if
    ``casting`` does not allow a cast. ``weak``: Python's numbers do not decide the dtype."""
    parts = arrays(b, values)
    if not parts:
        raise RuleError("need at least one array to concatenate", "T202")
    made = [cast_to(p, dtype) for p in same_dtype(b, parts, weak)]
    for old, new in zip(parts, made):
        if not np.can_cast(old.dtype, new.dtype, casting):
            raise RuleError(f"{old.dtype} is not cast to {new.dtype} (casting={casting!r})", "T131")
    return made


def _concatenate(b: Builder, arrays: Any, axis: Any = 0, dtype: Any = None, casting: Any = "same_kind") -> Expr:
    parts = _joined(b, arrays, dtype, casting, weak=axis is None)
    if axis is None:
        return concatenate(b, [_vector(p) for p in parts], 0)
    return concatenate(b, parts, axis)


def _vector(x: Expr) -> Expr:
    return ravel(x) if x.rank else reshape(x, (Dim(1),))


def _stack(b: Builder, arrays: Any, axis: int = 0, dtype: Any = None, casting: Any = "same_kind") -> Expr:
    parts = _joined(b, arrays, dtype, casting)
    return stack(b, parts, axis_of(axis, parts[0].rank + 1))


def _as_matrices(b: Builder, parts: list[Expr], at: int) -> Expr:
    """Arrays joined along axis ``at`` (0 or 1); vectors get this axis first, so that they are rows (``vstack``) or columns
    (``column_stack``)."""
    if all(p.rank == 1 for p in parts):
        return stack(b, parts, at)
    return concatenate(b, [_matrix(p, at) for p in parts], at)


def _matrix(x: Expr, at: int) -> Expr:
    if not x.rank:
        return reshape(x, [Dim(1), Dim(1)])
    return new_axis(x, at) if x.rank == 1 else x


def _hstack(b: Builder, tup: Any, dtype: Any = None, casting: Any = "same_kind") -> Expr:
    parts = [p if p.rank else reshape(p, (Dim(1),)) for p in _joined(b, tup, dtype, casting)]
    return concatenate(b, parts, 0 if parts[0].rank == 1 else 1)


def _vstack(b: Builder, tup: Any, dtype: Any = None, casting: Any = "same_kind") -> Expr:
    return _as_matrices(b, _joined(b, tup, dtype, casting), 0)


def _column_stack(b: Builder, tup: Any) -> Expr:
    return _as_matrices(b, _joined(b, tup), 1)


def _dstack(b: Builder, tup: Any) -> Expr:
    parts = _joined(b, tup)
    parts = [new_axis(_matrix(p, 0), 2) if p.rank < 3 else p for p in parts]
    return concatenate(b, parts, 2)


def _block(b: Builder, arrays: Any) -> Expr:
    """``np.block``: innermost lists are joined along the last axis, outer lists along the axes before it."""

    def depth(v: Any) -> int:
        return 1 + max(map(depth, v)) if isinstance(v, (list, tuple)) else 0

    def leaves(v: Any) -> list[Any]:
        return [leaf for part in v for leaf in leaves(part)] if isinstance(v, (list, tuple)) else [v]

    levels = depth(arrays)
    found = [array(b, v) for v in leaves(arrays)]
    rank = max(levels, *(x.rank for x in found))
    ready = iter(_raised(x, rank) for x in same_dtype(b, found))

    def join(v: Any, level: int) -> Expr:
        if not isinstance(v, (list, tuple)):
            return next(ready)
        return concatenate(b, [join(part, level + 1) for part in v], rank - levels + level)

    return join(arrays, 0)


def _raised(x: Expr, rank: int) -> Expr:
    return reshape(x, [*([Dim(1)] * (rank - x.rank)), *x.dims]) if x.rank < rank else x


# ----------------------------------------------------------------------------------------------------- splitting


def _cut(x: Expr, axis: int, sections: Any, exact: bool) -> list[Expr]:
    """The parts of an axis, split into a number of sections or at given indices, as a list. ``exact``: T202 if the sections are
    not of equal size."""
    n = x.dims[axis]
    if not isinstance(sections, (tuple, list)):
        places = _even(x.b, n, integer(sections), exact)
    elif n.is_const:
        places = [Dim(0), *(_place(n, known_integer(s, "the places to split at")) for s in sections), n]
    else:
        bounds = [None, *(known_integer(s, "the places to split at") for s in sections), None]
        return [_between(x, axis, start, stop) for start, stop in zip(bounds, bounds[1:])]
    return [slice_axis(x, axis, start, stop, clip=True) for start, stop in zip(places, places[1:])]


def _between(x: Expr, axis: int, start: int | None, stop: int | None) -> Expr:
    """The slice ``start:stop`` of an axis whose size is known at run time only; None is the end."""
    args = [x.b.expr(k) for k in (start, stop) if k is not None]
    item = ir.Slice(None if start is None else 0, None if stop is None else len(args) - 1)
    return x.b.read(x, on_axis(x.rank, axis, item), args, name="part")


def _place(n: Dim, k: int) -> Dim:
    return Dim(min(k, n.const)) if k >= 0 else (n + k).clip()


def _even(b: Builder, n: Dim, count: int | None, exact: bool) -> list[Dim]:
    """The ``count + 1`` bounds of the sections of an axis of size ``n``, the longer ones first; ``exact`` as in `_cut`. T203 if
    the number is not known or below 1."""
    if count is None or count < 1:
        raise RuleError("the number of sections must be a known number larger than 0", "T203", "write the number")
    if exact:
        if n.is_const and n.const % count:
            raise RuleError("array split does not result in an equal division", "T202")
        each = divide([n], [Dim(count)])
        if not (each.times(count) == n or b.same(n, each.times(count))):
            raise RuleError("array split does not result in an equal division", "T202")
        return [each.times(k) for k in range(count + 1)]
    each = n // count
    extra = n - each.times(count)
    return [*(each.times(k) + smaller(Dim(k), extra) for k in range(count)), n]


def _split(exact: bool) -> Callable[..., list[Expr]]:
    def build(b: Builder, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Expr]:
        x = array(b, ary)
        return _cut(x, axis_of(axis, x.rank), indices_or_sections, exact)

    return build


def _split_at(axis: int) -> Callable[..., list[Expr]]:
    """The builder of ``np.vsplit`` (``axis`` 0), ``np.hsplit`` (1) or ``np.dsplit`` (2); ``np.hsplit`` cuts a vector along its
    axis."""

    def build(b: Builder, ary: Any, indices_or_sections: Any) -> list[Expr]:
        x = array(b, ary)
        if x.rank < {0: 2, 1: 1, 2: 3}[axis]:
            raise RuleError("the array has too few axes for this split", "T202", "use np.split with an axis")
        return _cut(x, 0 if x.rank == 1 and axis == 1 else axis, indices_or_sections, True)

    return build


def _unstack(b: Builder, x: Any, axis: int = 0) -> tuple[Expr, ...]:
    x = array(b, x)
    return tuple(arrays(b, m.transpose(x, _first(x.rank, axis_of(axis, x.rank)))))


def _first(rank: int, axis: int) -> list[int]:
    return [axis, *(k for k in range(rank) if k != axis)]


# ---------------------------------------------------------------------------------------------- insert, delete


def _insert(b: Builder, arr: Any, obj: Any, values: Any, axis: Any = None) -> Expr:
    """``np.insert``; T131 for a mask."""
    x = strong(array(b, arr))
    v = into(values, x)
    if axis is None:
        x, axis = _vector(x), 0
    axis = axis_of(axis, x.rank)
    at = places_of(b, "np.insert", obj)
    if at.type.is_bool:
        raise RuleError("np.insert with a mask is not supported", "T131", "pass np.flatnonzero(mask)")
    is_number = not at.rank
    if at.rank == 1 and at.dims[0].is_one:
        at = point(at, 0, 0)
    if at.rank:
        return _insert_several(b, x, at, v, axis)
    place = _within(b, at, x.dims[axis], x.dims[axis] + 1)
    v = _raised(v, x.rank)
    v = moved(v, 0, axis) if is_number else v  # as in NumPy, where a[:, 0] = v and a[:, [0]] = v differ
    v = b.broadcast(v, tuple(v.dims[axis] if k == axis else d for k, d in enumerate(x.dims)))
    return concatenate(b, [slice_axis(x, axis, 0, place), v, slice_axis(x, axis, place)], axis)


def _insert_several(b: Builder, x: Expr, at: Expr, v: Expr, axis: int) -> Expr:
    """``np.insert`` of ``v`` at several indices: new elements are sorted in, each before the element at its index."""
    n, count = x.dims[axis], at.dims[0]
    _check_inside(at, b.dim(n), b.dim(n + 1))
    at = m.where(at < 0, at + b.dim(n), at)
    new = b.broadcast(v, tuple(count if k == axis else d for k, d in enumerate(x.dims)))
    keys = concatenate(b, [2 * arange(b, n) + 1, 2 * at], 0)
    order = b.let("argsort", keys, axis=0, kind="stable")
    return gather(concatenate(b, [x, new], axis), axis, order)


def _within(b: Builder, at: Expr, n: Dim, end: Dim) -> Dim:
    """The index as a size counted from the front; a check raises IndexError unless it is less than ``end`` and at least ``-n``.
    A known index is checked at once, as far as the sizes are known."""
    k = integer(at)
    if k is None:
        _check_inside(at, b.dim(n), b.dim(end))
        return size_of(b, m.where(at < 0, at + b.dim(n), at))
    at_least(b, n if k < 0 else end, -k if k < 0 else k + 1, _OUTSIDE, "IndexError")
    return Dim(k) if k >= 0 else n + k


_OUTSIDE = "index is out of bounds"


def _check_inside(at: Expr, n: Expr, end: Expr) -> None:
    at = at.b.cast(at, "int64") if at.dtype != "int64" else at
    outside = m.logical_or(at < -n, at >= end)
    raise_if(holds("any", outside), "IndexError", _OUTSIDE)


def _delete(b: Builder, arr: Any, obj: Any, axis: Any = None) -> Expr:
    """``np.delete`` of one index, of several, or of the elements where a mask holds."""
    x = array(b, arr)
    if axis is None:
        x, axis = _vector(x), 0
    axis = axis_of(axis, x.rank)
    at = places_of(b, "np.delete", obj)
    if at.rank == 0 and not at.type.is_bool:
        place = _within(b, at, x.dims[axis], x.dims[axis])
        return concatenate(b, [slice_axis(x, axis, 0, place), slice_axis(x, axis, place + 1)], axis)
    if at.type.is_bool and not (at.rank and b.same(at.dims[0], x.dims[axis])):
        raise RuleError(
            "boolean array argument obj to delete must be one dimensional and match the axis length", "T202"
        )
    if not at.type.is_bool:
        _check_inside(at, b.dim(x.dims[axis]), b.dim(x.dims[axis]))
    keep = (
        at
        if at.type.is_bool
        else b.let(
            "isin",
            m.call("arange", b.dim(x.dims[axis]), dims=(x.dims[axis],), dtype="int64"),
            at % b.dim(x.dims[axis]),
            invert=False,
        )
    )
    return compressed(b, m.logical_not(keep), x, axis)


_NUMPY: dict[str, Entry] = {
    "concatenate": Entry(_concatenate, static=("axis", "dtype", "casting"), memory="like"),
    "concat": Entry(_concatenate, static=("axis", "dtype", "casting"), memory="like"),
    "stack": Entry(_stack, static=("axis", "dtype", "casting"), memory="like"),
    "vstack": Entry(_vstack, static=("dtype", "casting"), memory="like"),
    "row_stack": Entry(_vstack, static=("dtype", "casting"), memory="like"),
    "hstack": Entry(_hstack, static=("dtype", "casting")),
    "dstack": Entry(_dstack),
    "column_stack": Entry(_column_stack),
    "append": Entry(source="library_composites:append"),
    "block": Entry(_block, memory="array", rows=False),
    "split": Entry(_split(True), static=("indices_or_sections", "axis"), memory="view"),
    "array_split": Entry(_split(False), static=("indices_or_sections", "axis"), memory="view"),
    "vsplit": Entry(_split_at(0), static=("indices_or_sections",), memory="view"),
    "hsplit": Entry(_split_at(1), static=("indices_or_sections",), memory="view"),
    "dsplit": Entry(_split_at(2), static=("indices_or_sections",), memory="view"),
    "unstack": Entry(_unstack, static=("axis",), memory="view"),
    "insert": Entry(_insert, static=("axis",)),
    "delete": Entry(_delete, static=("axis",)),
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
