"""The exponential function and functions made of it, for loops that LLVM vectorises.

``x = k log 2 + r`` with ``|r| <= log(2) / 2``, and ``exp(r) = 1 + r + r**2 P(r)``; see `transpile_runtime.compiled.vector`.
"""

from transpile_runtime.compiled.vector_bits import (
    FACTORS_SHIFT,
    POWER_SHIFT,
    above,
    factors_of_power,
    flip_sign,
    power_of_two,
    power_over_power,
)
from transpile_runtime.compiled.vector_parts import Constant, beside, correction, fma, magnitude, where

# by tests/accuracy/fit.py
EXP = (
    0.5000000000000002, 0.16666666666666682, 0.041666666666594715, 0.008333333333316081, 0.0013888888927524644,
    0.0001984126990056786, 2.4801508905722608e-05, 2.7557229671519286e-06, 2.7624898311806926e-07,
    2.5114042185618032e-08,
)  # fmt: skip
EXP_SINGLE = (
    0.5, 0.16666536, 0.041666273, 0.00836724, 0.0013947027,
)  # fmt: skip
EXP2 = (
    0.6931471805599453, 0.24022650695910125, 0.05550410866482172, 0.009618129107596048, 0.001333355814638207,
    0.00015403530455064868, 1.5252733865285856e-05, 1.3215436169436102e-06, 1.0178047221304916e-07,
    7.073647777616968e-09, 4.4572920753127203e-10,
)  # fmt: skip
EXP2_SINGLE = (
    0.6931472, 0.2402265, 0.05550333, 0.0096180085, 0.0013398748, 0.00015475282,
)  # fmt: skip

tail_of_exp = correction(EXP, EXP_SINGLE)
first_of_exp2 = Constant(EXP2[0], EXP2_SINGLE[0])
rest_of_exp2 = correction(EXP2[1:], EXP2_SINGLE[1:])
LOG2E = Constant(1.4426950408889634, 1.4426950216293335)
LN2_HIGH = Constant(0.6931471805599453, 0.6931471824645996)
LN2_LOW = Constant(2.3190468138462996e-17, -1.9046542121259336e-09)
EXP_LIMIT = Constant(1000.0, 110.0)  # exp is zero or infinite from here; half of k still fits in an exponent
EXP2_LIMIT = Constant(1100.0, 160.0)
EXP2_NORMAL = Constant(1021.0, 125.0)
EXPM1_LOW = Constant(-40.0, -20.0)  # expm1 is -1 from here
EXPM1_HIGH = Constant(710.0, 89.0)  # … infinite from here; 2**(k - 1) is a number
SINH_HIGH = Constant(710.5, 89.5)  # … infinite from here; 2**(k - 2) is a number
TANH_HIGH = Constant(44.0, 20.0)  # tanh(x / 2) is 1 from here
TINY = Constant(2.0**-54, 2.0**-25)
SMALL = Constant(2.0**-30, 2.0**-14)  # sinh(x) is x below


def reduce(x):
    """``(k + POWER_SHIFT, r, low)`` with ``x = k log 2 + r + low``: an integer ``k``, ``|r| <= log(2) / 2``, and a small
    correction."""
    shifted = x * LOG2E + POWER_SHIFT
    k = shifted - POWER_SHIFT
    above = fma(-k, LN2_HIGH, x)
    r = fma(-k, LN2_LOW, above)
    return shifted, r, fma(-k, LN2_LOW, above - r)


def scale_sum(y, shifted):
    """``(1 + y) * 2**k`` from ``shifted``, which is ``k + FACTORS_SHIFT``; the sum is not rounded separately if the result is a
    normal number."""
    one, other = factors_of_power(shifted)
    return fma(y, one, one) * other


def clamp(x, low, high):
    """``x`` limited to ``low`` and ``high``; NaN stays."""
    x = where(x > high, high, x)
    return where(x < low, low, x)


def exp(x):
    return scale_sum(*power_less_one(clamp(x, -EXP_LIMIT, EXP_LIMIT)))


def power_less_one(x):
    """``(y, k + FACTORS_SHIFT)`` with ``exp(x) = (1 + y) * 2**k``, for ``|x| <= EXP_LIMIT`` and NaN."""
    shifted = x * LOG2E + FACTORS_SHIFT
    k = shifted - FACTORS_SHIFT
    above = fma(-k, LN2_HIGH, x)
    off = k * LN2_LOW
    r = above - off
    return above + fma(r * r, tail_of_exp(r), -off), shifted


def exp2(x):
    bounded = clamp(x, -EXP2_LIMIT, EXP2_LIMIT)
    shifted = bounded + FACTORS_SHIFT
    return scale_sum(exp2_less_one(bounded - (shifted - FACTORS_SHIFT)), shifted)


def exp2_less_one(f):
    """``2**f - 1`` for ``|f| <= 1/2``."""
    return fma(f * f, rest_of_exp2(f), f * first_of_exp2)


def exp2_moderate(x):
    """``2**x``, right only if the result is a normal number, see `outside_moderate`."""
    shifted = x + POWER_SHIFT
    factor = power_of_two(shifted)
    return fma(exp2_less_one(x - (shifted - POWER_SHIFT)), factor, factor)


def outside_moderate(x):
    """Test bits: the result of `exp2_moderate` may not be a normal number."""
    return above(x, EXP2_NORMAL)


def expm1_pair(x, down):
    """``(exp(x) - 1) * 2**-down`` as a pair: the rounded value and its error; for bounded ``x``, and ``down`` a float."""
    shifted, r, low = reduce(x)
    factor = power_of_two(shifted - down)
    base = factor - power_of_two(beside(x, POWER_SHIFT) - down)
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
    """``(a + a_low) / (b + b_low)`` as one number, by one division; ``a_low`` and ``b_low`` are small."""
    inverse = 1.0 / b
    q = a * inverse
    return fma(fma(-q, b, a) + fma(-q, b_low, a_low), inverse, q)


def tanh(x):
    a = 2.0 * magnitude(x)
    high, low = expm1_pair(where(a > TANH_HIGH, TANH_HIGH, a), 0.0)
    whole = high + 2.0
    return flip_sign(divide_pair(high, low, whole, ((2.0 - whole) + high) + low), x)


def expit(x):
    """The logistic function, as ``a / (a + b (1 + y))`` with two powers of two, so that no part is too large or too small."""
    y, shifted = power_less_one(-clamp(x, -EXP_LIMIT, EXP_LIMIT))
    a, b = power_over_power(shifted)
    whole = a + b
    return a / (whole + fma(y, b, a - (whole - b)))
