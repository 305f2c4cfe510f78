"""Reductions of NumPy, by dotted name, including those of ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim, product
from transpile.core.promotion import OPERAND_TYPES
from transpile.core.types import promote
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, axes_of, axis_of, cast_to, from_nested, strong
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.signatures import NO_VALUE
from transpile.ops import language as m
from transpile.ops.slicing import raise_if
from transpile.ops.tables import neutral_of, prims

Axis = Any  # None, an int or a tuple of ints

REDUCED = ("axis", "dtype", "keepdims")


def reduce(prim: str, x: Expr, axis: Axis = None, keepdims: bool = False, **params: Any) -> Expr:
    """The reduction ``prim`` of ``x`` over the axes, which may count from the back: None is all axes, ``()`` none. ``params``
    are further params of the primitive. Raises T201 for a list of axes."""
    if isinstance(axis, list):
        raise RuleError("the axes of a reduction must be a tuple, not a list", "T201", "write axis=(0, 1)")
    axes = axes_of(axis, x.rank)
    if not x.rank and prim in ("sum", "prod", "mean", "max", "min", "nansum", "nanmax", "nanmin", "nanmean"):
        return _of_number(prim, x)
    return x.b.let(prim, x, axes=axes, keepdims=bool(keepdims), **params)


def holds(prim: str, test: Expr) -> Expr:
    """True, as an Expr, if a test holds for "all" or "any" (``prim``) of its elements; a scalar test is returned unchanged."""
    return reduce(prim, test) if test.rank else test


def _check_of_number(axis: Axis) -> None:
    """Raises T208 for an axis of a scalar; like NumPy it accepts 0 and -1."""
    if axis is not None and axis not in (0, -1, ()):
        axes_of(axis, 0)


def _of_number(prim: str, x: Expr) -> Expr:
    """The reduction ``prim`` of a number, as a NumPy value in the dtype that NumPy gives."""
    if prim == "nansum":
        return m.where(m.isnan(x), 0.0, strong(x)) if x.type.is_float else strong(x)
    if prim in ("mean", "nanmean") and not x.type.is_float:
        return x.b.cast(x, "float64")
    if prim in ("sum", "prod") and not x.type.is_float:
        return x.b.cast(x, "uint64" if x.dtype.startswith("u") else "int64")
    return strong(x)


def _masked(b: Builder, x: Expr, where: Any, neutral: Any) -> Expr:
    """``x`` where the mask ``where`` holds, ``neutral`` elsewhere; ``x`` itself if it is None or True."""
    if where is None or where is True:
        return x
    mask = array(b, where)
    if mask.rank > x.rank:
        raise RuleError(f"where= has rank {mask.rank}, but the array has rank {x.rank}", "T202", "reshape the mask")
    if isinstance(mask.op, ir.Const) and x.rank:
        return x if mask.op.value else b.let("full", neutral, dims=x.dims, dtype=x.dtype)
    return b.elementwise("where", b.broadcast(mask, x.dims) if mask.rank else mask, x, neutral)


# ------------------------------------------------------------------------------------------------ sum and prod


def _folded(prim: str, neutral: int, join: str) -> Callable[..., Expr]:
    """The builder of ``np.sum`` or ``np.prod``: ``prim`` is the reduction, ``neutral`` stands where a mask is false, ``join``
    adds or multiplies ``initial``."""

    def build(
        b: Builder,
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Expr:
        x = cast_to(array(b, a), dtype)
        x = _masked(b, x, where, float(neutral) if x.type.is_float else bool(neutral) if x.type.is_bool else neutral)
        y = reduce(prim, x, axis, keepdims)
        return y if initial is None else _with_initial(join, y, initial)

    return build


def _with_initial(join: str, y: Expr, initial: Any) -> Expr:
    """The result ``y`` of a fold joined with ``initial``, in the dtype of the result."""
    b = y.b
    if b.expr(initial).rank:
        raise RuleError("initial must be a number, not an array", "T201", "add the array to the result")
    return b.elementwise(join, y, b.cast(b.expr(initial), y.dtype), strong=True)


def _mean(b: Builder, a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None) -> Expr:
    x = cast_to(array(b, a), dtype)
    if where is None:
        return reduce("mean", x, axis, keepdims)
    return reduce("sum", _masked(b, x, where, 0.0), axis, keepdims) / _count(b, x, where, axis, keepdims)


def _count(b: Builder, x: Expr, where: Any, axis: Axis, keepdims: bool) -> Expr:
    mask = b.broadcast(array(b, where), x.dims)
    return b.cast(reduce("count_nonzero", mask, axis, keepdims), x.dtype if x.type.is_float else "float64")


def _nan_prod(
    b: Builder,
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Expr:
    """``np.nanprod``: NaN counts as 1."""
    x = array(b, a)
    x = m.where(m.isnan(x), 1.0, x) if x.type.is_float else x
    return _folded("prod", 1, "mul")(b, x, axis, dtype, keepdims, initial, where)


def _nan_sum(
    b: Builder,
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Expr:
    """``np.nansum``: NaN counts as 0."""
    x = array(b, a)
    if x.type.is_float and dtype is not None and np.dtype(dtype).kind != "f":
        x = m.where(m.isnan(x), 0.0, x)  # before the cast to a dtype without NaN
    x = cast_to(x, dtype)
    if not x.type.is_float:
        return _SUM(b, x, axis, None, keepdims, initial, where)
    y = reduce("nansum", _masked(b, x, where, np.nan), axis, keepdims)
    return y if initial is None else _with_initial("add", y, initial)


def _nan_mean(
    b: Builder, a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None
) -> Expr:
    x = cast_to(array(b, a), dtype)
    if not x.type.is_float:
        return _mean(b, x, axis, None, keepdims, where)
    return reduce("nanmean", _masked(b, x, where, np.nan), axis, keepdims)


# ------------------------------------------------------------------------------------------------- max and min


def _extremum(prim: str, join: str, worst: float) -> Callable[..., Expr]:
    """The builder of ``np.max`` or ``np.min``: ``join`` is the binary primitive; ``worst``, for integers ``initial``, stands
    where a mask is false. A mask requires ``initial`` (T201)."""

    def build(
        b: Builder, a: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Expr:
        x = array(b, a)
        if where is not None:
            if initial is None:
                raise RuleError(
                    f"reduction operation '{join}' does not have an identity, so to use a where mask one has "
                    "to specify 'initial'",
                    "T201",
                )
            x = _masked(b, x, where, worst if x.type.is_float else b.cast(b.expr(initial), x.dtype))
        if initial is None:
            return reduce(prim, x, axis, keepdims)
        start = neutral_of(prims()[prim].fold, x.dtype)
        y = reduce(prim, x, axis, keepdims, initial=start) if x.rank else reduce(prim, x)
        first = b.expr(initial).op
        nothing = isinstance(first, ir.Const) and first.value == start
        return y if nothing else _with_initial(join, y, initial)

    return build


# ------------------------------------------------------------------------------------------------- var and std


def _spread(prim: str) -> Callable[..., Expr]:
    """The builder of ``np.std`` or ``np.var`` (``prim``)."""

    def build(
        b: Builder,
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        ddof: Any = 0,
        keepdims: bool = False,
        where: Any = None,
        mean: Any = None,
        correction: Any = None,
    ) -> Expr:
        x = cast_to(array(b, a), dtype)
        ddof = _freedom(ddof, correction)
        if where is None and mean is None and x.rank:
            return reduce(prim, x, axis, keepdims, ddof=ddof)
        total, n = _squares(b, x, axis, keepdims, where, mean)
        y = total / (m.maximum(n - ddof, 0, py=where is None) if ddof else n)
        return m.sqrt(y) if prim == "std" else y

    return build


def _freedom(ddof: Any, correction: Any) -> Any:
    """The number subtracted from the count, ``ddof`` or its other name ``correction``; T201 if both are given."""
    if correction is not None and ddof != 0:
        raise RuleError("ddof and correction can't be provided simultaneously.", "T201")
    return ddof if correction is None else correction


def _squares(b: Builder, x: Expr, axis: Axis, keepdims: bool, where: Any, mean: Any) -> tuple[Expr, Expr]:
    """The sum of squared deviations from the mean (``mean`` None: it is computed), and the number of elements that count: those
    where ``where`` holds, all if it is None."""
    d = x - (_mean(b, x, axis, None, True, where) if mean is None else array(b, mean))
    if where is None:
        return reduce("sum", d * d, axis, keepdims), m.size(x, axes_of(axis, x.rank))
    return reduce("sum", _masked(b, d * d, where, 0.0), axis, keepdims), _count(b, x, where, axis, keepdims)


def _nan_spread(prim: str) -> Callable[..., Expr]:
    """The builder of ``np.nanstd`` or ``np.nanvar`` (``prim``); NaN where too few elements are left."""

    def build(
        b: Builder,
        a: Any,
        axis: Axis = None,
        dtype: Any = None,
        ddof: Any = 0,
        keepdims: bool = False,
        where: Any = None,
        mean: Any = None,
        correction: Any = None,
    ) -> Expr:
        given = array(b, a)
        if not given.type.is_float:
            return _spread(prim)(b, given, axis, dtype, ddof, keepdims, where, mean, correction)
        x = cast_to(given, dtype)
        valid = m.logical_not(m.isnan(x))
        valid = valid if where is None else m.logical_and(valid, array(b, where))
        mean = mean if mean is None else b.cast(array(b, mean), x.dtype)
        total, n = _squares(b, x, axis, keepdims, valid, mean)
        ddof = _freedom(ddof, correction)
        left = n - ddof if ddof else n
        y = total / left
        y = m.where(left <= 0, np.nan, y) if ddof else y
        return m.sqrt(y) if prim == "std" else y

    return build


# ------------------------------------------------------------------------------------------------ truth, places


def _truth(prim: str, neutral: bool) -> Callable[..., Expr]:
    """The builder of ``np.all`` or ``np.any`` (``prim``); ``neutral`` stands where a mask is false."""

    def build(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False, where: Any = None) -> Expr:
        x = array(b, a)
        if where is not None:
            x = _masked(b, x if x.type.is_bool else x.ne(0), where, neutral)
        if not x.rank:
            _check_of_number(axis)
            return b.cast(x, "bool") if x.type.is_bool else x.ne(0)
        return reduce(prim, x, axis, keepdims)

    return build


def _count_nonzero(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
    x = array(b, a)
    if not x.rank:
        _check_of_number(axis)
        return b.cast(x.ne(0), "int64")
    return reduce("count_nonzero", x, axis, keepdims)


def _position(prim: str, worst: float | None = None) -> Callable[..., Expr]:
    """The builder of ``argmax`` or ``argmin``; with ``worst``, which replaces NaN, of ``nanargmax`` or ``nanargmin``."""

    def build(b: Builder, a: Any, axis: Axis = None, keepdims: bool = False) -> Expr:
        x = array(b, a)
        if worst is not None and x.type.is_float:
            missing = m.isnan(x)
            alone = reduce("all", missing, axis) if x.rank else missing
            raise_if(holds("any", alone), "ValueError", "All-NaN slice encountered")
            x = m.where(missing, worst, x)
        return b.let(prim, x, axis=None if axis is None else axis_of(axis, x.rank), keepdims=bool(keepdims))

    return build


def ravel(x: Expr) -> Expr:
    """``x`` as a vector in C order; a vector itself."""
    return x if x.rank == 1 else x.b.let("reshape", x, dims=(product(x.dims),))


def as_vector(x: Expr) -> Expr:
    """``x`` itself; a scalar as a vector of one element."""
    return x if x.rank else x.b.let("reshape", strong(x), dims=(Dim(1),))


# ----------------------------------------------------------------------------------------------------- average


def _average(
    b: Builder, a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """``np.average``: with ``returned`` the pair of the average and the sum of the weights. ZeroDivisionError at run time if
    that is 0."""
    x = array(b, a)
    axis = tuple(axis) if isinstance(axis, list) else axis
    if weights is None:
        y = reduce("mean", x, axis, keepdims)
        count = b.cast(m.size(x, axes_of(axis, x.rank)), y.dtype)
        return (y, b.broadcast(count, y.dims)) if returned else y
    w = array(b, weights)
    common = promote(x.type.strong, w.type.strong).dtype if x.type.is_float else "float64"
    beside = weights_beside(x, w, axis)
    of_all = b.cast(w if w.rank < x.rank else beside, common)
    total = reduce("sum", of_all, axis, keepdims) if w.rank == x.rank else reduce("sum", of_all)
    w = beside
    raise_if(holds("any", total.eq(0)), "ZeroDivisionError", "Weights sum to zero, can't be normalized")
    y = reduce("sum", b.cast(x, common) * b.cast(w, common), axis, keepdims) / total
    return (y, b.broadcast(total, y.dims)) if returned else y


def weights_beside(x: Expr, weights: Expr, axis: Axis) -> Expr:
    """The weights in a shape that broadcasts against ``x``: as they are if they have its shape, else along ``axis``, one or
    several, in the order of these. T202 if they fit neither."""
    b, same = x.b, x.b.same
    pairs = list(zip(x.dims, weights.dims))
    if weights.rank == x.rank and all(d == e or b.decide(d, e) is not False for d, e in pairs):
        if all(same(d, e) for d, e in pairs):  # what only the run knows is checked there
            return weights
    if axis is None:
        raise RuleError("Axis must be specified when shapes of a and weights differ.", "T202")
    given = [axis_of(k, x.rank) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if weights.rank != len(given) or not all(same(d, x.dims[k]) for d, k in zip(weights.dims, given)):
        raise RuleError("Shape of weights must be consistent with shape of a along specified axis.", "T202")
    if given == [x.rank - 1]:
        return weights
    turned = m.transpose(weights, np.argsort(given).tolist()) if len(given) > 1 else weights
    sizes = iter(turned.dims)
    return m.reshape(turned, [next(sizes) if k in given else Dim(1) for k in range(x.rank)])


# ---------------------------------------------------------------------------------------------- ufunc methods


def _ufunc_reduce(build: Callable[..., Expr]) -> Callable[..., Expr]:
    """The builder of a method such as ``np.add.reduce``, whose default axis is 0; ``build`` is the builder of the function,
    such as ``np.sum``."""

    def reduced(
        b: Builder,
        array: Any,
        axis: Axis = 0,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Expr:
        if initial is None and where is not True:
            raise RuleError("to use a where mask one has to specify 'initial'", "T201")
        initial = None if initial is NO_VALUE else initial
        x = cast_to(from_nested(b, array), dtype)
        axis = axis if x.rank or axis not in (0, -1) else None  # NumPy accepts a scalar
        more = {k: v for k, v, none in (("initial", initial, None), ("where", where, True)) if v is not none}
        return build(b, x, axis, keepdims=keepdims, **more)

    return reduced


def _log_sum(join: str, power: str, log: str) -> Callable[..., Expr]:
    """The builder of ``np.logaddexp.reduce``, or, with the powers and logarithms of base 2, ``np.logaddexp2.reduce``: the
    largest element is factored out, so that nothing overflows; -inf if there are none."""

    def reduced(
        b: Builder,
        array: Any,
        axis: Axis = 0,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Expr:
        x = cast_to(from_nested(b, array), dtype)
        x = b.cast(x, OPERAND_TYPES["float"]([x.type])[0].strong)
        x = _masked(b, x, where, -np.inf)
        top = reduce("max", x, axis, True, initial=-np.inf) if x.rank else x
        top = b.elementwise("stop_gradient", top)
        top = m.where(b.elementwise("isfinite", top), top, 0.0)
        total = reduce("sum", b.elementwise(power, x - top), axis, True)
        empty = total.eq(0)
        y = b.elementwise(log, m.where(empty, 1.0, total)) + m.where(empty, -np.inf, top)
        if not keepdims:
            axes = axes_of(axis, x.rank)
            y = b.let("reshape", y, dims=tuple(d for k, d in enumerate(x.dims) if k not in axes))
        return y if initial is None else _with_initial(join, y, initial)

    return reduced


_SUM, _PROD = _folded("sum", 0, "add"), _folded("prod", 1, "mul")
_MAX, _MIN = _extremum("max", "maximum", -np.inf), _extremum("min", "minimum", np.inf)
_ALL, _ANY = _truth("all", True), _truth("any", False)
_REDUCE = {
    "add": _SUM, "multiply": _PROD, "maximum": _MAX, "minimum": _MIN, "logical_and": _ALL, "logical_or": _ANY,
    "fmax": _extremum("nanmax", "fmax", -np.inf), "fmin": _extremum("nanmin", "fmin", np.inf),
}  # fmt: skip


def _entry(build: Callable[..., Any], *more: str) -> Entry:
    return Entry(build, static=(*REDUCED, *more))


_NUMPY: dict[str, Entry] = {
    "sum": _entry(_SUM),
    "prod": _entry(_PROD),
    "mean": _entry(_mean),
    "nansum": _entry(_nan_sum),
    "nanprod": _entry(_nan_prod),
    "nanmean": _entry(_nan_mean),
    **{name: _entry(_MAX) for name in ("max", "amax")},
    **{name: _entry(_MIN) for name in ("min", "amin")},
    "nanmax": _entry(_extremum("nanmax", "fmax", -np.inf)),
    "nanmin": _entry(_extremum("nanmin", "fmin", np.inf)),
    "ptp": Entry(source="library_composites:ptp"),
    "var": _entry(_spread("var"), "ddof", "correction"),
    "std": _entry(_spread("std"), "ddof", "correction"),
    "nanvar": _entry(_nan_spread("var"), "ddof", "correction"),
    "nanstd": _entry(_nan_spread("std"), "ddof", "correction"),
    "all": _entry(_ALL),
    "any": _entry(_ANY),
    "count_nonzero": _entry(_count_nonzero),
    "argmax": _entry(_position("argmax")),
    "argmin": _entry(_position("argmin")),
    "nanargmax": _entry(_position("argmax", -np.inf)),
    "nanargmin": _entry(_position("argmin", np.inf)),
    "average": _entry(_average, "returned"),
    **{f"{name}.reduce": _entry(_ufunc_reduce(build)) for name, build in _REDUCE.items()},
    "logaddexp.reduce": _entry(_log_sum("logaddexp", "exp", "log")),
    "logaddexp2.reduce": _entry(_log_sum("logaddexp2", "exp2", "log2")),
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
