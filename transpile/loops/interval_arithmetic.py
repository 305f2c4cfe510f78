"""Between which numbers the result of an integer operation lies: interval arithmetic without an end.

>>> of("mul", [(-2, 3), (4, 5)])
(-10, 15)
>>> of("mod", [(-100, 100), (7, 7)])
(0, 6)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

Interval = tuple[int, int]
Rule = Callable[..., "Interval | None"]

LIMIT = 2**63
FULL: Interval = (-LIMIT, LIMIT - 1)


def of(prim: str, args: Sequence[Interval]) -> Interval | None:
    """The interval of an operation on integers, or None where nothing is known of it. It may reach beyond 64 bits."""
    rule = _RULES.get(prim)
    return None if rule is None else rule(*args)


def union(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), max(a[1], b[1])


def meet(a: Interval, b: Interval) -> Interval:
    """What both hold; ``a`` if that is nothing, which is so only in code that never runs."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def is_inside(a: Interval, b: Interval = FULL) -> bool:
    return b[0] <= a[0] and a[1] <= b[1]


def times(a: Interval, k: int) -> Interval:
    """Of ``k`` or fewer summands that lie in ``a``."""
    return min(0, a[0] * k), max(0, a[1] * k)


def plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def minus(a: Interval, b: Interval) -> Interval:
    return a[0] - b[1], a[1] - b[0]


def _corners(f: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    found = [f(x, y) for x, y in product(a, b)]
    return min(found), max(found)


def _absolute(a: Interval) -> Interval:
    return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def _quotient(a: Interval, b: Interval) -> Interval:
    most = _absolute(a)[1]
    if b[0] < 0:
        return -most, most
    found = _corners(lambda x, y: x // y, a, (max(b[0], 1), max(b[1], 1)))
    return found if b[0] > 0 else union(found, (0, 0))  # NumPy's quotient by 0


def _rest(a: Interval, b: Interval) -> Interval:
    most = _absolute(b)[1] - 1
    if b[0] < 0:
        return -max(most, 0), max(most, 0)
    return 0, max(min(most, a[1]) if a[0] >= 0 else most, 0)


def _and(a: Interval, b: Interval) -> Interval | None:
    tops = [x[1] for x in (a, b) if x[0] >= 0]
    return (0, min(tops)) if tops else None


def _or(a: Interval, b: Interval) -> Interval | None:
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


def _left(a: Interval, b: Interval) -> Interval | None:
    return _corners(lambda x, y: x << y, a, (max(b[0], 0), max(b[1], 0))) if b[1] <= 64 else None


def _right(a: Interval, b: Interval) -> Interval:
    return union(a, (min(max(a[0], -1), 0), 0)) if b[0] < 0 else _corners(lambda x, y: x >> min(y, 64), a, b)


def _power(a: Interval, b: Interval) -> Interval | None:
    most = _absolute(a)[1]
    if b[1] > 64 or (b[0] < 0 and most > 0):
        return None
    high = max(most ** max(b[1], 0), 1)
    return (0 if b[0] == 0 else a[0] ** b[0] if b[0] > 0 else 0, high) if a[0] >= 0 else (-high, high)


_RULES: dict[str, Rule] = {
    "add": plus,
    "sub": minus,
    "mul": lambda a, b: _corners(lambda x, y: x * y, a, b),
    "square": lambda a: (_absolute(a)[0] ** 2, _absolute(a)[1] ** 2),
    "neg": lambda a: (-a[1], -a[0]),
    "absolute": _absolute,
    "sign": lambda a: (max(min(a[0], 1), -1), max(min(a[1], 1), -1)),
    "invert": lambda a: (-a[1] - 1, -a[0] - 1),
    "maximum": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "minimum": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "where": lambda test, a, b: union(a, b),
    **dict.fromkeys(("floordiv", "quick_div"), _quotient),
    **dict.fromkeys(("mod", "quick_mod"), _rest),
    "bitwise_and": _and,
    **dict.fromkeys(("bitwise_or", "bitwise_xor"), _or),
    "left_shift": _left,
    "right_shift": _right,
    "pow": _power,
    **dict.fromkeys(("cast", "identity", "copy", "positive", "stop_gradient"), lambda a: a),
    **dict.fromkeys(("gcd", "lcm", "isqrt", "factorial", "comb", "perm"), lambda *args: (0, LIMIT - 1)),
}
