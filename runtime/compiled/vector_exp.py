"""The exponential function and what is made of it, for loops that LLVM vectorises.

``x = k log 2 + r`` with ``|r| <= log(2) / 2``, and ``exp(r) = 1 + r + r**2 P(r)``; see `runtime.compiled.vector`.
"""

from runtime.compiled.vector_parts import (
    HALF,
    ONE,
    SHIFT,
    TWO,
    ZERO,
    constant,
    flip_sign,
    fma,
    inlined,
    magnitude,
    polynomial,
    power_of_two,
)

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
LOG2E = constant(1.4426950408889634, 1.4426950216293335)
LN2_HIGH = constant(0.6931471805599453, 0.6931471824645996)
LN2_LOW = constant(2.3190468138462996e-17, -1.9046542121259336e-09)
EXP_LIMIT = constant(1000.0, 110.0)  # exp is zero or infinite from here, and half of k is the exponent of a number
EXP2_LIMIT = constant(1100.0, 160.0)
EXPM1_LOW = constant(-40.0, -20.0)  # expm1 is -1 from here
EXPM1_HIGH = constant(710.0, 89.0)  # … infinite from here; 2**(k - 1) is a number
SINH_HIGH = constant(710.5, 89.5)  # … infinite from here; 2**(k - 2) is a number
TANH_HIGH = constant(44.0, 20.0)  # tanh(x / 2) is 1 from here
TINY = constant(2.0**-54, 2.0**-25)
SMALL = constant(2.0**-30, 2.0**-14)  # sinh(x) is x below
SIXTEENTH = constant(0.0625)
NEAR_INVERSE = constant(1.457)  # 1.457 - w / 2 is near 1 / w from 1 to 2


@inlined
def reduce(x):
    """``k + SHIFT`` and ``r`` as a sum of two, with ``x = k log 2 + r``."""
    shifted = x * LOG2E(x) + SHIFT(x)
    k = shifted - SHIFT(x)
    above = fma(-k, LN2_HIGH(x), x)
    r = fma(-k, LN2_LOW(x), above)
    return shifted, r, fma(-k, LN2_LOW(x), above - r)


@inlined
def scale(y, shifted):
    """``y * 2**k`` of ``k + SHIFT``, also where ``2**k`` is no normal number."""
    k = shifted - SHIFT(y)
    half = k * HALF(y) + SHIFT(y)
    other = (k - (half - SHIFT(y))) + SHIFT(y)
    return y * power_of_two(half) * power_of_two(other)


@inlined
def clamp(x, low, high):
    """NaN stays."""
    x = high if x > high else x
    return low if x < low else x


@inlined
def exp(x):
    bounded = clamp(x, -EXP_LIMIT(x), EXP_LIMIT(x))
    shifted = bounded * LOG2E(x) + SHIFT(x)
    k = shifted - SHIFT(x)
    above = fma(-k, LN2_HIGH(x), bounded)
    off = k * LN2_LOW(x)
    r = above - off
    return scale(ONE(x) + (above + fma(r * r, tail_of_exp(r), -off)), shifted)


@inlined
def exp2(x):
    bounded = clamp(x, -EXP2_LIMIT(x), EXP2_LIMIT(x))
    shifted = bounded + SHIFT(x)
    f = bounded - (shifted - SHIFT(x))
    r = f * LN2_HIGH(x)
    low = fma(f, LN2_HIGH(x), -r) + f * LN2_LOW(x)
    return scale(ONE(x) + (r + fma(r * r, tail_of_exp(r), low)), shifted)


@inlined
def expm1_pair(x, down):
    """``(exp(x) - 1) * 2**-down`` as a sum of two, for bounded ``x``; ``down`` is a float."""
    shifted, r, low = reduce(x)
    factor = power_of_two(shifted - down)
    base = factor - power_of_two(SHIFT(x) - down)
    head = fma(factor, r, base)
    rest = fma(factor, r, base - head) + factor * fma(r * r, tail_of_exp(r), low)
    high = head + rest
    return high, (head - high) + rest


@inlined
def expm1(x):
    high, low = expm1_pair(clamp(x, EXPM1_LOW(x), EXPM1_HIGH(x)), ONE(x))
    found = (high + low) * TWO(x)
    return x if magnitude(x) < TINY(x) else found


@inlined
def sinh(x):
    a = magnitude(x)
    # a quarter of E = expm1(a); sinh is (E + E / (E + 1)) / 2
    high, low = expm1_pair(SINH_HIGH(x) if a > SINH_HIGH(x) else a, TWO(x))
    whole = TWO(x) * (TWO(x) * high) + ONE(x)
    found = TWO(x) * (high + (high / whole + low))
    return x if a < SMALL(x) else flip_sign(found, x)


@inlined
def cosh(x):
    a = magnitude(x)
    shifted, r, low = reduce(SINH_HIGH(x) if a > SINH_HIGH(x) else a)
    p = r + fma(r * r, tail_of_exp(r), low)
    factor = power_of_two(shifted - TWO(x))
    quarter = fma(factor, p, factor)
    return TWO(x) * (quarter + SIXTEENTH(x) / quarter)


@inlined
def divide_pair(a, a_low, b, b_low):
    """``(a + a_low) / (b + b_low)``, by one division."""
    inverse = ONE(a) / b
    q = a * inverse
    return fma(fma(-q, b, a) + fma(-q, b_low, a_low), inverse, q)


@inlined
def tanh(x):
    a = TWO(x) * magnitude(x)
    high, low = expm1_pair(TANH_HIGH(x) if a > TANH_HIGH(x) else a, ZERO(x))
    whole = high + TWO(x)
    return flip_sign(divide_pair(high, low, whole, ((TWO(x) - whole) + high) + low), x)


@inlined
def logistic(x):
    e = exp(-magnitude(x))
    whole = ONE(x) + e
    quotient = (e if x < ZERO(x) else ONE(x)) / whole
    # what the sum lost, times nearly 1 / whole
    lost = ((ONE(x) - whole) + e) * fma(-HALF(x), whole, NEAR_INVERSE(x))
    return fma(-quotient, lost, quotient)
