"""Reductions: folds over axes.

Conventions: where several elements tie for ``max`` or ``min``, they share the adjoint equally; the norm at 0 and
``std`` of equal elements have derivative 0; ``prod`` is exact with zeros (its derivative is the product of the other elements,
never a quotient).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.peephole import definition
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.lowering_kinds import Position, Sum
from transpile.ops.record import ZERO, Op
from transpile.ops.slicing import slice_axis
from transpile.ops.spelling import Spelling, axes_of, keywords, reduction
from transpile.ops.structural import reduced_dims


def reduced_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The type of a reduction over ``params["axes"]`` in the dtype of its operand."""
    return Type(types[0].dtype, reduced_dims(types[0].dims, params["axes"], params["keepdims"]))


def _summed_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The type of a sum or product over axes: booleans and narrow integers are widened to 64 bits."""
    dtype = types[0].dtype
    if dtype in ("bool", "int8", "int16", "int32"):
        dtype = "int64"
    elif dtype in ("uint8", "uint16", "uint32"):
        dtype = "uint64"
    return Type(dtype, reduced_dims(types[0].dims, params["axes"], params["keepdims"]))


def _typed(dtype: str) -> Any:
    def rule(types, params) -> Type:  # type: ignore[no-untyped-def]
        return Type(dtype, reduced_dims(types[0].dims, params["axes"], params["keepdims"]))

    return rule


def _float_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    dtype = types[0].dtype if types[0].is_float else "float64"
    return Type(dtype, reduced_dims(types[0].dims, params["axes"], params["keepdims"]))


def mean(x: Expr, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Expr:
    axes = tuple(range(x.rank)) if axes is None else axes
    return x.b.let("mean", x, axes=axes, keepdims=keepdims)


def count_nonzero(x: Expr, axes: tuple[int, ...], keepdims: bool = False) -> Expr:
    return x.b.let("count_nonzero", x, axes=axes, keepdims=keepdims)


# ------------------------------------------------------------------------------------------------------ mean


def _same_reduction(prim: str) -> Any:
    """The forward rule of a linear reduction: the same reduction of the tangent."""

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        return None if dots[0] is None else m.call(prim, dots[0], **params)

    return jvp


def _mean_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (x,) = args
    return (m.expand(y_bar / m.size(x, params["axes"]), params["axes"], x.dims),)


# ------------------------------------------------------------------------------------------------ max and min


def _shares(y: Expr, x: Expr, axes: tuple[int, ...], keepdims: bool) -> tuple[Expr, Expr]:
    """The mask of elements that equal ``y``, the result of a reduction of ``x`` over ``axes``, and their number: at least 1, so
    that no division by zero occurs for NaN."""
    hits = x.eq(m.expand(y, axes, x.dims))
    count = count_nonzero(hits, axes, keepdims)
    return hits, m.maximum(count, 1, py=True) if count.rank == 0 else m.maximum(count, 1)


def _attained(is_behind: str, name: str) -> tuple[Any, Any]:
    """The forward and the reverse rule of ``max`` or ``min``. ``is_behind`` is the comparison of an element that has no share
    with the result, ``name`` names the mask. Nothing is behind a NaN: then all elements share, and each share is NaN."""

    def shares(y: Expr, x: Expr, params: Any) -> tuple[Expr, Expr]:
        behind = y.b.elementwise(is_behind, x, m.expand(y, params["axes"], x.dims))
        hits = y.b.elementwise("logical_not", behind, name=name)
        return hits, count_nonzero(hits, params["axes"], params["keepdims"])

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        if dots[0] is None:
            return None
        hits, count = shares(y, args[0], params)
        total = m.call("sum", m.where(hits, dots[0], 0.0), axes=params["axes"], keepdims=params["keepdims"])
        return m.where(m.call("isnan", y), y, total / _as(count, total))

    def vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
        (x,) = args
        hits, count = shares(y, x, params)
        is_nan = m.call("isnan", y)
        if not _is_never_zero(y_bar):  # the adjoint is 0 in the side of a *where* that is not taken
            is_nan = y.b.elementwise("logical_and", is_nan, y_bar.ne(0.0))
        share = m.where(is_nan, y, y_bar / _as(count, y_bar))
        return (m.where(hits, m.expand(share, params["axes"], x.dims), 0.0),)

    return jvp, vjp


def _is_never_zero(x: Expr) -> bool:
    """Whether all elements are known to be one number that is not 0."""
    op = x.op
    while (let := definition(x.b, op)) is not None and let.prim in ("broadcast", "full"):
        op = let.args[0]
    return isinstance(op, ir.Const) and op.value != 0


_MAX_JVP, _MAX_VJP = _attained("less", "is_max")
_MIN_JVP, _MIN_VJP = _attained("greater", "is_min")


def _extremum_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    axes, keepdims = params["axes"], params["keepdims"]
    hits, count = _shares(y, args[0], axes, keepdims)
    total = m.call("sum", m.where(hits, dots[0], 0.0), axes=axes, keepdims=keepdims)
    return total / _as(count, total)


def _extremum_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (x,) = args
    axes = params["axes"]
    hits, count = _shares(y, x, axes, params["keepdims"])
    return (m.where(hits, m.expand(y_bar / _as(count, y_bar), axes, x.dims), 0.0),)


def _as(count: Expr, like: Expr) -> Expr:
    """Counts in the dtype of ``like``, the numbers that they divide: float32 / int64 would be float64. Python's numbers are
    unchanged."""
    return count if count.type.weak else count.b.cast(count, like.dtype)


# ------------------------------------------------------------------------------------------------------ prod


def product_of_others(x: Expr, axes: tuple[int, ...]) -> Expr:
    """For each element the product of all other elements along ``axes``: the product of the elements before it times the
    product of the elements after it."""
    if len(axes) == 1:
        return _others_on_axis(x, axes[0])
    kept = [k for k in range(x.rank) if k not in axes]
    order = (*kept, *axes)
    moved = m.transpose(x, order)
    merged = Dim(1)
    for k in axes:
        merged = merged * x.dims[k]
    flat = m.reshape(moved, (*(x.dims[k] for k in kept), merged))
    others = m.reshape(_others_on_axis(flat, len(kept)), moved.dims)
    return m.transpose(others, tuple(np.argsort(order).tolist()))


def _others_on_axis(x: Expr, axis: int) -> Expr:
    before = _exclusive(x, axis)
    after = m.call("flip", _exclusive(m.call("flip", x, axes=(axis,)), axis), axes=(axis,))
    return before * after


def _exclusive(x: Expr, axis: int) -> Expr:
    """The cumulative product along the axis up to, but without, the element itself."""
    one = x.b.let("full", 1.0, dims=tuple(Dim(1) if k == axis else d for k, d in enumerate(x.dims)), dtype=x.dtype)
    n = x.dims[axis]
    lead = m.call("concatenate", one, x, axis=axis)
    return slice_axis(m.call("cumprod", lead, axis=axis), axis, 0, n)


def _prod_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    return m.call("sum", product_of_others(args[0], params["axes"]) * dots[0], **params)


def _prod_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (x,) = args
    return (m.expand(y_bar, params["axes"], x.dims) * product_of_others(x, params["axes"]),)


# ------------------------------------------------------------------------------------------- var, std, norm


def _centred(x: Expr, axes: tuple[int, ...]) -> Expr:
    if len(axes) == x.rank:
        return x - mean(x, axes)
    return x - mean(x, axes, keepdims=True)


def _freedom(x: Expr, params) -> Expr:  # type: ignore[no-untyped-def]
    """The divisor of the sum of squares: the number of elements along the axes minus ``ddof``."""
    n = m.size(x, params["axes"])
    return n - params["ddof"] if params["ddof"] else n


def _or_one(y: Expr) -> Expr:
    """``y``, or 1 where ``y`` is 0, as a divisor of numbers that are 0 there; this 1 has derivative NaN."""
    return m.where(y.eq(0), m.chosen(y, 1.0), y)


def _var_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    x, axes = args[0], params["axes"]
    return 2 * m.call("sum", _centred(x, axes) * dots[0], axes=axes, keepdims=params["keepdims"]) / _freedom(x, params)


def _var_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, axes = args[0], params["axes"]
    return (m.expand(2 * y_bar / _freedom(x, params), axes, x.dims) * _centred(x, axes),)


def _std_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    x, axes = args[0], params["axes"]
    total = m.call("sum", _centred(x, axes) * dots[0], axes=axes, keepdims=params["keepdims"])
    return total / (_freedom(x, params) * _or_one(y))


def _std_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, axes = args[0], params["axes"]
    return (m.expand(y_bar / (_freedom(x, params) * _or_one(y)), axes, x.dims) * _centred(x, axes),)


def _norm_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    return m.call("sum", args[0] * dots[0], **params) / _or_one(y)


def _norm_text(params: Mapping[str, Any], types: Sequence[Type]) -> str:
    """``np.linalg.norm`` over all elements, one axis or two; for more axes, the root of the sum of squares."""
    over = axes_of(params, types)
    if not isinstance(over, tuple) or len(over) < 3:
        return reduction("np.linalg.norm").choose(params, types)
    return f"np.sqrt({reduction('np.sum').choose(params, types).replace('{0}', '{0} ** 2')})"


_INNER = {"axes": (1, 2, 3), "keepdims": False}


def _norm_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, axes = args[0], params["axes"]
    return (m.expand(y_bar / _or_one(y), axes, x.dims) * x,)


# ---------------------------------------------------------------------------------- reductions that skip NaN


def _nansum_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    return m.call("sum", m.where(m.isnan(args[0]), 0.0, dots[0]), **params)


def _nansum_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (x,) = args
    return (m.where(m.isnan(x), 0.0, m.expand(y_bar, params["axes"], x.dims)),)


def _valid_count(x: Expr, params, like: Expr) -> Expr:  # type: ignore[no-untyped-def]
    count = count_nonzero(m.logical_not(m.isnan(x)), params["axes"], params["keepdims"])
    return _as(m.maximum(count, 1, py=True) if count.rank == 0 else m.maximum(count, 1), like)


def _nanmean_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None:
        return None
    total = _nansum_jvp(y, args, dots, params)
    return total / _valid_count(args[0], params, total)


def _nanmean_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    (x,) = args
    return _nansum_vjp(y, y_bar / _valid_count(x, params, y_bar), args, wants, params)


# --------------------------------------------------------------------------------------- counting, searching


def _position_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    axis, rank = params["axis"], types[0].rank
    return Type(
        "int64", reduced_dims(types[0].dims, tuple(range(rank)) if axis is None else (axis,), params["keepdims"])
    )


_POSITION = {"axis": None, "keepdims": False}


def _zero_reduction(name: str, call: str, type_rule: Any, fold: str, **more: Any) -> Op:
    return Op(name, type_rule, reduction(call), "fold", jvp=ZERO, vjp=ZERO, cost=1, family="axes", fold=fold, **more)


def _arg(name: str, fold: str, said: str = "") -> Op:
    """The record of the position of an extreme value, NumPy's function ``name``; ``fold`` and ``said`` are fields of the
    record."""
    choose = Spelling(lambda params, types: f"np.{name}({{0}}{keywords(params, **_POSITION)})")
    return Op(
        name,
        _position_type,
        choose,
        "fold",
        lowering=Position(),
        jvp=ZERO,
        vjp=ZERO,
        cost=2,
        family="axis",
        fold=fold,
        said=said,
    )


# --------------------------------------------------------------------------------------------------- examples


def sample(*shape: int, seed: int = 0) -> Any:
    """A function that returns a normally distributed array, as a tuple of one."""
    return lambda: (np.random.default_rng(seed).standard_normal(shape),)


def _with(values: Any) -> Any:
    return lambda: (np.array(values),)


def _cases(*more: Any, **params: Any) -> tuple[Any, ...]:
    """Examples, each a function that returns a tuple of one array, and params: one for each way to reduce, then special values
    from ``more``, pairs of such a function and axes."""
    ways = [((5,), (0,)), ((3, 4), (0,)), ((3, 4), (1,)), ((3, 4), (0, 1)), ((2, 3, 4), (0, 2))]
    found = [
        (sample(*shape), {"axes": axes, "keepdims": keep, **params}) for shape, axes in ways for keep in (False, True)
    ]
    return (*found, *((args, {"axes": axes, "keepdims": False, **params}) for args, axes in more))


def _holes() -> Any:
    x = np.random.default_rng(3).standard_normal((3, 4))
    x[0, 1] = x[2, 3] = np.nan
    return (x,)


_NAN_CASES = tuple(
    (_holes, {"axes": axes, "keepdims": keep}) for axes in ((0,), (1,), (0, 1)) for keep in (False, True)
)
_ZEROS = (
    (_with([2.0, 0.0, 3.0]), (0,)),
    (_with([[1.5, 0.0], [0.0, 2.0]]), (0, 1)),
    (_with([[1.5, 0.0], [3.0, 2.0]]), (1,)),
)

TABLE = [
    Op("mean", _float_type, reduction("np.mean"), kind="fold", lowering=Sum(mean=True), of_one=True, fold="add", said="mean",
         called="mean", jvp=_same_reduction("mean"), vjp=_mean_vjp, linear=True, examples=_cases(), family="axes"),
    Op("prod", _summed_type, reduction("np.prod"), kind="fold", of_one=True, plain=True, fold="mul", jvp=_prod_jvp, vjp=_prod_vjp,
         cost=2, examples=_cases(*_ZEROS), family="axes"),
    Op("max", reduced_type, reduction("np.max", initial=None), kind="fold", of_one=True, plain=True, fold="maximum", said="max",
         jvp=_MAX_JVP, vjp=_MAX_VJP, cost=1, examples=_cases(), family="axes"),
    Op("min", reduced_type, reduction("np.min", initial=None), kind="fold", of_one=True, plain=True, fold="minimum", said="min",
         jvp=_MIN_JVP, vjp=_MIN_VJP, cost=1, examples=_cases(), family="axes"),
    Op("var", _float_type, reduction("np.var", ddof=0), kind="fold", lowering=Sum("square", centred=True, mean=True), fold="add",
         called="variance", jvp=_var_jvp, vjp=_var_vjp, cost=2, examples=(*_cases(ddof=0), *_cases(ddof=1)), family="axes"),
    Op("std", _float_type, reduction("np.std", ddof=0), kind="fold", lowering=Sum("square", centred=True, mean=True, root=True),
         fold="add", called="spread", jvp=_std_jvp, vjp=_std_vjp, cost=2, examples=(*_cases(ddof=0), *_cases(ddof=1)),
         family="axes"),
    Op("norm", _float_type, Spelling(_norm_text), kind="fold", lowering=Sum("square", root=True), fold="add",
         called="norm", jvp=_norm_jvp, vjp=_norm_vjp,
         square=lambda params, x: m.call("sum", x * x, **params), cost=2, examples=(*_cases(), (sample(2, 3, 2, 2), _INNER)),
         family="axes"),
    Op("nansum", _summed_type, reduction("np.nansum"), kind="fold", skips_nan=True, lowering=Sum("number"), fold="add",
         jvp=_nansum_jvp, vjp=_nansum_vjp, examples=_NAN_CASES, family="axes"),
    Op("nanmean", _float_type, reduction("np.nanmean"), kind="fold", skips_nan=True, lowering=Sum("number", mean=True), fold="add",
         jvp=_nanmean_jvp, vjp=_nanmean_vjp, examples=_NAN_CASES, family="axes"),
    Op("nanmax", reduced_type, reduction("np.nanmax", initial=None), kind="fold", plain=True, skips_nan=True, fold="fmax",
         jvp=_extremum_jvp, vjp=_extremum_vjp, examples=_NAN_CASES, family="axes"),
    Op("nanmin", reduced_type, reduction("np.nanmin", initial=None), kind="fold", plain=True, skips_nan=True, fold="fmin",
         jvp=_extremum_jvp, vjp=_extremum_vjp, examples=_NAN_CASES, family="axes"),
    _zero_reduction("all", "np.all", _typed("bool"), "logical_and"),
    _zero_reduction("any", "np.any", _typed("bool"), "logical_or"),
    _zero_reduction("count_nonzero", "np.count_nonzero", _typed("int64"), "add", lowering=Sum("truth")),
    _arg("argmax", "maximum", said="argmax"),
    _arg("argmin", "minimum"),
]  # fmt: skip
