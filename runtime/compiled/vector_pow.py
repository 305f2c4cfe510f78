"""Powers and the cube root, for loops that LLVM vectorises; see `runtime.compiled.vector`.

``x**y = 2**(y log2 x)`` with the logarithm as a sum of two, of 64 bits together; a float32 is computed in float64.
"""

from runtime.compiled.vector_bits import SHIFT, flip_sign, power_of_two, significand
from runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, clamp, scale_sum, tail_of_exp
from runtime.compiled.vector_log import LIFT, LIFTED, NORMAL, split
from runtime.compiled.vector_parts import INF, NAN, Constant, fma, magnitude, narrow, polynomial, rint, where, wide

# by tests/accuracy/fit.py
LOG2 = (
    0.577078016355618, 0.4121985830919378, 0.32059890227431065, 0.2623077010323688, 0.22198400318506636,
    0.1912550105345465, 0.19038702999706755,
)  # fmt: skip
LOG2_SHORT = (
    1.442695040887077, -0.7213475203125687, 0.4808983484499185, -0.360673796422195, 0.28853883773387856,
    -0.24044624654362964, 0.2061052191730751, -0.18044053270971205, 0.1602569654295311, -0.1424803811602243,
    0.12987306443974792, -0.13440120732471128, 0.13404421204549838, -0.0716752080211199,
)  # fmt: skip
EXP2_SHORT = (
    0.9999999999595685, 0.6931471805350393, 0.24022651213430177, 0.05550410976067432, 0.009618025622110244,
    0.0013333422678324135, 0.00015469726549267846, 1.5316454322393468e-05,
)  # fmt: skip
CBRT = (
    1.9991426989417305, -2.485779517429612, 2.7919330518932814, -1.89786138290372, 0.7006083256998298,
    -0.10803933165347336,
)  # fmt: skip
CBRT_SINGLE = (
    1.558131, -0.7671838, 0.20965129,
)  # fmt: skip

tail_of_log2 = polynomial(LOG2, LOG2)
short_log2 = polynomial(LOG2_SHORT, LOG2_SHORT)
short_exp2 = polynomial(EXP2_SHORT, EXP2_SHORT)
inverse_cbrt = polynomial(CBRT, CBRT_SINGLE)

# 2 / log 2 and 2 / (3 log 2), each a sum of two
TWO_LN2_HIGH, TWO_LN2_LOW = Constant(2.8853900817779268), Constant(4.0710547481862066e-17)
THIRD_HIGH, THIRD_LOW = Constant(0.9617966939259756), Constant(5.0577616648125906e-17)
FINITE = Constant(1e300, 1e38)


def log2_pair(x):
    """``log2(x)`` for ``x >= 0``, as a sum of two, with about 64 bits; the second is NaN if the first is infinite."""
    f, k = split(x)
    # infinity, NaN, and the logarithm of zero
    k = where(x < INF, k, x)
    k = where(x == 0.0, -INF, k)
    whole = f + 2.0
    s = f / whole
    # 1 / whole is (1 - s) / 2, nearly
    s_low = (fma(-s, whole, f) - s * ((2.0 - whole) + f)) * fma(-0.5, s, 0.5)
    z = s * s
    z_low = fma(s, s, -z)
    # 2 / log 2 + z (2 / (3 log 2) + z Q), a sum of two
    tail_high = fma(z, tail_of_log2(z), THIRD_LOW)
    inner = THIRD_HIGH + tail_high
    inner_low = (THIRD_HIGH - inner) + tail_high
    p = z * inner
    p_low = fma(z, inner, -p) + fma(z, inner_low, fma(z_low, inner, TWO_LN2_LOW))
    total = TWO_LN2_HIGH + p
    total_low = ((TWO_LN2_HIGH - total) + p) + p_low
    q = s * total
    # the derivative by s is 2 / log 2 / (1 - s**2)
    q_low = fma(s, total, -q) + fma(s, total_low, s_low * fma(z, TWO_LN2_HIGH, TWO_LN2_HIGH))
    high = k + q
    return high, ((k - high) + q) + q_low


def signed(x, y, found):
    """``found``, the power of ``|x|``, with its sign, and the cases where ``|x|`` does not say it."""
    half = y * 0.5
    odd = rint(half) != half
    found = where(odd, flip_sign(found, x), found)  # where y is whole
    broken = rint(y) != y
    found = where(broken, magnitude(found), found)
    found = where(broken & (x < 0.0) & (x > -INF), NAN, found)
    return where((x == 1.0) | (y == 0.0), 1.0, found)


def power(x, y):
    """As NumPy has it for floats: NaN of a negative number to a broken power."""
    return _power_single(x, y) if x.kind == "float32" else _power_double(x, y)


def _power_double(x, y):
    a = magnitude(x)
    high, low = log2_pair(a)
    bounded = clamp(y, -FINITE, FINITE)  # 1 to any power is 1
    p = high * bounded
    p_low = fma(high, bounded, -p) + low * bounded
    p_low = where(magnitude(p) < 1100.0, p_low, 0.0)
    p = clamp(p, -1100.0, 1100.0)
    shifted = p + SHIFT
    f = p - (shifted - SHIFT)
    whole = f + p_low
    p_low = (f - whole) + p_low
    r = whole * LN2_HIGH
    r_low = fma(whole, LN2_HIGH, -r) + fma(whole, LN2_LOW, p_low * LN2_HIGH)
    found = scale_sum(r + fma(r * r, tail_of_exp(r), r_low), shifted)
    return signed(x, y, found)


def _power_single(x, y):
    """In float64, with what a float32 needs, but for the special cases."""
    a = magnitude(x)
    m, k = significand(wide(a))
    f = m - 1.0
    p = clamp(fma(f, short_log2(f), k) * wide(clamp(y, -FINITE, FINITE)), -200.0, 200.0)
    shifted = p + SHIFT
    found = narrow(short_exp2(p - (shifted - SHIFT)) * power_of_two(shifted))
    edge = where(y > 0.0, a, 1.0 / a)  # of zero, infinity and NaN
    found = where((a > 0.0) & (a < INF) | (y != y), found, edge)
    return signed(x, y, found)


# ------------------------------------------------------------------------------------------------ the cube root

THIRD = Constant(0.3333333333333333, 0.3333333432674408)
TWO_NINTHS = Constant(0.2222222222222222, 0.2222222238779068)
CBRT_TWO = Constant(1.2599210498948732, 1.2599210739135742)
CBRT_HALF = Constant(0.7937005259840998, 0.7937005162239075)


def cbrt(x):
    a = magnitude(x)
    small = a < NORMAL
    m, k = significand(where(small, a * LIFT, a))
    k = where(small, k - LIFTED, k)
    shifted = k * THIRD + SHIFT
    left = k - (shifted - SHIFT) * 3.0  # -1, 0 or 1
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
    twice = x + x  # is x for zero and infinity
    return where((twice < x) | (twice > x), flip_sign(found, x), x)
