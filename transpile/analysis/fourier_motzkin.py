"""Whether a system of linear constraints over the integers has no solution, by Fourier-Motzkin elimination.

`is_infeasible` is exact in one direction: True means that no integers satisfy the system. It eliminates over the rationals and
tightens constraints to integers by greatest common divisors (Williams 1976; Pugh's Omega test without its splinters). It gives
up, with False, if a system grows beyond `LIMIT` constraints.

>>> i, j = Form.atom("i"), Form.atom("j")
>>> is_infeasible([at_least(i, 0), at_least(j, i + 1)], [i - j])      # 0 <= i < j, i == j
True
>>> is_infeasible([], [i.times(2) - j.times(2) - 1])                  # an even number is not odd
True
>>> is_infeasible([at_least(i, 0), at_least(j, i + 1)], [i + 1 - j])  # i + 1 == j
False
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import gcd

from transpile.core.forms import Form

LIMIT = 300  # constraints
System = dict[frozenset[tuple[Hashable, int]], int]  # the terms of a form that must be nonnegative -> its constant


def at_least(a: Form, b: Form | int) -> Form:
    """The constraint ``a >= b``, as the form that must be nonnegative."""
    return a - b


def is_infeasible(nonnegative: Iterable[Form], zero: Iterable[Form]) -> bool:
    """Whether surely no integers make all forms of the first list nonnegative and all of the second zero; False if unknown."""
    rows = _substitute(list(nonnegative), list(zero))
    return rows is None or _eliminate(rows)


def _substitute(rows: list[Form], zero: list[Form]) -> list[Form] | None:
    """The constraints ``rows`` with the equations ``zero`` substituted into them; None if the equations have no common integer
    solution. Changes the list ``zero``."""
    left: list[Form] = []
    while zero:
        equation = zero.pop()
        if equation.is_const:
            if equation.const:
                return None
            continue
        divisor = gcd(*(c for _, c in equation.terms))
        if equation.const % divisor:
            return None
        equation = Form(equation.const // divisor, tuple((v, c // divisor) for v, c in equation.terms))
        alone = min(((v, c) for v, c in equation.terms if abs(c) == 1), key=str, default=None)
        if alone is None:
            left.append(equation)
            continue
        variable, sign = alone
        value = equation.without(variable).times(-sign)
        rows = [r.replaced(variable, value) for r in rows]
        zero = [r.replaced(variable, value) for r in (*zero, *left)]
        left = []
    return [*rows, *left, *(-e for e in left)]


def _eliminate(rows: Sequence[Form]) -> bool:
    """Whether the inequalities, which say that ``rows`` are nonnegative, contradict each other; False also if there are more
    than `LIMIT`."""
    system: System = {}
    if not _merge(system, rows):
        return True
    while True:
        counts: dict[Hashable, list[int]] = {}
        for terms in system:
            for variable, c in terms:
                counts.setdefault(variable, [0, 0])[c > 0] += 1
        if not counts:
            return False
        variable = min(counts, key=lambda v: (counts[v][0] * counts[v][1], str(v)))
        keep: System = {}
        low: list[tuple[Form, int]] = []
        high: list[tuple[Form, int]] = []
        for terms, const in system.items():
            row = Form(const, terms)
            c = row.coefficient(variable)
            if c:
                (low if c > 0 else high).append((row.without(variable), abs(c)))
            else:
                keep[terms] = const
        if len(keep) + len(low) * len(high) > LIMIT:
            return False
        if not _merge(keep, (a.times(d).plus(b, c) for a, c in low for b, d in high)):
            return True
        system = keep


def _merge(system: System, rows: Iterable[Form]) -> bool:
    """Adds the constraints ``rows`` to ``system``, tightened to integers, and keeps the tightest of each direction; False if
    there is a contradiction."""
    for row in rows:
        if row.is_const:
            if row.const < 0:
                return False
            continue
        divisor = gcd(*(c for _, c in row.terms))
        key = frozenset((v, c // divisor) for v, c in row.terms)
        const = row.const // divisor  # rounds down: integer solutions are preserved
        opposite = frozenset((v, -c) for v, c in key)
        if opposite in system and system[opposite] + const < 0:
            return False
        if const < system.get(key, const + 1):
            system[key] = const
    return True
