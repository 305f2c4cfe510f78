"""Primitives that move elements, repeat them or pad around them. All are linear, and most transposes are of the same kind."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import constant
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.lowering_kinds import (
    CallWhole,
    Diagonal,
    DiagonalMatrix,
    DiagonalSum,
    Padded,
    Repeated,
    Reversed,
    Rotated,
    Tiled,
    Triangle,
    Unravelled,
)
from transpile.ops.record import ZERO, Op, Scatter
from transpile.ops.reduction import sample
from transpile.ops.slicing import arange, slice_axis, smaller
from transpile.ops.spelling import Spelling, keywords, sequence, with_keywords
from transpile.ops.traits import GREATER_EQUAL, LESS_EQUAL


def linear(prim: str) -> Any:
    """The forward rule of a primitive that is linear in its first operand; it gives None if that has no tangent."""

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        return None if dots[0] is None else m.call(prim, dots[0], *args[1:], **params)

    return jvp


def _rest(args) -> list[None]:  # type: ignore[no-untyped-def]
    return [None] * (len(args) - 1)


def _same(types, params) -> Type:  # type: ignore[no-untyped-def]
    return types[0].strong


def with_dims(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The result type of a primitive: the dtype of the first operand, never weak, and ``params["dims"]``."""
    return Type(types[0].dtype, tuple(params["dims"]))


# -------------------------------------------------------------------------------------------------- flip, roll


def _flip_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """A slice with step -1 along the axes, as a person writes it; like ``np.flip`` a view."""
    last = max(params["axes"], default=-1)
    inner = ", ".join("::-1" if k in params["axes"] else ":" for k in range(last + 1))
    return f"{{0}}[{inner}]" if inner else "{0}"


def _flip_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (m.call("flip", y_bar, **params),)


def _flip_place(let: ir.Let, are_equal: Any) -> Any:
    axes, back = let.params["axes"], ir.Slice(None, None, 0)
    items = (back if k in axes else ir.Slice() for k in range(let.args[0].type.rank))
    return (ir.Index(tuple(items)),), (constant(-1),)


def _roll_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``roll(x, *shifts)``, with one shift for each axis."""
    axes = params["axes"]
    if types[0].rank == 1:
        return "np.roll({0}, {1})"
    return (
        f"np.roll({{0}}, {{1}}, axis={axes[0]})"
        if len(axes) == 1
        else f"np.roll({{0}}, {sequence(len(axes), 1)}, axis={axes})"
    )


def _roll_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (m.call("roll", y_bar, *(-s for s in args[1:]), **params), *_rest(args))


# ------------------------------------------------------------------------------------------------ tile, repeat


def _tile_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """The adjoint of the array, then None for each count: each axis is split into copies and elements, and the copies are
    summed."""
    x = args[0]
    split: list[Dim] = []
    copies: list[int] = []
    for d, count in zip(x.dims, args[1:]):
        times = x.b.form(count)
        if not times.is_one:
            copies.append(len(split))
            split.append(times)
        split.append(d)
    return (m.sum(m.reshape(y_bar, split), copies), *_rest(args))


def _tile_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return "np.tile({0}, {1})" if len(types) == 2 else f"np.tile({{0}}, {sequence(len(types) - 1, 1)})"


def _repeat_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, axis = args[0], params["axis"]
    times = x.b.form(args[1])
    split = m.reshape(y_bar, (*x.dims[: axis + 1], times, *x.dims[axis + 1 :]))
    return (m.sum(split, (axis + 1,)), None)


def _repeat_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return "np.repeat({0}, {1})" if types[0].rank == 1 else f"np.repeat({{0}}, {{1}}, axis={params['axis']})"


# --------------------------------------------------------------------------------------------------------- pad


NOTHING_TO_PAD = "can't extend empty axis {} using modes other than 'constant' or 'empty'"


def _pad_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``pad(x, before, after, before, after, ...[, value])``."""
    rank = types[0].rank
    if params.get("even"):
        widths = "{1}"
    else:
        pairs = [f"({{{2 * k + 1}}}, {{{2 * k + 2}}})" for k in range(rank)]
        widths = pairs[0] if rank == 1 else f"({', '.join(pairs)})"
    value = f", constant_values={{{2 * rank + 1}}}" if len(types) > 2 * rank + 1 else ""
    return f"np.pad({{0}}, {widths}{keywords(params, mode='constant')}{value})"


