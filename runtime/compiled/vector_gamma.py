"""The logarithm of the gamma function and its derivative, for loops that LLVM vectorises; see `runtime.compiled.vector`.

From 8 on (from 6 on) by Stirling's series. Below, steps of one lead to an interval of length one, where a polynomial is. Negative
arguments are reflected, in branches: `runtime.compiled.vector` says how a loop leaves them out.
"""

from runtime.compiled.options import njit
from runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, TINY
from runtime.compiled.vector_log import FAR, log, split, tail_of_log
from runtime.compiled.vector_parts import (
    HALF,
    INF,
    NAN,
    ONE,
    SHIFT,
    TWO,
    ZERO,
    constant,
    fma,
    magnitude,
    narrow,
    polynomial,
    power_of_two,
    rint,
)
from runtime.compiled.vector_trig import slope, wave

# by tests/accuracy/fit.py
GAMMALN = (
    0.42278433509846713, 0.32246703342411326, -0.06735230105319817, 0.020580808427780338, -0.007385551028664127,
    0.002890510331036745, -0.0011927539121664003, 0.0005096695153486177, -0.00022315474734175552,
    9.945767440328524e-05, -4.492639045010429e-05, 2.0505584329887246e-05, -9.438191525975852e-06,
    4.38473219473032e-06, -2.045977560846636e-06, 9.199890824973103e-07, -4.280993206890386e-07,
    2.7880089678693384e-07, -1.361345893166482e-07,
)  # fmt: skip
GAMMALN_SINGLE = (
    0.42278433, 0.32246703, -0.067352265, 0.020581631, -0.007386437, 0.0028788282, -0.0011841756, 0.00057034404,
    -0.00025718694,
)  # fmt: skip
STIRLING = (
    0.08333333333333333, -0.0027777777777667273, 0.0007936507860033396, -0.0005952357544041139, 0.0008413807116633039,
    -0.001885763469284724, 0.00497406380921945,
)  # fmt: skip
STIRLING_SINGLE = (
    0.083333336, -0.0027783343, 0.00081214664,
)  # fmt: skip
DIGAMMA = (
    0.9510558760318328, -0.4236274212814606, 0.24054248424078778, -0.14840492305388006, 0.09498872445276296,
    -0.06192213327556218, 0.0407608339488097, -0.026975796656841675, 0.01790724806209295, -0.011908220170430682,
    0.007927026567582311, -0.005279936408103007, 0.0035180509807726437, -0.0023455017159878014, 0.0015637854406857006,
    -0.0010364222401908888, 0.0006889276995209406, -0.0004860657714191193, 0.00032991923524503864,
    -0.00014460092689472394, 8.649086238090484e-05, -0.0001783756836330099, 0.00012612352713854515,
)  # fmt: skip
DIGAMMA_SINGLE = (
    0.9510559, -0.42362756, 0.24053837, -0.14839514, 0.095117815, -0.062109657, 0.039359204, -0.025500553,
    0.023929572, -0.016882772,
)  # fmt: skip
DIGAMMA_TAIL = (
    0.08333333333332585, -0.008333333326317758, 0.0039682517365432785, -0.004166327846310172, 0.00754789127196611,
    -0.019798786434643216, 0.049998077527446075,
)  # fmt: skip
DIGAMMA_TAIL_SINGLE = (
    0.08333332, -0.008330301, 0.0037659612,
)  # fmt: skip

first_near_two = constant(GAMMALN[0], GAMMALN_SINGLE[0])
rest_near_two = polynomial(GAMMALN[1:], GAMMALN_SINGLE[1:])
stirling = polynomial(STIRLING, STIRLING_SINGLE)
first_over_root = constant(DIGAMMA[0], DIGAMMA_SINGLE[0])
rest_over_root = polynomial(DIGAMMA[1:], DIGAMMA_SINGLE[1:])
tail_of_digamma = polynomial(DIGAMMA_TAIL, DIGAMMA_TAIL_SINGLE)
SIX, EIGHT, THREE_HALVES, FIVE_HALVES = constant(6.0), constant(8.0), constant(1.5), constant(2.5)
CONSTANT = constant(0.4189385332046728)  # log(2 pi) / 2 - 1 / 2
ROOT = constant(1.4616321449683622, 1.4616321325302124)
ROOT_LOW = constant(9.549995429965697e-17, 1.243815006546356e-08)


@njit
def log_sum(v, v_low):
    """``log(v + v_low)`` as a sum of two, for positive ``v``."""
    f, k = split(v)
    far = k < -FAR(v)
    low = ZERO(v) if far else v_low * power_of_two(SHIFT(v) - (ZERO(v) if far else FAR(v) if k > FAR(v) else k))
    s = f / (f + TWO(v))
    z = s * s
    h = HALF(v) * f
    high = fma(-h, f, f)
    rest = s * fma(z, tail_of_log(z), h * f) + low * (ONE(v) - s) * (ONE(v) - s + z)
    rest = fma(-h, f, f - high) + rest
    base = k * LN2_HIGH(v)
    base_low = fma(k, LN2_HIGH(v), -base) + k * LN2_LOW(v)
    total = base + high
    rest = ((base - total) + high) + (rest + base_low)
    found = total + rest
    return found, (total - found) + rest


@njit
def step_down(y, p, low):
    """One step from ``y`` down to 2.5: ``y - 1``, and the product with it."""
    more = y >= FIVE_HALVES(y)
    below = y - ONE(y)
    q = p * below
    q_low = fma(p, below, -q) + low * below
    return below if more else y, q if more else p, q_low if more else low


