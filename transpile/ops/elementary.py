"""The elementwise functions of NumPy and ``math`` beyond arithmetic, each with its partial derivatives.

A partial is differentiated again for second order. So each is written in a form whose own derivative is accurate, which
overflows nowhere the function does not, and which is not NaN where the function is finite. Conventions where no derivative
exists: ``hypot`` and ``arctan2`` at (0, 0) and ``sqrt`` at 0 have derivative 0, and NaN as second derivative
(`transpile.ops.language.chosen`); ``cbrt``, ``arcsin``, ``arccos`` at the end of their domain have the infinite one-sided
limit; ``clip`` at a bound passes the derivative to ``x``; where ``fmax``, ``fmin`` tie, each side takes half; steps (``floor``,
``round``, ``sign``, ``heaviside``) have 0.

``math`` and ``python`` are further spellings: a *let* with the param ``via="math"`` (or ``py=True``) has Python scalars as
operands and is printed with that spelling.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import FLOAT, INT, Type
from transpile.errors import RuleError
from transpile.ops import interval_arithmetic as intervals
from transpile.ops.arithmetic import always, boolean, is_number, no_bool, same, unary, whole
from transpile.ops.element import SAME, Arg, Element, Infix, Number, applied, by_kind, by_sign, with_params

from transpile.ops.language import (  # isort: skip
    absolute, call, chosen, cos, cosh, elementwise, exp, isnan, sin, sinh, sqrt, where,
)  # fmt: skip
from transpile.ops.lowering_kinds import OperandSum
from transpile.ops.record import ZERO, Op
from transpile.ops.spelling import Spelling, sequence, with_value
from transpile.ops.traits import Magnitude, Operator, Vector, near

# Before NumPy 2.1, floor, ceil and trunc turned integers into floats.
_STEP = "arith" if tuple(int(p) for p in np.__version__.split(".")[:2]) >= (2, 1) else "float"


def smooth(name: str, partial: Any, cost: int = 2, **more: Any) -> Op:
    """The record of a function of one float, with the derivative ``partial``, that NumPy has under its own name; ``math=True``:
    `math` has it under the same name. ``cost``: see the module `transpile.ops.record`."""
    more.setdefault("dtype_rule", "float")
    more.setdefault("names", (name,))
    if more.get("math") is True:
        more["math"] = f"math.{name}({{0}})"
    return unary(name, more.pop("render", f"np.{name}({{0}})"), partial, cost=cost, **more)


def libm(name: str, partial: Any, own: str = "", **more: Any) -> Op:
    """The record of the function ``name`` of C's ``libm``; ``own`` is its name in `math` and Numba, "" if it is the same."""
    own = own or name
    more.setdefault("as_calm", True)
    names = (name,) if own == name else (name, own)
    return smooth(name, partial, element=applied(f"math.{own}", 1), math=f"math.{own}({{0}})", names=names, **more)


def two(name: str, first: Any, second: Any, dtype_rule: str = "float", cost: int = 2, **more: Any) -> Op:
    """The record of a function of two arguments that NumPy has under its own name; ``first`` and ``second`` are its derivatives
    by the arguments."""
    more.setdefault("element", applied(f"scalars.{name}", 2))
    more.setdefault("type_rule", same)
    more.setdefault("names", (name,))
    if more.get("math") is True:
        more["math"] = f"math.{name}({{0}}, {{1}})"
    partials = (first, second)
    render = more.pop("render", f"np.{name}({{0}}, {{1}})")
    return Op(name, render=render, kind="elementwise", partials=partials, dtype_rule=dtype_rule, cost=cost, **more)


def _whole_numbers(types, params) -> Type:  # type: ignore[no-untyped-def]
    if not types[0].is_int:
        message = f"gcd and lcm take integers, not {types[0]}"
        raise RuleError(message, "T201", "convert it with int(...) or .astype(int)")
    return same(types, params)


def test(name: str, **more: Any) -> Op:
    """The record of a boolean property of one number that NumPy has under this name."""
    vector = Vector(name, alone=True)
    return smooth(name, ZERO, 1, type_rule=boolean, dtype_rule="as_is", quiet=True, vector=vector, **more)


