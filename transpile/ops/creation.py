"""Arrays from numbers: ranges and unit matrices. Zeros and constants are ``full`` (`transpile.ops.structural`)."""

from __future__ import annotations

from typing import Any

from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.lowering_kinds import Band, Counted, Spaced
from transpile.ops.record import ZERO, Op
from transpile.ops.slicing import arange
from transpile.ops.spelling import Spelling, keywords
from transpile.ops.traits import EQUAL, LESS_EQUAL


def _made(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(params["dtype"], tuple(params["dims"]))


def _dtype_keyword(params, default: str) -> str:  # type: ignore[no-untyped-def]
    dtype = params["dtype"]
    if dtype == default:
        return ""
    return ", dtype=bool" if dtype == "bool" else f", dtype=np.{dtype}"


def _arange_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``arange(stop)``, ``arange(start, stop)`` or ``arange(start, stop, step)``."""
    own = "int64" if all(t.is_int or t.is_bool for t in types) else "float64"
    inner = ", ".join(f"{{{k}}}" for k in range(len(types)))
    return f"np.arange({inner}{_dtype_keyword(params, own)})"


def _positions(y) -> m.Expr:  # type: ignore[no-untyped-def]
    """0, 1, ... in the dtype of ``y``, as many as ``y`` has elements along its first axis."""
    return y.b.cast(arange(y.b, y.dims[0]), y.dtype)


def _arange_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """The tangent of ``start + k * step``; the end of the range has none. None if neither varies."""
    if len(args) == 1:
        return None
    start = None if dots[0] is None else m.broadcast(y.b.cast(dots[0], y.dtype), y.dims)
    if len(args) < 3 or dots[2] is None:
        return start
    stretched = y.b.cast(dots[2], y.dtype) * _positions(y)
    return stretched if start is None else start + stretched


def _arange_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    out: list[Any] = [None] * len(args)
    if len(args) > 1 and wants[0]:
        out[0] = y.b.cast(m.sum(y_bar), args[0].type)
    if len(args) > 2 and wants[2]:
        out[2] = y.b.cast(m.sum(y_bar * _positions(y)), args[2].type)
    return tuple(out)


# --------------------------------------------------------------------------------------------------- linspace


def _linspace_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``linspace(start, stop, num)``."""
    return f"np.linspace({{0}}, {{1}}, {{2}}{keywords(params, endpoint=True)})"


def _shares(y, args, params) -> m.Expr:  # type: ignore[no-untyped-def]
    """The weight of ``stop``, from 0 to at most 1, in each point of ``linspace``."""
    count = args[2] - 1 if params["endpoint"] else args[2]
    return _positions(y) / m.maximum(count, 1, py=True)


def _linspace_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    start, stop = (None if d is None else y.b.cast(d, y.dtype) for d in dots[:2])
    if start is None and stop is None:
        return None
    share = _shares(y, args, params)
    parts = [x * w for x, w in ((start, 1 - share), (stop, share)) if x is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _linspace_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    share = _shares(y, args, params)
    start = y.b.cast(m.sum(y_bar * (1 - share)), args[0].type) if wants[0] else None
    stop = y.b.cast(m.sum(y_bar * share), args[1].type) if wants[1] else None
    return (start, stop, None)


# -------------------------------------------------------------------------------------------------------- eye


def _eye_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``eye(n, m)``; the second argument is left out if the matrix is square."""
    n, width = params["dims"]
    inner = "{0}" if n == width else "{0}, {1}"
    return f"np.eye({inner}{keywords(params, k=0)}{_dtype_keyword(params, 'float64')})"


def _tri_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    n, width = params["dims"]
    inner = "{0}" if n == width else "{0}, {1}"
    return f"np.tri({inner}{keywords(params, k=0)}{_dtype_keyword(params, 'float64')})"


TABLE = [
    # arange(stop) | (start, stop) | (start, stop, step): params["dims"] is the number of elements
    Op("arange", _made, Spelling(_arange_spelling), kind="map", lowering=Counted(), jvp=_arange_jvp, vjp=_arange_vjp, linear=True,
         examples=(
        (lambda: (0.5, 3.6, 0.75), {"dims": (Dim(5),), "dtype": "float64"}),
        (lambda: (0.5, 3.6), {"dims": (Dim(4),), "dtype": "float64"}),
    ), family="lane"),
    Op("linspace", _made, Spelling(_linspace_spelling), kind="map", lowering=Spaced(), jvp=_linspace_jvp, vjp=_linspace_vjp,
         linear=True, examples=(
        (lambda: (0.5, 2.5, 5), {"dims": (Dim(5),), "dtype": "float64", "endpoint": True}),
        (lambda: (0.5, 2.5, 4), {"dims": (Dim(4),), "dtype": "float64", "endpoint": False}),
        (lambda: (0.5, 2.5, 1), {"dims": (Dim(1),), "dtype": "float64", "endpoint": True}),
    ), family="lane"),
    Op("eye", _made, Spelling(_eye_spelling), kind="map", lowering=Band(EQUAL), jvp=ZERO, vjp=ZERO, family="lane"),
    Op("tri", _made, Spelling(_tri_spelling), kind="map", lowering=Band(LESS_EQUAL), jvp=ZERO, vjp=ZERO, family="lane"),
]  # fmt: skip
