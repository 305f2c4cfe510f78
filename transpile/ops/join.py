"""Joining arrays: ``concatenate`` and ``stack``; all other joins are built from these two."""

from __future__ import annotations

from typing import Any

from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.errors import RuleError
from transpile.ops import language as m
from transpile.ops.lowering_kinds import Joined
from transpile.ops.record import Op
from transpile.ops.reduction import sample
from transpile.ops.slicing import point, slice_axis
from transpile.ops.spelling import PLAIN, Spelling, keywords, sequence


def _concatenate_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    first, axis = types[0], params["axis"]
    total = Dim(0)
    for t in types:
        if t.rank != first.rank:
            raise RuleError(f"cannot concatenate arrays of ranks {first.rank} and {t.rank}", "T202")
        total = total + t.dims[axis]
    return Type(first.dtype, tuple(total if k == axis else d for k, d in enumerate(first.dims)))


def _join_jvp(prim: str) -> Any:
    """The forward rule of ``concatenate`` or ``stack``: the same join of the tangents, with zeros where an operand has none."""

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        if all(d is None for d in dots):
            return None
        parts = [m.zeros(x) if d is None else d for x, d in zip(args, dots)]
        return m.call(prim, *parts, **params)

    return jvp


def _concatenate_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    axis = params["axis"]
    start = Dim(0)
    parts = []
    for x, wanted in zip(args, wants):
        stop = start + x.dims[axis]
        parts.append(slice_axis(y_bar, axis, start, stop) if wanted else None)
        start = stop
    return tuple(parts)


def _stack_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    axis, dims = params["axis"], types[0].dims
    return Type(types[0].dtype, (*dims[:axis], Dim(len(types)), *dims[axis:]))


def _stack_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return tuple(point(y_bar, params["axis"], k) if wanted else None for k, wanted in enumerate(wants))


def _concatenate_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return f"np.concatenate({sequence(len(types))}{keywords(params, axis=0)})"


def _stack_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``np.stack((x, y))``, for scalars ``np.array([x, y])``: without a dtype NumPy makes int64 or float64 of Python's
    numbers."""
    inner = ", ".join(f"{{{k}}}" for k in range(len(types)))
    if all(t.is_scalar for t in types):
        dtype = types[0].dtype
        return f"np.array([{inner}])" if dtype in PLAIN else f"np.array([{inner}], dtype={dtype!r})"
    return f"np.stack({sequence(len(types))}{keywords(params, axis=0)})"


def several(*shapes: tuple[int, ...]) -> Any:
    """A function that returns a tuple of normally distributed arrays of these shapes."""
    return lambda: tuple(sample(*s, seed=k)()[0] for k, s in enumerate(shapes))


TABLE = [
    Op("concatenate", _concatenate_type, Spelling(_concatenate_spelling), kind="map", lowering=Joined(), picks=True,
         jvp=_join_jvp("concatenate"), vjp=_concatenate_vjp,
         linear=True, examples=(
             (several((3,), (2,)), {"axis": 0}), (several((3, 2), (1, 2), (2, 2)), {"axis": 0}),
             (several((2, 3), (2, 1)), {"axis": 1}), (several((4,)), {"axis": 0}), (several((0,), (2,)), {"axis": 0}),
         ), family="join"),
    # stack: all operands have the same dims; of scalars it is `np.array([x, y])`
    Op("stack", _stack_type, Spelling(_stack_spelling, says_dtype=True), kind="map", lowering=Joined(new_axis=True), picks=True,
         jvp=_join_jvp("stack"), vjp=_stack_vjp, linear=True, examples=((several((3,), (3,)), {"axis": 0}), (several((3,), (3,)),
         {"axis": 1}), (several((2, 3), (2, 3), (2, 3)), {"axis": 1}), (several((), ()), {"axis": 0}),), family="join"),
]  # fmt: skip