def step(name: str, **more: Any) -> Op:
    """The record of a function that rounds to a whole number and that NumPy has under this name; its derivative is zero."""
    vector = Vector(name, alone=True)
    return smooth(name, ZERO, 1, dtype_rule=_STEP, quiet=True, vector=vector, **more)


def indicator(mask: Any) -> Any:
    """1 where the mask holds, 0 elsewhere."""
    return where(mask, 1.0, 0.0)


# ------------------------------------------------------------------------------------------------ one argument


def _arcsin(y, x):  # type: ignore[no-untyped-def]
    return 1 / sqrt((1 - x) * (1 + x))  # 1 - x*x would cancel near the ends


def _arccosh(y, x):  # type: ignore[no-untyped-def]
    return 1 / (sqrt(x - 1) * sqrt(x + 1))  # x*x would overflow


_SINC_SERIES = tuple(
    (-1) ** (k + 1) * math.pi ** (2 * k + 2) * (2 * k + 2) / math.factorial(2 * k + 3) for k in range(10)
)


def _rounded(types, result, params) -> Element:  # type: ignore[no-untyped-def]
    of_python = params.get("py") and result.weak
    if result.is_int:
        return SAME if params["decimals"] >= 0 else applied("intmath.round_to", 1, params["decimals"])
    name = "scalars.round_to_python" if of_python else "scalars.round_to"
    return with_params(name, 1, "decimals")(types, result, params)


def _chosen(types, result, params) -> Element:  # type: ignore[no-untyped-def]
    return Infix("+", Infix("*", Number(0.0), Arg(0)), Number(params.get("value", 0.0)))


def _value(params) -> float:  # type: ignore[no-untyped-def]
    return float(params["value"])


def _sinc(y, x):  # type: ignore[no-untyped-def]
    """The derivative of ``sinc``, accurate at and near 0."""
    # (cos(pi x) - y) / x cancels near 0 (and is 0/0 there): a series in x*x up to |x| = 0.3, where it ends below 1e-17
    near = absolute(x) < 0.3
    z = where(near, x * x, 0.0)
    series: Any = _SINC_SERIES[-1]
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = series * z + coefficient if coefficient > 0 else series * z - -coefficient
    return where(near, x * series, (cos(math.pi * x) - y) / where(near, 1.0, x))


