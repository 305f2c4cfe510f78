"""Zero and minus zero: equal in Python, though a program can tell them apart."""

from __future__ import annotations

import math


def are_one(a: object, b: object) -> bool:
    """True if two values are the same object, or equal including the signs of zeros."""
    return a is b or bool(a == b and is_minus_zero(a) == is_minus_zero(b))


def is_minus_zero(value: object) -> bool:
    return isinstance(value, float) and value == 0.0 and math.copysign(1.0, value) < 0.0
