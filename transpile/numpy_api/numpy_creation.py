"""NumPy's functions that create arrays from numbers, shapes and other arrays, by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import INT64, promote
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import (
    array,
    axis_of,
    cast_to,
    diagonal,
    dtype_of,
    from_nested,
    full,
    integer,
    into,
    numeric,
    same_dtype,
    shape_of,
    size_of,
    strong,
    strong_type,
)
from transpile.numpy_api.entry_record import Entry, in_order
from transpile.numpy_api.numpy_reduction import holds
from transpile.numpy_api.numpy_shape import moved
from transpile.numpy_api.numpy_sorting import nonzero
from transpile.ops import language as m
from transpile.ops.slicing import along, at_least, fresh_size, new_axis, point, raise_if, settle_size

_STATIC = ("dtype", "order", "copy", "ndmin")
_IDLE = ("order",)  # the layout decides which memory is shared, but no value


def _check_order(order: Any) -> None:
    """Raises T131 for a memory order that NumPy refuses for a new array."""
    if order is not None and order not in "CFcf":
        raise RuleError(f"only 'C' or 'F' order is permitted, not {order!r}", "T131")


def _filled(value: float) -> Callable[..., Expr]:
    def build(b: Builder, shape: Any, dtype: Any = None, order: str = "C") -> Expr:
        _check_order(order)
        return full(b, value, shape_of(b, shape), dtype_of(dtype, "float64"))

    return build


def _filled_like(value: float) -> Callable[..., Expr]:
    def build(b: Builder, a: Any, dtype: Any = None, shape: Any = None) -> Expr:
        x = array(b, a)
        made = full(b, value, x.dims if shape is None else shape_of(b, shape), dtype_of(dtype, x.dtype))
        return b.like(made, x) if dtype is None else made

    return build


def _empty(b: Builder, shape: Any, dtype: Any = None, order: str = "C") -> Expr:
    _check_order(order)
    return b.let("empty", dims=shape_of(b, shape), dtype=dtype_of(dtype, "float64"))


def _empty_like(b: Builder, prototype: Any, dtype: Any = None, shape: Any = None) -> Expr:
    x = array(b, prototype)
    made = b.let("empty", dims=x.dims if shape is None else shape_of(b, shape), dtype=dtype_of(dtype, x.dtype))
    return b.like(made, x) if dtype is None else made


def _full(b: Builder, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Expr:
    _check_order(order)
    value, dims = array(b, fill_value), shape_of(b, shape)
    dtype = dtype_of(dtype, strong_type(value).dtype)
    return _everywhere(b, b.cast(_to_fill(value), dtype), dims)


def _to_fill(value: Expr) -> Expr:
    """The fill value: a float as a NumPy value, so that it is cast like an array, not as ``int`` does it; an integer unchanged,
    since it has to fit."""
    return strong(value) if value.type.is_float else value


def _everywhere(b: Builder, value: Expr, dims: tuple[Dim, ...]) -> Expr:
    """``value`` broadcast to ``dims``; like NumPy it drops surplus leading axes of size 1. T202 if it has more axes still."""
    while value.rank > len(dims) and value.dims[0] == Dim(1):
        value = point(value, 0, 0)
    if value.rank > len(dims):
        raise RuleError(f"could not broadcast {value.type} into {len(dims)} dimensions", "T202")
    return b.broadcast(value, dims) if value.rank else full(b, value, dims, value.dtype)


def _full_like(b: Builder, a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Expr:
    x = array(b, a)
    dims = x.dims if shape is None else shape_of(b, shape)
    value = _to_fill(array(b, fill_value))
    made = _everywhere(b, into(value, x) if dtype is None else b.cast(value, dtype_of(dtype, "")), dims)
    return b.like(made, x) if dtype is None else made


def _array(b: Builder, object: Any, dtype: Any = None, copy: Any = True, ndmin: int = 0) -> Expr:
    """``np.array``; with ``copy=False`` T201 where the value is no array yet. ``copy=None`` copies if needed."""
    x = strong(from_nested(b, object, None if dtype is None else dtype_of(dtype, "")))
    if copy is not None and not copy and (not isinstance(object, Expr) or object.type != x.type):
        raise RuleError(
            "copy=False, but the value must be copied to be an array: NumPy raises ValueError", "T201", "use np.asarray"
        )
    if not isinstance(ndmin, (int, np.integer)):
        raise RuleError(f"ndmin must be an integer, not {ndmin!r}", "T201", "convert it with int(...)")
    while x.rank < ndmin:
        x = new_axis(x, 0)
    return x


def _asarray(b: Builder, a: Any, dtype: Any = None, *, copy: Any = None) -> Expr:
    return _array(b, a, dtype, copy)


def _asarray_chkfinite(b: Builder, a: Any, dtype: Any = None) -> Expr:
    return _array(b, a, dtype, None)


def _contiguous(b: Builder, a: Any, dtype: Any = None) -> Expr:
    return _array(b, a, dtype, ndmin=1)


def _array_memory(order: Any = None) -> Callable[[Mapping[str, Any]], str]:
    """The ``memory`` function of ``np.array`` and its variants: a copy (copy=True), or the argument itself if it already fits
    (copy=None). ``order`` stands for the argument of this name if the callable has none."""

    def shares(bound: Mapping[str, Any]) -> str:
        """The kind of memory (see `Entry`) of a call with these arguments."""
        x, wanted = bound.get("object", bound.get("a")), bound.get("order", order)
        if not isinstance(x, Expr):
            return "C" if wanted in (None, "C", "K", "A") else "array"
        if bound.get("copy"):
            return (
                "C" if wanted == "C" else "like" if wanted in (None, "K", "A") and not bound.get("dtype") else "array"
            )
        if wanted in (None, "K", "A") or not x.rank:
            return "same"
        return "ordered" if wanted == "C" or x.rank < 2 else "layout"

    return shares


def _copy(b: Builder, a: Any) -> Expr:
    return strong(array(b, a))


# ------------------------------------------------------------------------------------------------------ ranges


def _arange(b: Builder, start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None) -> Expr:
    """``np.arange``; its size is a new symbol if it is known at run time only."""
    if stop is None:
        start, stop = None, start
    given = [b.expr(v) for v in (start, stop, step) if v is not None]
    if any(v.dims for v in given):
        raise RuleError("np.arange takes numbers", "T201")
    whole = all(v.type.is_int or v.type.is_bool for v in given)
    dtype = dtype_of(dtype, "int64" if whole else _float_of(given))
    args = given if start is not None or step is None else [b.expr(0), *given]
    dims = _range_size(b, args)
    if dims is not None:
        return b.let("arange", *args, dims=(dims,), dtype=dtype)
    symbol = fresh_size(b, "steps")
    return settle_size(b, b.let("arange", *args, dims=(symbol,), dtype=dtype), 0, symbol)


def _float_of(given: list[Expr]) -> str:
    return promote(*(v.type for v in given), INT64).dtype  # promoted with int64, which turns float32 into float64


def _range_size(b: Builder, args: list[Expr]) -> Dim | None:
    """The number of elements of ``arange(*args)``, if the arguments are literals or it is an expression of known sizes; else
    None."""
    if all(isinstance(a.op, ir.Const) for a in args):
        return Dim(len(np.arange(*(a.op.value for a in args))))  # type: ignore[union-attr]
    ends = [_whole(b, a) for a in args]
    if any(e is None for e in ends):
        return None
    if len(args) == 1:
        return ends[0].clip()  # type: ignore[union-attr]
    step = ends[2].const if len(args) > 2 and ends[2].is_const else 1 if len(args) < 3 else None  # type: ignore
    if not step:
        return None
    span = ends[1] - ends[0]  # type: ignore[operator]
    if step < 0:
        span, step = -span, -step
    return span.clip() if step == 1 else (span.clip() + (step - 1)) // step


def _whole(b: Builder, x: Expr) -> Dim | None:
    """A number as a size, if it is a literal with an integer value or an integer by type; else None."""
    if isinstance(x.op, ir.Const):
        return Dim(int(x.op.value)) if float(x.op.value).is_integer() else None
    return b.form(x) if x.type.is_int or x.type.is_bool else None


def _linspace(
    b: Builder,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """``np.linspace``; with ``retstep`` the pair of the points and the step, NaN if there is none."""
    first, last = array(b, start), array(b, stop)
    first, last = (b.floating(x) for x in same_dtype(b, [first, last], weak=True))
    if first.rank or last.rank:
        first, last = (b.broadcast(x, b.broadcast_dims([first.dims, last.dims])) for x in (first, last))
        y = _between(b, first, last, num, endpoint)
        y = moved(y, 0, axis)
    else:
        axis_of(axis, 1)
        y = b.let(
            "linspace", first, last, b.expr(num), dims=(size_of(b, num),), dtype=first.dtype, endpoint=bool(endpoint)
        )
    y = cast_to(m.floor(y) if dtype is not None and np.dtype(dtype).kind in "iu" else y, dtype)
    if not retstep:
        return y
    count = b.expr(num) - 1 if endpoint else b.expr(num)
    known = integer(num)
    if known is None:
        return y, m.where(count > 0, (last - first) / m.maximum(count, 1, py=True), np.nan)
    return y, (last - first) / count if known > (1 if endpoint else 0) else b.expr(np.nan)


def _between(b: Builder, first: Expr, last: Expr, num: Any, endpoint: bool) -> Expr:
    """``linspace`` from the array ``first`` to the array ``last``, of one shape: the points lie along a new first axis."""
    n = size_of(b, num)
    count = b.expr(num) - 1 if endpoint else b.expr(num)
    dims = (n, *first.dims)
    steps = m.maximum(count, 1, py=True)
    place = along(b, dims, 0)
    y = first + b.cast(place, first.dtype) * ((last - first) / steps)
    return m.where(place.eq(steps), last, y) if endpoint else y  # the last point is exact


def _logspace(
    b: Builder,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Expr:
    """``np.logspace``; T131 for a base that is an array."""
    if array(b, base).rank:
        raise RuleError(
            "np.logspace: a base that is an array is not supported", "T131", "write base ** np.linspace(...)"
        )
    return cast_to(
        b.elementwise("pow", array(b, base), _linspace(b, start, stop, num, endpoint, axis=axis), strong=True), dtype
    )


def _geomspace(
    b: Builder, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Expr:
    """``np.geomspace``: constant steps of the logarithm; both ends must have the same sign. ValueError at run time if one is
    0."""
    first, last = numeric(b, start, stop)
    within = np.result_type(first.dtype, last.dtype, dtype_of(dtype, "float64"))
    first, last = (b.cast(x, within.name if within.kind == "f" else "float64") for x in (first, last))
    if not isinstance(start, (int, float)) or not isinstance(stop, (int, float)):
        zeros = (holds("any", x.eq(0)) for x in (first, last))
        raise_if(m.logical_or(*zeros), "ValueError", "Geometric sequence cannot include zero")
    rank = max(first.rank, last.rank)
    shares = _linspace(b, 0.0, 1.0, num, endpoint)
    shares = m.reshape(shares, (*shares.dims, *[Dim(1)] * rank)) if rank else shares
    y = first * b.elementwise("pow", last / first, shares, strong=True)
    return cast_to(moved(y, 0, axis), dtype)


# ----------------------------------------------------------------------------------------------------- matrices


def _matrix(prim: str) -> Callable[..., Expr]:
    """The builder of ``np.eye`` or ``np.tri``."""

    def build(b: Builder, N: Any, M: Any = None, k: int = 0, dtype: Any = float) -> Expr:
        n = b.expr(N)
        width = n if M is None else b.expr(M)
        dims = (size_of(b, n), size_of(b, width))
        return b.let(prim, n, width, dims=dims, k=diagonal(k), dtype=dtype_of(dtype, "float64"))

    return build


def _eye(b: Builder, N: Any, M: Any = None, k: int = 0, dtype: Any = float, order: str = "C") -> Expr:
    _check_order(order)
    return _matrix("eye")(b, N, M, k, dtype)


def _identity(b: Builder, n: Any, dtype: Any = None) -> Expr:
    return _matrix("eye")(b, n, dtype=dtype)


def _vander(b: Builder, x: Any, N: Any = None, increasing: bool = False) -> Expr:
    """``np.vander``: the powers of a vector, one in each column, the highest first unless ``increasing``."""
    v = array(b, x)
    if v.rank != 1:
        raise RuleError("x must be a one-dimensional array or sequence.", "T201")
    v = b.cast(v, promote(v.type, INT64).dtype)
    n = v.dims[0] if N is None else size_of(b, N)
    at_least(b, n, 0, "negative dimensions are not allowed")
    powers = b.let("arange", b.dim(n), dims=(n,), dtype="int64")
    powers = powers if increasing else b.let("flip", powers, axes=(0,))
    return b.elementwise("pow", new_axis(v, 1), powers if not v.type.is_float else b.cast(powers, v.dtype), strong=True)


def _diag_indices(b: Builder, n: Any, ndim: int = 2) -> tuple[Expr, ...]:
    size = size_of(b, n)
    return (b.let("arange", b.expr(n), dims=(size,), dtype="int64"),) * ndim


def _diag_indices_from(b: Builder, arr: Any) -> tuple[Expr, ...]:
    x = array(b, arr)
    if x.rank < 2:
        raise RuleError("input array must be at least 2-d", "T202")
    if not all(b.same(d, x.dims[0]) for d in x.dims):
        raise RuleError("All dimensions of input must be of equal length", "T202")
    return _diag_indices(b, b.dim(x.dims[0]), x.rank)


def _triangle_indices(upper: bool) -> Callable[..., tuple[Expr, ...]]:
    """The builder of ``np.triu_indices`` (``upper``) or ``np.tril_indices``."""

    def build(b: Builder, n: Any, k: int = 0, m: Any = None) -> tuple[Expr, ...]:
        width = b.expr(n) if m is None else b.expr(m)
        if upper:
            inside = _matrix("tri")(b, n, width, diagonal(k) - 1, "bool")
            inside = b.elementwise("logical_not", inside)
        else:
            inside = _matrix("tri")(b, n, width, k, "bool")
        return nonzero(b, inside)

    return build


def _triangle_indices_from(upper: bool) -> Callable[..., tuple[Expr, ...]]:
    """The builder of ``np.triu_indices_from`` (``upper``) or ``np.tril_indices_from``."""

    def build(b: Builder, arr: Any, k: int = 0) -> tuple[Expr, ...]:
        x = array(b, arr)
        if x.rank != 2:
            raise RuleError("input array must be 2-d", "T202")
        return _triangle_indices(upper)(b, b.dim(x.dims[0]), k, b.dim(x.dims[1]))

    return build


_NUMPY: dict[str, Entry] = {
    "zeros": Entry(_filled(0), static=_STATIC, memory=in_order("C")),
    "ones": Entry(_filled(1), static=_STATIC, memory=in_order("C")),
    "empty": Entry(_empty, static=_STATIC, memory=in_order("C")),
    "full": Entry(_full, static=_STATIC, memory=in_order("C")),
    "zeros_like": Entry(_filled_like(0), static=_STATIC, idle=_IDLE, memory=in_order("like")),
    "ones_like": Entry(_filled_like(1), static=_STATIC, idle=_IDLE, memory=in_order("like")),
    "empty_like": Entry(_empty_like, static=_STATIC, idle=_IDLE, memory=in_order("like")),
    "full_like": Entry(_full_like, static=_STATIC, idle=_IDLE, memory=in_order("like")),
    "array": Entry(_array, static=_STATIC, idle=_IDLE, memory=_array_memory()),
    **{n: Entry(_asarray, static=_STATIC, idle=_IDLE, memory=_array_memory()) for n in ("asarray", "asanyarray")},
    "asarray_chkfinite": Entry(_asarray_chkfinite, static=_STATIC, idle=_IDLE, memory=_array_memory()),
    "ascontiguousarray": Entry(_contiguous, static=_STATIC, memory=_array_memory("C")),
    "asfortranarray": Entry(_contiguous, static=_STATIC, memory=_array_memory("F")),
    "copy": Entry(_copy, idle=_IDLE, memory=in_order("like")),
    "arange": Entry(_arange, static=_STATIC, memory="C"),
    "linspace": Entry(_linspace, static=(*_STATIC, "endpoint", "retstep", "axis")),
    "logspace": Entry(_logspace, static=(*_STATIC, "endpoint", "axis")),
    "geomspace": Entry(_geomspace, static=(*_STATIC, "endpoint", "axis")),
    "eye": Entry(_eye, static=(*_STATIC, "k"), memory=in_order("C")),
    "tri": Entry(_matrix("tri"), static=(*_STATIC, "k"), memory="C"),
    "identity": Entry(_identity, static=_STATIC, memory="C"),
    "vander": Entry(_vander, static=("increasing",)),
    "diag_indices": Entry(source="library_composites:diag_indices"),
    "diag_indices_from": Entry(_diag_indices_from),
    "tril_indices": Entry(_triangle_indices(False), static=("k",)),
    "triu_indices": Entry(_triangle_indices(True), static=("k",)),
    "tril_indices_from": Entry(_triangle_indices_from(False), static=("k",)),
    "triu_indices_from": Entry(_triangle_indices_from(True), static=("k",)),
}

TABLE: dict[str, Entry] = {
    **{f"numpy.{name}": entry for name, entry in _NUMPY.items()},
    "ndarray.copy": Entry(_copy, idle=_IDLE, memory=in_order("like")),
}
