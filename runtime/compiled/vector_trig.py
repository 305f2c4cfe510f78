"""Sine, cosine, tangent and their inverses, for loops that LLVM vectorises; see `runtime.compiled.vector`.

The argument loses its multiples of pi (for the tangent, of pi / 2) in three steps of one fused operation each, with the
rest as a sum of two. That is right up to `BOUND`; from there it takes 192 bits of 2 / pi, by Payne and Hanek, in branches.
"""

import numpy as np

from runtime.compiled.vector_exp import divide_pair
from runtime.compiled.vector_parts import (
    HALF,
    ONE,
    SHIFT,
    ZERO,
    constant,
    copysign,
    flip_odd,
    flip_sign,
    fma,
    high_product,
    inlined,
    is_odd,
    magnitude,
    narrow,
    polynomial,
    unsigned,
)

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

tail_of_sin = polynomial(SIN, SIN_SINGLE)
short_tail_of_sin = polynomial(SIN_SHORT, SIN_SHORT_SINGLE)
short_tail_of_cos = polynomial(COS_SHORT, COS_SHORT_SINGLE)
tail_of_arctan = polynomial(ARCTAN, ARCTAN_SINGLE, 1)  # strands would cancel

BOUND = constant(2.0**36, 2.0**16)
INV_PI = constant(0.3183098861837907, 0.31830987334251404)
TWO_PI = constant(0.6366197723675814, 0.6366197466850281)  # 2 / pi
PI_1 = constant(3.141592653589793, 3.1415927410125732)
PI_2 = constant(1.2246467991473532e-16, -8.742277657347586e-08)
PI_3 = constant(-2.9947698097183397e-33, -3.4302490200117637e-15)
HALF_PI_1 = constant(1.5707963267948966, 1.5707963705062866)
HALF_PI_2 = constant(6.123233995736766e-17, -4.371138828673793e-08)
HALF_PI_3 = constant(-1.4973849048591698e-33, -1.7151245100058819e-15)
SLOPE = constant(0.405)  # 1 - 0.405 r**2 is near cos r
SMALL = constant(2.0**-27, 2.0**-13)  # sin(x) is x below


@inlined
def reduce(x, q, first, second, third):
    """``x - q (first + second + third)`` as a sum of two."""
    above = fma(-q, first, x)  # exact
    away = above - fma(-q, second, above)
    r = above - away  # exact, also where nearly everything cancels
    return r, fma(-q, third, fma(-q, second, away))


@inlined
def wave(r, low):
    """The sine of ``r + low``, up to pi / 2."""
    z = r * r
    tail = tail_of_sin(z)
    u = z * tail
    u_low = fma(z, tail, -u) + fma(r, r, -z) * tail
    head = fma(r, u, r)
    return head + (fma(r, u, r - head) + fma(r, u_low, low * fma(-z, SLOPE(r), ONE(r))))


@inlined
def sin_bounded(x):
    """For ``|x| <= BOUND``."""
    shifted = x * INV_PI(x) + SHIFT(x)
    r, low = reduce(x, shifted - SHIFT(x), PI_1(x), PI_2(x), PI_3(x))
    return x if magnitude(x) < SMALL(x) else flip_odd(wave(r, low), shifted)


@inlined
def cos_bounded(x):
    """For ``|x| <= BOUND``."""
    shifted = fma(x, INV_PI(x), -HALF(x)) + SHIFT(x)
    r, low = reduce(x, (shifted - SHIFT(x)) + HALF(x), PI_1(x), PI_2(x), PI_3(x))
    return flip_odd(-wave(r, low), shifted)


@inlined
def slope(r, low, odd):
    """The tangent of ``r + low``, up to pi / 4, or its negative reciprocal."""
    z = r * r
    u = z * short_tail_of_sin(z)
    head = fma(r, u, r)
    s_low = fma(r, u, r - head) + low
    s = head + s_low
    s_low = (head - s) + s_low
    near = fma(-HALF(r), z, ONE(r))
    rest = fma(-HALF(r) * r, r, ONE(r) - near) + fma(z * z, short_tail_of_cos(z), -r * low)
    c = near + rest
    c_low = (near - c) + rest
    return divide_pair(-c if odd else s, -c_low if odd else s_low, s if odd else c, s_low if odd else c_low)


@inlined
def tan_bounded(x):
    """For ``|x| <= BOUND``."""
    shifted = x * TWO_PI(x) + SHIFT(x)
    r, low = reduce(x, shifted - SHIFT(x), HALF_PI_1(x), HALF_PI_2(x), HALF_PI_3(x))
    return x if magnitude(x) < SMALL(x) else slope(r, low, is_odd(shifted))


# ------------------------------------------------------------------------------------ arguments of any size

# 64 zeros, then the bits of 2 / pi behind the point
_BITS = np.array([
    0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41,
    0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
], dtype=np.uint64)  # fmt: skip
_LOW = np.uint64(0xFFFFFFFF)
_WIDTH, _HALF_WIDTH, _TOP, _TWO, _ONE = np.uint64(64), np.uint64(32), np.uint64(62), np.uint64(2), np.uint64(1)
_FRACTION, _HIDDEN = np.uint64(2**52 - 1), np.uint64(2**52)


