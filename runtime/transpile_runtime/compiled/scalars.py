"""Scalar functions with NumPy's results for NaN, zeros, negative integers and rounding."""

import math

import numpy as np
from numba import types
from numba.extending import intrinsic

from transpile_runtime.compiled.options import exact, njit

# Each is small enough that LLVM inlines it. An integer zero is written ``a - a``: of an unsigned 64-bit integer and a plain 0
# Numba makes a float64.


@njit
def maximum(a, b):
    """The larger of two numbers; NaN if either is."""
    return a if a >= b or a != a else b


@njit
def minimum(a, b):
    return a if a <= b or a != a else b


@njit
def maximum_python(a, b):
    """``max(a, b)``: ``a`` if they are equal or cannot be compared."""
    return b if b > a else a


@njit
def minimum_python(a, b):
    return b if b < a else a


@njit
def fmax(a, b):
    """The larger of two numbers; if one is NaN, the other."""
    return a if a >= b or b != b else b


@njit
def fmin(a, b):
    return a if a <= b or b != b else b


@njit
def absolute(x):
    return abs(x)


@njit
def sign(x):
    """-1, 0 or 1, as ``x`` is negative, zero or positive; NaN for NaN."""
    return x if x != x else (x > 0) - (x < 0)


@njit
def floordiv(a, b):
    """``a // b`` of integers, as NumPy: 0 if ``b`` is 0; the least integer divided by -1 wraps."""
    return a * b if b == -1 else np.floor_divide(a, b)  # the least integer divided by -1 traps


@njit
def floordiv_float(a, b):
    """``a // b`` of floats, as NumPy rounds it; ``a / b`` if ``b`` is 0, NaN for an infinite ``a``."""
    if b == 0:
        return a / b
    r = np.fmod(a, b)
    d = (a - r) / b
    if r != 0 and (b < 0) != (r < 0):
        d -= 1.0
    if d == 0:
        return math.copysign(0.0, a / b)
    whole = math.floor(d) * 1.0 if abs(d) < 1e15 else d
    return whole + 1.0 if d - whole > 0.5 else whole


@njit
def floordiv_float_python(a, b):
    """``a // b`` of floats, as Python: ZeroDivisionError if ``b`` is 0."""
    if b == 0:
        raise ZeroDivisionError("float floor division by zero")
    return floordiv_float(a, b)


@njit
def mod(a, b):
    """``a % b`` of floats, with the sign of ``b``, also for a zero, unlike Numba's."""
    r = np.remainder(a, b)
    return np.copysign(r, b) if r == 0 else r


@njit
def mod_int(a, b):
    """``a % b`` of integers, as NumPy: with the sign of ``b``, 0 if ``b`` is 0."""
    return a - a if b == -1 else np.remainder(a, b)


@njit
def fmod_int(a, b):
    """The remainder of integers with the sign of ``a``; 0 if ``b`` is 0."""
    if b == 0 or b == -1:
        return a - a
    r = a % b
    return r - b if r != 0 and (a < 0) != (b < 0) else r


@njit
def plus(a, b):
    """``a + b`` in int64, wrapping."""
    return np.int64(np.uint64(a) + np.uint64(b))


@njit
def minus(a, b):
    return np.int64(np.uint64(a) - np.uint64(b))


@njit
def times(a, b):
    return np.int64(np.uint64(a) * np.uint64(b))


@njit
def reciprocal_int(x):
    return 1 if x == 1 else -1 if x == -1 else 0


@njit
def floordiv_python(a, b):
    """``a // b`` of integers, as Python: ZeroDivisionError if ``b`` is 0."""
    if b == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    return floordiv(a, b)


@njit
def mod_python(a, b):
    """``a % b`` of floats, as Python: ZeroDivisionError if ``b`` is 0."""
    if b == 0:
        raise ZeroDivisionError("float modulo by zero")
    return mod(a, b)


@njit
def mod_int_python(a, b):
    if b == 0:
        raise ZeroDivisionError("integer modulo by zero")
    return mod_int(a, b)


@njit
def int_pow(x, p):
    """The integer ``x**p``, which may wrap; ValueError if ``p`` is negative."""
    if p < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    result = x - x + 1
    base = x
    while p > 0:
        if p & 1:
            result *= base
        base *= base
        p >>= 1
    return result


@njit
def left_shift(a, b):
    return a << b if 0 <= b < 64 else a - a  # processors differ for larger counts


@njit
def right_shift(a, b):
    """``a >> b``, as NumPy: for a ``b`` not from 0 to 63, -1 if ``a`` is negative, else 0."""
    return a >> b if 0 <= b < 64 else ~(a - a) if a < 0 else a - a


@njit
def left_shift_python(a, b):
    """``a << b``; ValueError if ``b`` is negative."""
    if b < 0:
        raise ValueError("negative shift count")
    return a << b


@njit
def right_shift_python(a, b):
    """``a >> b`` for any size of ``b``; ValueError if it is negative."""
    if b < 0:
        raise ValueError("negative shift count")
    return a >> min(b, 63)


@njit
def logical_xor(a, b):
    return bool(a) != bool(b)


# --------------------------------------------------------------------------------------------- floating point


@njit
def exp2(x):
    return np.exp2(x)


@njit
def cbrt(x):
    return np.cbrt(x)


@njit
def radians(x):
    return x * (math.pi / 180)


@njit
def degrees(x):
    return x * (180 / math.pi)


@njit
def sinc(x):
    """``sin(pi x) / (pi x)``; 1 at 0."""
    y = math.pi * x
    return 1.0 if y == 0 else math.sin(y) / y


@njit
def rint(x):
    return np.rint(x)


@njit
def spacing(x):
    return np.spacing(x)


