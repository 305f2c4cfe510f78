"""Whether a system of linear inequalities over the integers has no solution: Fourier-Motzkin elimination with tightening.

A constraint is ``const + sum(coef * variable) >= 0``, as a pair of the coefficients and the constant.

>>> x_from_1 = ({"x": 1}, -1)  # x - 1 >= 0
>>> is_infeasible([x_from_1, ({"x": -1}, 0)])  # and -x >= 0
True
>>> is_infeasible([x_from_1, ({"x": -2}, 3)])  # and 2 x <= 3: x = 1
False
>>> is_infeasible([({"x": 2}, -1), ({"x": -2}, 1)])  # 2 x = 1 has no integer solution
True

Source: Schrijver (1986), Theory of Linear and Integer Programming, section 12.2; Pugh (1991), The Omega Test, for the
tightening. What the elimination leaves open, or what grows too large, counts as feasible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd

Constraint = tuple[Mapping[str, int], int]
LARGEST = 300


class _Contradiction(Exception):
    pass


def is_infeasible(constraints: Iterable[Constraint]) -> bool:
    """Whether it is proven that no integers satisfy all constraints."""
    try:
        system = _normal(constraints)
        while system:
            variable = _next_variable(system)
            lower = [c for c in system if dict(c[0]).get(variable, 0) > 0]
            upper = [c for c in system if dict(c[0]).get(variable, 0) < 0]
            rest = [c for c in system if variable not in dict(c[0])]
            if len(rest) + len(lower) * len(upper) > LARGEST:
                return False
            combined = [_combine(a, b, variable) for a in lower for b in upper]
            system = _normal([*((dict(c), k) for c, k in rest), *combined])
    except _Contradiction:
        return True
    return False


_Row = tuple[tuple[tuple[str, int], ...], int]


def _normal(constraints: Iterable[Constraint]) -> list[_Row]:
    """Divided by their common factor, the constant rounded down, the strongest of each form kept."""
    best: dict[tuple[tuple[str, int], ...], int] = {}
    for coefs, const in constraints:
        terms = tuple(sorted((v, c) for v, c in coefs.items() if c))
        if not terms:
            if const < 0:
                raise _Contradiction
            continue
        factor = gcd(*(c for _, c in terms))
        terms = tuple((v, c // factor) for v, c in terms)
        const = const // factor
        best[terms] = min(const, best.get(terms, const))
    return list(best.items())


def _next_variable(system: list[_Row]) -> str:
    """The variable whose elimination makes the fewest new rows."""
    ups: dict[str, int] = {}
    downs: dict[str, int] = {}
    for terms, _ in system:
        for v, c in terms:
            counts = ups if c > 0 else downs
            counts[v] = counts.get(v, 0) + 1
    names = sorted({*ups, *downs})
    return min(names, key=lambda v: ups.get(v, 0) * downs.get(v, 0))


def _combine(lower: _Row, upper: _Row, variable: str) -> Constraint:
    a, b = dict(lower[0]), dict(upper[0])
    p, q = a[variable], -b[variable]
    coefs = {v: q * c for v, c in a.items()}
    for v, c in b.items():
        coefs[v] = coefs.get(v, 0) + p * c
    return coefs, q * lower[1] + p * upper[1]
