"""Logarithms, powers and the cube root, for loops that LLVM vectorises; see `runtime.compiled.vector`.

``x = 2**k (1 + f)`` with ``1 + f`` between the root of 1/2 and of 2, and with ``s = f / (2 + f)``
``log(1 + f) = 2 artanh(s) = f - (f**2 / 2 - s (f**2 / 2 + R(s**2)))``, as in Sun's fdlibm.
"""

from runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, TINY, clamp, scale, tail_of_exp
from runtime.compiled.vector_parts import (
    HALF,
    INF,
    NAN,
    ONE,
    SHIFT,
    TWO,
    ZERO,
    constant,
    flip_sign,
    fma,
    inlined,
    magnitude,
    narrow,
    polynomial,
    power_of_two,
    rint,
    significand,
)

# by tests/accuracy/fit.py
LOG = (
    0.6666666666666734, 0.39999999999416574, 0.2857142874204334, 0.22222198603765583, 0.18183562903425382,
    0.15314083817183424, 0.14795641367278203,
)  # fmt: skip
LOG_SINGLE = (
    0.66666776, 0.3997758, 0.29870927,
)  # fmt: skip
LOG2 = (
    0.577078016355618, 0.4121985830919378, 0.32059890227431065, 0.2623077010323688, 0.22198400318506636,
    0.1912550105345465, 0.19038702999706755,
)  # fmt: skip
# by tests/accuracy/fit.py
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

tail_of_log = polynomial(LOG, LOG_SINGLE)
tail_of_log2 = polynomial(LOG2, LOG2)
short_log2 = polynomial(LOG2_SHORT, LOG2_SHORT)
short_exp2 = polynomial(EXP2_SHORT, EXP2_SHORT)
inverse_cbrt = polynomial(CBRT, CBRT_SINGLE)

NORMAL = constant(2.0**-1022, 2.0**-126)
LIFT = constant(2.0**54, 2.0**24)
LIFTED = constant(54.0, 24.0)
FAR = constant(60.0)
# 1 / log 2, 1 / log 10 and log 2 / log 10, each a sum of two
INV_LN2_HIGH = constant(1.4426950408889634, 1.4426950216293335)
INV_LN2_LOW = constant(2.0355273740931033e-17, 1.925963033500011e-08)
INV_LN10_HIGH = constant(0.4342944819032518, 0.4342944920063019)
INV_LN10_LOW = constant(1.098319650216765e-17, -1.0103049952192578e-08)
LOG10_2_HIGH = constant(0.3010299956639812, 0.3010300099849701)
LOG10_2_LOW = constant(-2.8037281277851704e-18, -1.432098883924482e-08)


@inlined
def split(x):
    """``f`` and a whole ``k`` as a float, with ``x = 2**k (1 + f)``, for positive ``x``."""
    small = x < NORMAL(x)
    m, k = significand(x * LIFT(x) if small else x)
    return m - ONE(x), k - LIFTED(x) if small else k


@inlined
def tail(f):
    """``s (f**2 / 2 + R)`` and ``f**2 / 2``."""
    s = f / (f + TWO(f))
    z = s * s
    square = HALF(f) * f * f
    return s * fma(z, tail_of_log(z), square), square


@inlined
def outside(x, found):
    """``found`` where ``x`` is a positive number, and a logarithm's value elsewhere."""
    found = found if x < INF(x) else x
    found = NAN(x) if x < ZERO(x) else found
    return -INF(x) if x == ZERO(x) else found


@inlined
def log(x):
    f, k = split(x)
    rest, square = tail(f)
    return outside(x, fma(k, LN2_HIGH(x), f - (square - fma(k, LN2_LOW(x), rest))))


@inlined
def log1p(x):
    u = ONE(x) + x
    m, k = significand(u)
    # what u lost, in units of 2**k: large x lose nothing that matters
    lost = ONE(x) - (u - x) if x > ONE(x) else x - (u - ONE(x))
    down = FAR(x) if k > FAR(x) else k
    low = lost * power_of_two(SHIFT(x) - down)
    near = k == ZERO(x)
    f = x if near else m - ONE(x)
    low = ZERO(x) if near else low
    s = f / (f + TWO(x))
    z = s * s
    square = HALF(x) * f * f
    rest = s * fma(z, tail_of_log(z), square)
    rest = fma(k, LN2_LOW(x), rest) + low * (ONE(x) - s) * (ONE(x) - s + z)
    found = fma(k, LN2_HIGH(x), f - (square - rest))
    found = found if x < INF(x) else x
    found = NAN(x) if x < -ONE(x) else found
    found = -INF(x) if x == -ONE(x) else found
    return x if magnitude(x) < TINY(x) else found


@inlined
def log_pair(f):
    """``log(1 + f)`` as a sum of two."""
    rest, _ = tail(f)
    h = HALF(f) * f
    high = fma(-h, f, f)
    return high, fma(-h, f, f - high) + rest


@inlined
def log2(x):
    f, k = split(x)
    high, low = log_pair(f)
    p = high * INV_LN2_HIGH(x)
    p_low = fma(high, INV_LN2_HIGH(x), -p) + fma(high, INV_LN2_LOW(x), low * INV_LN2_HIGH(x))
    total = k + p
    return outside(x, total + (((k - total) + p) + p_low))


@inlined
def log10(x):
    f, k = split(x)
    high, low = log_pair(f)
    p = high * INV_LN10_HIGH(x)
    p_low = fma(high, INV_LN10_HIGH(x), -p) + fma(high, INV_LN10_LOW(x), low * INV_LN10_HIGH(x))
    base = k * LOG10_2_HIGH(x)
    base_low = fma(k, LOG10_2_HIGH(x), -base) + k * LOG10_2_LOW(x)
    total = base + p
    return outside(x, total + (((base - total) + p) + (p_low + base_low)))


