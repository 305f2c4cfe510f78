"""Sine, cosine, tangent and their inverses, for loops that LLVM vectorises; see `transpile_runtime.compiled.vector`.

Multiples of pi (for the tangent, of pi / 2) are subtracted from the argument in three fused steps, which give the rest as a sum
of two. That is right up to `BOUND`.
"""

from transpile_runtime.compiled.vector_bits import SHIFT, above, flip_odd, flip_sign, is_odd
from transpile_runtime.compiled.vector_exp import divide_pair
from transpile_runtime.compiled.vector_parts import Constant, copysign, fma, magnitude, polynomial, sqrt, where

# by tests/accuracy/fit.py
SIN = (
    -0.16666666666666666, 0.00833333333333321, -0.0001984126984121424, 2.755731921190649e-06, -2.50521069362026e-08,
    1.6058942585949544e-10, -7.64305935712022e-13, 2.7218224878592308e-15,
)  # fmt: skip
SIN_SINGLE = (
    -0.1666666, 0.0083330665, -0.00019809374, 2.6048035e-06,
)  # fmt: skip
SIN_SHORT = (
    -0.16666666666666632, 0.008333333333322488, -0.00019841269829855607, 2.755731370605307e-06,
    -2.5050760071124887e-08, 1.5896898383456365e-10,
)  # fmt: skip
SIN_SHORT_SINGLE = (
    -0.16666655, 0.008332191, -0.00019518605,
)  # fmt: skip
COS_SHORT = (
    0.0416666666666666, -0.0013888888888874474, 2.480158728967153e-05, -2.755731440102097e-07, 2.0875729277711954e-09,
    -1.13599338995799e-11,
)  # fmt: skip
COS_SHORT_SINGLE = (
    0.041666646, -0.0013887301, 2.443067e-05,
)  # fmt: skip
ARCTAN = (
    -0.33333333333333093, 0.1999999999995547, -0.14285714282804343, 0.1111111101371999, -0.09090907120649731,
    0.07692281205539772, -0.06666415175625132, 0.058805937872632906, -0.052538119292051266, 0.047233184221939936,
    -0.042217934983644914, 0.03669529371067459, -0.02998876250827634, 0.02208960051578992, -0.013999722742544128,
    0.007267131096956992, -0.0029215185279845802, 0.0008443422704803725, -0.00015500345625485176,
    1.3512151700331181e-05,
)  # fmt: skip
ARCTAN_SINGLE = (
    -0.33333167, 0.19994147, -0.14214285, 0.10679226, -0.07581166, 0.04356028, -0.016585229, 0.002975581,
)  # fmt: skip
ARCSIN = (
    0.16666666666665375, 0.07500000000344986, 0.04464285682179947, 0.030381959403593322, 0.022371751724210704,
    0.017359799145845272, 0.013884313024835797, 0.012175206875684715, 0.006502294161319933, 0.01959791993814013,
    -0.016332656714205706, 0.031986014075981686,
)  # fmt: skip
ARCSIN_SINGLE = (
    0.16666754, 0.0749525, 0.04547661, 0.024147877, 0.04222121,
)  # fmt: skip

tail_of_sin = polynomial(SIN, SIN_SINGLE)
short_tail_of_sin = polynomial(SIN_SHORT, SIN_SHORT_SINGLE)
short_tail_of_cos = polynomial(COS_SHORT, COS_SHORT_SINGLE)
tail_of_arcsin = polynomial(ARCSIN, ARCSIN_SINGLE)
tail_of_arctan = polynomial(ARCTAN, ARCTAN_SINGLE, strands=1)

PI = 3.141592653589793
BOUND = Constant(2.0**36, 2.0**16)
INV_PI = Constant(0.3183098861837907, 0.31830987334251404)
TWO_PI = Constant(0.6366197723675814, 0.6366197466850281)  # 2 / pi
PI_1 = Constant(3.141592653589793, 3.1415927410125732)
PI_2 = Constant(1.2246467991473532e-16, -8.742277657347586e-08)
PI_3 = Constant(-2.9947698097183397e-33, -3.4302490200117637e-15)
HALF_PI_1 = Constant(1.5707963267948966, 1.5707963705062866)
HALF_PI_2 = Constant(6.123233995736766e-17, -4.371138828673793e-08)
HALF_PI_3 = Constant(-1.4973849048591698e-33, -1.7151245100058819e-15)
SMALLEST = Constant(2.0**-1022, 2.0**-126)
SMALL = Constant(2.0**-27, 2.0**-13)  # sin(x) is x below


def reduce(x, q, first, second, third):
    """``(r, low)``, the rounded value and a small correction, with the sum ``x - q (first + second + third)``."""
    above = fma(-q, first, x)  # exact
    away = above - fma(-q, second, above)
    r = above - away  # exact, also where nearly everything cancels
    return r, fma(-q, third, fma(-q, second, away))


def wave(r, low):
    """The sine of ``r + low``, for ``|r|`` up to pi / 2 and a small ``low``."""
    z = r * r
    tail = tail_of_sin(z)
    u = z * tail
    u_low = fma(z, tail, -u) + fma(r, r, -z) * tail
    head = fma(r, u, r)
    # 1 - 0.405 r**2 is near the cosine
    return head + (fma(r, u, r - head) + fma(r, u_low, low * fma(-0.405, z, 1.0)))


