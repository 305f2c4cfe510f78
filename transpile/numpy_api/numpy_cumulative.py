"""Cumulative sums and products, differences along an axis and the trapezoidal rule of NumPy, by dotted name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, axis_of, cast_to, same_dtype, strong
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_join import concatenate
from transpile.numpy_api.numpy_reduction import ravel
from transpile.ops import language as m
from transpile.ops.slicing import slice_axis


def _cumulative(prim: str) -> Callable[..., Expr]:
    """The builder of ``np.cumsum`` or ``np.cumprod``; ``axis`` None flattens the array."""

    def build(b: Builder, a: Any, axis: Any = None, dtype: Any = None) -> Expr:
        x = cast_to(array(b, a), dtype)
        if axis is None:
            x, axis = ravel(x), 0
        return b.let(prim, x, axis=axis_of(axis, x.rank))

    return build


def _nan_cumulative(prim: str, neutral: float) -> Callable[..., Expr]:
    """The builder of ``np.nancumsum`` or ``np.nancumprod``; ``neutral`` replaces NaN."""

    def build(b: Builder, a: Any, axis: Any = None, dtype: Any = None) -> Expr:
        x = array(b, a)
        x = m.where(m.isnan(x), neutral, x) if x.type.is_float else x
        return _cumulative(prim)(b, x, axis, dtype)

    return build


def _cumulative_array(prim: str, neutral: float) -> Callable[..., Expr]:
    """The builder of ``np.cumulative_sum`` or ``np.cumulative_prod``; ``neutral`` is the first element with
    ``include_initial``."""

    def build(b: Builder, x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Expr:
        y = array(b, x)
        if axis is None and y.rank != 1:
            raise RuleError("needs an axis for an array of more than one dimension", "T201")
        axis = axis_of(0 if axis is None else axis, y.rank)
        y = _cumulative(prim)(b, y, axis, dtype)
        if not include_initial:
            return y
        dims = tuple(Dim(1) if k == axis else d for k, d in enumerate(y.dims))
        return b.let("concatenate", b.let("full", neutral, dims=dims, dtype=y.dtype), y, axis=axis)

    return build


def _diff(b: Builder, a: Any, n: Any = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Expr:
    """``np.diff``; truth values are compared, not subtracted. With ``n`` 0 the array itself."""
    x = array(b, a)
    axis = axis_of(axis, x.rank)
    if n < 0:
        raise RuleError(f"np.diff: n={n} is negative", "T131")
    if not n:  # prepend and append are ignored too
        return x
    parts = [x]
    for extra, at in ((prepend, 0), (append, len(parts))):
        if extra is not None:
            e = array(b, extra)
            dims = tuple(Dim(1) if k == axis else d for k, d in enumerate(x.dims))
            parts.insert(at if at == 0 else len(parts), e if e.rank else b.broadcast(strong(e), dims))
    if len(parts) > 1:
        x = concatenate(b, same_dtype(b, parts), axis)
    for _ in range(n):
        after = slice_axis(x, axis, 1, clip=True)
        before = slice_axis(x, axis, 0, x.dims[axis] - 1, clip=True)
        x = b.elementwise("not_equal" if x.type.is_bool else "sub", after, before)
    return x


def _accumulated(prim: str) -> Callable[..., Expr]:
    """The builder of a method such as ``np.add.accumulate``."""

    def build(b: Builder, array: Any, axis: Any = 0, dtype: Any = None) -> Expr:
        if axis is None:
            raise RuleError("accumulate does not allow multiple axes", "T208")
        return _cumulative(prim)(b, array, axis, dtype)

    return build


_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
_STATIC = ("axis", "dtype", "include_initial", "n")


def _entry(build: Callable[..., Any], memory: str = "new") -> Entry:
    return Entry(build, static=_STATIC, memory=memory)


_NUMPY: dict[str, Entry] = {
    "cumsum": _entry(_cumulative("cumsum")),
    "cumprod": _entry(_cumulative("cumprod")),
    "nancumsum": _entry(_nan_cumulative("cumsum", 0.0)),
    "nancumprod": _entry(_nan_cumulative("cumprod", 1.0)),
    "cumulative_sum": _entry(_cumulative_array("cumsum", 0.0)),
    "cumulative_prod": _entry(_cumulative_array("cumprod", 1.0)),
    "diff": _entry(_diff, memory="place"),
    "ediff1d": Entry(source="library_composites:ediff1d"),
    **{name: Entry(source="library_composites:trapezoid", static=("axis",)) for name in ("trapezoid", "trapz")},
    **{f"{name}.accumulate": _entry(_accumulated(prim)) for name, prim in _ACCUMULATE.items()},
}

TABLE: dict[str, Entry] = {f"numpy.{name}": entry for name, entry in _NUMPY.items()}
