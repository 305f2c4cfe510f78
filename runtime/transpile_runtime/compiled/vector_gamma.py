"""The logarithm of the gamma function and its derivative, for loops that LLVM vectorises; see `compiled.vector`.

From 2.5 on (the derivative from 3 on) by Stirling's series, with fitted coefficients. Below, one or two recurrence steps lead
to an interval of length one, for which there is a polynomial.
"""

from transpile_runtime.compiled.vector_bits import not_positive, significand
from transpile_runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, TINY
from transpile_runtime.compiled.vector_log import excess, tail_of_log
from transpile_runtime.compiled.vector_parts import INF, Constant, correction, fma, polynomial, where

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
    0.0833333333333332, -0.0027777777776720287, 0.0007936507679231823, -0.0005952351552297033, 0.0008415587243631882,
    -0.0019095097747180321, 0.006180461112775628, -0.024760767012042145, 0.1027972134329242, -0.3724025319007635,
    1.0143868165957146, -1.765402537417797, 1.440886477737551,
)  # fmt: skip
STIRLING_SINGLE = (
    0.083333336, -0.0027779327, 0.00079551886, -0.00058276684, 0.000517684,
)  # fmt: skip
DIGAMMA = (
    0.9676722454476212, -0.44276316898359147, 0.25849976095564786, -0.1639427054426049, 0.10782405069181349,
    -0.07219956123770076, 0.04880428812444097, -0.033161127285164585, 0.022597649750927908, -0.015424746754933692,
    0.010538757102863264, -0.007204804129585522, 0.00492727318423486, -0.003367457597816978, 0.0023006413232791304,
    -0.0015893899270717588, 0.0011047994741134664, -0.0007005295547545778, 0.0004136929861730679,
    -0.00039375992601702964, 0.00040798844520059565, -0.0001837845762176978,
)  # fmt: skip
DIGAMMA_SINGLE = (
    0.9676723, -0.442763, 0.25849572, -0.16395383, 0.10795621, -0.072039045, 0.047274455, -0.03374027, 0.029759374,
    -0.016882772,
)  # fmt: skip
DIGAMMA_TAIL = (
    0.08333333333332069, -0.00833333332631216, 0.0039682526054474155, -0.0041665333524955024, 0.007568046897213066,
    -0.020804240871934537, 0.07591268784031652, -0.305285817044553, 1.0829973039511451, -2.680697232485972,
    3.2497769893259902,
)  # fmt: skip
DIGAMMA_TAIL_SINGLE = (
    0.08333333, -0.008332734, 0.0039443043, -0.0037299106, 0.0035056495,
)  # fmt: skip

first_near_two = Constant(GAMMALN[0], GAMMALN_SINGLE[0])
rest_near_two = polynomial(GAMMALN[1:], GAMMALN_SINGLE[1:])
stirling = correction(STIRLING, STIRLING_SINGLE)
first_over_root = Constant(DIGAMMA[0], DIGAMMA_SINGLE[0])
rest_over_root = correction(DIGAMMA[1:], DIGAMMA_SINGLE[1:], 4)
tail_of_digamma = correction(DIGAMMA_TAIL, DIGAMMA_TAIL_SINGLE)
HALF_LOG_TWO_PI_LESS = -0.01856146679532726  # (log(2 pi) - 1) / 2 - 0.4375
ROOT_LESS = Constant(1.4616321449683622 - 1.0, 1.4616321325302124 - 1.0)  # exact
ROOT_LOW = Constant(9.549995429965697e-17, 1.243815006546356e-08)


def log_sum(m, k):
    """``log(2**k m)`` as a pair: the rounded value and its error."""
    f = m - 1.0
    s, h = f / (m + 1.0), 0.5 * f
    z = s * s
    high = fma(-h, f, f)
    low = fma(-h, f, f - high) + s * fma(z, tail_of_log(z), h * f)
    total = fma(k, LN2_HIGH, high)
    return total, fma(k, LN2_LOW, low) + (fma(k, LN2_HIGH, -total) + high)


def gammaln_normal(x):
    """The logarithm of the gamma function, right for positive normal ``x`` whose square is a normal number."""
    first, second, large = x < 0.5, x < 1.5, x >= 2.5
    # log of x (1 + x) below 0.5, of x from there
    high, low = log_sum(*significand(where(first, fma(x, x, x), x)))
    # below 2.5, of 2 + u
    u = where(first, x, x - where(second, 1.0, 2.0))
    rest = rest_near_two(u)
    g = fma(u, rest, first_near_two)
    g_low = fma(u, rest, first_near_two - g)
    a = u * g
    a_low = fma(u, g, -a) + u * g_low
    b, b_low = where(second, high, 0.0), where(second, low, 0.0)
    total = a - b
    small = total + ((a - (total + b)) + (a_low - b_low))  # the logarithm is larger, or zero
    # from 2.5 on
    inverse = 1.0 / x
    half_less, less = x - 0.5, high - 1.0
    q = half_less * less
    q_low = fma(half_less, less, -q) + half_less * low
    great = (q + 0.4375) + (q_low + fma(stirling(inverse * inverse), inverse, HALF_LOG_TWO_PI_LESS))
    return where(large, great, small)


def digamma_positive(x):
    """The digamma function, right for positive ``x`` and NaN."""
    large, first, second = x >= 3.0, x < 1.0, x < 2.0
    third = ~(large | second)
    # an inverse leads to a number from 1 to 2
    less = x - 1.0
    bottom = where(third, less, x)
    inverse = 1.0 / bottom
    quotient = where(first, -inverse, where(third, inverse, 0.0))
    away = where(first, x, where(second, less, x - 2.0)) - ROOT_LESS
    w = away - ROOT_LOW
    w_low = (away - w) - ROOT_LOW
    rest = rest_over_root(w)
    d = fma(w, rest, first_over_root)
    d_low = fma(w, rest, first_over_root - d)
    p = w * d
    miss = fma(fma(-inverse, bottom, 1.0), quotient, fma(w, d, -p) + fma(w, d_low, w_low * d))
    total = quotient + p
    small = total + (((quotient - total) + p) + miss)
    z = inverse * inverse
    m, k = significand(x)
    f = m - 1.0
    more = fma(z, tail_of_digamma(z), fma(0.5, inverse, -(k * LN2_LOW)))
    great = fma(k, LN2_HIGH, f - excess(f, f / (m + 1.0), more))  # as in log
    found = where(large, great, where(x > TINY, small, quotient))
    return where(x < INF, found, x)


def outside_positive(x):
    """Test bits: `digamma_positive` is not right for ``x``, which is negative or a zero."""
    return not_positive(x)