def _pad_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    x, count = args[0], 2 * args[0].rank + 1
    if all(d is None for d in dots):
        return None
    x_dot = m.zeros(x) if dots[0] is None else dots[0]
    value_dot = dots[count : count + 1]
    more = value_dot if value_dot and value_dot[0] is not None else ()
    return m.call("pad", x_dot, *args[1:count], *more, **params)


def _pad_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x = args[0]
    b, rank = x.b, x.rank
    if params["mode"] == "constant":
        inner = y_bar
        for axis in range(rank):
            start = b.form(args[2 * axis + 1])
            inner = slice_axis(inner, axis, start, start + x.dims[axis])
        out: list[Any] = [inner if wants[0] else None, *_rest(args)]
        if wants[-1] and len(args) > 2 * rank + 1:
            out[-1] = m.sum(y_bar) - m.sum(inner)
        return tuple(out)
    # an element gets the sum of the adjoints of all its copies; padding the positions in the same way finds the copies
    places = []
    for axis, d in enumerate(x.dims):
        widths = args[2 * axis + 1 : 2 * axis + 3]
        image = b.let("pad", arange(b, d), *widths, mode=params["mode"], dims=(params["dims"][axis],))
        kept = tuple(image.dims[0] if k == axis else Dim(1) for k in range(rank))
        places.append(image if rank == 1 else m.reshape(image, kept))
    path = (ir.Index(tuple(ir.Gather(k) for k in range(rank))),)
    return (Scatter(path, tuple(places), y_bar), *_rest(args))


# ------------------------------------------------------------------------------------- triangles and diagonals


def _triangle_vjp(prim: str) -> Any:
    def vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
        return (m.call(prim, y_bar, **params),)

    return vjp


def diagonal_size(n: Dim, width: Dim, offset: int) -> Dim:
    """The length of a diagonal of an ``n`` by ``width`` matrix, at least 0; a positive ``offset`` is above the main
    diagonal."""
    rows, columns = (n, width - offset) if offset >= 0 else (n + offset, width)
    return smaller(rows, columns).clip()


def _diagonal_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    first, second = params["axes"]
    dims = types[0].dims
    kept = tuple(d for k, d in enumerate(dims) if k not in (first, second))
    return Type(types[0].dtype, (*kept, diagonal_size(dims[first], dims[second], params["offset"])))


def _diagonal_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    first, second = params["axes"]
    offset = params["offset"]
    if types[0].rank == 2 and first == 0:
        return f"np.diag({{0}}, {offset})" if offset else "np.diag({0})"
    return f"np.diagonal({{0}}, offset={offset}, axis1={first}, axis2={second})"


def _diagonal_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (x,) = args
    first, second = params["axes"]
    offset = params["offset"]
    if x.rank == 2 and first == 0 and x.dims[0] == x.dims[1] and _is_long(x.dims[0], offset):
        return (m.call("diag", y_bar, offset=offset),)
    places = arange(x.b, y.dims[-1])
    at = {first: places + max(-offset, 0), second: places + max(offset, 0)}
    slots = {axis: k for k, axis in enumerate(sorted(at))}
    path = (ir.Index(tuple(ir.Gather(slots[k]) if k in at else ir.Slice() for k in range(x.rank))),)
    low, high = sorted(at)
    where = low if high == low + 1 else 0  # NumPy puts the axis of two index arrays here
    order = [*range(where), x.rank - 2, *range(where, x.rank - 2)]
    return (Scatter(path, tuple(at[k] for k in sorted(at)), m.transpose(y_bar, order)),)


