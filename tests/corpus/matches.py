"""``match``: patterns over structure that is known, and over numbers that only the run knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("match")
program = PROGRAMS.program


@dataclass
class Spring:
    stiffness: float
    length: float


@program(args=lambda: (normal(4), ("power", 3)), tags="match tuple static")
def match_a_tuple(x, kind):
    """What is known decides: one case is left."""
    match kind:
        case "sum" | "total":
            return np.sum(x)
        case ("power", n) if n > 2:
            return np.sum(x**n)
        case (name, *rest):
            return np.sum(x) * len(rest)
    return x[0]


@program(args=lambda: (normal(5), np.array([0, 2, 7, 1, 4])), tags="match loop int")
def match_a_number(x, kinds):
    """Cases by numbers that only the run knows, with a guard that reads the name of its pattern."""
    s = 0.0
    for i in range(len(x)):
        match kinds[i]:
            case 0:
                s += x[i]
            case 1 | 2 as m:
                s += m * x[i] ** 2
            case n if n > 5:
                s += np.sin(x[i]) * n
            case _:
                continue
    return s


@program(
    args=lambda: (0.7, Spring(2.0, 0.5), {"gain": 3.0, "shift": 0.1}), wrt=(0, 1, 2), tags="match dataclass dict scalar"
)
def match_structures(x, spring, options):
    """Instances by position and by name; a dict with what is left of it."""
    match options:
        case {"gain": gain, **rest}:
            x = gain * x + rest["shift"]
    match spring:
        case Spring(k, length=r):
            return 0.5 * k * (x - r) ** 2
