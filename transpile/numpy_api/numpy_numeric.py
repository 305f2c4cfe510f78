"""Differences, covariances, comparisons of whole arrays, windows and polynomials of NumPy, by dotted name."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import BOOL
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import (
    array,
    axes_of,
    axis_of,
    floats,
    is_one,
    must_agree,
    numeric,
    one_of,
)
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_elementwise import isclose
from transpile.numpy_api.numpy_join import concatenate as joined
from transpile.numpy_api.numpy_reduction import as_vector, holds, reduce
from transpile.numpy_api.numpy_shape import reshape
from transpile.ops import language as m
from transpile.ops.language import matmul, transpose
from transpile.ops.slicing import arange, at_least, gather, new_axis, point, raise_if, slice_axis, vector

# ----------------------------------------------------------------------------------------------------- gradient


def _no_truths(b: Builder, value: Any, name: str) -> Expr:
    """The argument as an array; T131, about the function ``name``, for truth values."""
    x = array(b, value)
    if x.type.is_bool:
        hint = "convert them with .astype(int)"
        raise RuleError(f"{name} does not take truth values, which NumPy does not subtract", "T131", hint)
    return x


def _gradient(b: Builder, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """``np.gradient``: one array for one axis, else a tuple with one for each axis."""
    (x,) = floats(b, _no_truths(b, f, "np.gradient"))
    one_of("np.gradient", "edge_order", edge_order, 1, 2)
    axes = [axis_of(k, x.rank) for k in axis] if isinstance(axis, tuple) else axes_of(axis, x.rank)
    if len(set(axes)) != len(axes):
        raise RuleError("repeated axis", "T208")
    spacings = list(varargs) or [1.0]
    spacings = spacings * len(axes) if len(spacings) == 1 and not array(b, spacings[0]).rank else spacings
    if len(spacings) != len(axes):
        raise RuleError("invalid number of arguments: one number for all axes or a spacing for each", "T201")
    found = tuple(b.cast(_along(b, x, k, h, edge_order), x.dtype) for k, h in zip(axes, spacings))
    return found[0] if len(found) == 1 else found


def _along(b: Builder, x: Expr, axis: int, spacing: Any, edge_order: int) -> Expr:
    """The gradient along one axis, for a spacing that is a number or the vector of the places: second-order differences inside,
    one-sided ones of ``edge_order`` at the ends."""
    n = x.dims[axis]
    message = (
        "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
    )
    at_least(b, n, edge_order + 1, message)
    step = array(b, spacing)
    if step.rank:
        (step,) = floats(b, step)
        if not b.same(step.dims[0], n):
            raise RuleError("when 1d, distances must match the length of the corresponding dimension", "T202")
        return _uneven(x, axis, step, n, edge_order)
    inner = (slice_axis(x, axis, 2) - slice_axis(x, axis, 0, n - 2)) / (2.0 * step)
    if edge_order == 1:
        first, last = _end(x, axis, 1) - _end(x, axis, 0), _end(x, axis, -1) - _end(x, axis, -2)
    else:
        first = -1.5 * _end(x, axis, 0) + 2.0 * _end(x, axis, 1) - 0.5 * _end(x, axis, 2)
        last = 0.5 * _end(x, axis, -3) - 2.0 * _end(x, axis, -2) + 1.5 * _end(x, axis, -1)
    return _joined(axis, first / step, inner, last / step)


def _uneven(x: Expr, axis: int, places: Expr, n: Dim, edge_order: int) -> Expr:
    """The gradient along one axis of size ``n`` with elements at ``places``, as in `_along`."""
    gaps = slice_axis(places, 0, 1) - slice_axis(places, 0, 0, n - 1)
    before, after = (_wide(g, x.rank, axis) for g in (slice_axis(gaps, 0, 0, n - 2), slice_axis(gaps, 0, 1)))
    left, middle, right = slice_axis(x, axis, 0, n - 2), slice_axis(x, axis, 1, n - 1), slice_axis(x, axis, 2)
    both = before + after
    inner = (
        left * (-after / (before * both))
        + middle * ((after - before) / (before * after))
        + right * (before / (after * both))
    )
    if edge_order == 1:
        first = (_end(x, axis, 1) - _end(x, axis, 0)) / point(gaps, 0, 0)
        last = (_end(x, axis, -1) - _end(x, axis, -2)) / point(gaps, 0, -1)
        return _joined(axis, first, inner, last)
    h, k = point(gaps, 0, 0), point(gaps, 0, 1)
    first = (
        _end(x, axis, 0) * (-(2.0 * h + k) / (h * (h + k)))
        + _end(x, axis, 1) * ((h + k) / (h * k))
        - _end(x, axis, 2) * (h / (k * (h + k)))
    )
    h, k = point(gaps, 0, -2), point(gaps, 0, -1)
    last = (
        _end(x, axis, -3) * (k / (h * (h + k)))
        - _end(x, axis, -2) * ((k + h) / (h * k))
        + _end(x, axis, -1) * ((2.0 * k + h) / (k * (h + k)))
    )
    return _joined(axis, first, inner, last)


def _wide(v: Expr, rank: int, axis: int) -> Expr:
    return v if rank == 1 else reshape(v, [v.dims[0] if k == axis else Dim(1) for k in range(rank)])


def _end(x: Expr, axis: int, k: int) -> Expr:
    return point(x, axis, k)


def _joined(axis: int, first: Expr, inner: Expr, last: Expr) -> Expr:
    ends = [new_axis(e, axis) for e in (first, last)]
    return m.call("concatenate", ends[0], inner, ends[1], axis=axis)


# -------------------------------------------------------------------------------------------------- covariances


def _cov(
    b: Builder,
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Expr:
    """``np.cov``; T210 if it is known at run time only whether there is one variable, whose result is a number."""
    rows = _variables(b, m, y, rowvar)
    rows = rows if dtype is None else b.cast(rows, dtype)
    if isinstance(ddof, float) and not ddof.is_integer():
        raise RuleError("ddof must be an integer", "T201")
    loss = (0 if bias else 1) if ddof is None else ddof
    weights = [b.cast(array(b, w), rows.dtype) for w in (fweights, aweights) if w is not None]
    if any(w.rank != 1 or not b.same(w.dims[0], rows.dims[1]) for w in weights):
        raise RuleError("np.cov takes as many weights as samples", "T202", "pass one weight for each sample")
    if not weights:
        centred = rows - reduce("mean", rows, 1, True)
        found = matmul(centred, transpose(centred, (1, 0))) / _freedom(b.dim(rows.dims[1]), loss)
    else:
        w = weights[0] if len(weights) == 1 else weights[0] * weights[1]
        total = reduce("sum", w)
        centred = rows - new_axis(reduce("sum", rows * w, 1) / total, 1)
        lost = loss if aweights is None else loss * reduce("sum", w * weights[-1]) / total
        found = matmul(centred * w, transpose(centred, (1, 0))) / _freedom(total, lost if loss else 0)
    alone = is_one(b, rows.dims[0], "cov", "take a row: np.cov(x[0])")
    return point(point(found, 0, 0), 0, 0) if alone else found


def _freedom(count: Expr, lost: Any) -> Expr:
    """The divisor: the count minus the lost degrees of freedom, not less than 0; the count itself if ``lost`` is the int 0."""
    if isinstance(lost, int) and not lost:
        return count
    return count.b.elementwise("maximum", count - lost, 0, py=not count.rank and count.type.weak)


def _variables(b: Builder, x: Any, y: Any, rowvar: bool) -> Expr:
    """A matrix with one variable in each row, those of ``x`` and then of ``y`` (None: none); ``rowvar`` False: the arguments
    have one in each column."""
    parts = [v for v in (x, y) if v is not None]
    rows = []
    for name, v in zip("my", (b.cast(array(b, p), "float64") for p in parts)):
        if v.rank > 2:
            raise RuleError(f"{name} has more than 2 dimensions", "T202")
        v = reshape(v, [*([Dim(1)] * (2 - v.rank)), *v.dims]) if v.rank < 2 else v if rowvar else m.transpose(v, (1, 0))
        rows.append(v)
    return joined(b, rows, 0)


def _corrcoef(b: Builder, x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Expr:
    c = _cov(b, x, y, rowvar, dtype=dtype)
    if not c.rank:
        return c / c
    spread = m.sqrt(b.let("diagonal", c, offset=0, axes=(0, 1)))
    return c / new_axis(spread, 1) / spread


# -------------------------------------------------------------------------------------------------- comparisons


def _allclose(build: Builder, a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Expr:
    close = isclose(build, array(build, a), array(build, b), rtol, atol, equal_nan)
    return build.cast(holds("all", close), BOOL)


def _array_equal(b: Builder, a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """``np.array_equal``: the constant False if the shapes are known to differ, else a Python bool at run time."""
    x, y = array(b, a1), array(b, a2)
    decided = [b.decide(p, q) for p, q in zip(x.dims, y.dims)]
    if x.rank != y.rank or False in decided:
        return False
    unknown = [b.dim(p).eq(b.dim(q)) for p, q, known in zip(x.dims, y.dims, decided) if known is None]
    if not unknown:
        return _all_equal(b, x, y, equal_nan)
    equal, differ = ir.Block(), ir.Block(yields=(b.operand(False),))
    with b.into(equal):
        found = _all_equal(b, x, b.let("sized", y, dims=x.dims), equal_nan)
        equal.yields = (found.op,)
    result = ir.Var(ir.SYNTHETIC, BOOL)
    b.emit(ir.If(functools.reduce(operator.and_, unknown).op, equal, differ, (result,), b.loc))
    return b.expr(result)


def _all_equal(b: Builder, x: Expr, y: Expr, equal_nan: bool) -> Expr:
    equal = x.eq(y)
    if equal_nan and x.type.is_float and y.type.is_float:
        equal = m.logical_or(equal, m.logical_and(m.isnan(x), m.isnan(y)))
    return b.cast(holds("all", equal), BOOL)


# ------------------------------------------------------------------------------------------- windows, polynomials


def _windows(b: Builder, x: Any, window_shape: Any, axis: Any = None) -> Expr:
    """``sliding_window_view``, as a copy: the windows lie along new last axes."""
    v = array(b, x)
    sizes = list(window_shape) if isinstance(window_shape, (tuple, list)) else [window_shape]
    axes: Sequence[int] = (
        axes_of(None, v.rank)
        if axis is None
        else [axis_of(k, v.rank) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    )
    if len(sizes) != len(axes):
        raise RuleError("Since axis is None, must provide window_shape for all dimensions of `x`", "T202")
    for k, size in zip(axes, map(b.expr, sizes)):
        if size.rank or not size.type.is_int:
            raise RuleError(
                f"the size of a window must be an integer, not {size.type}", "T201", "convert it with int(...)"
            )
        width = b.form(size)
        count = v.dims[k] - width + 1
        at_least(b, width, 0, "`window_shape` cannot contain negative values")
        at_least(b, v.dims[k] - width, 0, "window shape cannot be larger than input array shape")
        places = new_axis(arange(b, count), 1) + arange(b, width)
        found = gather(v, k, places)
        order = [j for j in range(found.rank) if j != k + 1] + [k + 1]
        v = m.transpose(found, order)
    return v


def _polyfit(b: Builder, x: Any, y: Any, deg: int, w: Any = None) -> Expr:
    """``np.polyfit``: the coefficients of the least-squares polynomial, highest first."""
    at, values = (b.cast(array(b, v), "float64") for v in (x, y))
    must_agree(b, at, values if values.rank == 1 else point(values, 1, 0), "expected x and y to have same length")
    if not isinstance(deg, (int, np.integer)):
        raise RuleError(f"np.polyfit of degree {deg!r}: only whole degrees are supported", "T131")
    if deg < 0:
        raise RuleError("expected deg >= 0", "T131")
    powers = b.let("flip", b.let("arange", b.expr(deg + 1), dims=(Dim(deg + 1),), dtype="int64"), axes=(0,))
    columns = b.elementwise("pow", new_axis(at, 1), b.cast(powers, at.dtype))
    if w is not None:
        weights = b.cast(array(b, w), "float64")
        must_agree(b, weights, at, "expected w and y to have the same length")
        columns = columns * new_axis(weights, 1)
        values = values * (weights if values.rank == 1 else new_axis(weights, 1))
    scale = m.sqrt(
        b.let("sum", columns * columns, axes=(0,), keepdims=False)
    )  # as NumPy does: the scale decides which singular values count if there are too few points
    found = b.let("lstsq", columns / scale, values, rcond=None)
    return found / (scale if values.rank == 1 else new_axis(scale, 1))


def _polyder(b: Builder, p: Any, m: int = 1) -> Expr:
    """``np.polyder``: the coefficients of the ``m``-th derivative, highest first."""
    c = array(b, p)
    vector(c.type)
    if m < 0:
        raise RuleError("the order of a derivative must be positive (see polyint)", "T131")
    for _ in range(m):
        n = c.dims[0]
        if n == Dim(0):
            break
        c = slice_axis(c, 0, 0, n - 1) * b.let("flip", arange(b, n - 1) + 1, axes=(0,))
    return c


def _polyint(b: Builder, p: Any, m: int = 1, k: Any = None) -> Expr:
    """``np.polyint``: the coefficients of the ``m``-th integral, highest first, with the constants ``k`` (None: 0)."""
    if m < 0:
        raise RuleError("the order of an integral must be positive (see polyder)", "T131")
    c = array(b, p)
    if m == 0:
        return c
    c = b.cast(c, "float64")
    constants = [] if k is None else list(k) if isinstance(k, (list, tuple)) else [k] * m
    if len(constants) not in (0, m):
        raise RuleError("k must be a scalar or a rank-1 array of length 1 or >m.", "T131")
    for j in range(m):
        powers = b.let("flip", arange(b, c.dims[0]) + 1, axes=(0,))
        last = b.cast(b.expr(constants[j]), c.dtype) if constants else 0.0
        c = b.let("concatenate", c / powers, b.let("full", last, dims=(Dim(1),), dtype=c.dtype), axis=0)
    return c


def _polymul(b: Builder, a1: Any, a2: Any) -> Expr:
    """``np.polymul``; ValueError at run time for a first coefficient of 0, which NumPy drops, since the length would depend on
    it."""
    factors = numeric(b, *(as_vector(array(b, v)) for v in (a1, a2)))
    for x in factors:
        if x.rank == 1 and not x.dims[0].is_one:
            message = "np.polymul of a polynomial whose first coefficient is 0: leave it out"
            at_least(b, x.dims[0], 1, "np.polymul of no coefficients")
            raise_if(b.elementwise("logical_and", point(x, 0, 0).eq(0), b.dim(x.dims[0]) > 1), "ValueError", message)
    return b.let("convolve", *factors, mode="full")


_NUMPY: dict[str, Entry] = {
    "gradient": Entry(_gradient, static=("axis", "edge_order")),
    "cov": Entry(_cov, static=("rowvar", "bias", "ddof", "dtype"), memory="array"),
    "corrcoef": Entry(_corrcoef, static=("rowvar", "dtype")),
    "allclose": Entry(_allclose, static=("equal_nan",)),
    "array_equal": Entry(_array_equal, static=("equal_nan",)),
    "lib.stride_tricks.sliding_window_view": Entry(_windows, static=("axis",), idle=("writeable",), memory="read-only"),
    "polyfit": Entry(_polyfit, static=("deg",)),
    "polyder": Entry(_polyder, static=("m",), memory="same"),
    "polyint": Entry(_polyint, static=("m",), memory="same"),
    "polymul": Entry(_polymul),
    **{
        name: Entry(
            source=f"library_numpy:{name}",
            memory="array" if name in ("apply_over_axes", "astype", "piecewise", "ndarray") else "new",
        )
        for name in (
            "ndarray "
            "piecewise fromfunction fromiter astype apply_along_axis apply_over_axes vecmat angle isreal iscomplex unwrap union1d "
            "intersect1d setdiff1d polyadd polysub bartlett hanning hamming blackman kaiser choose"
        ).split()
    },
    **{
        name: Entry(source=f"library_writes:{name}")
        for name in "copyto putmask place put put_along_axis fill_diagonal".split()
    },
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
