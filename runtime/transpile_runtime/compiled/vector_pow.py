"""Powers and the cube root, for loops that LLVM vectorises; see `transpile_runtime.compiled.vector`.

``x**y = 2**(y log2 x)`` with the logarithm as a sum of two.
"""

from transpile_runtime.compiled.vector_bits import (
    FACTORS_SHIFT,
    POWER_SHIFT,
    above,
    exponent,
    flip_sign,
    joined,
    power_of_two,
    significand,
)
from transpile_runtime.compiled.vector_exp import EXP2_LIMIT, clamp, exp2_less_one, scale_sum
from transpile_runtime.compiled.vector_log import LIFT, LIFTED, NORMAL, outside_normal, split
from transpile_runtime.compiled.vector_parts import (
    INF,
    NAN,
    Constant,
    correction,
    fma,
    magnitude,
    polynomial,
    rint,
    where,
)

# by tests/accuracy/fit.py
LOG2 = (
    0.577078016355618, 0.4121985830919378, 0.32059890227431065, 0.2623077010323688, 0.22198400318506636,
    0.1912550105345465, 0.19038702999706755,
)  # fmt: skip
LOG2_SINGLE = (
    0.5770802, 0.41184992, 0.3378209,
)  # fmt: skip
CBRT = (
    1.9991426989417305, -2.485779517429612, 2.7919330518932814, -1.89786138290372, 0.7006083256998298,
    -0.10803933165347336,
)  # fmt: skip
CBRT_SINGLE = (
    1.558131, -0.7671838, 0.20965129,
)  # fmt: skip

tail_of_log2 = correction(LOG2, LOG2_SINGLE)
inverse_cbrt = polynomial(CBRT, CBRT_SINGLE)

# 2 / log 2 and 2 / (3 log 2), each a sum of two
TWO_LN2_HIGH = Constant(2.8853900817779268, 2.885390043258667)
TWO_LN2_LOW = Constant(4.0710547481862066e-17, 3.851926067000022e-08)
MODERATE = Constant(128.0, 32.0)  # limit of the logarithm of a result
THIRD_HIGH = Constant(0.9617966939259756, 0.9617967009544373)
THIRD_LOW = Constant(5.0577616648125907e-17, -7.028461812552678e-09)


def log2_pair(x):
    """``log2(x)`` for ``x >= 0``, as a pair: a value and its error, together some ten bits more than one float.

    If the result is infinite, only the first counts.
    """
    m, k = split(x)
    k = where(x < INF, k, x)
    k = where(x == 0.0, -INF, k)
    f, whole = m - 1.0, m + 1.0
    s = f / whole
    # 1 / whole is (1 - s) / 2
    s_low = fma(-s, (1.0 - whole) + m, fma(-s, whole, f)) * fma(-0.5, s, 0.5)
    z = s * s
    # 2 / log 2 + z (2 / (3 log 2) + z Q), a sum of two
    tail = tail_of_log2(z)
    inner = fma(z, tail, THIRD_HIGH)
    inner_low = fma(z, tail, THIRD_HIGH - inner) + THIRD_LOW
    p = z * inner
    p_low = fma(fma(s, s, -z), inner, fma(z, inner_low, fma(z, inner, -p)))
    total = p + TWO_LN2_HIGH
    total_low = ((TWO_LN2_HIGH - total) + p) + (p_low + TWO_LN2_LOW)
    q = s * total
    # the derivative by s is 2 / log 2 / (1 - s**2)
    q_low = fma(s_low, fma(z, TWO_LN2_HIGH, TWO_LN2_HIGH), fma(s, total_low, fma(s, total, -q)))
    high = k + q
    return high, ((k - high) + q) + q_low


def power(x, y):
    """``x**y`` as NumPy's for floats: NaN for a negative number to a fractional power."""
    a = magnitude(x)
    high, low = log2_pair(a)
    p = high * y
    p_low = fma(high, y, -p) + low * y
    p_low = where(magnitude(p) < EXP2_LIMIT, p_low, 0.0)
    p = clamp(p, -EXP2_LIMIT, EXP2_LIMIT)
    shifted = p + FACTORS_SHIFT
    f = (p - (shifted - FACTORS_SHIFT)) + p_low
    found = scale_sum(exp2_less_one(f), shifted)
    found = where((a == 1.0) | (y == 0.0), 1.0, found)
    # for a negative number
    half, whole = y * 0.5, rint(y) == y
    odd = whole & (rint(half) != half)
    found = flip_sign(found, where(odd, x, 0.0))
    return where((x < 0.0) & (a < INF) & ~whole, NAN, found)


def pow_moderate(x, y):
    """``x**y``, right only for positive normal ``x`` and results that are not extreme: its logarithm has fewer bits than that
    of `power`."""
    m, k = significand(x)
    f, whole = m - 1.0, m + 1.0
    s = f / whole
    s_low = fma(-s, (1.0 - whole) + m, fma(-s, whole, f)) * fma(-0.5, s, 0.5)
    z = s * s
    q = s * TWO_LN2_HIGH
    rest = fma(s_low, TWO_LN2_HIGH, fma(s, TWO_LN2_HIGH, -q))
    rest = fma(s, fma(z, fma(z, tail_of_log2(z), THIRD_HIGH), TWO_LN2_LOW), rest)
    high = k + q
    low = ((k - high) + q) + rest
    p = high * y
    p_low = fma(low, y, fma(high, y, -p))
    shifted = (p + p_low) + POWER_SHIFT
    f = (p - (shifted - POWER_SHIFT)) + p_low
    factor = power_of_two(shifted)
    return fma(exp2_less_one(f), factor, factor)


def outside_moderate_pow(x, y):
    """Test bits: `pow_moderate` is not accurate, or not right, for ``x**y``."""
    size = magnitude(y)
    return joined(outside_normal(x), above(fma(size, magnitude(exponent(x)), size), MODERATE))


# ------------------------------------------------------------------------------------------------ the cube root

THIRD = Constant(0.3333333333333333, 0.3333333432674408)
TWO_NINTHS = Constant(0.2222222222222222, 0.2222222238779068)
CBRT_TWO = Constant(1.2599210498948732, 1.2599210739135742)
CBRT_HALF = Constant(0.7937005259840998, 0.7937005162239075)


def cbrt(x):
    """The real cube root, with the sign of ``x``; ``x`` itself for zeros, infinity and NaN."""
    a = magnitude(x)
    small = a < NORMAL
    m, k = significand(where(small, a * LIFT, a))
    k = where(small, k - LIFTED, k)
    shifted = k * THIRD + POWER_SHIFT
    left = k - (shifted - POWER_SHIFT) * 3.0  # -1, 0 or 1
    start = inverse_cbrt(m)
    below, above = left < 0.0, left > 0.0
    m = where(below, m * 0.5, where(above, m + m, m))
    r = start * where(below, CBRT_TWO, where(above, CBRT_HALF, 1.0))
    h = fma(-m * r, r * r, 1.0)
    r = fma(r * h, fma(h, TWO_NINTHS, THIRD), r)
    square = r * r
    c = m * square
    miss = fma(c * c, c, -m)
    found = fma(-miss * THIRD, square, c) * power_of_two(shifted)
    twice = x + x  # equals x for zero and infinity
    return where((twice < x) | (twice > x), flip_sign(found, x), x)