@njit
def reciprocal(x):
    return 1 / x


@njit
def floor(x):
    return np.floor(x)


@njit
def ceil(x):
    return np.ceil(x)


@njit
def trunc(x):
    return np.trunc(x)


@njit
def round(x):
    return np.rint(x)


@njit
def round_to(x, decimals):
    """``x`` rounded to this number of decimals, as NumPy: scaled, rounded to the nearest (even if halfway), scaled back."""
    if decimals >= 0:
        scale = 10.0**decimals
        return np.rint(x * scale) / scale
    scale = 10.0**-decimals
    return np.rint(x / scale) * scale


@njit
def round_to_python(x, decimals):
    """``x`` rounded to this number of decimals: as `round_to`, but if the scaled number only seems halfway, to the side on
    which ``x`` is."""
    if decimals < 0 or decimals > 22 or abs(x) > 1e15:
        return round_to(x, decimals)
    scale = 10.0**decimals
    y = x * scale
    down = math.floor(y) * 1.0
    if y - down != 0.5:
        return np.rint(y) / scale
    error = product_error(x, scale, y)  # the product may have been rounded to the midpoint
    return (np.rint(y) if error == 0 else down + (error > 0)) / scale


@exact
def product_error(a, b, product):
    """The exact ``a * b`` minus ``product``, its rounded value (Dekker 1971)."""
    high = a * 134217729.0
    a1 = high - (high - a)
    high = b * 134217729.0
    b1 = high - (high - b)
    a2, b2 = a - a1, b - b1
    return a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


@njit
def isnan(x):
    return x != x


@njit
def isinf(x):
    return x == math.inf or x == -math.inf


@njit
def isfinite(x):
    return x - x == 0


@njit
def signbit(x):
    return np.signbit(x)


@njit
def nan_to_num(x):
    """``x``; 0 for NaN, and the largest finite number of its type and sign for infinity."""
    if x != x:
        return 0.0
    return np.nextafter(x, -x) if x == math.inf or x == -math.inf else x  # the largest number of its type


@njit
def logaddexp(a, b):
    """``log(exp(a) + exp(b))`` without overflow; NaN if either is."""
    if a == b:
        return a + 0.6931471805599453
    d = a - b
    if d > 0:
        return a + math.log1p(math.exp(-d))
    return b + math.log1p(math.exp(d)) if d <= 0 else d


@njit
def logaddexp2(a, b):
    """``log2(2**a + 2**b)`` without overflow; NaN if either is."""
    if a == b:
        return a + 1.0
    d = a - b
    if d > 0:
        return a + math.log1p(2.0**-d) * 1.4426950408889634
    return b + math.log1p(2.0**d) * 1.4426950408889634 if d <= 0 else d


@njit
def heaviside(x, h):
    """0 for a negative ``x``, 1 for a positive one, ``h`` for 0; NaN for NaN."""
    if x != x:
        return x
    return h if x == 0 else 1.0 * (x > 0)


@njit
def nextafter(a, b):
    return np.nextafter(a, b)


@njit
def ldexp(x, n):
    return math.ldexp(x, min(max(n, -5000), 5000))  # the argument is a C int


@njit
def fraction(x):
    """The fractional part of ``x``, with its sign; a zero for infinity."""
    return math.copysign(0.0, x) if x == math.inf or x == -math.inf else math.copysign(x - np.trunc(x), x)


@njit
def exponent(x):
    return math.frexp(x)[1]


@njit
def exponent_int(x):
    return math.frexp(x)[1]


@njit
def bitwise_count(x):
    """The number of set bits of the absolute value of an integer, also of the least one."""
    rest = np.uint64(0) - np.uint64(x) if x < 0 else np.uint64(x)
    count = 0
    while rest:
        rest &= rest - np.uint64(1)
        count += 1
    return count


@njit
def clip(x, low, high):
    """``x`` limited to ``low`` and ``high``; ``high`` if they are exchanged; NaN stays."""
    y = x if x >= low or x != x else low
    return y if y <= high or y != y else high


@exact
def ieee_remainder(x, y):
    """The difference of ``x`` from the nearest multiple of ``y``, of two equally near ones the even one.

    Each step is exact, however large the quotient.
    """
    if not isfinite(y):
        return x * y if y != y or not isfinite(x) else x
    whole = abs(y)
    rest = np.fmod(abs(x), whole)  # NaN where y is 0, or x infinite
    over = whole - rest
    if rest == over:  # between an even and an odd multiple
        over = 2.0 * np.fmod(0.5 * (abs(x) - rest), whole) - rest
    return np.copysign(1.0, x) * (-over if rest >= over else rest)


@intrinsic
def fma(typing, a, b, c):
    """``a * b + c``, rounded once."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@njit
def isclose(a, b, rtol, atol, equal_nan):
    """True if ``a`` and ``b`` are equal or finite with ``|a - b| <= atol + rtol |b|``; for two NaN ``equal_nan``."""
    if a == b:
        return True
    if a != a or b != b:
        return equal_nan and a != a and b != b
    return isfinite(b) and isfinite(a) and abs(a - b * 1.0) <= atol + rtol * abs(b)


@njit
def math_isclose(a, b, rtol, atol):
    """True if ``a`` and ``b`` are equal or finite with ``|a - b| <= max(rtol max(|a|, |b|), atol)``."""
    if a == b:
        return True
    if not (isfinite(a) and isfinite(b)):
        return False
    return abs(a - b) <= max(rtol * max(abs(a), abs(b)), atol)


@njit
def floor_int(x):
    return int(np.floor(x))


@njit
def ceil_int(x):
    return int(np.ceil(x))


@njit
def round_int(x):
    return int(np.rint(x))
