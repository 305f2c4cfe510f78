"""Sorting, searching and counting. Sorts are stable: the derivative follows the permutation."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.lowering_kinds import CallEach, CallWhole, LexicalOrder, NonZero, TakenAlong, Unique
from transpile.ops.record import REFUSED, ZERO, Op, Scatter
from transpile.ops.reduction import sample
from transpile.ops.slicing import along, gather, point, vector
from transpile.ops.spelling import Spelling, keywords, on_last_axis, sequence, with_keywords


def argsort(x: Expr, axis: int) -> Expr:
    return m.call("argsort", x, axis=axis, kind="stable")


def take_along(x: Expr, indices: Expr, axis: int) -> Expr:
    """``np.take_along_axis``; for a vector, plain indexing."""
    if x.rank == 1:
        return gather(x, 0, indices)
    return m.call("take_along_axis", x, indices, axis=axis)


def scatter_along_axis(x: Expr, indices: Expr, axis: int, value: Expr) -> Scatter:
    """The transpose of ``take_along_axis`` from ``x``, as a `Scatter`: each element of ``value`` is added where it was
    taken."""
    if x.rank == 1:
        return Scatter((ir.Index((ir.Gather(0),)),), (indices,), value)
    args = [indices if k == axis else along(x.b, x.dims, k) for k in range(x.rank)]
    return Scatter((ir.Index(tuple(ir.Gather(k) for k in range(x.rank))),), tuple(args), value)


# ------------------------------------------------------------------------------------------------------- sort


def _sort_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else take_along(dots[0], argsort(args[0], params["axis"]), params["axis"])


def _sort_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    axis = params["axis"]
    rank = argsort(argsort(args[0], axis), axis)  # the inverse permutation: where each element went
    return (take_along(y_bar, rank, axis),)


def _take_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else m.call("take_along_axis", dots[0], args[1], **params)


def _take_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, indices = args
    return (scatter_along_axis(x, indices, params["axis"], y_bar), None)


def _take_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    x, indices = types
    axis = params["axis"]
    dims = tuple(indices.dims[k] if k == axis or d.is_one else d for k, d in enumerate(x.dims))
    return Type(x.dtype, dims)


# ------------------------------------------------------------------------------------------- partition


def _partition_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    """The tangent of ``partition``: both operand and result are sorted, which gives equal elements, since ``argpartition`` need
    not give the order of ``partition``."""
    axis = params["axis"]
    if dots[0] is None:
        return None
    return take_along(_sort_jvp(y, args, dots, params), argsort(argsort(y, axis), axis), axis)


def _partition_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return _sort_vjp(y, take_along(y_bar, argsort(y, params["axis"]), params["axis"]), args, wants, params)


# ---------------------------------------------------------------------------------------------- counting


def _bincount_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    vector(types[0])
    return Type("float64" if len(types) > 1 else "int64", params["dims"])


def _bincount_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    """``bincount(indices)``, ``(indices, weights)`` or ``(indices, weights, minlength)``."""
    weights = ", weights={1}" if len(types) > 1 else ""
    least = ", minlength={2}" if len(types) > 2 else keywords(params, minlength=0)
    return f"np.bincount({{0}}{weights}{least})"


def _bincount_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if len(args) < 2 or dots[1] is None:
        return None
    return m.call("bincount", args[0], dots[1], *args[2:], **params)


def _bincount_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    if len(args) < 2:
        return (None,)
    return (None, args[1].b.cast(gather(y_bar, 0, args[0]), args[1].type), None)[: len(args)]


# ---------------------------------------------------------------------------------------------------- interp


def _segments(x: Expr, xp: Expr, fp: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """The number of the segment between the points ``xp`` for each ``x``, a mask of those ``x`` that lie in it, their relative
    positions there (0 or 1 for the others), and the slopes of ``fp`` there (0 for the others)."""
    n = m.size(xp)
    j = m.minimum(m.maximum(m.call("searchsorted", xp, x, side="right") - 1, 0), n - 2)
    left, right = _pick(xp, j), _pick(xp, j + 1)
    inside = m.logical_and(m.logical_and(x >= left, x <= right), left < right)  # a single point has no segment
    width = right - left
    share = m.where(inside, (x - left) / width, m.where(x < left, 0.0, 1.0))
    slope = m.where(inside, (_pick(fp, j + 1) - _pick(fp, j)) / width, 0.0)
    return j, inside, share, slope


def _pick(x: Expr, j: Expr) -> Expr:
    return gather(x, 0, j) if j.rank else point(x, 0, j)


def _interp_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    j, _, share, slope = _segments(*args)
    x_dot, xp_dot, fp_dot = dots
    total = None if x_dot is None else slope * x_dot
    if xp_dot is not None:
        part = slope * ((1 - share) * _pick(xp_dot, j) + share * _pick(xp_dot, j + 1))
        total = -part if total is None else total - part
    if fp_dot is not None:
        part = (1 - share) * _pick(fp_dot, j) + share * _pick(fp_dot, j + 1)
        total = part if total is None else total + part
    return total


def _interp_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    j, _, share, slope = _segments(*args)

    def to_ends(value: Expr) -> Scatter:
        ends = m.call("stack", j, j + 1, axis=0)
        return Scatter(
            (ir.Index((ir.Gather(0),)),), (ends,), m.call("stack", value * (1 - share), value * share, axis=0)
        )

    return (
        y_bar * slope if wants[0] else None,
        to_ends(-(y_bar * slope)) if wants[1] else None,
        to_ends(y_bar) if wants[2] else None,
    )


# ---------------------------------------------------------------------------------------- types and spellings


def _partition_spelling(call: str) -> Spelling:
    def choose(params, types) -> str:  # type: ignore[no-untyped-def]
        return f"{call}({{0}}, {params['kth']}{keywords(params, axis=types[0].rank - 1)})"

    return Spelling(choose)


def _scatter_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[1] is None else m.call("scatter_add", args[0], dots[1], args[2], **params)


def _scatter_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (None, gather(y_bar, 0, args[0]), None)


def _places_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type("int64", types[0].dims)


def _looked_up(dims_of: int, dtype: str = "int64") -> Any:
    """A type rule: one result for each element of operand ``dims_of``; the other operands must be vectors."""

    def rule(types, params) -> Type:  # type: ignore[no-untyped-def]
        for k, type_ in enumerate(types):
            if k != dims_of:
                vector(type_)
        return Type(dtype, types[dims_of].dims)

    return rule


def _pairs_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    """A tuple type: int64 vectors of the size in ``params["dims"]``, one for each axis, at least one."""
    one = Type("int64", tuple(params["dims"]))
    return Type("int64", (), kind="tuple", items=(one,) * max(types[0].rank, 1))


def _unique_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The type of the values, or a tuple type: the values, then the results asked for (first indices, inverse indices, counts)."""
    dims = tuple(params["dims"])
    values = Type(types[0].dtype, dims)
    more = {"return_index": dims, "return_inverse": types[0].dims, "return_counts": dims}
    items = [values, *(Type("int64", d) for k, d in more.items() if params[k])]
    return values if len(items) == 1 else Type(values.dtype, (), kind="tuple", items=tuple(items))


