"""Shapes, transposes and broadcasts of NumPy, by dotted name, with the related array methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import INT
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import (
    array,
    axes_of,
    axis_of,
    divide,
    from_nested,
    held,
    integer,
    is_one,
    product,
    shape_of,
    shape_text,
    size_of,
    strong,
)
from transpile.numpy_api.entry_record import Entry, copied_unless
from transpile.numpy_api.numpy_reduction import ravel
from transpile.ops import language as m
from transpile.ops.slicing import new_axis, point, raise_if

# ------------------------------------------------------------------------------------------------------ reshape


def reshape(x: Expr, dims: Sequence[Dim]) -> Expr:
    return x.b.let("reshape", x, dims=tuple(dims))


def reshaped(b: Builder, x: Expr, shape: Any) -> Expr:
    """``x.reshape(shape)``, where one size may be -1; T202 if the sizes are known not to fit."""
    sizes = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    if len(sizes) == 1 and b.expr(sizes[0]).rank == 1:
        sizes = held(b, b.expr(sizes[0]))
    open_at = [k for k, s in enumerate(sizes) if integer(s) == -1]
    if len(open_at) > 1:
        raise RuleError("can only specify one unknown dimension", "T202", "write -1 at most once")
    known = [size_of(b, s) for k, s in enumerate(sizes) if k not in open_at]
    text = shape_text([Dim(-1) if k in open_at else size_of(b, s) for k, s in enumerate(sizes)])
    have, given = product(x.dims), product(known)
    if open_at and given == Dim(0):
        raise RuleError(f"cannot reshape array of size {have} into shape {text}", "T202")
    if open_at:
        known.insert(open_at[0], divide(x.dims, known))
    want = product(known)
    if have != want and open_at and not given.is_const:
        said = "cannot reshape an array into a shape with both 0 and -1"
        raise_if(b.elementwise("equal", b.dim(given), 0), "ValueError", said)
    if have != want and b.unify(have, want) is None:
        message = f"cannot reshape array of size {have} into shape {text}"
        raise RuleError(message, "T202", "correct the sizes, or write -1 for one of them")
    return reshape(x, known)


def _refuse_order(order: Any, rank: int) -> None:
    if order not in ("C", "A", "K"):
        raise RuleError(f"order={order!r} is not supported", "T201", "transpose first")
    if order != "C" and rank > 1:
        raise RuleError(
            f"order={order!r} depends on the memory layout, which is not known", "T201", "write order='C' or order='F'"
        )


def _reshape(b: Builder, a: Any, shape: Any, order: str = "C") -> Expr:
    return _in_order(b, array(b, a), shape, order)


def _reshape_method(b: Builder, a: Any, *shape: Any, order: str = "C") -> Expr:
    return _in_order(b, array(b, a), shape[0] if len(shape) == 1 else shape, order)


def _in_order(b: Builder, x: Expr, shape: Any, order: str) -> Expr:
    """A reshape in the order C or F; F is C of the transposed array with the sizes reversed. T201 for an order that depends on
    the memory layout."""
    if order != "F":
        _refuse_order(order, x.rank)
        return reshaped(b, x, shape)
    if not isinstance(shape, (list, tuple)) and b.expr(shape).rank == 1:
        shape = held(b, b.expr(shape))
    turned = m.transpose(x, range(x.rank)[::-1]) if x.rank > 1 else x
    y = reshaped(b, turned, tuple(shape)[::-1] if isinstance(shape, (list, tuple)) else shape)
    return m.transpose(y, range(y.rank)[::-1]) if y.rank > 1 else y


def _ravel(b: Builder, a: Any, order: str = "C") -> Expr:
    x = array(b, a)
    if order == "F":
        x = m.transpose(x, range(x.rank)[::-1])
    else:
        _refuse_order(order, x.rank)
    return ravel(x)


def _squeeze(b: Builder, a: Any, axis: Any = None) -> Expr:
    """``np.squeeze``; without an axis T210 for a size that is known at run time only."""
    x = array(b, a)
    if axis is None:
        axes: tuple[int, ...] = tuple(
            k for k, d in enumerate(x.dims) if is_one(b, d, "squeeze", "write the axis: axis=...")
        )
    else:
        axes = axes_of(axis, x.rank)
    for k in axes:
        if not x.dims[k].is_one and b.unify(x.dims[k], Dim(1)) is None:
            raise RuleError("cannot select an axis to squeeze out which has size not equal to one", "T203")
    for k in sorted(axes, reverse=True):
        if not x.dims[k].is_one:
            x = point(x, k, 0)
            axes = tuple(a - (a > k) for a in axes if a != k)
    return reshape(x, [d for k, d in enumerate(x.dims) if k not in axes])


def _expand_dims(b: Builder, a: Any, axis: Any) -> Expr:
    """``np.expand_dims``; T201 for None."""
    x = array(b, a)
    if axis is None:
        raise RuleError("an axis must be an integer, not None", "T201", "write the number of the axis")
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    for k in axes_of(axis, x.rank + count):
        x = new_axis(x, k)
    return x


def _atleast(rank: int) -> Callable[..., Any]:
    """The builder of ``np.atleast_1d``, ``2d`` or ``3d``: one array for one argument, else a tuple."""

    def one(b: Builder, a: Any) -> Expr:
        """The argument with axes of size 1 added up to ``rank``."""
        x = array(b, a)
        if x.rank >= rank:
            return x
        if x.rank == 0:
            return reshape(strong(x), [Dim(1)] * rank)
        if x.rank == 1:
            x = new_axis(x, 0)
        return new_axis(x, 2) if rank == 3 else x

    def build(b: Builder, *arys: Any) -> Any:
        found = tuple(one(b, a) for a in arys)
        return found[0] if len(found) == 1 else found

    return build


# ---------------------------------------------------------------------------------------------------- transpose


def _transpose(b: Builder, a: Any, axes: Any = None) -> Expr:
    x = array(b, a)
    axes = (axes,) if isinstance(axes, int) else axes
    order = range(x.rank)[::-1] if axes is None else [axis_of(k, x.rank) for k in axes]
    if sorted(order) != list(range(x.rank)):
        raise RuleError(f"axes {axes} don't match an array of {x.rank} dimensions", "T202")
    return m.transpose(x, order)


def _transpose_method(b: Builder, a: Any, *axes: Any) -> Expr:
    if not axes or axes[0] is None:
        return _transpose(b, a)
    return _transpose(b, a, tuple(axes[0]) if isinstance(axes[0], (tuple, list)) else axes)


def _matrix_transpose(b: Builder, x: Any) -> Expr:
    x = array(b, x)
    if x.rank < 2:
        raise RuleError("matrix transpose with ndim < 2 is undefined", "T202")
    return m.swap_last(x)


def swapped(b: Builder, a: Any, axis1: int, axis2: int) -> Expr:
    """``np.swapaxes``: ``a`` with two axes exchanged."""
    x = array(b, a)
    order = list(range(x.rank))
    first, second = axis_of(axis1, x.rank), axis_of(axis2, x.rank)
    order[first], order[second] = second, first
    return m.transpose(x, order)


def moved(x: Expr, source: Any, destination: Any) -> Expr:
    """``np.moveaxis``: ``x`` with the axes ``source`` moved to the places ``destination``; each is a number or a sequence."""
    sources = [axis_of(k, x.rank) for k in (source if isinstance(source, (tuple, list)) else (source,))]
    targets = [axis_of(k, x.rank) for k in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    if len(sources) != len(targets):
        raise RuleError("`source` and `destination` arguments must have the same number of elements", "T202")
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise RuleError("repeated axis in `source` or `destination` argument", "T208")
    order = [k for k in range(x.rank) if k not in sources]
    for target, s in sorted(zip(targets, sources)):
        order.insert(target, s)
    return m.transpose(x, order)


def _moveaxis(b: Builder, a: Any, source: Any, destination: Any) -> Expr:
    return moved(array(b, a), source, destination)


def _rollaxis(b: Builder, a: Any, axis: int, start: int = 0) -> Expr:
    x = array(b, a)
    axis = axis_of(axis, x.rank)
    start = start + x.rank if start < 0 else start
    return moved(x, axis, start - 1 if axis < start else start)


# ---------------------------------------------------------------------------------------------------- broadcast


def _broadcast_to(b: Builder, array: Any, shape: Any) -> Expr:
    """``np.broadcast_to``; T202 if the shapes do not fit."""
    x, dims = from_nested(b, array), shape_of(b, shape)
    if x.rank > len(dims):
        raise RuleError("input operand has more dimensions than allowed by the axis remapping", "T202")
    for mine, wanted in zip(x.dims[::-1], dims[::-1]):
        if not b.fits(mine, wanted):
            raise RuleError(f"shape {shape_text(x.dims)} cannot be broadcast to {shape_text(dims)}", "T202")
    return b.broadcast(strong(x), dims)


def _broadcast_arrays(b: Builder, *args: Any) -> tuple[Expr, ...]:
    xs = [strong(array(b, a)) for a in args]
    dims = b.broadcast_dims([x.dims for x in xs])
    return tuple(b.broadcast(x, dims) for x in xs)


def _broadcast_memory(bound: Mapping[str, Any]) -> str:
    """The memory of ``np.broadcast_arrays`` (see `Entry`): "view" if all arguments are arrays of one shape, which are returned
    unchanged, else "read-only"."""
    xs = bound.get("args", ())
    alike = all(isinstance(x, Expr) and x.dims == xs[0].dims for x in xs)
    return "view" if alike else "read-only"


def _broadcast_shapes(b: Builder, *dims: Any) -> tuple[Expr, ...]:
    return tuple(b.cast(b.dim(d), INT) for d in b.broadcast_dims([shape_of(b, s) for s in dims]))


# --------------------------------------------------------------------------------------------------- metadata


def _shape(b: Builder, a: Any) -> tuple[Expr, ...]:
    return tuple(b.dim(d) for d in array(b, a).dims)


def _size(b: Builder, a: Any, axis: Any = None) -> Expr:
    x = array(b, a)
    return b.size(x.dims) if axis is None else b.size([x.dims[k] for k in axes_of(axis, x.rank)])


_AXIS = ("axis", "axis1", "axis2", "axes", "source", "destination", "start")

_NUMPY: dict[str, Entry] = {
    "reshape": Entry(_reshape, static=("order",), idle=("copy",), memory=copied_unless("either")),
    "ravel": Entry(_ravel, static=("order",), memory="ordered"),
    "squeeze": Entry(_squeeze, static=_AXIS, memory="view"),
    "expand_dims": Entry(_expand_dims, static=_AXIS, memory="view"),
    **{f"atleast_{k}d": Entry(_atleast(k), memory="view") for k in (1, 2, 3)},
    "transpose": Entry(_transpose, static=_AXIS, memory="view"),
    "permute_dims": Entry(_transpose, static=_AXIS, memory="view"),
    "matrix_transpose": Entry(_matrix_transpose, memory="view"),
    "linalg.matrix_transpose": Entry(_matrix_transpose, memory="view"),
    "swapaxes": Entry(swapped, static=_AXIS, memory="view"),
    "moveaxis": Entry(_moveaxis, static=_AXIS, memory="view"),
    "rollaxis": Entry(_rollaxis, static=_AXIS, memory="view"),
    "broadcast_to": Entry(_broadcast_to, memory="read-only"),
    "broadcast_arrays": Entry(_broadcast_arrays, memory=_broadcast_memory),
    "broadcast_shapes": Entry(_broadcast_shapes),
    "shape": Entry(_shape),
    "ndim": Entry(lambda b, a: array(b, a).rank),
    "size": Entry(_size, static=_AXIS),
}

_METHODS: dict[str, Entry] = {
    "T": Entry(lambda b, a: _transpose(b, a), memory="view"),
    "mT": Entry(_matrix_transpose, memory="view"),
    "reshape": Entry(_reshape_method, static=("order",), idle=("copy",), memory=copied_unless("either")),
    "transpose": Entry(_transpose_method, static=("axes",), memory="view"),
    "ravel": Entry(_ravel, static=("order",), memory="ordered"),
    "flatten": Entry(_ravel, static=("order",), memory="C"),
}

TABLE: dict[str, Entry] = {
    **{f"numpy.{name}": entry for name, entry in _NUMPY.items()},
    **{f"ndarray.{name}": entry for name, entry in _METHODS.items()},
}
