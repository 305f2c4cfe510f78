"""The functions of `math` at hostile numbers (negative, huge, tiny, halves): compiled, and of all lanes, as Python gives them."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

import transpile as tp
from transpile.numpy_api.numpy_elementwise import MATH

NUMBERS = (-2.5, -0.5, -1e-320, 0.0, 1e-320, 0.5, 2.5, 2.675, 1e16 + 2, -1e300, 1.0000000000000002)
OF_ONE = """ulp({0}) floor({0}) ceil({0}) trunc({0}) modf({0})[0] modf({0})[1] frexp({0})[0] frexp({0})[1] ldexp({0},5)
ldexp({0},-900) sin({0})
cos({0}) atan({0}) asinh({0}) tanh({0}) erf({0}) erfc({0}) cbrt({0}) fabs({0}) expm1({0}) radians({0}) degrees({0})
isfinite({0}) isnan({0}) isinf({0}) sqrt({0}) log({0}) log1p({0}) log2({0}) log10({0}) exp({0}) exp2({0}) gamma({0})
acos({0}) asin({0}) acosh({0}) atanh({0}) cosh({0}) sinh({0}) tan({0})""".split()
OF_TWO = """remainder({0},{1}) fmod({0},{1}) copysign({0},{1}) atan2({0},{1}) hypot({0},{1}) nextafter({0},{1}) isclose({0},{1})
pow({0},{1}) fsum([{0},1e16,{1},-1e16]) prod([{0},{1},0.5]) dist([{0},1.0],[{1},2.0]) log({0},{1})""".split()
OF_THREE = ["fma({0},{1},{2})", "sumprod([{0},{1}],[{2},0.5])", "hypot({0},{1},{2})"]
TEXTS = [t for t in (*OF_ONE, *OF_TWO, *OF_THREE) if hasattr(math, t.partition("(")[0])]
QUICK = ("ulp", "remainder", "fsum", "fma", "dist", "modf")  # the others are among the slow tests


def made(text):
    names = "abc"[: count_of(text)]
    return tp.from_source(f"def f({', '.join(names)}):\n    return math.{text.format(*names)}\n", {"math": math})


def count_of(text) -> int:
    return next(k for k in (3, 2, 1) if f"{{{k - 1}}}" in text)


def of_python(f, point):
    try:
        return f(*point)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None  # compiled, infinity or NaN


def is_right(found, wanted) -> bool:
    if wanted != wanted and found != found:
        return True
    return bool(np.allclose(found, wanted, rtol=2e-15, atol=1e-322)) and math.copysign(1, found) == math.copysign(
        1, wanted
    )


@pytest.mark.numba
@pytest.mark.parametrize("text", [t if t.startswith(QUICK) else pytest.param(t, marks=pytest.mark.slow) for t in TEXTS])
def test_values(text):
    f, count = made(text), count_of(text)
    points = list(itertools.product(NUMBERS, repeat=count))[:: 1 if count < 3 else 7]
    wanted = {p: y for p in points if (y := of_python(f, p)) is not None and abs(y) < 2**63}
    compiled = tp.jit(f)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        lanes = tp.vmap(f)(*map(np.array, zip(*wanted)))
        wrong = [(p, compiled(*p), lane, y) for (p, y), lane in zip(wanted.items(), lanes)
                 if not (is_right(compiled(*p), y) and is_right(lane, y))]  # fmt: skip
    assert not wrong, "\n".join(map(str, wrong[:10]))


def rounded(n, m):
    return round(n, -1), round(n, -2), round(n, -18), round(m, -19), round(n, -20), round(n, 3)


@pytest.mark.numba
def test_integers_are_rounded_in_whole_numbers():
    """Not as floats, which have 53 bits; what does not fit is said."""
    compiled = tp.jit(rounded)
    for n in (
        0,
        -5,
        15,
        25,
        -15,
        -25,
        150,
        -250,
        2**53 + 5,
        2**62,
        -(2**62),
        5 * 10**17,
        -15 * 10**17,
        9223372036854775700,
    ):
        assert compiled(n, n // 2) == rounded(n, n // 2)
    for n, m in ((2**63 - 1, 0), (0, 5 * 10**18 + 1), (0, -5 * 10**18 - 1)):
        with pytest.raises(OverflowError, match="round"):
            compiled(n, m)


def test_all_are_asked_for():
    elsewhere = {"comb", "perm", "factorial", "isqrt", "gcd", "lcm", "lgamma"}  # the last is less exact near its zeros
    asked = {t.partition("(")[0] for t in (*OF_ONE, *OF_TWO, *OF_THREE)}
    assert set(MATH) <= asked | elsewhere