ONE = [
    libm("exp", lambda y, x: y, positive=True, vector=Vector("exp", ulps=1.0), said="exp", called="exp"),
    smooth("exp2", lambda y, x: y * math.log(2), math=True, vector=Vector("exp2", near=("exp2_moderate", "outside_moderate"))),
    libm("expm1", lambda y, x: exp(x), vector=Vector("expm1", ulps=1.5), said="expm1"),  # y + 1 would cancel for x below -1
    libm("log", lambda y, x: 1 / x, vector=Vector("log", near=("log_normal", "outside_normal"), ulps=1.0), said="log",
         called="log"),
    libm("log2", lambda y, x: (1 / math.log(2)) / x, vector=Vector("log2", near=("log2_normal", "outside_normal")), as_calm=False),
    libm("log10", lambda y, x: (1 / math.log(10)) / x, vector=Vector("log10"), as_calm=False),
    libm("log1p", lambda y, x: 1 / (1 + x), vector=Vector("log1p", ulps=1.5), said="log1p"),
    # derivative 0 at 0, so that the root of a sum of squares has gradient 0 there, as the norm has, and not NaN
    libm("sqrt", lambda y, x: where(y.eq(0), chosen(y, 0.0), 0.5 / y), cost=1, vector=Vector("sqrt", alone=True), work=12,
         as_calm=False, square=lambda params, x: x, said="sqrt", called="root"),
    smooth("cbrt", lambda y, x: 1 / (3 * (y * y)), steep=lambda x: x.eq(0), math=True, vector=Vector("cbrt")),
    libm("sin", lambda y, x: cos(x), vector=near("sin_bounded", "outside_bounded", 1.5), bounded=True, quiet=True, said="sin",
         called="sine"),
    libm("cos", lambda y, x: -sin(x), vector=near("cos_bounded", "outside_bounded", 1.5), bounded=True, quiet=True, said="cos",
         called="cosine"),
    libm("tan", lambda y, x: 1 + y * y, vector=near("tan_bounded", "outside_bounded"), said="tan", called="tangent"),
    libm("arcsin", _arcsin, "asin", steep=lambda x: absolute(x).eq(1), vector=Vector("arcsin"), bounded=True),
    libm("arccos", lambda y, x: -_arcsin(y, x), "acos", steep=lambda x: absolute(x).eq(1), vector=Vector("arccos"), bounded=True),
    libm("arctan", lambda y, x: 1 / (1 + x * x), "atan", vector=Vector("arctan"), bounded=True, quiet=True),
    libm("sinh", lambda y, x: cosh(x), vector=Vector("sinh")),
    libm("cosh", lambda y, x: sinh(x), vector=Vector("cosh")),
    libm("tanh", lambda y, x: 1 - y * y, vector=Vector("tanh", ulps=1.5), bounded=True, quiet=True, said="tanh", called="tanh"),
    # sqrt(x*x + 1) would overflow
    libm("arcsinh", lambda y, x: 1 / elementwise("hypot", x, 1.0), "asinh", vector=Vector("arcsinh")),
    libm("arccosh", _arccosh, "acosh", steep=lambda x: x.eq(1), vector=Vector("arccosh"), inside=2.0),
    libm("arctanh", lambda y, x: 1 / ((1 - x) * (1 + x)), "atanh", vector=Vector("arctanh")),
    smooth("radians", lambda y, x: math.pi / 180, cost=1, linear=True, math=True, names=("radians", "deg2rad")),
    smooth("degrees", lambda y, x: 180 / math.pi, cost=1, linear=True, math=True, names=("degrees", "rad2deg")),
    smooth("fabs", lambda y, x: elementwise("sign", x), cost=1, element=applied("math.fabs", 1), math=True, quiet=True),
    smooth("sinc", _sinc, dtype_rule="div", vector=near("sinc_bounded", "outside_bounded")),
    smooth("np_i0", lambda y, x: elementwise("i1", x), render="np.i0({0})", dtype_rule="div", element=applied("special.i0", 1),
           names=("i0",)),
    smooth("rint", ZERO, cost=1, quiet=True, vector=Vector("rint", alone=True)),
    smooth("spacing", ZERO, cost=1, math="math.ulp({0})"),
    smooth("square", lambda y, x: 2 * x, cost=1, dtype_rule="int8", element=Infix("*", Arg(0), Arg(0)), positive=True, squares=True,
           interval=intervals.square),
    smooth("reciprocal", lambda y, x: -(y * y), cost=1, dtype_rule="int8",
           element=by_kind(1, integers="scalars.reciprocal_int", floats="scalars.reciprocal")),
    unary("positive", "op:+", lambda y, x: 1, linear=True, type_rule=no_bool, element=SAME, operator=Operator("+", "UAdd", "pos"),
          names=("positive",), signs=(1,), same=True, integers=int, vanishes=(0,), interval=intervals.as_it_is, quiet=True,
          total=always),
    step("floor"),
    step("ceil"),
    step("trunc", names=("trunc", "fix"), math="math.modf({0})[1]"),
    unary("round", "np.round({0})", ZERO, element=by_kind(1, SAME, "scalars.round"), vector=Vector("rint", alone=True)),
    unary("round_to", "np.round({0}, {decimals})", ZERO, python="round({0}, {decimals})", element=_rounded,  # params: decimals
          raises=lambda types, values, result: types[0].is_int and types[0].weak),
    test("isnan", math=True, called="is_nan"),
    test("isinf", math=True),
    test("isfinite", math=True, called="is_finite"),
    test("signbit"),
    unary("nan_to_num", "np.nan_to_num({0})", lambda y, x: indicator(elementwise("isfinite", x)), skips_nan=True,
          vector=Vector("nan_to_num", alone=True)),
    # the value that a derivative has by convention where it does not exist; its own derivative is NaN (params: value). After
    # the last derivative, constants replace these (`transpile.transform.chosen_values`)
    unary("chosen", with_value("np.full_like({0}, {value})"), lambda y, x: elementwise("undefined", x), cost=0,
          element=_chosen, constant=_value),
    # a number whose derivative is `chosen`
    unary("flat", with_value("np.full_like({0}, {value})"), lambda y, x: chosen(x, 0.0), cost=0, element=_chosen, constant=_value),
    # the first operand with the derivative of the second; the two are equal
    Op("sloped", same, "{0}", "elementwise", partials=(ZERO, lambda y, a, b: 1), cost=0, constant=lambda params: None,
       element=Infix("+", Arg(0), Infix("*", Number(0.0), Arg(1)))),
    unary("undefined", "np.full_like({0}, np.nan)", lambda y, x: y, cost=0, element=Infix("*", Number(math.nan), Arg(0)),
          constant=lambda params: math.nan),
    # blocks the derivative, in forward mode too
    unary("stop_gradient", "{0}", ZERO, cost=0, view="writable", element=SAME, interval=intervals.as_it_is, same=True, hides=True),
]  # fmt: skip


