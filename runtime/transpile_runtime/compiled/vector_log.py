"""Logarithms, for loops that LLVM vectorises; see `transpile_runtime.compiled.vector`.

``x = 2**k (1 + f)`` with ``1 + f`` between the roots of 1/2 and 2, and with ``s = f / (2 + f)``
``log(1 + f) = 2 artanh(s) = f - s (f - s**2 P(s**2))``, as in Sun's fdlibm.
"""

from transpile_runtime.compiled.vector_bits import (
    EXPONENT_ZERO,
    POWER_SHIFT,
    has_sign,
    outside_range,
    power_of_two,
    significand,
)
from transpile_runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, TINY
from transpile_runtime.compiled.vector_parts import INF, NAN, Constant, beside, correction, fma, magnitude, where

# by tests/accuracy/fit.py
LOG = (
    0.6666666666666734, 0.39999999999416574, 0.2857142874204334, 0.22222198603765583, 0.18183562903425382,
    0.15314083817183424, 0.14795641367278203,
)  # fmt: skip
LOG_SINGLE = (
    0.66666776, 0.3997758, 0.29870927,
)  # fmt: skip

tail_of_log = correction(LOG, LOG_SINGLE)

NORMAL = Constant(2.0**-1022, 2.0**-126)
FEW_BELOW = Constant(2.0**-511, 2.0**-63)
LIFT = Constant(2.0**54, 2.0**24)
LIFTED = Constant(54.0, 24.0)
LIFTED_ZERO = Constant(2.0**52 + 1023 + 54, 2.0**23 + 127 + 24)
# 1 / log 2; 1 / log 10 and log 2 / log 10, each a sum of two
INV_LN2 = Constant(1.4426950408889634, 1.4426950216293335)
INV_LN10_HIGH = Constant(0.4342944819032518, 0.4342944920063019)
INV_LN10_LOW = Constant(1.098319650216765e-17, -1.0103049952192578e-08)
LOG10_2_HIGH = Constant(0.3010299956639812, 0.3010300099849701)
LOG10_2_LOW = Constant(-2.8037281277851704e-18, -1.432098883924482e-08)


def split(x):
    """``(1 + f, k)`` with ``x = 2**k (1 + f)``, for positive ``x``, also a subnormal one: ``k``, an integer, is a float."""
    small = x < NORMAL
    return significand(where(small, x * LIFT, x), where(small, LIFTED_ZERO, EXPONENT_ZERO))


def excess(f, s, more=0.0):
    """``f - log(1 + f) + more``, from ``s``, which is ``f / (2 + f)``."""
    z = s * s
    return fma(-(s * z), tail_of_log(z), fma(s, f, more))


def outside(x, found):
    """``found`` if ``x`` is a positive finite number, else the value of a logarithm of ``x``: -inf, inf or NaN."""
    found = where(x < INF, found, x)
    found = where(has_sign(x), NAN, found)
    return where(x == 0.0, -INF, found)


def log(x):
    m, k = split(x)
    return log_of_parts(m, k, outside(x, k))  # the last k may be infinite or NaN


def log_normal(x):
    """The natural logarithm, right only for positive normal numbers."""
    return log_of_parts(*significand(x))


def outside_normal(x):
    """Test bits: `log_normal`, `log2_normal` or `gammaln_normal` may not be right for ``x``.

    They are also set for some rare numbers for which the functions are right.
    """
    return outside_range(x, FEW_BELOW)


def log_of_parts(m, k, last=None):
    """``log(m) + k log 2``, with ``last``, if it is given, in place of ``k`` in the final step."""
    f = m - 1.0
    low = f - excess(f, f / (m + 1.0), -(k * LN2_LOW))
    return fma(k if last is None else last, LN2_HIGH, low)


def log1p_sum(x, rest=None, more=0.0):
    """``log(1 + x + rest) + more log 2`` for finite ``x`` above -1.

    ``rest`` is at most a few last places of ``x``, or of 1.
    """
    u = 1.0 + x
    m, k = significand(u)
    # the rounding error of u, in units of 2**k
    lost = where(x > 1.0, 1.0 - (u - x), x - (u - 1.0))
    far = k > 60.0  # for so large an x it does not matter
    low = where(far, 0.0, lost if rest is None else lost + rest) * power_of_two(
        beside(x, POWER_SHIFT) - where(far, 60.0, k)
    )
    near = k == 0.0
    f = where(near, x, m - 1.0)
    low = where(near, 0.0 if rest is None else rest, low)
    k = k + more
    s = f / (f + 2.0)
    more = fma(k, LN2_LOW, low * (1.0 - s) * fma(s, s, 1.0 - s))
    return fma(k, LN2_HIGH, f - excess(f, s, -more))


def log1p(x):
    found = where(x < INF, log1p_sum(x), x)
    found = where(x < -1.0, NAN, found)
    found = where(x == -1.0, -INF, found)
    return where(magnitude(x) < TINY, x, found)


def log1p_unit(x):
    """``log(1 + x)``, right only for ``x`` from 0 to 1, and NaN."""
    high = x > 0.4140625
    f = where(high, fma(0.5, x, -0.5), x)
    low = f - excess(f, f / (f + 2.0), where(high, -LN2_LOW, 0.0))
    return where(high, LN2_HIGH, 0.0) + low


def log2(x):
    m, k = split(x)
    return log2_of_parts(m, outside(x, k))


def log2_normal(x):
    """The binary logarithm, right only for positive normal numbers."""
    return log2_of_parts(*significand(x))


def log2_of_parts(m, k):
    """``log2(m) + k``."""
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    return fma(fma(-s, fma(-z, tail_of_log(z), f), f), INV_LN2, k)


def log10(x):
    m, k = split(x)
    f = m - 1.0
    high = f * INV_LN10_HIGH
    low = fma(f, INV_LN10_LOW, fma(k, LOG10_2_LOW, fma(f, INV_LN10_HIGH, -high)))
    low = fma(-excess(f, f / (m + 1.0)), INV_LN10_HIGH, low)
    return fma(outside(x, k), LOG10_2_HIGH, high + low)
