"""The error function, its complement, the normal distribution, for loops that LLVM vectorises; see `runtime.compiled.vector`.

``erfc(x) = exp(-x**2) f(t) / (1 + 2 x)`` with ``t = (x - c) / (x + c)`` for positive ``x``, after Shepherd and Laframboise
(Mathematics of Computation 36, 1981), with the three factors as sums of two.
"""

from runtime.compiled.vector_bits import flip_sign, power_of_two
from runtime.compiled.vector_exp import reduce, scale, tail_of_exp
from runtime.compiled.vector_parts import Constant, fma, magnitude, polynomial, where

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
    1.2530080582697296, -0.13562110612458125, -0.04756229435345102, 0.1296451587027721, -0.11927366341528821,
    0.06830802734349241, -0.023770514919151612, 0.0025293918256965977, 0.0018886903638870916, -0.000779832378709946,
    -0.00010515980437170214, 0.00012510007016703546, 4.94926058922717e-06, -2.010361836942335e-05,
    -7.296870273032979e-07, 3.48060372452956e-06, 3.4995239736402643e-07, -6.2998232405147e-07,
    -1.2719660020148807e-07, 1.135070098854117e-07, 2.542123401436736e-08, -1.6743442045836528e-08,
)  # fmt: skip
ERFC_NEAR_SINGLE = (
    1.2769784, -0.09276369, -0.1660301, 0.16404569, -0.054224458, -0.007970968, 0.008732478, 0.0009951321,
    -0.0013903192,
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
rest_of_erfc = polynomial(ERFC[1:], ERFC_NEAR_SINGLE[1:])
far_of_erf = polynomial(ERF_FAR, ERF_FAR_SINGLE)
POLE = Constant(3.0, 2.0)
LIMIT = Constant(27.3, 10.1)  # erfc is zero from here
ONE_FROM = Constant(6.0, 4.0)  # erf is one from here
NEAR = 0.6
ROOT_HALF = Constant(0.7071067811865476, 0.7071067690849304)
ROOT_HALF_LOW = Constant(-4.833646656726457e-17, 1.2101617485882162e-08)


def above(x, low=None):
    """``erfc(x + low)`` for ``x`` from `NEAR` to `LIMIT`; elsewhere some number, or NaN of NaN."""
    square = x * x
    square_low = fma(x, x, -square)
    whole = fma(2.0, x, 1.0)
    whole_low = fma(2.0, x, 1.0 - whole)
    if low is not None:
        square_low = square_low + 2.0 * x * low
        whole_low = whole_low + 2.0 * low
    wide = x + POLE
    inverse = 1.0 / (wide * whole)  # one division for both quotients
    t = (x - POLE) * (whole * inverse)
    inverse = wide * inverse
    rest = rest_of_erfc(t)
    f = fma(t, rest, first_of_erfc)
    f_low = fma(t, rest, first_of_erfc - f)
    shifted, start, left = reduce(-square)
    r = start - square_low
    w = fma(r * r, tail_of_exp(r), left + ((start - r) - square_low))
    p = r + w
    e = 1.0 + p
    e_low = ((1.0 - e) + p) + ((r - p) + w)
    product = e * f
    product_low = fma(e, f, -product) + fma(e, f_low, e_low * f)
    quotient = product * inverse
    miss = fma(-quotient, whole, product) + fma(-quotient, whole_low, product_low)
    return scale(fma(miss, inverse, quotient), shifted)


def erfc(x):
    a = magnitude(x)
    far = above(where(a > LIMIT, LIMIT, a))
    far = where(x < 0.0, 2.0 - far, far)
    near = fma(-x, tail_of_erf(x * x), 1.0 - x)
    return where(a < NEAR, near, far)


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
    """The normal distribution: half of ``erfc(-x / sqrt(2))``, with the rest of that quotient."""
    y = x * ROOT_HALF
    low = fma(x, ROOT_HALF, -y) + x * ROOT_HALF_LOW
    a = magnitude(y)
    beyond = a > LIMIT
    far = 0.5 * above(where(beyond, LIMIT, a), where(beyond, 0.0, flip_sign(low, y)))
    far = where(y > 0.0, 1.0 - far, far)
    half = 0.5 * y
    start = 0.5 + half
    near = start + fma(half, tail_of_erf(y * y), fma(0.5, low, (0.5 - start) + half))
    return where(a < NEAR, near, far)
