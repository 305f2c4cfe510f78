"""The logarithm of the gamma function and its derivative, for loops that LLVM vectorises; see `runtime.compiled.vector`.

From 5 on (from 4 on) by Stirling's series, with fitted coefficients. Below, steps of one lead to an interval of length
one, where a polynomial is.
"""

from runtime.compiled.vector_bits import significand
from runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, TINY
from runtime.compiled.vector_log import LIFT, LIFTED, log_pair, tail
from runtime.compiled.vector_parts import INF, Constant, floor, fma, polynomial, where

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
    0.08333333333333323, -0.002777777777653086, 0.0007936507489656134, -0.0005952308621000656, 0.0008411228381520788,
    -0.001885916087390095, 0.005461874081278065, -0.012651451138569043,
)  # fmt: skip
STIRLING_SINGLE = (
    0.083333336, -0.0027782624, 0.00081690704, -0.00088720437,
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
    0.08333333333333234, -0.008333333332527521, 0.003968253740490434, -0.004166634565025464, 0.007573125129726803,
    -0.02095640574115462, 0.0786446663324538, -0.33261276631332465, 1.1920115126189277, -2.349660200855183,
)  # fmt: skip
DIGAMMA_TAIL_SINGLE = (
    0.083333336, -0.008333692, 0.003983639, -0.004385056, 0.007373903,
)  # fmt: skip

first_near_two = Constant(GAMMALN[0], GAMMALN_SINGLE[0])
rest_near_two = polynomial(GAMMALN[1:], GAMMALN_SINGLE[1:])
stirling = polynomial(STIRLING, STIRLING_SINGLE)
first_over_root = Constant(DIGAMMA[0], DIGAMMA_SINGLE[0])
rest_over_root = polynomial(DIGAMMA[1:], DIGAMMA_SINGLE[1:])
tail_of_digamma = polynomial(DIGAMMA_TAIL, DIGAMMA_TAIL_SINGLE)
ROOT_LESS = Constant(1.4616321449683622 - 1.5, 1.4616321325302124 - 1.5)  # exact
ROOT_LOW = Constant(9.549995429965697e-17, 1.243815006546356e-08)


def log_sum(f, k):
    """``log(2**k (1 + f))`` as a sum of two, of which the second is some percent of the first."""
    high, low = log_pair(f)
    base = k * LN2_HIGH
    total = base + high
    return total, ((base - total) + high) + (low + fma(k, LN2_LOW, fma(k, LN2_HIGH, -base)))


def factor(f):
    """A factor of the product of ``x - 1``, ``x - 2``, ... down to 1.5."""
    return where(f >= 1.5, f, 1.0)


def gammaln_positive(x):
    """For ``x >= 0``, and NaN."""
    large = x >= 5.0
    first, second = x < 0.5, x < 1.5
    # log of the product that leads to a number near 2, which is 2 + u
    product = factor(x - 1.0) * factor(x - 2.0) * factor(x - 3.0)
    lifted = x * LIFT  # x may be subnormal
    v = where(first, fma(lifted, x, lifted), where(second | large, x, product))
    m, k = significand(v)
    u = where(first, x, where(second, x - 1.0, x - floor(x + 0.5)))
    high, low = log_sum(m - 1.0, k - where(first, LIFTED, 0.0))
    # below 5
    rest = rest_near_two(u)
    g = fma(u, rest, first_near_two)
    g_low = fma(u, rest, first_near_two - g)
    a = u * g
    a_low = fma(u, g, -a) + u * g_low
    b, b_low = where(second, -high, high), where(second, -low, low)
    total = a + b
    other = total - a
    small = total + (((a - (total - other)) + (b - other)) + (a_low + b_low))
    # from 5 on
    inverse = 1.0 / x
    half_less, less = x - 0.5, high - 1.0
    q = half_less * less
    q_low = fma(half_less, less, -q) + half_less * low
    great = q + (q_low + fma(stirling(inverse * inverse), inverse, 0.4189385332046728))
    found = where(large, great, small)
    found = where(q < INF, found, q)
    return where(x == 0.0, INF, found)


def two_inverses(f):
    """The sum of ``1 / f`` and ``1 / (f - 1)``, where from 1 on, as a numerator and a denominator with its rest."""
    less = f - 1.0
    one, two = f >= 1.0, less >= 1.0
    top = where(two, f + less, where(one, 1.0, 0.0))
    a, b = where(one, f, 1.0), where(two, less, 1.0)
    return top, a * b, fma(a, b, -(a * b))


def digamma_positive(x):
    """For positive ``x``, and NaN."""
    large, first = x >= 4.0, x < 1.0
    c = where(large, 1.0, x)
    # what leads to a number from 1 to 2: a sum of inverses
    top, bottom, bottom_low = two_inverses(c - 1.0)
    top, bottom = where(first, -1.0, top), where(first, c, bottom)
    u = c - where(first, 0.5, floor(c) + 0.5)
    away = u - ROOT_LESS
    w = away - ROOT_LOW
    w_low = (away - w) - ROOT_LOW
    rest = rest_over_root(u)
    d = fma(u, rest, first_over_root)
    d_low = fma(u, rest, first_over_root - d)
    inverse = 1.0 / where(large, x, bottom)
    quotient = top * inverse
    miss = fma(-quotient, bottom_low, fma(-quotient, bottom, top)) * inverse
    p = w * d
    miss += fma(w, d, -p) + fma(w, d_low, w_low * d)
    total = quotient + p
    small = total + (((quotient - total) + p) + miss)
    z = inverse * inverse
    m, k = significand(x)
    f = m - 1.0
    rest, square = tail(f)
    rest = fma(k, LN2_LOW, rest) - fma(z, tail_of_digamma(z), 0.5 * inverse)
    great = fma(k, LN2_HIGH, f - (square - rest))  # as in log
    found = where(large, great, where(x > TINY, small, quotient))
    return where(x < INF, found, x)


def is_not_negative(x):
    """Whether `gammaln_positive` is right."""
    return ~(x < 0.0)


def is_positive(x):
    """Whether `digamma_positive` is right."""
    return ~(x <= 0.0)
