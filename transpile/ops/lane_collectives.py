"""Collectives: primitives that combine the lanes of a batch. `transpile.transform.batching` replaces them.

The last operand is the axis: a hidden parameter, an array with one element for each lane (`transpile.base.axis_names`). A
derivative in the function of one lane is that of the sum of all lanes' results, so the transpose of a sum over the lanes is the
sum over the lanes. ``params["at"]``: the position of the lane axis in the larger array.
"""

from __future__ import annotations

from typing import Any

from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.ops import language as m
from transpile.ops.record import ZERO, Op


def _summed_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type("int64" if types[0].is_bool else types[0].dtype, types[0].dims)


def _same_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(types[0].dtype, types[0].dims)


def _gathered_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    x, axis = types
    at = params["at"]
    return Type(x.dtype, (*x.dims[:at], axis.dims[0], *x.dims[at:]))


def _scattered_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    at = params["at"]
    return Type(_summed_type(types, params).dtype, (*types[0].dims[:at], *types[0].dims[at + 1 :]))


def _linear(prim: str, transpose: str) -> dict[str, Any]:
    """The fields of a record with the derivatives of the collective ``prim``, a sum over the lanes or a part of such a sum; its
    transpose is the collective ``transpose``."""

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        return None if dots[0] is None else m.call(prim, dots[0], args[-1], **params)

    def vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
        return m.call(transpose, y_bar, args[-1], **params), None

    return {"jvp": jvp, "vjp": vjp, "linear": True, "cost": 2}


def _permute_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else m.call("ppermute", dots[0], *args[1:])


def _permute_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    _, sources, targets, axis = args
    return m.call("ppermute", y_bar, targets, sources, axis), None, None, None


def _extreme(is_behind: str) -> dict[str, Any]:
    """The fields of a record with the derivatives of a maximum or minimum over the lanes, as for ``max`` and ``min``: the lanes
    that attain it share the derivative; where the result is NaN, all derivatives are NaN. ``is_behind`` is the comparison of a
    lane that does not attain it with the result."""

    def shares(y: Expr, x: Expr, axis: Expr) -> tuple[Expr, Expr]:
        hits = m.logical_not(y.b.elementwise(is_behind, x, y))
        return hits, y.b.cast(m.call("psum", hits, axis), y.dtype)

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        if dots[0] is None:
            return None
        hits, count = shares(y, *args)
        return m.where(m.isnan(y), y, m.call("psum", m.where(hits, dots[0], 0.0), args[1]) / count)

    def vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
        hits, count = shares(y, *args)
        total = m.call("psum", y_bar, args[1])
        is_nan = m.logical_and(m.isnan(y), total.ne(0.0))  # the adjoint is 0 in the side of a *where* that is not taken
        return m.where(hits, m.where(is_nan, y, total / count), 0.0), None

    return {"jvp": jvp, "vjp": vjp, "cost": 2}


def _prim(name: str, collective: str, type_rule: Any, **traits: Any) -> Op:
    return Op(name, type_rule, None, "collective", family="collective", collective=collective, **traits)


TABLE = [
    _prim("psum", "folded", _summed_type, **_linear("psum", "psum"), over="sum"),
    _prim("pmax", "folded", _same_type, **_extreme("less"), over="max"),
    _prim("pmin", "folded", _same_type, **_extreme("greater"), over="min"),
    _prim("all_gather", "gathered", _gathered_type, **_linear("all_gather", "psum_scatter")),
    _prim("psum_scatter", "scattered", _scattered_type, **_linear("psum_scatter", "all_gather"), over="sum"),
    # args[1:3]: the numbers of the lanes that send and of those that receive; a lane that receives nothing has zeros
    _prim("ppermute", "permuted", _same_type, jvp=_permute_jvp, vjp=_permute_vjp, linear=True, cost=2),
    _prim("axis_index", "numbered", lambda types, params: INT, jvp=ZERO, vjp=ZERO, linear=True, cost=0),
]