@njit
def gammaln_positive(x):
    """For ``x >= 0``, and NaN."""
    large = x >= EIGHT(x)
    c = TWO(x) if large else x
    y, p, low = step_down(c, ONE(x), ZERO(x))
    y, p, low = step_down(y, p, low)
    y, p, low = step_down(y, p, low)
    y, p, low = step_down(y, p, low)
    y, p, low = step_down(y, p, low)
    y, p, low = step_down(y, p, low)
    first, second = c < HALF(x), c < THREE_HALVES(x)
    u = c if first else c - ONE(x) if second else y - TWO(x)
    up = ONE(x) + c
    v = c * up
    v_low = fma(c, up, -v) + c * ((ONE(x) - up) + c)
    v = v if first else x if second or large else p
    v_low = v_low if first else ZERO(x) if second or large else low
    high, low = log_sum(v, v_low)
    # below 8
    rest = rest_near_two(u)
    g = fma(u, rest, first_near_two(x))
    g_low = fma(u, rest, first_near_two(x) - g)
    a = u * g
    a_low = fma(u, g, -a) + u * g_low
    b, b_low = -high if second else high, -low if second else low
    total = a + b
    other = total - a
    small = total + (((a - (total - other)) + (b - other)) + (a_low + b_low))
    # from 8 on
    inverse = ONE(x) / x
    half_less, factor = x - HALF(x), high - ONE(x)
    q = half_less * factor
    q_low = fma(half_less, factor, -q) + half_less * low
    great = q + (q_low + fma(stirling(inverse * inverse), inverse, CONSTANT(x)))
    found = great if large else small
    found = found if q < INF(x) else q
    return INF(x) if x == ZERO(x) else found


@njit
def gammaln(x):
    if not x < 0.0:
        return gammaln_positive(x)
    whole = rint(x)
    if whole == x:
        return INF(x)
    if x > -(2.0**-60):
        return -log(-x)
    # gamma(x) gamma(-x) = -pi / (x sin(pi x))
    r = magnitude(x - whole)
    bottom = -x * wave(r * 3.141592653589793, fma(r, 3.141592653589793, -(r * 3.141592653589793)) + r * 1.22e-16)
    return (1.1447298858494002 - log(bottom)) - gammaln_positive(-x)


@njit
def add_inverse(y, top, bottom, top_low, bottom_low):
    """One step from ``y`` down to 2: ``y - 1``, and the sum of the fraction and ``1 / (y - 1)``."""
    more = y >= TWO(y)
    below = y - ONE(y)
    product = bottom * below
    product_low = fma(bottom, below, -product) + bottom_low * below
    total, total_low = fma(top, below, bottom), fma(top_low, below, bottom_low)
    y, top, bottom = below if more else y, total if more else top, product if more else bottom
    return y, top, bottom, total_low if more else top_low, product_low if more else bottom_low


@njit
def digamma_positive(x):
    """For positive ``x``, and NaN."""
    large = x >= SIX(x)
    c = ONE(x) if large else x
    y, top, bottom, top_low, bottom_low = add_inverse(c, ZERO(x), ONE(x), ZERO(x), ZERO(x))
    y, top, bottom, top_low, bottom_low = add_inverse(y, top, bottom, top_low, bottom_low)
    y, top, bottom, top_low, bottom_low = add_inverse(y, top, bottom, top_low, bottom_low)
    y, top, bottom, top_low, bottom_low = add_inverse(y, top, bottom, top_low, bottom_low)
    first = c < ONE(x)
    top, bottom = -ONE(x) if first else top, c if first else bottom
    away = y - (ROOT(x) - ONE(x) if first else ROOT(x))
    w = away - ROOT_LOW(x)
    w_low = (away - w) - ROOT_LOW(x)
    u = y - (HALF(x) if first else THREE_HALVES(x))
    rest = rest_over_root(u)
    d = fma(u, rest, first_over_root(x))
    d_low = fma(u, rest, first_over_root(x) - d)
    inverse = ONE(x) / (x if large else bottom)
    quotient = top * inverse
    miss = (fma(-quotient, bottom, top) + fma(-quotient, bottom_low, top_low)) * inverse
    p = w * d
    miss += fma(w, d, -p) + fma(w, d_low, w_low * d)
    total = quotient + p
    small = total + (((quotient - total) + p) + miss)
    z = inverse * inverse
    high, low = log_sum(x, ZERO(x))
    great = high + (low - fma(z, tail_of_digamma(z), HALF(x) * inverse))
    found = great if large else small if x > TINY(x) else quotient
    return found if x < INF(x) else x


@njit
def digamma(x):
    if x > 0.0:
        return digamma_positive(x)
    if x == 0.0:
        return -(ONE(x) / x)
    whole = rint(x)
    if whole == x or x != x:
        return NAN(x)
    # digamma(x) = digamma(-x) - 1 / x - pi / tan(pi x)
    r = x - whole
    swap = magnitude(r) > 0.25
    if swap:  # cot(pi r) = tan(pi (1/2 - r))
        r = (0.5 - r) if r > 0 else (-0.5 - r)
    t = slope(r * 3.141592653589793, fma(r, 3.141592653589793, -(r * 3.141592653589793)) + r * 1.22e-16, not swap)
    cot = t if swap else -t
    return (digamma_positive(-x) - ONE(x) / x) - 3.141592653589793 * cot


@njit
def gammaln32(x):
    return gammaln_positive(x) if not x < ZERO(x) else narrow(gammaln(x * 1.0))


@njit
def digamma32(x):
    return digamma_positive(x) if x > ZERO(x) else narrow(digamma(x * 1.0))


@njit
def is_not_negative(x):
    """Whether `gammaln_positive` is right."""
    return not x < ZERO(x)


@njit
def is_positive(x):
    """Whether `digamma_positive` is right."""
    return not x <= ZERO(x)