def _is_long(n: Dim, offset: int) -> bool:
    return offset == 0 or (n.is_const and n.const >= abs(offset))


def _diag_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    n = types[0].dims[0] + abs(params["offset"])
    return Type(types[0].dtype, (n, n))


def _diag_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    inner = m.call("diagonal", y_bar, offset=params["offset"], axes=(0, 1))
    return (m.broadcast(inner, args[0].dims),)


def _diagonal_place(let: ir.Let, are_equal: Any) -> Any:
    """The path and (no) operands of the main diagonal of two axes, moved to the end; None for another diagonal, or if the sizes
    of the axes may differ."""
    dims, axes = let.args[0].type.dims, let.params["axes"]
    if let.params.get("offset", 0) != 0 or not are_equal(dims[axes[0]], dims[axes[1]]):
        return None
    order = (*(k for k in range(len(dims)) if k not in axes), *axes)
    permuted = () if order == tuple(range(len(dims))) else (ir.Permute(order),)
    return (*permuted, ir.Diagonal()), ()


def _diag_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return f"np.diag({{0}}, {params['offset']})" if params["offset"] else "np.diag({0})"


def _trace_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    dtype = "int64" if types[0].is_bool or types[0].dtype in ("int8", "int16", "int32") else types[0].dtype
    return Type(dtype)


def _trace_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x = args[0]
    unit = x.b.let("eye", *(x.b.dim(d) for d in x.dims), dims=x.dims, k=0, dtype=x.dtype)
    return (y_bar * unit,)


# --------------------------------------------------------------------------------------------------- positions


def _unravel_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    one = Type("int64", types[0].dims)
    return Type("int64", (), kind="tuple", items=(one,) * (len(types) - 1))


def _unravel_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return f"np.unravel_index({{0}}, {sequence(len(types) - 1, 1)})"


# ---------------------------------------------------------------------------------------------------- examples


def _more(args: Any, *extra: Any) -> Any:
    return lambda: (*args(), *extra)


def _pad_example(shape: tuple[int, ...], widths: tuple[int, ...], mode: str, *value: float) -> Any:
    dims = tuple(Dim(n + widths[2 * k] + widths[2 * k + 1]) for k, n in enumerate(shape))
    return (_more(sample(*shape), *widths, *value), {"mode": mode, "dims": dims})


