"""Inverse hyperbolic functions, the logit and the hypotenuse, for loops that LLVM vectorises; see `compiled.vector`.

Each inverse is a logarithm of ``1 + v`` for a positive ``v`` whose rounding error is included.
"""

from transpile_runtime.compiled.vector_bits import flip_sign
from transpile_runtime.compiled.vector_exp import TINY
from transpile_runtime.compiled.vector_log import LIFT, LIFTED, log1p_sum
from transpile_runtime.compiled.vector_parts import INF, NAN, Constant, fma, magnitude, product, sqrt, where

LARGE = Constant(2.0**28, 2.0**13)  # from here 1 + x**2 is x**2
HUGE = Constant(2.0**510, 2.0**62)
SHRINK = Constant(2.0**-600, 2.0**-100)
GROW = Constant(2.0**600, 2.0**100)
SLIGHT = Constant(2.0**-450, 2.0**-50)


def arcsinh(x):
    """The inverse hyperbolic sine; ``x`` itself for tiny, infinite and NaN arguments."""
    a = magnitude(x)
    large = a > LARGE
    b = where(large, 1.0, a)
    q = b * b / (1.0 + sqrt(fma(b, b, 1.0)))
    # beyond, log(2 a) = log(1 + (a - 1)) + log 2
    more = where(large, -1.0, q)
    v = a + more
    rest = (a - v) + more
    found = log1p_sum(v, rest, where(large, 1.0, 0.0))
    found = where(a < INF, found, a)
    return where(a < TINY, x, flip_sign(found, x))


def arccosh(x):
    """The inverse hyperbolic cosine; NaN below 1."""
    large = x > LARGE
    t = x - 1.0
    b = where(large, 1.0, t)
    more = where(large, 0.0, sqrt(fma(b, b, b + b)))
    v = t + more
    rest = ((more - v) + t) + ((x - t) - 1.0)
    found = log1p_sum(v, rest, where(large, 1.0, 0.0))
    found = where(x < INF, found, x)
    return where(x < 1.0, NAN, found)


def quotient(top, top_low, bottom, bottom_low):
    """``(top + top_low) / (bottom + bottom_low)`` as a pair: a rounded value and its error."""
    inverse = 1.0 / bottom
    q = top * inverse
    return q, (fma(-q, bottom, top) + fma(-q, bottom_low, top_low)) * inverse


def arctanh(x):
    """The inverse hyperbolic tangent; infinity with the sign of ``x`` for -1 and 1, NaN beyond."""
    a = magnitude(x)
    less = 1.0 - a
    v, rest = quotient(2.0 * a, 0.0, less, (1.0 - less) - a)
    found = 0.5 * log1p_sum(v, rest)
    found = where(a < 1.0, found, where(a == 1.0, INF, NAN))
    return where(a < TINY, x, flip_sign(found, x))


def logit(x):
    """``log(x / (1 - x))``: minus infinity at 0, infinity at 1, NaN outside."""
    high, tiny = x > 0.5, x < 2.0**-60
    less = 1.0 - x
    bottom = where(high, less, where(tiny, x * LIFT, x))  # x may be subnormal
    bottom_low = where(high, (1.0 - less) - x, 0.0)
    # the numerator of the quotient minus one
    other = where(high, x, where(tiny, 1.0, less))
    top = other - bottom
    top_low = ((other - top) - bottom) + where(high | tiny, 0.0, (1.0 - less) - x) - where(high, bottom_low, 0.0)
    v, rest = quotient(top, top_low, bottom, bottom_low)
    found = log1p_sum(v, rest, where(tiny, LIFTED, 0.0))
    found = where(high, found, 0.0 - found)
    found = where((x > 0.0) & (x < 1.0), found, NAN)
    found = where(x == 0.0, -INF, found)
    return where(x == 1.0, INF, found)


def hypot(x, y):
    """``sqrt(x**2 + y**2)``: the root of the sum, and one correction step.

    After Borges (ACM Transactions on Mathematical Software 46, 2020).
    """
    x, y = magnitude(x), magnitude(y)
    a, b = where(x > y, x, y), where(x > y, y, x)
    huge, slight = a > HUGE, a < SLIGHT
    by = where(huge, SHRINK, where(slight, GROW, 1.0))
    back = where(huge, GROW, where(slight, SHRINK, 1.0))
    a, b = a * by, b * by
    h = sqrt(fma(a, a, b * b))
    p, q = product(a, a), product(h, h)
    off = fma(-b, b, q - p) + (fma(h, h, -q) - fma(a, a, -p))
    found = (h - off / (h + h)) * back
    found = where(h > 0.0, found, h)
    return where((x == INF) | (y == INF), INF, found)