# ----------------------------------------------------------------------------------------------- two arguments


def _no_zero(h, *sides):  # type: ignore[no-untyped-def]
    """The hypotenuse ``h`` as a divisor: 1 where it is 0; unchanged if a side is a literal other than 0."""
    return h if any(is_number(s) and s.op.value != 0 for s in sides) else where(h.eq(0), chosen(h, 1.0), h)


def _arctan2_first(y, a, b):  # type: ignore[no-untyped-def]
    h = _no_zero(elementwise("hypot", a, b), a, b)  # b / (a*a + b*b) would overflow and underflow
    return b / h / h


def _arctan2_second(y, a, b):  # type: ignore[no-untyped-def]
    h = _no_zero(elementwise("hypot", a, b), a, b)
    return -(a / h / h)


def _share(power: str) -> Any:
    """The derivative of ``y = log(exp(a) + exp(b))`` in ``a``: exp(a - y), and 0 where both are -inf. ``power`` is the
    primitive of the exponential."""

    def share(y, a, b):  # type: ignore[no-untyped-def]
        known = any(isinstance(o.op, ir.Const) and math.isfinite(o.op.value) for o in (a, b))
        finite = y if known else where(y.eq(-math.inf), 0.0, y)  # y = -inf only if both are
        return elementwise(power, a - finite)

    return share


def _swapped(partial: Any) -> Any:
    return lambda y, a, b: partial(y, b, a)


def _wins_max(y, a, b):  # type: ignore[no-untyped-def]
    return where((a > b) | isnan(b), 1.0, where(a.eq(b), 0.5, 0.0))


def _wins_min(y, a, b):  # type: ignore[no-untyped-def]
    return where((a < b) | isnan(b), 1.0, where(a.eq(b), 0.5, 0.0))


def _nan_or(end: Any) -> Any:
    """A function of a dtype that gives the neutral element of ``fmax`` or ``fmin``: NaN for floats; integers have none, so
    ``end``, that of their range."""
    return lambda dtype: math.nan if np.dtype(dtype).kind == "f" else end(dtype)


def _quotient(y, a, b):  # type: ignore[no-untyped-def]
    return -elementwise("rint", (a - y) / b)  # the multiple of b subtracted; trunc(a / b) may be rounded over it


def _ldexp_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type(types[0].dtype, best.dims, types[0].weak and types[1].weak and not best.dims)


def _ldexp(y, x, n):  # type: ignore[no-untyped-def]
    return elementwise("exp2", n.b.cast(n, x.type.with_dims(()) if not n.rank else x.dtype))


_ALONE: dict[str, Any] = {"cost": 1, "quiet": True}

