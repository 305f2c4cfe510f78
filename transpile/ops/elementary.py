"""The elementwise functions of NumPy and ``math`` beyond arithmetic: partial derivatives, each written once.

A partial is an expression that is differentiated again for second order, so each is written in a form whose own
derivative is accurate, that overflows nowhere the function does not, and that is not NaN where the function is
finite. Conventions where no derivative exists: ``hypot`` and ``arctan2`` at (0, 0) have 0, and so has ``sqrt`` at
0; ``cbrt``, ``arcsin``, ``arccos`` at the end of their domain have the infinite one-sided limit; ``clip`` at a bound passes the
derivative to ``x``; where ``fmax``, ``fmin`` tie, each side takes half; steps (``floor``, ``round``, ``sign``,
``heaviside``) have 0.

`MATH` and `BUILTINS` are further spellings: a *let* with the param ``via="math"`` (or ``py=True``) works on Python
scalars and is printed so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import FLOAT, INT, Type
from transpile.errors import RuleError
from transpile.ops.arithmetic import boolean, is_number, no_bool, same, unary
from transpile.ops.language import (  # fmt: skip
    absolute,
    call,
    cos,
    cosh,
    elementwise,
    exp,
    isnan,
    sin,
    sinh,
    sqrt,
    where,
)
from transpile.ops.record import ZERO, Prim
from transpile.ops.spelling import Spelling, sequence

# Until NumPy 2.1 these turned integers into floats.
_STEP = "arith" if tuple(int(p) for p in np.__version__.split(".")[:2]) >= (2, 1) else "float"


def smooth(name: str, partial: Any, cost: int = 2, **more: Any) -> Prim:
    """A real function of one float argument that NumPy calls by its own name."""
    render, dtype_rule = more.pop("render", f"np.{name}({{0}})"), more.pop("dtype_rule", "float")
    return unary(name, render, partial, dtype_rule=dtype_rule, cost=cost, **more)


def two(name: str, first: Any, second: Any, dtype_rule: str = "float", cost: int = 2, **more: Any) -> Prim:
    """A function of two arguments that NumPy calls by its own name."""
    render = more.pop("render", f"np.{name}({{0}}, {{1}})")
    type_rule = more.pop("type_rule", same)
    return Prim(
        name, type_rule, render, elementwise=True, partials=(first, second), dtype_rule=dtype_rule, cost=cost, **more
    )


def _whole_numbers(types, params) -> Type:  # type: ignore[no-untyped-def]
    if not types[0].is_int:
        raise RuleError(f"divisors are of integers, not of {types[0]}", "T201", "convert with int(...) or .astype(int)")
    return same(types, params)


def test(name: str) -> Prim:
    """A boolean property of one number."""
    return unary(name, f"np.{name}({{0}})", ZERO, type_rule=boolean, dtype_rule="as_is")


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


def _sinc(y, x):  # type: ignore[no-untyped-def]
    # (cos(pi x) - y) / x cancels near 0 (and is 0/0 there): a series in x*x up to |x| = 0.3, where it ends below 1e-17
    near = absolute(x) < 0.3
    z = where(near, x * x, 0.0)
    series: Any = _SINC_SERIES[-1]
    for coefficient in reversed(_SINC_SERIES[:-1]):
        series = series * z + coefficient if coefficient > 0 else series * z - -coefficient
    return where(near, x * series, (cos(math.pi * x) - y) / where(near, 1.0, x))


ONE = [
    smooth("exp", lambda y, x: y),
    smooth("exp2", lambda y, x: y * math.log(2)),
    smooth("expm1", lambda y, x: exp(x)),  # y + 1 would cancel for x below -1
    smooth("log", lambda y, x: 1 / x),
    smooth("log2", lambda y, x: (1 / math.log(2)) / x),
    smooth("log10", lambda y, x: (1 / math.log(10)) / x),
    smooth("log1p", lambda y, x: 1 / (1 + x)),
    # 0 at 0, so that the root of a sum of squares has the gradient 0 there, as the norm has, and not NaN
    smooth("sqrt", lambda y, x: where(y.eq(0), 0.0, 0.5 / y), cost=1),
    smooth("cbrt", lambda y, x: 1 / (3 * (y * y)), steep=lambda x: x.eq(0)),
    smooth("sin", lambda y, x: cos(x)),
    smooth("cos", lambda y, x: -sin(x)),
    smooth("tan", lambda y, x: 1 + y * y),
    smooth("arcsin", _arcsin, steep=lambda x: absolute(x).eq(1)),
    smooth("arccos", lambda y, x: -_arcsin(y, x), steep=lambda x: absolute(x).eq(1)),
    smooth("arctan", lambda y, x: 1 / (1 + x * x)),
    smooth("sinh", lambda y, x: cosh(x)),
    smooth("cosh", lambda y, x: sinh(x)),
    smooth("tanh", lambda y, x: 1 - y * y),
    smooth("arcsinh", lambda y, x: 1 / elementwise("hypot", x, 1.0)),  # sqrt(x*x + 1) would overflow
    smooth("arccosh", _arccosh, steep=lambda x: x.eq(1)),
    smooth("arctanh", lambda y, x: 1 / ((1 - x) * (1 + x))),
    smooth("radians", lambda y, x: math.pi / 180, cost=1, linear=True),
    smooth("degrees", lambda y, x: 180 / math.pi, cost=1, linear=True),
    smooth("fabs", lambda y, x: elementwise("sign", x), cost=1),
    smooth("sinc", _sinc, dtype_rule="div"),
    smooth("np_i0", lambda y, x: elementwise("i1", x), render="np.i0({0})", dtype_rule="div"),
    smooth("rint", ZERO, cost=1),
    smooth("spacing", ZERO, cost=1),
    unary("square", "np.square({0})", lambda y, x: 2 * x, dtype_rule="int8"),
    unary("reciprocal", "np.reciprocal({0})", lambda y, x: -(y * y), dtype_rule="int8"),
    unary("positive", "op:+", lambda y, x: 1, linear=True, type_rule=no_bool),
    unary("floor", "np.floor({0})", ZERO, dtype_rule=_STEP),
    unary("ceil", "np.ceil({0})", ZERO, dtype_rule=_STEP),
    unary("trunc", "np.trunc({0})", ZERO, dtype_rule=_STEP),
    unary("round", "np.round({0})", ZERO),
    unary("round_to", "np.round({0}, {decimals})", ZERO),  # params: decimals
    test("isnan"),
    test("isinf"),
    test("isfinite"),
    test("signbit"),
    unary("nan_to_num", "np.nan_to_num({0})", lambda y, x: indicator(elementwise("isfinite", x))),
    # the derivative does not pass, also where forward mode asks for it
    unary("stop_gradient", "{0}", ZERO, cost=0, fresh=False),
]


# ----------------------------------------------------------------------------------------------- two arguments


def _no_zero(h, *sides):  # type: ignore[no-untyped-def]
    """A hypotenuse to divide by: 1 where it is 0, which a literal side rules out."""
    return h if any(is_number(s) and s.op.value != 0 for s in sides) else where(h.eq(0), 1.0, h)


def _arctan2_first(y, a, b):  # type: ignore[no-untyped-def]
    h = _no_zero(elementwise("hypot", a, b), a, b)  # b / (a*a + b*b) would overflow and underflow
    return b / h / h


def _arctan2_second(y, a, b):  # type: ignore[no-untyped-def]
    h = _no_zero(elementwise("hypot", a, b), a, b)
    return -(a / h / h)


def _share(power: str) -> Any:
    """The share of an operand ``a`` in ``y = log(exp(a) + exp(b))``: exp(a - y), and 0 where both are -inf."""

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


def _quotient(y, a, b):  # type: ignore[no-untyped-def]
    return -elementwise("rint", (a - y) / b)  # the whole number that was taken off; trunc(a / b) may be rounded over it


def _ldexp_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type(types[0].dtype, best.dims, types[0].weak and types[1].weak and not best.dims)


def _ldexp(y, x, n):  # type: ignore[no-untyped-def]
    return elementwise("exp2", n.b.cast(n, x.type.with_dims(()) if not n.rank else x.dtype))


TWO = [
    two("arctan2", _arctan2_first, _arctan2_second),
    two("hypot", lambda y, a, b: a / _no_zero(y, a, b), lambda y, a, b: b / _no_zero(y, a, b)),
    two("logaddexp", _share("exp"), _swapped(_share("exp"))),
    two("logaddexp2", _share("exp2"), _swapped(_share("exp2"))),
    two("fmax", _wins_max, _swapped(_wins_max), dtype_rule="arith", cost=1),
    two("fmin", _wins_min, _swapped(_wins_min), dtype_rule="arith", cost=1),
    two("fmod", lambda y, a, b: 1, _quotient, dtype_rule="int8"),
    two("ieee_remainder", lambda y, a, b: 1, _quotient, render="math.remainder({0}, {1})", family="lane"),
    two("copysign", lambda y, a, b: elementwise("sign", a) * elementwise("copysign", 1.0, b), ZERO, cost=1),
    two("heaviside", ZERO, lambda y, x, h: indicator(x.eq(0)), cost=1),
    two("nextafter", lambda y, a, b: 1, ZERO, cost=1),
    two("gcd", ZERO, ZERO, dtype_rule="arith", type_rule=_whole_numbers),
    two("lcm", ZERO, ZERO, dtype_rule="arith", type_rule=_whole_numbers),
    # the second operand is an integer and stays one; give the first a float dtype before
    two("ldexp", _ldexp, ZERO, dtype_rule="as_is", cost=1, type_rule=_ldexp_type),
    two("isclose", ZERO, ZERO, dtype_rule="compare", type_rule=boolean,
        render="np.isclose({0}, {1}, rtol={rtol}, atol={atol}, equal_nan={equal_nan})"),
    two("math_isclose", ZERO, ZERO, dtype_rule="compare", type_rule=boolean,
        render="math.isclose({0}, {1}, rel_tol={rtol}, abs_tol={atol})", family="lane"),
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
    Prim(
        "clip", same, "np.clip({0}, {1}, {2})", elementwise=True,
        partials=(lambda y, x, low, high: indicator((low <= x) & (x <= high)), _clip_low, _clip_high),
    ),
    Prim(
        "fma", same, "math.fma({0}, {1}, {2})", elementwise=True, dtype_rule="float", family="lane",
        partials=(lambda y, a, b, c: b, lambda y, a, b, c: a, lambda y, a, b, c: 1),
    ),
]  # fmt: skip


# ------------------------------------------------------------------------------------ integers, parts of floats


def _weak_int(types, params) -> Type:  # type: ignore[no-untyped-def]
    return INT


def _integers(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type(params.get("dtype", "int32"), best.dims)


def scalar_int(name: str, render: str, operands: int, family: str = "lane") -> Prim:
    """A function of ``math`` that gives a Python int."""
    partials = (ZERO,) * operands
    return Prim(name, _weak_int, render, elementwise=True, partials=partials, dtype_rule="as_is", family=family)


PARTS = [
    # np.modf and np.frexp have two results: fraction and trunc, ldexp(x, -exponent) and exponent
    smooth("fraction", lambda y, x: 1, cost=1, render="np.modf({0})[0]", linear=True),
    unary("exponent", "np.frexp({0})[1]", ZERO, type_rule=_integers, dtype_rule="float"),
    unary("bitwise_count", "np.bitwise_count({0})", ZERO, dtype_rule="as_is",
          type_rule=lambda types, params: Type("uint8", types[0].dims)),
    scalar_int("floor_int", "math.floor({0})", 1, "rounding"),
    scalar_int("ceil_int", "math.ceil({0})", 1, "rounding"),
    scalar_int("round_int", "round({0})", 1, "rounding"),
    scalar_int("exponent_int", "math.frexp({0})[1]", 1),
    scalar_int("isqrt", "math.isqrt({0})", 1),
    scalar_int("factorial", "math.factorial({0})", 1),
    scalar_int("comb", "math.comb({0}, {1})", 2),
    scalar_int("perm", "math.perm({0}, {1})", 2),
]  # fmt: skip


def _fsum_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return call("fsum", *(0.0 if d is None else d for d in dots))


FSUM = Prim(
    "fsum",
    lambda types, params: FLOAT,
    Spelling(lambda params, types: f"math.fsum({sequence(len(types))})"),
    jvp=_fsum_jvp,
    vjp=lambda y, y_bar, args, wants, params: tuple(y_bar if w else None for w in wants),
    linear=True,
    examples=((lambda: (0.5, -1.25, 3.0), {}),),
    family="lane",
)

TABLE = [*ONE, *TWO, *THREE, *PARTS, FSUM]


# --------------------------------------------------------------------------------------------------- spellings

_SAME_NAME = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh radians degrees fabs isnan isinf isfinite"
).split()

MATH: dict[str, str] = {
    **{name: f"math.{name}({{0}})" for name in _SAME_NAME},
    **{f"arc{name}": f"math.a{name}({{0}})" for name in "sin cos tan sinh cosh tanh".split()},
    **{name: f"math.{name}({{0}}, {{1}})" for name in "hypot fmod copysign ldexp nextafter gcd lcm pow".split()},
    "arctan2": "math.atan2({0}, {1})",
    "fraction": "math.modf({0})[0]",
    "trunc": "math.modf({0})[1]",
    "spacing": "math.ulp({0})",
    "gamma": "math.gamma({0})",
    "gammaln": "math.lgamma({0})",
    "erf": "math.erf({0})",
    "erfc": "math.erfc({0})",
}
"""Primitive -> its spelling where the *let* has the param ``via="math"``."""

BUILTINS: dict[str, str] = {
    "absolute": "abs({0})",
    "maximum": "max({0}, {1})",
    "minimum": "min({0}, {1})",
    "pow": "pow({0}, {1})",
    "round_to": "round({0}, {decimals})",
}
"""Primitive -> its spelling where the *let* has the param ``py=True``."""

__all__ = ["BUILTINS", "MATH", "TABLE", "indicator", "smooth", "two"]
