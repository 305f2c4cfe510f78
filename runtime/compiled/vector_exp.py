"""The exponential function and what is made of it, for loops that LLVM vectorises.

``x = k log 2 + r`` with ``|r| <= log(2) / 2``, and ``exp(r) = 1 + r + r**2 P(r)``; see `runtime.compiled.vector`.
"""

from runtime.compiled.vector_bits import SHIFT, flip_sign, power_of_two
from runtime.compiled.vector_parts import Constant, beside, fma, magnitude, polynomial, where

# by tests/accuracy/fit.py
EXP = (
    0.5, 0.1666666666666667, 0.041666666666666685, 0.008333333333326134, 0.001388888888887434, 0.00019841269874821272,
    2.4801587347397564e-05, 2.7557255400312903e-06, 2.755725290338475e-07, 2.5105216700751193e-08,
    2.0921582445163242e-09,
)  # fmt: skip
EXP_SINGLE = (
    0.5, 0.16666576, 0.041666374, 0.008363181, 0.0013941308,
)  # fmt: skip

tail_of_exp = polynomial(EXP, EXP_SINGLE)
LOG2E = Constant(1.4426950408889634, 1.4426950216293335)
LN2_HIGH = Constant(0.6931471805599453, 0.6931471824645996)
LN2_LOW = Constant(2.3190468138462996e-17, -1.9046542121259336e-09)
EXP_LIMIT = Constant(1000.0, 110.0)  # exp is zero or infinite from here, and half of k is the exponent of a number
EXP2_LIMIT = Constant(1100.0, 160.0)
EXPM1_LOW = Constant(-40.0, -20.0)  # expm1 is -1 from here
EXPM1_HIGH = Constant(710.0, 89.0)  # … infinite from here; 2**(k - 1) is a number
SINH_HIGH = Constant(710.5, 89.5)  # … infinite from here; 2**(k - 2) is a number
TANH_HIGH = Constant(44.0, 20.0)  # tanh(x / 2) is 1 from here
TINY = Constant(2.0**-54, 2.0**-25)
SMALL = Constant(2.0**-30, 2.0**-14)  # sinh(x) is x below


def reduce(x):
    """``k + SHIFT`` and ``r`` as a sum of two, with ``x = k log 2 + r``."""
    shifted = x * LOG2E + SHIFT
    k = shifted - SHIFT
    above = fma(-k, LN2_HIGH, x)
    r = fma(-k, LN2_LOW, above)
    return shifted, r, fma(-k, LN2_LOW, above - r)


def scale(y, shifted):
    """``y * 2**k`` of ``k + SHIFT``, also where ``2**k`` is no normal number."""
    k = shifted - SHIFT
    half = k * 0.5 + SHIFT
    other = (k - (half - SHIFT)) + SHIFT
    return y * power_of_two(half) * power_of_two(other)


def scale_sum(y, shifted):
    """``(1 + y) * 2**k``, of which the sum is not rounded where that is a normal number."""
    k = shifted - SHIFT
    half = k * 0.5 + SHIFT
    factor = power_of_two(half)
    return fma(y, factor, factor) * power_of_two((k - (half - SHIFT)) + SHIFT)


def clamp(x, low, high):
    """NaN stays."""
    x = where(x > high, high, x)
    return where(x < low, low, x)


def exp(x):
    bounded = clamp(x, -EXP_LIMIT, EXP_LIMIT)
    shifted = bounded * LOG2E + SHIFT
    k = shifted - SHIFT
    above = fma(-k, LN2_HIGH, bounded)
    off = k * LN2_LOW
    r = above - off
    return scale_sum(above + fma(r * r, tail_of_exp(r), -off), shifted)


def exp2(x):
    bounded = clamp(x, -EXP2_LIMIT, EXP2_LIMIT)
    shifted = bounded + SHIFT
    f = bounded - (shifted - SHIFT)
    r = f * LN2_HIGH
    low = fma(f, LN2_HIGH, -r) + f * LN2_LOW
    return scale_sum(r + fma(r * r, tail_of_exp(r), low), shifted)


def expm1_pair(x, down):
    """``(exp(x) - 1) * 2**-down`` as a sum of two, for bounded ``x``; ``down`` is a float."""
    shifted, r, low = reduce(x)
    factor = power_of_two(shifted - down)
    base = factor - power_of_two(beside(x, SHIFT) - down)
    head = fma(factor, r, base)
    rest = fma(factor, r, base - head) + factor * fma(r * r, tail_of_exp(r), low)
    high = head + rest
    return high, (head - high) + rest


def expm1(x):
    high, low = expm1_pair(clamp(x, EXPM1_LOW, EXPM1_HIGH), 1.0)
    found = (high + low) * 2.0
    return where(magnitude(x) < TINY, x, found)


def sinh(x):
    a = magnitude(x)
    # a quarter of E = expm1(a); sinh is (E + E / (E + 1)) / 2
    high, low = expm1_pair(where(a > SINH_HIGH, SINH_HIGH, a), 2.0)
    whole = 2.0 * (2.0 * high) + 1.0
    found = 2.0 * (high + (high / whole + low))
    return where(a < SMALL, x, flip_sign(found, x))


def cosh(x):
    a = magnitude(x)
    shifted, r, low = reduce(where(a > SINH_HIGH, SINH_HIGH, a))
    p = r + fma(r * r, tail_of_exp(r), low)
    factor = power_of_two(shifted - 2.0)
    quarter = fma(factor, p, factor)
    return 2.0 * (quarter + 0.0625 / quarter)


def divide_pair(a, a_low, b, b_low):
    """``(a + a_low) / (b + b_low)``, by one division."""
    inverse = 1.0 / b
    q = a * inverse
    return fma(fma(-q, b, a) + fma(-q, b_low, a_low), inverse, q)


def tanh(x):
    a = 2.0 * magnitude(x)
    high, low = expm1_pair(where(a > TANH_HIGH, TANH_HIGH, a), 0.0)
    whole = high + 2.0
    return flip_sign(divide_pair(high, low, whole, ((2.0 - whole) + high) + low), x)


def expit(x):
    e = exp(-magnitude(x))
    whole = 1.0 + e
    quotient = where(x < 0.0, e, 1.0) / whole
    # what the sum lost, times nearly 1 / whole: 1.457 - w / 2 is near 1 / w from 1 to 2
    lost = ((1.0 - whole) + e) * fma(-0.5, whole, 1.457)
    return fma(-quotient, lost, quotient)
