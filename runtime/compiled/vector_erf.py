"""The error function and its complement, for loops that LLVM vectorises; see `runtime.compiled.vector`.

``erfc(x) = exp(-x**2) f(t) / (1 + 2 x)`` with ``t = (x - c) / (x + c)`` for positive ``x``, after Shepherd and Laframboise
(Mathematics of Computation 36, 1981), with the three factors as sums of two.
"""

from runtime.compiled.options import njit
from runtime.compiled.vector_exp import reduce, scale, tail_of_exp
from runtime.compiled.vector_parts import ONE, TWO, ZERO, constant, flip_sign, fma, magnitude, polynomial

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
    1.2329951186255526, -0.13962111684056253, 0.015379652102619688, 0.06809705425469541, -0.10103906603630146,
    0.09373283499825184, -0.0663303658122776, 0.037167515539080306, -0.016197734057118905, 0.005031969963619325,
    -0.0007577732936122918, -0.00019925661653056833, 0.00015062170335841633, -2.4399480905091192e-05,
    -1.1222143756121883e-05, 5.710298243677255e-06, 2.9413323098586897e-07, -8.261234956695958e-07,
    7.407346904110923e-08, 1.1046002451250809e-07, -1.7395343786869677e-08, -1.4103871101173971e-08,
    1.6373111670776305e-09, 1.1885815400153947e-09,
)  # fmt: skip
ERFC_NEAR_SINGLE = (
    1.2769784, -0.09276389, -0.16603135, 0.16405298, -0.054205265, -0.008043229, 0.008639054, 0.0012694289,
    -0.0012555488, -0.00036069882, 2.9313493e-05,
)  # fmt: skip

tail_of_erf = polynomial(ERF, ERF_SINGLE)
first_of_erfc = constant(ERFC[0], ERFC_NEAR_SINGLE[0])
rest_of_erfc = polynomial(ERFC[1:], ERFC_NEAR_SINGLE[1:])
POLE = constant(4.0, 2.0)
LIMIT = constant(27.3, 10.1)  # erfc is zero from here
NEAR = constant(0.6)


@njit
def above(x):
    """``erfc(x)`` for ``x`` from 0 to `LIMIT`."""
    square = x * x
    square_low = fma(x, x, -square)
    whole = fma(TWO(x), x, ONE(x))
    whole_low = fma(TWO(x), x, ONE(x) - whole)
    wide = x + POLE(x)
    inverse = ONE(x) / (wide * whole)  # one division for both quotients
    t = (x - POLE(x)) * (whole * inverse)
    inverse = wide * inverse
    q = rest_of_erfc(t)
    tq = t * q
    f = first_of_erfc(x) + tq
    f_low = (first_of_erfc(x) - f) + tq
    shifted, r, low = reduce(-square)
    w = fma(r * r, tail_of_exp(r), low - square_low)
    p = r + w
    e = ONE(x) + p
    e_low = ((ONE(x) - e) + p) + ((r - p) + w)
    product = e * f
    product_low = fma(e, f, -product) + fma(e, f_low, e_low * f)
    quotient = product * inverse
    miss = fma(-quotient, whole, product) + fma(-quotient, whole_low, product_low)
    return scale(fma(miss, inverse, quotient), shifted)


@njit
def erfc(x):
    a = magnitude(x)
    found = above(LIMIT(x) if a > LIMIT(x) else a)
    return TWO(x) - found if x < ZERO(x) else found


@njit
def erf(x):
    a = magnitude(x)
    far = ONE(x) - above(LIMIT(x) if a > LIMIT(x) else a)
    near = fma(a, tail_of_erf(a * a), a)
    return flip_sign(near if a < NEAR(x) else far, x)