def _lexsort_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return f"np.lexsort({sequence(len(types))})"


_UNIQUE = {"return_index": False, "return_inverse": False, "return_counts": False}
_CASES = tuple((sample(*s), {"axis": a}) for s, a in (((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1)))


def _indices(shape: tuple[int, ...], top: int, *source: int) -> Any:
    return lambda: (sample(*source)()[0], np.random.default_rng(1).integers(0, top, shape))


def _interp_case(*shape: int) -> Any:
    def args() -> Any:
        xp = np.array([0.0, 0.7, 1.5, 2.0, 3.1])
        return np.random.default_rng(2).uniform(-0.5, 3.5, shape), xp, np.sin(2 * xp)

    return args


TABLE = [
    Op("sort", lambda types, params: types[0].strong, on_last_axis("np.sort({0})"), kind="rows", entry="arrays.sort",
         called="ascending", jvp=_sort_jvp, vjp=_sort_vjp, cost=3, examples=_CASES, family="axis"),
    Op("argsort", _places_type, on_last_axis("np.argsort({0})", kind=None), kind="rows", entry="arrays.argsort", said="order",
         called="order", jvp=ZERO, vjp=ZERO, cost=3, family="axis"),
    # compiled code sorts: a sorted array is partitioned at every index
    Op("partition", lambda types, params: types[0].strong, _partition_spelling("np.partition"),
         kind="rows", entry="arrays.sort", jvp=_partition_jvp, vjp=_partition_vjp, cost=3,
         examples=tuple((args, {**params, "kth": 1}) for args, params in _CASES), family="axis"),
    Op("argpartition", _places_type, _partition_spelling("np.argpartition"), kind="rows", entry="arrays.argsort", jvp=ZERO,
         vjp=ZERO, cost=3, family="axis"),
    Op("take_along_axis", _take_type, "np.take_along_axis({0}, {1}, axis={axis})", kind="map", lowering=TakenAlong(),
         jvp=_take_jvp, vjp=_take_vjp, cost=1,
         linear=True, examples=(
             (_indices((2, 4), 3, 3, 4), {"axis": 0}), (_indices((3, 5), 4, 3, 4), {"axis": 1}),
             (_indices((6,), 4, 4), {"axis": 0}),
         ), family="along"),
    Op("searchsorted", _looked_up(1), with_keywords("np.searchsorted({0}, {1})", side="left"), kind="library",
         lowering=CallEach(("sorted",), of=1), entry=lambda params, n: f"arrays.searchsorted_{params.get('side', 'left')}",
         jvp=ZERO, vjp=ZERO, cost=2, family="searched"),
    Op("digitize", _looked_up(0), with_keywords("np.digitize({0}, {1})", right=False), kind="library", lowering=CallEach(("bins",)),
         entry="arrays.digitize", flags=("right",), jvp=ZERO, vjp=ZERO, cost=2, family="query"),
    Op("lexsort", _places_type, Spelling(_lexsort_spelling), kind="library",
         lowering=LexicalOrder(), entry="arrays.resort", jvp=ZERO, vjp=ZERO, cost=3, family="lane"),
    # bincount(indices[, weights]): params["dims"] is the size of the result
    Op("bincount", _bincount_type, Spelling(_bincount_spelling), kind="library", lowering=CallWhole(("int64", "float64"),
         size="minlength"), entry=lambda params, n: "arrays.bincount_weighted" if n > 1 else "arrays.bincount", jvp=_bincount_jvp,
         vjp=_bincount_vjp, cost=1, linear=True, examples=((lambda: (np.array([0, 2, 2, 1]), np.array([0.5, 1.5, -2.0, 3.0])),
         {"minlength": 4, "dims": (Dim(4),)}),), family="lane"),
    # scatter_add(indices, weights, n): the sum of the weights for each index below n
    Op("scatter_add", lambda types, params: Type(types[1].dtype, tuple(params["dims"])),
         "np.bincount({0}, weights={1}, minlength={2})", kind="library", lowering=CallWhole(("int64", ""), ("", "weights")),
         entry="arrays.scatter_add", jvp=_scatter_jvp, vjp=_scatter_vjp, linear=True, examples=((lambda: (np.array([0, 2, 2, 1]),
         np.array([0.5, 1.5, -2.0, 3.0]), 4), {"dims": (Dim(4),)}),), family="lane"),
    Op("interp", _looked_up(0, "float64"), "np.interp({0}, {1}, {2})", kind="library",
         lowering=CallEach(("xp", "fp")), jvp=_interp_jvp, entry="arrays.interp", vjp=_interp_vjp, cost=2,
         examples=((_interp_case(6), {}), (_interp_case(2, 3), {}), (_interp_case(), {})), family="query"),
    Op("nonzero", _pairs_type, "np.nonzero({0})", kind="library", lowering=NonZero(), entry="arrays.nonzero", jvp=ZERO, vjp=ZERO,
         cost=1, family="lane"),
    Op("unique", _unique_type, with_keywords("np.unique({0})", **_UNIQUE), kind="library", lowering=Unique(),
         entry="arrays.unique", jvp=REFUSED, vjp=REFUSED, cost=3, family="lane"),
    Op("isin", lambda types, params: Type("bool", types[0].dims), with_keywords("np.isin({0}, {1})", invert=False),
         kind="library", lowering=CallEach(("",), ordered=True), entry="arrays.isin", flags=("invert",), jvp=ZERO,
         vjp=ZERO, cost=2, family="query"),
]  # fmt: skip
