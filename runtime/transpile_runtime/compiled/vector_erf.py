"""The error function, its complement, the normal distribution, for loops that LLVM vectorises; see `compiled.vector`.

``erfc(x) = exp(-x**2) f(t) / (1 + x)`` with ``t = (x - c) / (x + c)`` for positive ``x``, after Shepherd and Laframboise
(Mathematics of Computation 36, 1981), with the rounding error of each factor.
"""

from transpile_runtime.compiled.vector_bits import FACTORS_SHIFT, factors_of_power, flip_sign, power_of_two
from transpile_runtime.compiled.vector_exp import LN2_HIGH, LN2_LOW, LOG2E, reduce, tail_of_exp
from transpile_runtime.compiled.vector_parts import Constant, correction, fma, magnitude, polynomial, where

# by tests/accuracy/fit.py
ERF = (
    0.1283791670955126, -0.3761263890318427, 0.1128379167099065, -0.02686617065445006, 0.005223977746042338,
    -0.0008548335533989161, 0.00012055663819281325, -1.4931904839523391e-05, 1.6477875901553162e-06,
    -1.5094063359090135e-07,
)  # fmt: skip
ERF_SINGLE = (
    0.12837915, -0.3761244, 0.112798646, -0.026591808, 0.004429783,
)  # fmt: skip
ERFC = (
    0.6828918137009683, -0.1968506055955045, 0.11758557009776983, -0.05035600505491207, 0.006310392685886832,
    0.013981279303384551, -0.01736807632409309, 0.012728832416495379, -0.00676935498147788, 0.0026089878360417906,
    -0.0006191622421226688, 1.4623282975126508e-06, 6.527696793073363e-05, -2.1905787022034238e-05,
    -1.2549261214933046e-06, 3.0292463625085395e-06, -5.147099704334624e-07, -3.114681005494936e-07,
    1.1605281513676859e-07, 3.228455979179045e-08, -1.4966715904594953e-08, -3.7838598408369284e-09,
    3.708731811598943e-10,
)  # fmt: skip
ERFC_NEAR_SINGLE = (
    0.7682364, -0.2605463, 0.034743108, 0.0438886, -0.024175495, -0.0014963957, 0.0038396586, 0.00039882437,
    -0.00057035603, -0.00017139415,
)  # fmt: skip
ERF_FAR = (
    0.17900115118139057, -0.32623356004294307, 0.24560380171473664, -0.15011593648675398, 0.07166583692885924,
    -0.024392505087452464, 0.004269083267238564, 0.0007074452098464489, -0.0005982255692124744,
    4.207560860564373e-05, 5.783768495265756e-05, -2.1486651280826152e-05, -1.616196840490501e-05,
    -2.709372388900146e-06,
)  # fmt: skip
ERF_FAR_SINGLE = (
    0.17900346, -0.32621297, 0.2455968, -0.15076023, 0.06886787, -0.029604802,
)  # fmt: skip

tail_of_erf = polynomial(ERF, ERF_SINGLE)
first_of_erfc = Constant(ERFC[0], ERFC_NEAR_SINGLE[0])
rest_of_erfc = correction(ERFC[1:], ERFC_NEAR_SINGLE[1:], 4)
far_of_erf = polynomial(ERF_FAR, ERF_FAR_SINGLE)
POLE = Constant(4.0859375, 1.96875)
LIMIT = Constant(27.3, 10.1)  # erfc is zero from here
NDTR_LIMIT = Constant(38.6, 14.28)  # as sqrt(2) times that
ONE_FROM = Constant(6.0, 4.0)  # erf is one from here
NEAR = 0.6
ROOT_HALF = Constant(0.7071067811865476, 0.7071067690849304)
ROOT_HALF_LOW = Constant(-4.833646656726457e-17, 1.2101617485882162e-08)


def above(x, low=None):
    """``erfc(x + low)`` for ``x`` from 0 to `LIMIT`, and NaN; ``low`` is the rounding error of ``x``, None for 0."""
    square = x * x
    square_low = fma(x, x, -square)
    whole = x + 1.0
    whole_low = (1.0 - whole) + x
    if low is not None:
        square_low = square_low + 2.0 * x * low
        whole_low = whole_low + low
    inverse = 1.0 / whole
    t = (x - POLE) / (x + POLE)
    rest = rest_of_erfc(t)
    f = fma(t, rest, first_of_erfc)
    f_low = fma(t, rest, first_of_erfc - f)
    # exp(-x**2) is 2**k (1 + p)
    shifted = fma(square, -LOG2E, FACTORS_SHIFT)
    k = shifted - FACTORS_SHIFT
    start = fma(-k, LN2_HIGH, -square)
    off = fma(k, LN2_LOW, square_low)
    r = start - off
    p = start + fma(r * r, tail_of_exp(r), -off)
    product = fma(p, f, f)
    product_low = fma(p, f, f - product) + fma(p, f_low, f_low)
    quotient = product * inverse
    miss = fma(-quotient, whole, product) + fma(-quotient, whole_low, product_low)
    one, other = factors_of_power(shifted)
    return fma(miss, inverse, quotient) * one * other


def erfc(x):
    a = magnitude(x)
    found = above(where(a > LIMIT, LIMIT, a))
    return where(x < 0.0, 2.0 - found, found)


def erf(x):
    a = magnitude(x)
    b = where(a > ONE_FROM, ONE_FROM, a)
    # 1 - erfc(b), which needs fewer digits than erfc alone
    shifted, r, _ = reduce(-(b * b))
    e = 1.0 + fma(r * r, tail_of_exp(r), r)
    far = fma(-(e * power_of_two(shifted)), far_of_erf((b - 3.0) / (b + 3.0)), 1.0)
    near = fma(a, tail_of_erf(a * a), a)
    return flip_sign(where(a < NEAR, near, far), x)


def ndtr(x):
    """The normal distribution function: half of ``erfc(-x / sqrt(2))``, with the rounding error of that quotient."""
    a = magnitude(x)
    a = where(a > NDTR_LIMIT, NDTR_LIMIT, a)
    y = a * ROOT_HALF
    found = 0.5 * above(y, fma(a, ROOT_HALF, -y) + a * ROOT_HALF_LOW)
    return where(x > 0.0, 1.0 - found, found)
