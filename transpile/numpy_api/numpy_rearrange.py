"""NumPy's functions for rearranging, repeating, padding, triangles, diagonals and grids, by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import INT, INT64
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import (
    array,
    arrays,
    axes_of,
    axis_of,
    demand_integers,
    diagonal,
    from_nested,
    full,
    integer,
    into,
    one_of,
    places_of,
    product,
    shape_of,
    size_of,
    strong,
)
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_reduction import holds, ravel, reduce
from transpile.numpy_api.numpy_shape import reshape, swapped
from transpile.numpy_api.numpy_sorting import flat_nonzero
from transpile.ops import language as m
from transpile.ops.shape import NOTHING_TO_PAD
from transpile.ops.slicing import along, arange, at_least, fresh_size, gather, raise_if, settle_size, slice_axis

# --------------------------------------------------------------------------------------------------- flip, roll


def flip(x: Expr, axes: Sequence[int]) -> Expr:
    """``np.flip`` along these axes; ``x`` itself if they all have size 1."""
    axes = tuple(k for k in axes if not x.dims[k].is_one)
    return m.call("flip", x, axes=axes) if axes else x


def _flip(b: Builder, m: Any, axis: Any = None) -> Expr:
    x = array(b, m)
    return flip(x, axes_of(axis, x.rank))


def _of_any_axis(bound: Mapping[str, Any]) -> str:
    """The memory of ``np.flip`` (see `Entry`): a view; for rank 0 NumPy returns the number."""
    return "new" if isinstance(bound["m"], Expr) and not bound["m"].rank else "view"


def _flip_at(axis: int) -> Callable[..., Expr]:
    """The builder of ``np.flipud`` (``axis`` 0) or ``np.fliplr`` (1)."""

    def build(b: Builder, m: Any) -> Expr:
        x = array(b, m)
        if x.rank <= axis:
            raise RuleError(f"Input must be >= {axis + 1}-d.", "T202")
        return flip(x, (axis,))

    return build


def _rot90(b: Builder, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Expr:
    """``np.rot90``: ``k`` quarter turns, a known integer, from the first of ``axes`` towards the second."""
    x = array(b, m)
    first, second = (axis_of(a, x.rank) for a in axes)
    if not isinstance(k, (int, np.integer)):
        raise RuleError(
            f"the number of turns of np.rot90 must be an integer, not {k!r}", "T201", "convert it with int(...)"
        )
    turns = k % 4
    if turns == 2:
        return flip(flip(x, (first,)), (second,)) if first > second else flip(x, (first, second))
    if turns == 1:
        return swapped(b, flip(x, (second,)), first, second)
    return flip(swapped(b, x, first, second), (second,)) if turns == 3 else x


def _roll(b: Builder, a: Any, shift: Any, axis: Any = None) -> Expr:
    """``np.roll``; without an axis of the flattened array. A single shift or axis serves for all; shifts along one axis add
    up."""
    x = array(b, a)
    shift = arrays(b, shift) if isinstance(shift, Expr) and shift.rank else shift
    if axis is None:
        return reshape(_roll(b, ravel(x), shift, 0), x.dims)
    several = isinstance(axis, (tuple, list))
    axes = tuple(axis_of(k, x.rank) for k in (axis if several else (axis,)))
    shifts = [b.expr(s) for s in (shift if isinstance(shift, (tuple, list)) else (shift,))]
    demand_integers("np.roll: a shift", *shifts)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise RuleError(f"np.roll by {len(shifts)} shifts along {len(axes)} axes", "T202")
    if not axes or not shifts:
        return x
    count = max(len(axes), len(shifts))
    axes, shifts = (axes * count)[:count], (shifts * count)[:count]
    if len(set(axes)) < count:
        for k, s in zip(axes, shifts):
            x = m.call("roll", x, s, axes=(k,))
        return x
    return m.call("roll", x, *shifts, axes=axes)


# ------------------------------------------------------------------------------------------ tile, repeat, resize


def _tile(b: Builder, A: Any, reps: Any) -> Expr:
    x = array(b, A)
    counts = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    if len(counts) == 1 and b.expr(counts[0]).rank == 1:
        counts = list(arrays(b, counts[0]))
    counts = [b.expr(1)] * (x.rank - len(counts)) + [b.expr(c) for c in counts]
    x = reshape(strong(x), [*([Dim(1)] * (len(counts) - x.rank)), *x.dims]) if len(counts) > x.rank else x
    dims = tuple(d * size_of(b, c) for d, c in zip(x.dims, counts))
    if all(integer(c) == 1 for c in counts):
        return x
    return b.let("tile", x, *counts, dims=dims)


def _repeat(b: Builder, a: Any, repeats: Any, axis: Any = None) -> Expr:
    """``np.repeat``: with one number for all entries, or one for each (the length is then known at run time only)."""
    x = strong(array(b, a))
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of(axis, x.rank)
    times = array(b, repeats)
    if times.rank == 0:
        dims = tuple(d * size_of(b, times) if k == axis else d for k, d in enumerate(x.dims))
        return b.let("repeat", x, times, axis=axis, dims=dims)
    symbol = fresh_size(b, "repeated")
    places = b.let("repeat_each", arange(b, x.dims[axis]), b.broadcast(times, (x.dims[axis],)), dims=(symbol,))
    return gather(x, axis, settle_size(b, places, 0, symbol))


def _resize(b: Builder, a: Any, new_shape: Any) -> Expr:
    """``np.resize``: the elements repeated from the beginning as often as needed, zeros if there are none."""
    x, dims = ravel(array(b, a)), shape_of(b, new_shape)
    for d in dims:
        at_least(b, d, 0, "all elements of `new_shape` must be non-negative")
    n, size = product(dims), x.dims[0]
    is_empty = b.decide(size, Dim(0))
    if is_empty:
        return full(b, 0, dims, x.dtype)
    if is_empty is None:  # known at run time only: append a zero, which is read only if there is no other element
        x = b.let("concatenate", x, full(b, 0, (Dim(1),), x.dtype), axis=0)
    places = arange(b, n) % (b.dim(size) if is_empty is False else m.maximum(b.dim(size), 1))
    return reshape(gather(x, 0, places), dims)


# ----------------------------------------------------------------------------------------------------------- pad


def _pairs(b: Builder, widths: Any, rank: int, what: str) -> list[tuple[Any, Any]]:
    """One pair (before, after) for each of ``rank`` axes, from a number, a pair, or pairs; T202, about ``what``, for another
    number of pairs."""
    if not isinstance(widths, (tuple, list)):
        return [(widths, widths)] * rank
    rows = list(widths)
    if not any(isinstance(r, (tuple, list)) for r in rows):
        if len(rows) == 1:
            return [(rows[0], rows[0])] * rank
        if len(rows) == 2:
            return [(rows[0], rows[1])] * rank
    pairs = [tuple(r) * (2 if len(r) == 1 else 1) for r in rows if isinstance(r, (tuple, list))]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank or any(len(p) != 2 for p in pairs):
        raise RuleError(f"{what} does not fit an array of {rank} dimensions", "T202")
    return pairs


_FILLS = ("constant", "edge", "reflect", "symmetric", "wrap")


def _pad(
    b: Builder,
    array: Any,
    pad_width: Any,
    mode: str = "constant",
    constant_values: Any = None,
    reflect_type: Any = "even",
    end_values: Any = None,
) -> Expr:
    """``np.pad``: one primitive, or, for statistics, ramps and different constants, parts that are joined axis by axis. T201
    for other modes."""
    x = from_nested(b, array)
    if mode not in (*_FILLS, *_SIDES) or reflect_type != "even":
        kind = f"{mode!r}" if reflect_type == "even" else f"{mode!r} with reflect_type={reflect_type!r}"
        hint = f"the supported modes are {', '.join((*_FILLS, *_SIDES))}"
        raise RuleError(f"the padding mode {kind} is not supported", "T201", hint)
    for name, value, needs in (
        ("constant_values", constant_values, "constant"),
        ("end_values", end_values, "linear_ramp"),
    ):
        if value is not None and mode != needs:
            raise RuleError(f"unsupported keyword arguments for mode {mode!r}: {name}", "T131")
    pairs = _pairs(b, pad_width, x.rank, "pad_width")
    if mode in _SIDES:
        ends = _pairs(b, 0 if end_values is None else end_values, x.rank, "end_values")
        for axis, (pair, end) in enumerate(zip(pairs, ends)):
            before, after = (size_of(b, width) for width in pair)
            for width in (before, after):
                at_least(b, width, 0, "index can't contain negative values")
            if before == after == Dim(0):
                continue
            at_least(b, x.dims[axis], 1, NOTHING_TO_PAD.format(axis), unless_empty=(before + after,))
            sides = [_SIDES[mode](b, x, axis, k, width, end[k]) for k, width in enumerate((before, after))]
            x = b.let("concatenate", sides[0], x, sides[1], axis=axis)
        return x
    widths = [b.expr(w) for pair in pairs for w in pair]
    dims = tuple(d + size_of(b, before) + size_of(b, after) for d, (before, after) in zip(x.dims, pairs))
    params: dict[str, Any] = {"mode": mode, "dims": dims}
    if len({w.op for w in widths}) == 1:
        params["even"] = True  # one width for all sides
    if mode != "constant":
        return b.let("pad", x, *widths, **params)
    values = _pairs(b, 0 if constant_values is None else constant_values, x.rank, "constant_values")
    flat = [v for pair in values for v in pair]
    if all(v is flat[0] for v in flat) or (len({integer(v) for v in flat}) == 1 and integer(flat[0]) is not None):
        value = b.expr(flat[0])
        more = () if integer(value) == 0 else (into(value, x),)
        return b.let("pad", x, *widths, *more, **params)
    for axis, (pair, (before, after)) in enumerate(zip(pairs, values)):
        sides = [_filled(b, x, axis, w, v) for w, v in zip(pair, (before, after))]
        x = b.let("concatenate", sides[0], x, sides[1], axis=axis)
    return x


def _statistic(prim: str) -> Callable[..., Expr]:
    """The function for a side of the padding, as `_ramp`, that repeats the maximum, minimum or mean (``prim``) of the axis."""

    def side(b: Builder, x: Expr, axis: int, k: int, width: Dim, end: Any) -> Expr:
        y = reduce(prim, x, axis, True)
        y = b.cast(b.elementwise("rint", y) if prim == "mean" and x.type.is_int else y, x.dtype)
        return b.broadcast(y, tuple(width if j == axis else d for j, d in enumerate(x.dims)))

    return side


def _ramp(b: Builder, x: Expr, axis: int, k: int, width: Dim, end: Any) -> Expr:
    """A side of the padding (``k`` 0: before, 1: after), ``width`` entries along ``axis``, that goes linearly from ``end`` to
    the edge of the axis."""
    if x.type.is_bool:
        raise RuleError(
            "np.pad: a linear ramp of truth values is not defined", "T201", "convert them with .astype(float)"
        )
    dtype = x.dtype if x.type.is_float else "float64"
    steps = reshape(arange(b, width), [width if j == axis else Dim(1) for j in range(x.rank)])
    steps = b.dim(width) - 1 - steps if k else steps
    edge = b.cast(slice_axis(x, axis, x.dims[axis] - 1) if k else slice_axis(x, axis, 0, 1), dtype)
    first = b.cast(b.expr(end), dtype)
    y = first + b.cast(steps, dtype) * ((edge - first) / b.cast(m.maximum(b.dim(width), 1, py=True), dtype))
    return b.cast(y if x.type.is_float else m.floor(y), x.dtype)


_SIDES: dict[str, Callable[..., Expr]] = {
    "maximum": _statistic("max"),
    "minimum": _statistic("min"),
    "mean": _statistic("mean"),
    "linear_ramp": _ramp,
}


def _filled(b: Builder, x: Expr, axis: int, width: Any, value: Any) -> Expr:
    dims = tuple(size_of(b, width) if k == axis else d for k, d in enumerate(x.dims))
    return full(b, into(value, x), dims, x.dtype)


# ------------------------------------------------------------------------------------- triangles and diagonals


def _triangle(prim: str) -> Callable[..., Expr]:
    """The builder of ``np.tril`` or ``np.triu``; a vector becomes the rows of a square matrix first."""

    def build(b: Builder, m: Any, k: Any = 0) -> Expr:
        x = array(b, m)
        if x.rank == 1:
            x = b.broadcast(x, (x.dims[0], x.dims[0]))
        if x.rank == 0:
            raise RuleError(f"np.{prim} needs an array", "T202")
        return b.let(prim, x, k=diagonal(k))

    return build


def _diag(b: Builder, v: Any, k: Any = 0) -> Expr:
    x = array(b, v)
    if x.rank == 1:
        return b.let("diag", x, offset=diagonal(k))
    if x.rank != 2:
        raise RuleError("Input must be 1- or 2-d.", "T202")
    return b.let("diagonal", x, offset=diagonal(k), axes=(0, 1))


def _of_matrix(bound: Mapping[str, Any]) -> str:
    """The memory of ``np.diag`` (see `Entry`): a new matrix from a vector, a read-only view from a matrix."""
    return "read-only" if isinstance(bound["v"], Expr) and bound["v"].rank > 1 else "new"


def _diagonal(b: Builder, a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Expr:
    x = array(b, a)
    axes = (axis_of(axis1, x.rank), axis_of(axis2, x.rank))
    if axes[0] == axes[1]:
        raise RuleError("axis1 and axis2 cannot be the same", "T208")
    return b.let("diagonal", x, offset=offset, axes=axes)


def _trace(b: Builder, a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Expr:
    """``np.trace``: one primitive for the main diagonal of a matrix, else the sum of a diagonal."""
    x = array(b, a)
    is_wide = x.type.is_float or x.dtype in ("int64", "uint64")  # narrow integers are widened before they are summed
    if x.rank == 2 and not offset and (axis1, axis2) in ((0, 1), (0, -1)) and dtype is None and is_wide:
        return b.let("trace", x)
    diagonal = _diagonal(b, x, offset, axis1, axis2)
    diagonal = diagonal if dtype is None else b.cast(diagonal, np.dtype(dtype).name)
    return b.let("sum", diagonal, axes=(diagonal.rank - 1,), keepdims=False)


def _diagflat(b: Builder, v: Any, k: Any = 0) -> Expr:
    return b.let(
        "diag", ravel(strong(array(b, v))) if array(b, v).rank else reshape(array(b, v), (Dim(1),)), offset=diagonal(k)
    )


# ------------------------------------------------------------------------------------------------ grids, places


def _meshgrid(b: Builder, *xi: Any, sparse: bool = False, indexing: str = "xy") -> tuple[Expr, ...]:
    """``np.meshgrid``: with ``sparse`` arrays of size 1 along the other axes, else broadcast."""
    one_of("np.meshgrid", "indexing", indexing, "xy", "ij")
    xs = [array(b, x) for x in xi]
    xs = [x if x.rank == 1 else ravel(x) if x.rank else reshape(strong(x), (Dim(1),)) for x in xs]
    rank = len(xs)
    where = list(range(rank))
    if indexing == "xy" and rank > 1:
        where[0], where[1] = 1, 0
    dims: list[Dim] = [Dim(1)] * rank
    for k, x in zip(where, xs):
        dims[k] = x.dims[0]
    thin = [reshape(x, [x.dims[0] if j == k else Dim(1) for j in range(rank)]) for k, x in zip(where, xs)]
    return tuple(thin if sparse else (b.broadcast(x, tuple(dims)) for x in thin))


def _meshgrid_memory(bound: Mapping[str, Any]) -> str:
    """The memory of ``np.meshgrid`` (see `Entry`): copies, or views of vectors; an array of higher rank is flattened first."""
    if bound["copy"]:
        return "C"
    return "view" if all(isinstance(x, Expr) and x.rank < 2 for x in bound.get("xi", ())) else "either"


def _ix(b: Builder, *args: Any) -> tuple[Expr, ...]:
    xs = [array(b, a) for a in args]
    if any(x.rank != 1 for x in xs):
        raise RuleError("Cross index must be 1 dimensional", "T202")
    if any(x.type.is_bool for x in xs):
        xs = [flat_nonzero(b, x) if x.type.is_bool else x for x in xs]
    return tuple(reshape(x, [x.dims[0] if j == k else Dim(1) for j in range(len(xs))]) for k, x in enumerate(xs))


def _indices(b: Builder, dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    dims = shape_of(b, dimensions)
    grids = [b.cast(along(b, dims, k), np.dtype(dtype).name) for k in range(len(dims))]
    if sparse:
        return tuple(grids)
    return b.let("stack", *(b.broadcast(g, dims) for g in grids), axis=0)


def _unravel_index(b: Builder, indices: Any, shape: Any) -> tuple[Expr, ...]:
    dims, at = shape_of(b, shape), b.cast(array(b, indices), INT64)
    outside = m.logical_or(at < 0, at >= b.dim(product(dims)))
    raise_if(holds("any", outside), "ValueError", "index is out of bounds for the array")
    found = b.let("unravel_index", at, *(b.dim(d) for d in dims))
    return tuple(b.let("item", found, k=k) for k in range(len(dims)))


def _ravel_multi_index(b: Builder, multi_index: Any, dims: Any) -> Expr:
    """``np.ravel_multi_index``; ValueError at run time for an index out of range."""
    sizes = shape_of(b, dims)
    total = None
    places = arrays(b, multi_index)
    if len(places) != len(sizes):
        raise RuleError(f"parameter multi_index must be a sequence of length {len(sizes)}", "T202")
    for given, d in zip(places, sizes):
        index = places_of(b, "np.ravel_multi_index", given)
        index = b.cast(index, "int64") if index.type.is_int and not index.type.weak else index  # wide enough
        outside = m.logical_or(index < 0, index >= b.dim(d))
        raise_if(holds("any", outside), "ValueError", "invalid entry in coordinates array")
        total = index if total is None else total * b.cast(b.dim(d), INT) + index
    if total is None:
        raise RuleError("np.ravel_multi_index needs an index for each dimension", "T131")
    return total


_AXIS = ("axis", "axis1", "axis2", "axes")

_NUMPY: dict[str, Entry] = {
    "flip": Entry(_flip, static=_AXIS, memory=_of_any_axis),
    "flipud": Entry(_flip_at(0), memory="view"),
    "fliplr": Entry(_flip_at(1), memory="view"),
    "rot90": Entry(_rot90, static=(*_AXIS, "k"), memory="view"),
    "roll": Entry(_roll, static=_AXIS, memory="array"),
    "tile": Entry(_tile, memory="like"),
    "repeat": Entry(_repeat, static=_AXIS, memory="C"),
    "resize": Entry(_resize, memory="array"),
    "pad": Entry(_pad, static=("mode", "reflect_type"), memory="array"),
    "tril": Entry(_triangle("tril"), static=("k",)),
    "triu": Entry(_triangle("triu"), static=("k",)),
    "diag": Entry(_diag, static=("k",), memory=_of_matrix),
    "diagonal": Entry(_diagonal, static=(*_AXIS, "offset"), memory="read-only"),
    "linalg.diagonal": Entry(
        lambda b, x, offset=0: _diagonal(b, x, offset, -2, -1), static=("offset",), memory="read-only"
    ),
    "trace": Entry(_trace, static=(*_AXIS, "offset", "dtype")),
    "linalg.trace": Entry(
        lambda b, x, offset=0, dtype=None: _trace(b, x, offset, -2, -1, dtype), static=("offset", "dtype")
    ),
    "diagflat": Entry(_diagflat, static=("k",)),
    "meshgrid": Entry(_meshgrid, static=("sparse", "indexing"), idle=("copy",), memory=_meshgrid_memory),
    "ix_": Entry(_ix, memory="place"),
    "indices": Entry(_indices, static=("dtype", "sparse")),
    "unravel_index": Entry(_unravel_index),
    "ravel_multi_index": Entry(_ravel_multi_index),
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