# ------------------------------------------------------------------------------------------------ powers

# 2 / log 2 and 2 / (3 log 2), each a sum of two
TWO_LN2_HIGH, TWO_LN2_LOW = constant(2.8853900817779268), constant(4.0710547481862066e-17)
THIRD_HIGH, THIRD_LOW = constant(0.9617966939259756), constant(5.0577616648125906e-17)
POW_LIMIT = constant(1100.0)
FINITE = constant(1e300, 1e38)


@inlined
def log2_pair(x):
    """``log2(x)`` for ``x >= 0``, as a sum of two, with about 64 bits; the second is NaN if the first is infinite."""
    f, k = split(x)
    # infinity, NaN, and the logarithm of zero
    k = k if x < INF(x) else x
    k = -INF(x) if x == ZERO(x) else k
    whole = f + TWO(x)
    s = f / whole
    # 1 / whole is (1 - s) / 2, nearly
    s_low = (fma(-s, whole, f) - s * ((TWO(x) - whole) + f)) * fma(-HALF(x), s, HALF(x))
    z = s * s
    z_low = fma(s, s, -z)
    # 2 / log 2 + z (2 / (3 log 2) + z Q), a sum of two
    tail_high = fma(z, tail_of_log2(z), THIRD_LOW(x))
    inner = THIRD_HIGH(x) + tail_high
    inner_low = (THIRD_HIGH(x) - inner) + tail_high
    p = z * inner
    p_low = fma(z, inner, -p) + fma(z, inner_low, fma(z_low, inner, TWO_LN2_LOW(x)))
    total = TWO_LN2_HIGH(x) + p
    total_low = ((TWO_LN2_HIGH(x) - total) + p) + p_low
    q = s * total
    # the derivative by s is 2 / log 2 / (1 - s**2)
    q_low = fma(s, total, -q) + fma(s, total_low, s_low * fma(z, TWO_LN2_HIGH(x), TWO_LN2_HIGH(x)))
    high = k + q
    return high, ((k - high) + q) + q_low


@inlined
def signed(x, y, found):
    """``found``, the power of ``|x|``, with its sign, and the cases where ``|x|`` does not say it."""
    half = y * HALF(y)
    odd = rint(half) != half
    found = flip_sign(found, x) if odd else found  # where y is whole
    broken = rint(y) != y
    found = magnitude(found) if broken else found
    found = NAN(x) if broken & (x < ZERO(x)) & (x > -INF(x)) else found
    return ONE(x) if (x == ONE(x)) | (y == ZERO(x)) else found


@inlined
def pow(x, y):
    """As NumPy has it for floats: NaN of a negative number to a broken power."""
    a = magnitude(x)
    high, low = log2_pair(a)
    bounded = clamp(y, -FINITE(x), FINITE(x))  # 1 to any power is 1
    p = high * bounded
    p_low = fma(high, bounded, -p) + low * bounded
    p_low = p_low if magnitude(p) < POW_LIMIT(x) else ZERO(x)
    p = clamp(p, -POW_LIMIT(x), POW_LIMIT(x))
    shifted = p + SHIFT(x)
    f = p - (shifted - SHIFT(x))
    whole = f + p_low
    p_low = (f - whole) + p_low
    r = whole * LN2_HIGH(x)
    r_low = fma(whole, LN2_HIGH(x), -r) + fma(whole, LN2_LOW(x), p_low * LN2_HIGH(x))
    found = scale(ONE(x) + (r + fma(r * r, tail_of_exp(r), r_low)), shifted)
    return signed(x, y, found)


@inlined
def pow32(x, y):
    """In float64, with what a float32 needs, but for the special cases."""
    a = magnitude(x)
    m, k = significand(a * 1.0)
    f = m - 1.0
    p = clamp(fma(f, short_log2(f), k) * clamp(y, -FINITE(y), FINITE(y)), -200.0, 200.0)
    shifted = p + SHIFT(p)
    found = narrow(short_exp2(p - (shifted - SHIFT(p))) * power_of_two(shifted))
    edge = a if y > ZERO(x) else ONE(x) / a  # of zero, infinity and NaN
    found = found if (a > ZERO(x)) & (a < INF(x)) | (y != y) else edge
    return signed(x, y, found)


# ------------------------------------------------------------------------------------------------ the cube root

THIRD = constant(0.3333333333333333, 0.3333333432674408)
TWO_NINTHS = constant(0.2222222222222222, 0.2222222238779068)
CBRT_TWO = constant(1.2599210498948732, 1.2599210739135742)
CBRT_HALF = constant(0.7937005259840998, 0.7937005162239075)


@inlined
def cbrt(x):
    a = magnitude(x)
    small = a < NORMAL(x)
    m, k = significand(a * LIFT(x) if small else a)
    k = k - LIFTED(x) if small else k
    shifted = k * THIRD(x) + SHIFT(x)
    left = k - (shifted - SHIFT(x)) * (ONE(x) + TWO(x))  # -1, 0 or 1
    start = inverse_cbrt(m)
    below, above = left < ZERO(x), left > ZERO(x)
    m = m * HALF(x) if below else m + m if above else m
    r = start * (CBRT_TWO(x) if below else CBRT_HALF(x) if above else ONE(x))
    h = fma(-m * r, r * r, ONE(x))
    r = fma(r * h, fma(h, TWO_NINTHS(x), THIRD(x)), r)
    square = r * r
    c = m * square
    miss = fma(c * c, c, -m)
    found = fma(-miss * THIRD(x), square, c) * power_of_two(shifted)
    twice = x + x  # is x for zero and infinity
    return flip_sign(found, x) if (twice < x) | (twice > x) else x