@inlined
def _window(start):
    """64 bits of 2 / pi from this one on."""
    word, shift = start // _WIDTH, start % _WIDTH
    first = _BITS[word] << shift
    return first | (_BITS[word + _ONE] >> (_WIDTH - shift)) if shift > 0 else first


@inlined
def reduce_huge(x):
    """The quadrant of ``x``, finite and above 2**36 in magnitude, and the rest up to pi / 4 as a sum of two."""
    image = unsigned(x)
    m = (image & _FRACTION) | _HIDDEN
    # x is m 2**e; bits of 2 / pi that make multiples of 4 of it are left out
    start = ((image >> np.uint64(52)) & np.uint64(0x7FF)) - np.uint64(1075 + 2 - 64)
    w0, w1, w2 = _window(start), _window(start + _WIDTH), _window(start + _WIDTH + _WIDTH)
    p2 = m * w2
    p1 = m * w1
    s1 = p1 + high_product(m, w2)
    s0 = m * w0 + high_product(m, w1) + (_ONE if s1 < p1 else np.uint64(0))
    quadrant = s0 >> _TOP
    f0 = (s0 << _TWO) | (s1 >> _TOP)
    f1 = (s1 << _TWO) | (p2 >> _TOP)
    f2 = p2 << _TWO
    sign = 1.0
    if f0 >> np.uint64(63):
        quadrant += _ONE
        f0, f1, f2, sign = ~f0, ~f1, ~f2, -1.0
    high, low, unit = 0.0, 0.0, 2.0**-32
    for word in (f0, f1, f2):
        for part in (word >> _HALF_WIDTH, word & _LOW):
            term = np.float64(part) * unit
            total = high + term
            low += (high - total) + term
            high = total
            unit *= 2.0**-32
    total = high + low
    low = (high - total) + low
    r = total * 1.5707963267948966
    r_low = fma(total, 1.5707963267948966, -r) + (total * 6.123233995736766e-17 + low * 1.5707963267948966)
    # of -x: the negative rest and quadrant
    if x < 0.0:
        return (~quadrant + _ONE) & np.uint64(3), -sign * r, -sign * r_low
    return quadrant & np.uint64(3), sign * r, sign * r_low


@inlined
def _wave_huge(x, ahead):
    if not magnitude(x) < np.inf:
        return x - x
    quadrant, r, low = reduce_huge(x)
    quadrant += ahead
    if quadrant & _ONE:  # cos r is sin(pi / 2 - |r|)
        if r < 0.0:
            r, low = -r, -low
        total = 1.5707963267948966 - r
        low = ((1.5707963267948966 - total) - r) + (6.123233995736766e-17 - low)
        r = total
    found = wave(r, low)
    return -found if quadrant & _TWO else found


@inlined
def sin(x):
    return sin_bounded(x) if magnitude(x) <= BOUND(x) else _wave_huge(x, np.uint64(0))


@inlined
def cos(x):
    return cos_bounded(x) if magnitude(x) <= BOUND(x) else _wave_huge(x, _ONE)


@inlined
def tan(x):
    if magnitude(x) <= BOUND(x):
        return tan_bounded(x)
    if not magnitude(x) < np.inf:
        return x - x
    quadrant, r, low = reduce_huge(x)
    return slope(r, low, quadrant & _ONE != 0)


@inlined
def sin32(x):
    return sin_bounded(x) if magnitude(x) <= BOUND(x) else narrow(sin(x * 1.0))


@inlined
def cos32(x):
    return cos_bounded(x) if magnitude(x) <= BOUND(x) else narrow(cos(x * 1.0))


@inlined
def tan32(x):
    return tan_bounded(x) if magnitude(x) <= BOUND(x) else narrow(tan(x * 1.0))


@inlined
def is_bounded(x):
    """Whether `sin_bounded`, `cos_bounded` and `tan_bounded` are right: also of NaN, and of nothing else beyond."""
    return not magnitude(x) > BOUND(x)


# ------------------------------------------------------------------------------------------------ inverses


@inlined
def turn(base, base_low, t):
    """``base + base_low + arctan(t)``, for ``t`` up to 1 and a ``base`` of zero or at least pi / 2."""
    z = t * t
    head = base + t
    return head + fma(t * z, tail_of_arctan(z), ((base - head) + t) + base_low)


@inlined
def arctan(x):
    a = magnitude(x)
    big = a > ONE(x)
    t = (ONE(x) if big else a) / (a if big else ONE(x))
    t = -t if big else t
    return flip_sign(turn(HALF_PI_1(x) if big else ZERO(x), HALF_PI_2(x) if big else ZERO(x), t), x)


@inlined
def arctan2(y, x):
    a, b = magnitude(y), magnitude(x)
    steep = a > b
    bottom = a if steep else b
    t = (b if steep else a) / bottom
    t = (ZERO(x) if bottom == ZERO(x) else ONE(x)) if a == b else t  # also two infinities
    behind = copysign(ONE(x), x) < ZERO(x)
    t = -t if steep != behind else t
    base = HALF_PI_1(x) if steep else PI_1(x) if behind else ZERO(x)
    base_low = HALF_PI_2(x) if steep else PI_2(x) if behind else ZERO(x)
    return flip_sign(turn(base, base_low, t), y)