TWO = [
    two("arctan2", _arctan2_first, _arctan2_second, element=applied("math.atan2", 2), math="math.atan2({0}, {1})",
        names=("arctan2", "atan2"), vector=Vector("arctan2"), bounded=True),
    two("hypot", lambda y, a, b: a / _no_zero(y, a, b), lambda y, a, b: b / _no_zero(y, a, b),
        square=lambda params, a, b: a * a + b * b, element=applied("math.hypot", 2),
        math=True, vector=Vector("hypot"), as_calm=True),
    two("logaddexp", _share("exp"), _swapped(_share("exp")), vector=Vector("logaddexp")),
    two("logaddexp2", _share("exp2"), _swapped(_share("exp2")), vector=Vector("logaddexp2")),
    two("fmax", _wins_max, _swapped(_wins_max), dtype_rule="arith", picks=True, in_lanes=True, extreme=1, skips_nan=True,
        magnitude=Magnitude(joined="maximum"), neutral=_nan_or(intervals.least), vector=Vector("fmax", alone=True), **_ALONE),
    two("fmin", _wins_min, _swapped(_wins_min), dtype_rule="arith", picks=True, in_lanes=True, extreme=-1, skips_nan=True,
        magnitude=Magnitude(joined="maximum"), neutral=_nan_or(intervals.most), vector=Vector("fmin", alone=True), **_ALONE),
    two("fmod", lambda y, a, b: 1, _quotient, dtype_rule="int8", math=True, vector=near("fmod_near", "outside_near"),
        element=by_kind(2, integers="scalars.fmod_int", floats="np.fmod")),
    two("ieee_remainder", lambda y, a, b: 1, _quotient, render="math.remainder({0}, {1})", family="lane", names=()),
    two("copysign", lambda y, a, b: elementwise("sign", a) * elementwise("copysign", 1.0, b), ZERO, math=True,
        element=applied("math.copysign", 2), vector=Vector("copysign", alone=True), **_ALONE),
    two("heaviside", ZERO, lambda y, x, h: indicator(x.eq(0)), cost=1, vector=Vector("heaviside", alone=True)),
    two("nextafter", lambda y, a, b: 1, ZERO, cost=1, math=True),
    two("gcd", ZERO, ZERO, dtype_rule="arith", type_rule=_whole_numbers, math=True,
        element=by_sign(2, "intmath.gcd", "intmath.gcd_unsigned"),
        interval=intervals.divisor, fits="asked"),
    two("lcm", ZERO, ZERO, dtype_rule="arith", type_rule=_whole_numbers, math=True,
        element=by_sign(2, "intmath.lcm", "intmath.lcm_unsigned"),
        interval=intervals.multiple, fits="asked"),
    # the second operand is an integer and stays one; give the first a float dtype before
    two("ldexp", _ldexp, ZERO, dtype_rule="as_is", cost=1, type_rule=_ldexp_type, math=True, names=()),
    two("isclose", ZERO, ZERO, dtype_rule="compare", type_rule=boolean, names=(),
        render="np.isclose({0}, {1}, rtol={rtol}, atol={atol}, equal_nan={equal_nan})",
        element=with_params("scalars.isclose", 2, "rtol", "atol", "equal_nan")),
    two("math_isclose", ZERO, ZERO, dtype_rule="compare", type_rule=boolean, names=(), family="lane",
        render="math.isclose({0}, {1}, rel_tol={rtol}, abs_tol={atol})",
        element=with_params("scalars.math_isclose", 2, "rtol", "atol")),
]  # fmt: skip


# --------------------------------------------------------------------------------------------- three arguments


def _clip_low(y, x, low, high):  # type: ignore[no-untyped-def]
    below = x < low
    if is_number(low) and is_number(high):
        return indicator(below)
    return indicator(below & (low <= high))  # with low > high the result is high


def _clip_high(y, x, low, high):  # type: ignore[no-untyped-def]
    above = x > high
    if is_number(low) and is_number(high):
        return indicator(above)
    return indicator(above | (low > high))


