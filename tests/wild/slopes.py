"""What a gradient may be: one-sided and central differences, and whether they say anything.

At a kink (of ``abs``, say) both sides are allowed, and what lies between them; where differences do not settle, anything is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

STEPS = (1e-4, 1e-5, 1e-6)
TOLERANCE = 1e-4


def disagreement(f: Callable[[float], float], x: float, slope: float) -> str:
    """Why ``slope`` is not a derivative of ``f`` at ``x``; empty where it may be one."""
    try:
        y = f(x)
        rows = [_row(f, x, y, step * max(abs(x), 1e-3)) for step in STEPS]
    except Exception:  # the domain ends here
        return ""
    if not all(math.isfinite(v) for row in rows for v in row):
        return ""
    centre, noise = _settled([row[1] for row in rows], [row[3] for row in rows])
    left, left_noise = _settled([row[0] for row in rows], [row[3] for row in rows])
    right, right_noise = _settled([row[2] for row in rows], [row[3] for row in rows])
    scale = max(abs(centre), abs(left), abs(right), 1e-12)
    if noise > 0.05 * scale and min(left_noise, right_noise) > 0.05 * scale:
        return ""
    slack = TOLERANCE * scale + 3 * max(noise, min(left_noise, right_noise))
    low, high = min(left, right, centre), max(left, right, centre)
    if low - slack <= slope <= high + slack:
        return ""
    return f"{slope!r}, differences {left!r}, {centre!r}, {right!r}"


def _row(f: Callable[[float], float], x: float, y: float, h: float) -> tuple[float, float, float, float]:
    """The slope to the left, the central one, the one to the right, and what rounding adds to them."""
    below, above = f(x - h), f(x + h)
    return (y - below) / h, (above - below) / (2 * h), (above - y) / h, 4e-16 * max(abs(y), abs(above), abs(below)) / h


def _settled(slopes: list[float], rounding: list[float]) -> tuple[float, float]:
    """The slope of the two neighbouring steps that agree best, and how well."""
    pairs = [(abs(a - b) + noise, b) for a, b, noise in zip(slopes, slopes[1:], rounding[1:], strict=False)]
    error, slope = min(pairs)
    return slope, error
