"""Interval arithmetic on unbounded integers: from the intervals of the operands, that of the result.

A primitive has one of these functions as its ``interval``. The result may exceed 64 bits; it is None if nothing is known.

>>> product((-2, 3), (4, 5))
(-10, 15)
>>> rest((-100, 100), (7, 7))
(0, 6)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

Interval = tuple[int, int]

LIMIT = 2**63
FULL: Interval = (-LIMIT, LIMIT - 1)


def union(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def meet(a: Interval, b: Interval) -> Interval:
    """The intersection of two intervals; ``a`` if the intersection is empty, which happens only in code that never runs."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def is_inside(a: Interval, b: Interval = FULL) -> bool:
    """Whether ``a`` lies within ``b``."""
    return b[0] <= a[0] and a[1] <= b[1]


def times(a: Interval, k: int) -> Interval:
    """The interval of a sum of at most ``k`` summands that lie in ``a``."""
    return min(0, a[0] * k), max(0, a[1] * k)


def plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def minus(a: Interval, b: Interval) -> Interval:
    return a[0] - b[1], a[1] - b[0]


def _corners(f: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    found = [f(x, y) for x, y in itertools.product(a, b)]
    return min(found), max(found)


def absolute(a: Interval) -> Interval:
    return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def quotient(a: Interval, b: Interval) -> Interval:
    """The interval of ``a // b``, where NumPy's quotient by 0 is 0."""
    most = absolute(a)[1]
    if b[0] < 0:
        return -most, most
    found = _corners(lambda x, y: x // y, a, (max(b[0], 1), max(b[1], 1)))
    return found if b[0] > 0 else union(found, (0, 0))  # NumPy's quotient by 0 is 0


def rest(a: Interval, b: Interval) -> Interval:
    """The interval of ``a % b``."""
    most = absolute(b)[1] - 1
    if b[0] < 0:
        return -max(most, 0), max(most, 0)
    return 0, max(min(most, a[1]) if a[0] >= 0 else most, 0)


def both_bits(a: Interval, b: Interval) -> Interval | None:
    """The interval of ``a & b``; None if both may be negative."""
    tops = [x[1] for x in (a, b) if x[0] >= 0]
    return (0, min(tops)) if tops else None


def any_bits(a: Interval, b: Interval) -> Interval | None:
    """The interval of ``a | b`` and ``a ^ b``; None if one may be negative."""
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


def left(a: Interval, b: Interval) -> Interval | None:
    """The interval of ``a << b``, where negative shifts count as 0; None if ``b`` may exceed 64."""
    return _corners(lambda x, y: x << y, a, (max(b[0], 0), max(b[1], 0))) if b[1] <= 64 else None


def right(a: Interval, b: Interval) -> Interval:
    """The interval of ``a >> b``."""
    return union(a, (min(max(a[0], -1), 0), 0)) if b[0] < 0 else _corners(lambda x, y: x >> min(y, 64), a, b)


def power(a: Interval, b: Interval) -> Interval | None:
    """The interval of ``a ** b``; None if the exponent may exceed 64, or may be negative while ``a`` may differ from 0."""
    most = absolute(a)[1]
    if b[1] > 64 or (b[0] < 0 and most > 0):
        return None
    high = max(most ** max(b[1], 0), 1)
    return (0 if b[0] == 0 else a[0] ** b[0] if b[0] > 0 else 0, high) if a[0] >= 0 else (-high, high)


def product(a: Interval, b: Interval) -> Interval:
    return _corners(lambda x, y: x * y, a, b)


def square(a: Interval) -> Interval:
    return absolute(a)[0] ** 2, absolute(a)[1] ** 2


def opposite(a: Interval) -> Interval:
    return -a[1], -a[0]


def sign(a: Interval) -> Interval:
    """The interval of the sign of a number in ``a``: -1, 0 or 1."""
    return max(min(a[0], 1), -1), max(min(a[1], 1), -1)


def inverted(a: Interval) -> Interval:
    """The interval of ``~a``."""
    return -a[1] - 1, -a[0] - 1


def greatest(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), max(a[1], b[1])


def smallest(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), min(a[1], b[1])


def either(test: Interval, a: Interval, b: Interval) -> Interval:
    """The interval of ``where(test, a, b)``."""
    return union(a, b)


def as_it_is(a: Interval) -> Interval:
    """The interval of a result that equals its operand."""
    return a


def within(place: Interval, size: Interval) -> Interval:
    """The interval of an index ``place`` that is clipped or wrapped to between 0 and ``size``."""
    return 0, max(size[1], 0)


def divisor(a: Interval, b: Interval) -> Interval:
    """The interval of the greatest common divisor of two numbers, which is the other number if one is 0."""
    return 0, max(absolute(a)[1], absolute(b)[1])


def multiple(a: Interval, b: Interval) -> Interval:
    """The interval of the least common multiple."""
    return 0, absolute(a)[1] * absolute(b)[1]


def counted(*args: Interval) -> Interval:
    """The interval of a count that is not negative and may exceed 64 bits: this interval never proves that the count fits."""
    return 0, LIMIT


def fitting(*args: Interval) -> Interval:
    """The interval of a count that is not negative and always fits 64 bits: the count is small, or a test of the operands
    refuses it."""
    return 0, LIMIT - 1


def least(dtype: str) -> float | int | bool:
    """The smallest number of a dtype, -inf for floats."""
    kind = np.dtype(dtype).kind
    return -np.inf if kind == "f" else False if kind == "b" else int(np.iinfo(dtype).min)


def most(dtype: str) -> float | int | bool:
    """The largest number of a dtype, inf for floats."""
    kind = np.dtype(dtype).kind
    return np.inf if kind == "f" else True if kind == "b" else int(np.iinfo(dtype).max)