THREE = [
    Op(
        "clip", same, "np.clip({0}, {1}, {2})", "elementwise",
        partials=(lambda y, x, low, high: indicator((low <= x) & (x <= high)), _clip_low, _clip_high),
        element=applied("scalars.clip", 3), picks=True, integers=lambda x, low, high: min(max(x, low), high),
        vector=Vector("clip", alone=True),
    ),
    Op(
        "fma", same, "math.fma({0}, {1}, {2})", "elementwise", "float", family="lane",
        partials=(lambda y, a, b, c: b, lambda y, a, b, c: a, lambda y, a, b, c: 1), element=applied("scalars.fma", 3),
    ),
]  # fmt: skip


# ------------------------------------------------------------------------------------ integers, parts of floats


def _weak_int(types, params) -> Type:  # type: ignore[no-untyped-def]
    return INT


def _integers(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type(params.get("dtype", "int32"), best.dims)


def scalar_int(name: str, render: str, operands: int, module: str = "scalars", family: str = "lane", **more: Any) -> Op:
    """The record of a function of ``math`` whose result is a Python int. ``module``: the runtime module that compiled code
    takes it from."""
    partials, element = (ZERO,) * operands, applied(f"{module}.{name}", operands)
    return Op(name, _weak_int, render, "elementwise", "as_is", partials, element=element, family=family, **more)


def count(name: str, operands: int, **more: Any) -> Op:
    """The record of the counting function ``name`` of ``math`` with this number of operands, which raises for negative numbers."""
    slots = ", ".join(f"{{{k}}}" for k in range(operands))
    more = {"interval": intervals.counted, "raises": lambda types, values, result: True, **more}
    return scalar_int(name, f"math.{name}({slots})", operands, "intmath", **more)


PARTS = [
    # np.modf and np.frexp have two results: fraction and trunc, ldexp(x, -exponent) and exponent
    smooth("fraction", lambda y, x: 1, cost=1, render="np.modf({0})[0]", linear=True, math="math.modf({0})[0]", names=()),
    unary("exponent", "np.frexp({0})[1]", ZERO, type_rule=_integers, dtype_rule="float"),
    unary("bitwise_count", "np.bitwise_count({0})", ZERO, dtype_rule="as_is", names=("bitwise_count",),
          type_rule=lambda types, params: Type("uint8", whole(types, params).dims)),
    scalar_int("floor_int", "math.floor({0})", 1, family="rounding", rounds="floor", fits="whole"),
    scalar_int("ceil_int", "math.ceil({0})", 1, family="rounding", rounds="ceil", fits="whole"),
    scalar_int("round_int", "round({0})", 1, family="rounding", rounds="rint", fits="whole"),
    scalar_int("exponent_int", "math.frexp({0})[1]", 1),
    count("isqrt", 1, interval=intervals.fitting),
    count("factorial", 1, interval=intervals.fitting, fits="counted"),
    count("comb", 2, fits="counted"),
    count("perm", 2, fits="counted"),
]  # fmt: skip


def _fsum_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return call("fsum", *(0.0 if d is None else d for d in dots))


def _fsum_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    if args[0].rank:
        return (y_bar.b.broadcast(y_bar.b.cast(y_bar, args[0].type.strong), args[0].type.dims),)
    return tuple(y_bar if w else None for w in wants)


def _fsum_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    return "math.fsum({0})" if types[0].dims else f"math.fsum({sequence(len(types))})"


FSUM = Op(
    "fsum",  # of numbers, or of a vector
    lambda types, params: FLOAT,
    Spelling(_fsum_spelling),
    "fold",
    lowering=OperandSum(),
    entry="arrays.fsum",
    fold="add",
    jvp=_fsum_jvp,
    vjp=_fsum_vjp,
    linear=True,
    examples=((lambda: (0.5, -1.25, 3.0), {}), (lambda: (np.array([0.5, -1.25, 3.0]),), {})),
    family="lane",
)

TABLE = [*ONE, *TWO, *THREE, *PARTS, FSUM]

__all__ = ["TABLE", "indicator", "smooth", "two"]
