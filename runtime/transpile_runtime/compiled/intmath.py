"""Python's integers in 64 bits: tests whether a result fits, and operations that are right whenever it does.

``overflows_add(a, b)`` and the others are tested before the operation; if they are true, its own result is meaningless.
"""

import math

import numpy as np

from transpile_runtime.compiled.options import exact, njit
from transpile_runtime.compiled.scalars import minus, plus, times

LEAST = -(2**63)
MOST = 2**63 - 1
ROOT = 3037000499  # the greatest number whose square fits
EXACT = 2**53  # every integer up to here is exactly a float


@njit
def overflows_add(a, b):
    """True if ``a + b`` does not fit in 64 bits."""
    total = plus(a, b)
    return ((a ^ total) & (b ^ total)) < 0


@njit
def overflows_sub(a, b):
    rest = minus(a, b)
    return ((a ^ b) & (a ^ rest)) < 0


@njit
def stop_of(start, stop, step):
    """An end for which the length of ``range(start, end, step)`` fits in 64 bits: ``stop``, or another that no loop reaches;
    OverflowError if there is none."""
    if not overflows_sub(stop, start) and minus(stop, start) != LEAST:
        return stop
    if abs(step) > 2 and (start < stop) == (step > 0):
        raise OverflowError("the length of a range does not fit in the int64 of compiled code")
    return start + MOST if start < stop else start - MOST


@njit
def overflows_mul(a, b):
    """True if ``a * b`` does not fit in 64 bits."""
    if -ROOT <= a <= ROOT and -ROOT <= b <= ROOT:
        return False
    if a == 0 or b == 0:
        return False
    if a == -1 or b == -1:
        return a == LEAST or b == LEAST
    return times(a, b) // b != a


@njit
def overflows_pow(x, p):
    """True if ``x**p``, for ``p`` not negative, does not fit in 64 bits."""
    if p <= 1 or -1 <= x <= 1:
        return False
    if p > 63:
        return True
    found = x
    for _ in range(p - 1):
        if overflows_mul(found, x):
            return True
        found = times(found, x)
    return False


@njit
def overflows_left_shift(a, b):
    """True if ``a << b``, for ``b`` not negative, does not fit in 64 bits."""
    if a == 0 or b <= 0:
        return False
    return b > 63 or a >> (63 - b) != (0 if a > 0 else -1)


@njit
def gcd(a, b):
    """The greatest common divisor of two int64, not negative, except -2**63 if it is 2**63; 0 if both are 0."""
    while b:
        a, b = b, (0 if b == -1 else a % b)
    return minus(0, a) if a < 0 else a


@njit
def overflows_gcd(a, b):
    return gcd(a, b) < 0


@njit
def gcd_unsigned(a, b):
    while b:
        a, b = b, a % b
    return a