_PADS = (
    _pad_example((4,), (2, 1), "constant"),
    _pad_example((4,), (2, 1), "constant", 1.5),
    _pad_example((3, 4), (1, 0, 2, 3), "constant"),
    *(_pad_example((4,), (2, 3), mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
    *(_pad_example((3, 4), (1, 2, 0, 3), mode) for mode in ("edge", "reflect", "symmetric", "wrap")),
    _pad_example((2,), (3, 4), "reflect"),
)
_MATRICES = (sample(4, 4), sample(3, 5), sample(5, 3))
_OFFSETS = (0, 1, -2)

TABLE = [
    Op("flip", _same, Spelling(_flip_spelling), kind="map", lowering=Reversed(), place=_flip_place, jvp=linear("flip"),
         vjp=_flip_vjp, cost=0, linear=True, view="writable", examples=((sample(4), {"axes": (0,)}), (sample(3, 4),
         {"axes": (1,)}), (sample(3, 4), {"axes": (0, 1)})), family="axes"),
    Op("roll", _same, Spelling(_roll_spelling), kind="map", lowering=Rotated(), jvp=linear("roll"), vjp=_roll_vjp, linear=True,
         examples=(
        (_more(sample(5), 2), {"axes": (0,)}), (_more(sample(3, 4), -1), {"axes": (1,)}),
        (_more(sample(3, 4), 1, 2), {"axes": (0, 1)}),
    ), family="axes"),
    # tile(x, *times): one number of copies for each axis; repeat(x, times)
    Op("tile", with_dims, Spelling(_tile_spelling), kind="map", lowering=Tiled(), jvp=linear("tile"), vjp=_tile_vjp, linear=True,
         examples=(
        (_more(sample(3), 2), {"dims": (Dim(6),)}), (_more(sample(2, 3), 2, 1), {"dims": (Dim(4), Dim(3))}),
        (_more(sample(2, 3), 3, 2), {"dims": (Dim(6), Dim(6))}),
    ), family="tile"),
    Op("repeat", with_dims, Spelling(_repeat_spelling), kind="map", lowering=Repeated(), jvp=linear("repeat"), vjp=_repeat_vjp,
         linear=True, examples=(
        (_more(sample(3), 2), {"axis": 0, "dims": (Dim(6),)}), (_more(sample(2, 3), 3), {"axis": 1, "dims": (Dim(2),
        Dim(9))}),
        (_more(sample(2, 3), 2), {"axis": 0, "dims": (Dim(4), Dim(3))}),
    ), family="repeat"),
    # repeat_each(x, times): element k is repeated times[k] times; params["dims"] is the size of the result
    Op("repeat_each", with_dims, "np.repeat({0}, {1})", kind="library", lowering=CallWhole(("", "int64")),
         entry="arrays.repeat_each", jvp=ZERO, vjp=ZERO, family="repeat_each"),
    Op("pad", with_dims, Spelling(_pad_spelling), kind="map", lowering=Padded(), jvp=_pad_jvp, vjp=_pad_vjp, linear=True,
         examples=_PADS, family="pad"),
    Op("tril", _same, with_keywords("np.tril({0})", k=0), kind="map", lowering=Triangle(LESS_EQUAL), jvp=linear("tril"),
         vjp=_triangle_vjp("tril"), linear=True, examples=tuple((args, {"k": k}) for args in (*_MATRICES, sample(2, 3,
         3)) for k in _OFFSETS), family="trailing"),
    Op("triu", _same, with_keywords("np.triu({0})", k=0), kind="map", lowering=Triangle(GREATER_EQUAL), jvp=linear("triu"),
         vjp=_triangle_vjp("triu"), linear=True, examples=tuple((args, {"k": k}) for args in (*_MATRICES, sample(2, 3,
         3)) for k in _OFFSETS), family="trailing"),
    Op("diagonal", _diagonal_type, Spelling(_diagonal_spelling), kind="map", lowering=Diagonal(), place=_diagonal_place,
         jvp=linear("diagonal"), vjp=_diagonal_vjp, linear=True,
         view="read_only", examples=(
             *((args, {"offset": k, "axes": (0, 1)}) for args in _MATRICES for k in _OFFSETS),
             (sample(2, 3, 4), {"offset": 0, "axes": (1, 2)}), (sample(3, 2, 4), {"offset": 1, "axes": (0, 2)}),
             (sample(3, 4, 2), {"offset": -1, "axes": (1, 0)}),
         ), family="axes"),
    Op("diag", _diag_type, Spelling(_diag_spelling), kind="map", lowering=DiagonalMatrix(), jvp=linear("diag"), vjp=_diag_vjp,
         linear=True, examples=tuple((sample(3), {"offset": k}) for k in _OFFSETS), family="diag"),
    Op("trace", _trace_type, "np.trace({0})", kind="fold", lowering=DiagonalSum(), fold="add", jvp=linear("trace"),
         vjp=_trace_vjp, linear=True, examples=tuple((args, {}) for args in _MATRICES), family="trace"),
    Op("unravel_index", _unravel_type, Spelling(_unravel_spelling), kind="map", lowering=Unravelled(), jvp=ZERO, vjp=ZERO,
         family="lane"),
]  # fmt: skip
