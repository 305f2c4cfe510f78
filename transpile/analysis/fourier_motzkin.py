"""Whether a system of linear constraints over the integers has no solution: Fourier-Motzkin elimination.

`is_infeasible` is exact in one direction: True means that no integers satisfy the system. It works over the
rationals, with the integer tightening by greatest common divisors (Williams 1976; Pugh's Omega test without its
splinters), and gives up, False, where a system grows beyond `LIMIT`.

>>> i, j = Form.of("i"), Form.of("j")
>>> is_infeasible([at_least(i, 0), at_least(j, i + 1)], [i - j])      # 0 <= i < j, i == j
True
>>> is_infeasible([], [i.scale(2) - j.scale(2) - 1])                  # an even number is not odd
True
>>> is_infeasible([at_least(i, 0), at_least(j, i + 1)], [i + 1 - j])  # i + 1 == j
False
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import gcd

LIMIT = 300  # constraints


class Form:
    """``const + sum(coef * variable)``; variables are any hashable names."""

    __slots__ = ("coefs", "const")

    def __init__(self, const: int = 0, coefs: Mapping[Hashable, int] | None = None) -> None:
        self.const = const
        self.coefs: dict[Hashable, int] = {} if coefs is None else {k: c for k, c in coefs.items() if c}

    @staticmethod
    def of(variable: Hashable) -> Form:
        return Form(0, {variable: 1})

    def __add__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form(self.const + other, self.coefs)
        coefs = dict(self.coefs)
        for variable, c in other.coefs.items():
            coefs[variable] = coefs.get(variable, 0) + c
        return Form(self.const + other.const, coefs)

    def __sub__(self, other: Form | int) -> Form:
        return self + (-other if isinstance(other, int) else other.scale(-1))

    def scale(self, factor: int) -> Form:
        return Form(self.const * factor, {v: c * factor for v, c in self.coefs.items()})

    def key(self) -> Hashable:
        return (self.const, frozenset(self.coefs.items()))

    def __repr__(self) -> str:
        return " + ".join([*(f"{c}*{v}" for v, c in self.coefs.items()), str(self.const)])


def at_least(a: Form, b: Form | int) -> Form:
    """The constraint ``a >= b``, as the form that must not be negative."""
    return a - b


def is_infeasible(nonnegative: Iterable[Form], zero: Iterable[Form]) -> bool:
    """Whether no integers make all forms of the first list nonnegative and all of the second zero."""
    rows = _substitute(list(nonnegative), list(zero))
    return rows is None or _eliminate(rows)


def _substitute(rows: list[Form], zero: list[Form]) -> list[Form] | None:
    """The system without its equations; None if they contradict each other."""
    left: list[Form] = []
    while zero:
        equation = zero.pop()
        if not equation.coefs:
            if equation.const:
                return None
            continue
        divisor = gcd(*equation.coefs.values())
        if equation.const % divisor:
            return None
        equation = Form(equation.const // divisor, {v: c // divisor for v, c in equation.coefs.items()})
        variable = next((v for v, c in equation.coefs.items() if abs(c) == 1), None)
        if variable is None:
            left.append(equation)
            continue
        value = equation.scale(-equation.coefs[variable])  # variable == value + variable, so what is left is its value
        value = Form(value.const, {v: c for v, c in value.coefs.items() if v != variable})
        rows = [_replaced(r, variable, value) for r in rows]
        zero = [_replaced(r, variable, value) for r in (*zero, *left)]
        left = []
    return [*rows, *left, *(e.scale(-1) for e in left)]


def _replaced(form: Form, variable: Hashable, value: Form) -> Form:
    c = form.coefs.get(variable)
    if c is None:
        return form
    rest = Form(form.const, {v: k for v, k in form.coefs.items() if v != variable})
    return rest + value.scale(c)


def _eliminate(rows: Sequence[Form]) -> bool:
    """Whether inequalities alone contradict each other."""
    system: dict[frozenset, int] = {}
    if not _merge(system, rows):
        return True
    while True:
        counts: dict[Hashable, list[int]] = {}
        for coefs in system:
            for variable, c in coefs:
                counts.setdefault(variable, [0, 0])[c > 0] += 1
        if not counts:
            return False
        variable = min(counts, key=lambda v: (counts[v][0] * counts[v][1], str(v)))
        keep: dict[frozenset, int] = {}
        low: list[tuple[dict, int, int]] = []
        high: list[tuple[dict, int, int]] = []
        for coefs, const in system.items():
            row = dict(coefs)
            c = row.pop(variable, 0)
            if c:
                (low if c > 0 else high).append((row, const, abs(c)))
            else:
                keep[coefs] = const
        if len(keep) + len(low) * len(high) > LIMIT:
            return False
        if not _merge(keep, (_combined(a, b) for a in low for b in high)):
            return True
        system = keep


def _combined(a: tuple[dict, int, int], b: tuple[dict, int, int]) -> Form:
    """The two constraints with the variable cancelled."""
    (row_a, const_a, c_a), (row_b, const_b, c_b) = a, b
    coefs = {v: c * c_b for v, c in row_a.items()}
    for v, c in row_b.items():
        coefs[v] = coefs.get(v, 0) + c * c_a
    return Form(const_a * c_b + const_b * c_a, coefs)


def _merge(system: dict[frozenset, int], rows: Iterable[Form]) -> bool:
    """Adds constraints, tightened to integers, the tightest of each direction; False at a contradiction."""
    for row in rows:
        if not row.coefs:
            if row.const < 0:
                return False
            continue
        divisor = gcd(*row.coefs.values())
        key = frozenset((v, c // divisor) for v, c in row.coefs.items())
        const = row.const // divisor  # rounds down: an integer solution stays
        opposite = frozenset((v, -c) for v, c in key)
        if opposite in system and system[opposite] + const < 0:
            return False
        if const < system.get(key, const + 1):
            system[key] = const
    return True
