"""The points at which rules are checked: points of every elementwise primitive, special values, examples of core's own
primitives.

`POINTS` are inside the domain, on both sides of each kink and not on it; `HARD` are huge, tiny or near an end of the
domain (checked where long double is accurate); `SPECIAL` are points without a derivative, with the value of the
written convention.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.dims import Dim

INF, NAN = math.inf, math.nan

ANY = [(-3.3,), (-1.1,), (-0.02,), (0.01,), (0.7,), (2.2,)]
POSITIVE = [(0.02,), (0.3,), (1.0,), (2.7,), (11.0,)]
UNIT = [(-0.95,), (-0.4,), (0.01,), (0.6,), (0.9,)]
PROBABILITY = [(0.04,), (0.3,), (0.5,), (0.95,)]
PAIRS = [(0.7, 1.9), (-1.3, 0.4), (2.2, -0.6), (-0.3, -2.2)]
POSITIVE_PAIRS = [(0.4, 1.9), (2.6, 0.7), (1.0, 3.0), (5.0, 4.4)]
SHAPES = [(0.6, 1.4, 0.3), (2.5, 0.8, 0.9), (5.0, 4.0, 0.5)]

_ANY = """exp exp2 expm1 sin cos arctan sinh cosh tanh arcsinh radians degrees sinc np_i0 square positive neg absolute
sign fabs rint spacing floor ceil trunc round isnan isinf isfinite signbit nan_to_num stop_gradient fraction exponent
logical_not erf erfc erfi ndtr log_ndtr expit log_expit i0 i1 i0e i1e j0 j1 erfcx dawsn""".split()
_POSITIVE = "log log2 log10 sqrt log1p gammaln loggamma gamma digamma entr".split()
_PAIRS = """add sub mul div maximum minimum arctan2 hypot logaddexp logaddexp2 fmax fmin fmod ieee_remainder copysign
heaviside nextafter floordiv mod less less_equal greater greater_equal equal not_equal logical_and logical_or
logical_xor""".split()
_POSITIVE_PAIRS = "betaln beta gammainc gammaincc xlogy xlog1py rel_entr kl_div".split()
_INTEGERS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm comb".split()

POINTS: dict[str, list[tuple[Any, ...]]] = {
    **dict.fromkeys(_ANY, ANY),
    **dict.fromkeys(_POSITIVE, POSITIVE),
    **dict.fromkeys(_PAIRS, PAIRS),
    **dict.fromkeys(_POSITIVE_PAIRS, POSITIVE_PAIRS),
    **dict.fromkeys(_INTEGERS, [(6, 2), (7, 3)]),
    **{name: ANY for name in ("floor_int", "ceil_int", "round_int", "exponent_int")},
    **{name: [(5,), (12,)] for name in ("isqrt", "factorial", "invert", "bitwise_count")},
    **{f"gammainc_moment{n}": POSITIVE_PAIRS for n in (1, 2, 3, 4)},
    **{f"betainc_moment{m}{k - m}": SHAPES for k in (1, 2, 3, 4) for m in range(k + 1)},
    "betainc": SHAPES,
    "betaincc": SHAPES,
    "perm": [(6, 2)],
    "tan": [(-1.2,), (0.3,), (1.4,), (2.0,)],
    "cbrt": [(-8.0,), (-0.3,), (0.5,), (30.0,)],
    "reciprocal": [(-2.5,), (-0.4,), (0.3,), (7.0,)],
    "arcsin": UNIT,
    "arccos": UNIT,
    "arctanh": UNIT,
    "erfinv": UNIT,
    "random_between": [(0.25, -1.0, 2.0), (0.7, 0.5, 0.6), (0.01, 3.0, -4.0)],
    "random_offset": [
        (np.uint32(7), np.uint32(2**31 + 5), np.uint32(1000)),
        (np.uint32(3), np.uint32(9), np.uint32(0)),
    ],
    "erfcinv": [(0.1,), (0.7,), (1.2,), (1.9,)],
    "arccosh": [(1.05,), (1.5,), (4.0,), (90.0,)],
    "logit": PROBABILITY,
    "ndtri": PROBABILITY,
    "pow": [(0.4, 2.5), (2.0, 3.0), (1.7, -1.2), (3.0, 0.0), (0.9, 1.0)],
    "where": [(True, 0.4, 0.9), (False, 0.4, 0.9)],
    "clip": [(-0.4, 0.1, 0.9), (0.4, 0.1, 0.9), (1.7, 0.1, 0.9), (0.4, 0.9, 0.1), (-2.0, 0.9, 0.1)],
    "polygamma": [(1, 0.7), (1, 3.1), (2, 1.9)],
    "ldexp": [(0.7, 3), (-1.3, -2)],
    "iv": [(0.0, 0.7), (1.0, 2.4), (2.5, 1.3)],
    "ive": [(0.0, 0.7), (1.0, -2.4), (2.5, 1.3)],
    "jv": [(0.0, 0.7), (1.0, -2.4), (2.5, 1.3)],
    "isclose": PAIRS,
    "math_isclose": PAIRS,
    "round_to": ANY,
}
"""Points of every elementwise primitive. ``fma`` is missing before Python 3.13."""
if hasattr(math, "fma"):
    POINTS["fma"] = [(0.4, -1.3, 2.0)]

PARAMS: dict[str, dict[str, Any]] = {
    "round_to": {"decimals": 1},
    "chosen": {"value": 0.0},
    "flat": {"value": 0.0},
    "isclose": {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
    "math_isclose": {"rtol": 1e-9, "atol": 0.0},
}
SCALAR = frozenset(
    "ieee_remainder math_isclose floor_int ceil_int round_int exponent_int isqrt factorial comb perm fma".split()
)
"""Primitives that exist for Python numbers only."""

HARD: dict[str, list[tuple[float, ...]]] = {
    "exp": [(-700.0,), (1e-12,), (700.0,)],
    "exp2": [(-1000.0,), (1e-12,), (1000.0,)],
    "expm1": [(-40.0,), (-1e-12,), (1e-12,), (700.0,)],
    "log": [(1e-300,), (1e-5,), (1e300,)],
    "log1p": [(-1 + 1e-6,), (-1e-9,), (1e-12,), (1e300,)],
    "sqrt": [(1e-300,), (1e300,)],
    "cbrt": [(1e-300,), (-1e-9,), (1e300,)],
    "arcsin": [(-1 + 1e-5,), (1e-9,), (1 - 1e-5,)],
    "arccos": [(-1 + 1e-5,), (1e-9,), (1 - 1e-5,)],
    "arctanh": [(-1 + 1e-5,), (1e-9,), (1 - 1e-5,)],
    "arccosh": [(1 + 1e-5,), (1e10,), (1e200,)],
    "arcsinh": [(-1e200,), (1e-9,), (1e10,), (1e200,)],
    "arctan": [(-1e100,), (1e-9,), (1e10,)],
    "sinc": [(0.29,), (0.31,), (-0.25,), (10.2,), (0.001,)],
    "reciprocal": [(1e-3,), (1e100,)],
    "hypot": [(1e200, 1e200), (1e-200, 3e-200), (1e-300, 1.0)],
    "arctan2": [(1e200, -1e200), (1e-200, 3e-200), (-3.0, 1e-9)],
    "logaddexp": [(-50.0, 3.0), (700.0, 702.0), (30.0, -30.0), (-1e4, -1e4 + 1)],
    "logaddexp2": [(-50.0, 3.0), (1000.0, 1002.0), (30.0, -20.0)],
    "tan": [(1.57,), (-1e-9,)],
}

SPECIAL: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = [
    ("absolute", (0.0,), (0.0,)),
    ("absolute", (-INF,), (-1.0,)),
    ("fabs", (-0.0,), (0.0,)),
    ("sign", (0.0,), (0.0,)),
    ("maximum", (2.0, 2.0), (0.5, 0.5)),
    ("minimum", (2.0, 2.0), (0.5, 0.5)),
    ("maximum", (INF, 2.0), (1.0, 0.0)),
    ("fmax", (2.0, 2.0), (0.5, 0.5)),
    ("fmax", (NAN, 2.0), (0.0, 1.0)),
    ("fmin", (2.0, NAN), (1.0, 0.0)),
    ("clip", (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    ("clip", (1.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    ("clip", (5.0, 3.0, 1.0), (0.0, 0.0, 1.0)),
    ("sqrt", (0.0,), (0.0,)),
    ("sqrt", (INF,), (0.0,)),
    ("cbrt", (0.0,), (INF,)),
    ("arcsin", (1.0,), (INF,)),
    ("arccos", (1.0,), (-INF,)),
    ("arccosh", (1.0,), (INF,)),
    ("hypot", (0.0, 0.0), (0.0, 0.0)),
    ("hypot", (0.0, -2.0), (0.0, -1.0)),
    ("arctan2", (0.0, 0.0), (0.0, 0.0)),
    ("arctan2", (0.0, -1.0), (-1.0, 0.0)),
    ("sinc", (0.0,), (0.0,)),
    ("pow", (0.0, 0.0), (0.0, 0.0)),
    ("pow", (0.0, 1.0), (1.0, 0.0)),
    ("pow", (0.0, 2.0), (0.0, 0.0)),
    ("pow", (0.0, 0.5), (INF, 0.0)),
    ("pow", (-2.0, 2.0), (-4.0, 0.0)),
    ("pow", (5.0, 0.0), (0.0, math.log(5.0))),
    ("pow", (INF, 0.0), (0.0, INF)),
    ("logaddexp", (-INF, -INF), (0.0, 0.0)),
    ("logaddexp", (-INF, 1.0), (0.0, 1.0)),
    ("logaddexp", (1000.0, 1000.0), (0.5, 0.5)),
    ("logaddexp2", (-INF, -INF), (0.0, 0.0)),
    ("exp", (-INF,), (0.0,)),
    ("exp", (1000.0,), (INF,)),
    ("expm1", (-INF,), (0.0,)),
    ("tanh", (1e300,), (0.0,)),
    ("tanh", (-INF,), (0.0,)),
    ("arctan", (INF,), (0.0,)),
    ("arcsinh", (INF,), (0.0,)),
    ("log", (0.0,), (INF,)),
    ("log1p", (-1.0,), (INF,)),
    ("copysign", (0.0, -1.0), (-0.0, 0.0)),
    ("copysign", (3.0, -1.0), (-1.0, 0.0)),
    ("heaviside", (0.0, 0.5), (0.0, 1.0)),
    ("mod", (5.0, INF), (1.0, 0.0)),
    ("fmod", (6.0, 2.0), (1.0, -3.0)),
    ("fmod", (5.0, INF), (1.0, 0.0)),
    ("floor", (2.0,), (0.0,)),
    ("rint", (0.5,), (0.0,)),
    ("fraction", (2.0,), (1.0,)),
    ("nan_to_num", (NAN,), (0.0,)),
    ("nan_to_num", (INF,), (0.0,)),
    ("expit", (-1000.0,), (0.0,)),
    ("expit", (INF,), (0.0,)),
    ("log_expit", (-1000.0,), (1.0,)),
    ("dawsn", (INF,), (0.0,)),
    ("logit", (0.0,), (INF,)),
    ("xlogy", (0.0, 0.0), (0.0, 0.0)),
    ("xlogy", (0.0, -1.0), (0.0, 0.0)),
    ("xlogy", (0.0, 1.0), (0.0, 0.0)),
    ("xlog1py", (0.0, -1.0), (0.0, 0.0)),
    ("entr", (0.0,), (INF,)),
    ("rel_entr", (0.0, 0.0), (0.0, 0.0)),
    ("rel_entr", (0.0, 2.0), (-INF, 0.0)),
    ("kl_div", (0.0, 0.0), (0.0, 1.0)),
    ("erf", (INF,), (0.0,)),
    ("erfinv", (1.0,), (INF,)),
    ("ndtr", (-INF,), (0.0,)),
    ("log_ndtr", (INF,), (0.0,)),
    ("i0", (0.0,), (0.0,)),
    ("i1", (0.0,), (0.5,)),
    ("i0e", (0.0,), (0.0,)),
    ("i1e", (0.0,), (0.5,)),
    ("gammainc", (1.0, 0.0), (0.0, 1.0)),
    ("gammainc", (2.0, 0.0), (0.0, 0.0)),
    ("gammainc", (2.0, INF), (0.0, NAN)),
    ("betainc", (2.0, 3.0, 0.0), (0.0, 0.0, 0.0)),
    ("betainc", (2.0, 3.0, 1.0), (0.0, 0.0, 0.0)),
    ("betainc", (1.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
]


# ------------------------------------------------------------------------------------- the core's own primitives


def _grid(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape)


def _read(*items: Any) -> Any:
    return lambda b, x, *args: b.read(x, (ir.Index(items),), args)


def _rows(prim: str, count: int, **params: Any) -> Any:
    """The builder of a primitive of ``x[i:j]``, whose number of rows is known at run time only."""

    def build(b: Any, x: Any, i: Any, j: Any) -> Any:
        part = b.read(x, (ir.Index((ir.Slice(0, 1), ir.Slice())),), (i, j))
        return b.let(prim, part, dims=(Dim(count), *part.dims[1:]), **params)

    return build


def _reshaped(*dims: int) -> Any:
    return lambda b, x: b.let("reshape", x, dims=tuple(map(Dim, dims)))


STRUCTURAL: dict[str, list[tuple[Any, tuple[Any, ...]]]] = {
    "index": [
        (_read(ir.Point(0)), (_grid(4), 2)),
        (_read(ir.Slice(), ir.Point(0)), (_grid(3, 4), -1)),
        (_read(ir.Slice(0, 1, None), ir.Slice()), (_grid(5, 2), 1, 4)),
        (_read(ir.NewAxis(), ir.Slice()), (_grid(4),)),
        (_read(ir.Gather(0)), (_grid(4), np.array([0, 2, 2, 3]))),
        (_read(ir.Gather(0), ir.Gather(1)), (_grid(3, 4), np.array([0, 2, 0]), np.array([1, 1, 1]))),
        (lambda b, x: b.read(x, (ir.Permute((1, 0)),)), (_grid(3, 4),)),
    ],
    "broadcast": [
        (lambda b, x: b.broadcast(x, (Dim(3), Dim(4))), (_grid(4),)),
        (lambda b, x: b.broadcast(x, (Dim(2), Dim(3), Dim(4))), (_grid(3, 1),)),
        (lambda b, x: b.broadcast(x, (Dim(3),)), (0.7,)),
    ],
    "stretch": [(_rows("stretch", 4, axis=0, parts=()), (_grid(4, 3), *ij)) for ij in ((1, 2), (0, 4))],
    "sized": [(_rows("sized", 2), (_grid(4, 3), 1, 3))],
    "reshape": [(_reshaped(2, 6), (_grid(3, 4),)), (_reshaped(12), (_grid(3, 4),))],
    "transpose": [(lambda b, x: b.let("transpose", x, axes=(2, 0, 1)), (_grid(2, 3, 4),))],
    "sum": [
        (lambda b, x, axes=axes, keep=keep: b.let("sum", x, axes=axes, keepdims=keep), (_grid(3, 4),))
        for axes in ((0,), (1,), (0, 1))
        for keep in (False, True)
    ],
    "full": [(lambda b, x: b.let("full", x, dims=(Dim(2), Dim(3)), dtype="float64"), (np.float64(0.7),))],
    "copy": [(lambda b, x: b.let("copy", x), (_grid(3),))],
    "identity": [(lambda b, x: b.let("identity", x), (_grid(3),))],
    "cast": [(lambda b, x: b.cast(b.cast(x, "float32"), "float64"), (_grid(3),))],
}
"""Primitive -> (builder, arguments); other primitives have ``examples``."""