@njit
def lcm(a, b):
    """The least common multiple, not negative unless it wraps; 0 if one is 0."""
    if a == 0 or b == 0:
        return 0
    a, b = minus(0, a) if a < 0 else a, minus(0, b) if b < 0 else b
    d = gcd(a, b)
    return times(a // d if d > 0 else 1, b)


@njit
def lcm_unsigned(a, b):
    return a // gcd_unsigned(a, b) * b if a != 0 and b != 0 else a - a


@njit
def overflows_lcm(a, b):
    """True if the least common multiple does not fit in 64 bits."""
    if a == 0 or b == 0:
        return False
    d = gcd(a, b)
    if d < 0 or (d == 1 and (a == LEAST or b == LEAST)):
        return True
    return overflows_mul(a // d, b) or times(a // d, b) == LEAST


@njit
def round_to(n, decimals):
    """``round(n, decimals)``: the nearest multiple of ``10**-decimals``, of two equally near ones the even one; ``n`` unless
    ``decimals`` is negative. OverflowError if it does not fit."""
    if decimals >= 0:
        return n
    unit = 10 ** min(-decimals, 18)
    whole = n // unit
    rest = n - whole * unit
    if 2 * rest > unit or (2 * rest == unit and whole % 2 == 1):
        whole += 1
    fits = -(MOST // unit) <= whole <= MOST // unit
    if decimals < -18:  # the unit does not fit: a number no further from 0 than half of it gives 0
        fits = decimals < -19 or -5 * 10**18 <= n <= 5 * 10**18
        whole = 0
    if not fits:
        raise OverflowError("the result of round() does not fit in the int64 of compiled code")
    return whole * unit


@njit
def isqrt(x):
    """The integer part of the square root; ValueError for a negative number."""
    if x < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    r = min(int(math.sqrt(x)), ROOT)
    while r * r > x:
        r -= 1
    while r < ROOT and (r + 1) * (r + 1) <= x:
        r += 1
    return r


# ------------------------------------------------------------------------------------------------- combinatorics


@njit
def factorial(n):
    """The factorial of ``n`` in 64 bits, which may wrap; ValueError for a negative number."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for k in range(2, n + 1):
        result *= k
    return result


@njit
def comb(n, k):
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    return chosen(n, k)[0]


@njit
def overflows_comb(n, k):
    return n >= 0 and k >= 0 and chosen(n, k)[1]


@njit
def chosen(n, k):
    """``(coefficient, overflows)``: the binomial coefficient of ``n`` and ``k``, not negative; 0 and True if it does not fit in
    64 bits."""
    if k > n:
        return 0, False
    result = 1
    for i in range(min(k, n - k)):
        d = gcd(result, i + 1)  # the rest of the divisor divides the other factor
        factor = (n - i) // ((i + 1) // d)
        if overflows_mul(result // d, factor):
            return 0, True
        result = result // d * factor
    return result, False


@njit
def perm(n, k):
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    return arranged(n, k)[0]


@njit
def overflows_perm(n, k):
    return n >= 0 and k >= 0 and arranged(n, k)[1]


@njit
def arranged(n, k):
    """``(number, overflows)``: the number of ordered selections of ``k`` from ``n``; 0 and True if it does not fit in 64
    bits."""
    if k > n:
        return 0, False
    result = 1
    for i in range(k):
        if overflows_mul(result, n - i):
            return 0, True
        result *= n - i
    return result, False


FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)])


@njit
def factorial_float(n):
    """``float(math.factorial(n))``, infinity if that is too large; ValueError for a negative number."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    return FACTORIALS[n] if n <= 170 else math.inf


@njit
def comb_float(n, k):
    """The binomial coefficient as a float, rounded once; ValueError for negative arguments."""
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    found, overflows = chosen(n, k)
    return product(n, min(k, n - k), True) if overflows else found * 1.0


@njit
def perm_float(n, k):
    """The number of ordered selections of ``k`` from ``n`` as a float, rounded once; ValueError for negative arguments."""
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    found, overflows = arranged(n, k)
    return product(n, k, False) if overflows else found * 1.0


DIGITS = 40  # digits of 32 bits: more than the largest float has


@njit
def product(n, count, divided):
    """``n (n - 1) ...`` with ``count`` factors, divided by ``count!`` if ``divided``, for ``n`` not negative and not below
    ``count``.

    The result is a float, rounded once; infinity if it is too large.
    """
    digits = np.zeros(DIGITS, np.uint64)
    digits[0] = 1
    for i in range(count):
        high = np.uint64(n - i) >> np.uint64(32)
        low = np.uint64(n - i) & np.uint64(0xFFFFFFFF)
        above = np.uint64(0)  # high digit of the product with `high`, still to be added two places up
        carry = np.uint64(0)
        for k in range(DIGITS):
            digit = digits[k]
            least = digit * low
            most = digit * high
            carry += least & np.uint64(0xFFFFFFFF)
            digits[k] = carry & np.uint64(0xFFFFFFFF)
            carry = (carry >> np.uint64(32)) + (least >> np.uint64(32)) + (most & np.uint64(0xFFFFFFFF)) + above
            above = most >> np.uint64(32)
        if divided:
            rest = np.uint64(0)
            for k in range(DIGITS - 1, -1, -1):
                rest = (rest << np.uint64(32)) | digits[k]
                digits[k] = rest // np.uint64(i + 1)
                rest = rest % np.uint64(i + 1)
        if digits[DIGITS - 4] != 0:
            return math.inf
    return rounded(digits)


@njit
def rounded(digits):
    """The float nearest to the integer with these `DIGITS` digits of 32 bits, the lowest first."""
    top = DIGITS - 1
    while top > 1 and digits[top] == 0:
        top -= 1
    whole = (digits[top] << np.uint64(32)) | digits[top - 1]
    rest = digits[top - 2] if top > 1 else np.uint64(0)
    shift = 32 * (top - 1)
    while whole >> np.uint64(63) == 0 and shift > 0:  # keep 64 bits
        whole = (whole << np.uint64(1)) | (rest >> np.uint64(31))
        rest = (rest << np.uint64(1)) & np.uint64(0xFFFFFFFF)
        shift -= 1
    for k in range(top - 2):
        rest |= digits[k]
    if rest != 0:
        whole |= np.uint64(1)  # marks a number beyond the midpoint of two floats
    return math.ldexp(nearest(whole), shift)


# ---------------------------------------------------------------------------------------------- floats and integers


@exact
def nearest(whole):
    """The float64 nearest to an unsigned integer; LLVM's conversion rounds once."""
    return np.float64(whole)


@exact
def true_divide(a, b):
    """``a / b`` of integers as a float64, rounded once; NaN or infinity if ``b`` is 0."""
    if (-EXACT <= a <= EXACT and -EXACT <= b <= EXACT) or b == 0:
        return np.float64(a) / np.float64(b)
    return quotient(a, b)


@exact
def quotient(a, b):
    """``a / b`` of integers as a float64, rounded once, by long division; ``b`` is not 0."""
    if a == 0:
        return 0.0
    x = np.uint64(a) if a > 0 else np.uint64(0) - np.uint64(a)
    y = np.uint64(b) if b > 0 else np.uint64(0) - np.uint64(b)
    whole, rest = x // y, x % y
    shift = 0
    while whole >> np.uint64(55) == 0:  # at least two bits more than a float has
        rest_high = rest >> np.uint64(63)
        rest = rest << np.uint64(1)
        bit = rest_high != 0 or rest >= y
        rest = rest - y if bit else rest
        whole = (whole << np.uint64(1)) | np.uint64(1 if bit else 0)
        shift += 1
    if rest != 0:
        whole |= np.uint64(1)
    found = math.ldexp(nearest(whole), -shift)
    return found if (a < 0) == (b < 0) else -found


@exact
def order(n, x):
    """-1, 0 or 1 if the integer ``n`` is less than, equal to or greater than the float ``x``, exactly; 2 if that is NaN."""
    if x != x:
        return 2
    if x >= 9223372036854775808.0:
        return -1
    if x < -9223372036854775808.0:
        return 1
    whole = int(np.floor(x))
    if n != whole:
        return -1 if n < whole else 1
    return -1 if x > np.floor(x) else 0


@njit
def exact_less(n, x):
    return order(n, x) == -1


@njit
def exact_less_equal(n, x):
    return order(n, x) <= 0


@njit
def exact_greater(n, x):
    return order(n, x) == 1


@njit
def exact_greater_equal(n, x):
    return 0 <= order(n, x) <= 1


@njit
def exact_equal(n, x):
    return order(n, x) == 0


@njit
def exact_not_equal(n, x):
    return order(n, x) != 0