def sin_bounded(x):
    """The sine, for ``|x| <= BOUND``."""
    shifted = x * INV_PI + SHIFT
    r, low = reduce(x, shifted - SHIFT, PI_1, PI_2, PI_3)
    return where(magnitude(x) < SMALL, x, flip_odd(wave(r, low), shifted))


def cos_bounded(x):
    """The cosine, for ``|x| <= BOUND``."""
    shifted = fma(x, INV_PI, -0.5) + SHIFT
    r, low = reduce(x, (shifted - SHIFT) + 0.5, PI_1, PI_2, PI_3)
    return flip_odd(-wave(r, low), shifted)


def slope(r, low, odd):
    """The tangent of ``r + low``, for ``|r|`` up to pi / 4 and a small ``low``; where ``odd``, a `Truth`, its negative
    reciprocal."""
    z = r * r
    u = z * short_tail_of_sin(z)
    head = fma(r, u, r)
    s_low = fma(r, u, r - head) + low
    s = head + s_low
    s_low = (head - s) + s_low
    near = fma(-0.5, z, 1.0)
    rest = fma(-0.5 * r, r, 1.0 - near) + fma(z * z, short_tail_of_cos(z), -r * low)
    c = near + rest
    c_low = (near - c) + rest
    return divide_pair(where(odd, -c, s), where(odd, -c_low, s_low), where(odd, s, c), where(odd, s_low, c_low))


def tan_bounded(x):
    """The tangent, for ``|x| <= BOUND``."""
    shifted = x * TWO_PI + SHIFT
    r, low = reduce(x, shifted - SHIFT, HALF_PI_1, HALF_PI_2, HALF_PI_3)
    return where(magnitude(x) < SMALL, x, slope(r, low, is_odd(shifted)))


def sinc_bounded(x):
    """``sin(pi x) / (pi x)``, for ``|x| <= BOUND``; beyond, it is negligible."""
    y = x * PI
    return where(x == 0.0, 1.0, sin_bounded(y) / y)


def outside_bounded(x):
    """Test bits: `sin_bounded`, `cos_bounded`, `tan_bounded` and `sinc_bounded` are not right for ``x``."""
    return above(x, BOUND)


# ------------------------------------------------------------------------------------------------ inverses


def turn(base, base_low, t):
    """``base + base_low + arctan(t)``, for ``|t|`` up to 1 and a ``base`` of zero or at least pi / 2; ``base_low`` is small."""
    z = t * t
    head = base + t
    return head + fma(t * z, tail_of_arctan(z), ((base - head) + t) + base_low)


def arctan(x):
    a = magnitude(x)
    big = a > 1.0
    t = where(big, 1.0, a) / where(big, a, 1.0)
    t = where(big, -t, t)
    return flip_sign(turn(where(big, HALF_PI_1, 0.0), where(big, HALF_PI_2, 0.0), t), x)


def arctan2(y, x):
    """The angle of the point ``(x, y)``, from -pi to pi, with NumPy's results for zeros and infinities."""
    a, b = magnitude(y), magnitude(x)
    steep = a > b
    bottom = where(steep, a, b)
    t = where(steep, b, a) / bottom
    t = where(a == b, where(bottom == 0.0, 0.0, 1.0), t)  # also two infinities
    behind = copysign(1.0, x) < 0.0
    t = where(steep ^ behind, -t, t)
    base = where(steep, HALF_PI_1, where(behind, PI_1, 0.0))
    base_low = where(steep, HALF_PI_2, where(behind, PI_2, 0.0))
    return flip_sign(turn(base, base_low, t), y)


def half_angle(a):
    """``(s, low, big)``: the sum ``s + low`` is the arcsine of ``a`` up to 1/2, above it (``big``, a `Truth`) half of the
    arccosine.

    The sum is NaN for ``a`` above 1.
    """
    big = a > 0.5
    z = where(big, 0.5 - 0.5 * a, a * a)
    root = sqrt(z)
    left = fma(-root, root, z) / (root + (root + SMALLEST))  # the rounding error of the root; zero for a = 1
    s = where(big, root, a)
    return s, fma(s * z, tail_of_arcsin(z), where(big, left, 0.0)), big


def arcsin(x):
    s, low, big = half_angle(magnitude(x))
    far = HALF_PI_1 - 2.0 * s
    far = far + (fma(-2.0, s, HALF_PI_1 - far) + fma(-2.0, low, HALF_PI_2))
    return flip_sign(where(big, far, s + low), x)


def arccos(x):
    """The inverse cosine; NaN outside [-1, 1]."""
    s, low, big = half_angle(magnitude(x))
    behind = x < 0.0
    # near -1 and 1 twice the half angle, from pi or from zero; in the middle pi / 2 minus the arcsine
    base = where(big, where(behind, PI_1, 0.0), HALF_PI_1)
    base_low = where(big, where(behind, PI_2, 0.0), HALF_PI_2)
    up = big ^ behind
    s, low = where(big, 2.0 * s, s), where(big, 2.0 * low, low)
    s, low = where(up, s, -s), where(up, low, -low)
    head = base + s
    return head + (((base - head) + s) + (low + base_low))
