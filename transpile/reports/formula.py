"""Amounts as formulas: exact polynomials over sizes, with ``max``, ``min``, ``//`` and ``%`` of formulas as further unknowns.

>>> n, k = Formula.symbol("n"), Formula.symbol("k")
>>> print(Formula.of(8) * n * k)
8·n·k
>>> (Formula.of(8) * n * k).at(n=10, k=3)
240

The sum over the iterations of a loop has a closed form if it is a polynomial in the number of the iteration:

>>> print((Formula.of(8) * (k + 1)).summed("k", n))
4·n² + 4·n
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, lcm
from typing import Any

from transpile.core.forms import Form

_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Operation:
    """An operation that is no polynomial: ``max``, ``min``, ``//`` or ``%`` of formulas."""

    name: str
    operands: tuple[Formula, ...]

    def __str__(self) -> str:
        if self.name in ("//", "%"):
            return f" {self.name} ".join(o.as_factor() for o in self.operands).join("()")
        first, second = self.operands
        if self.name == "max" and second == Formula.of(0):
            return first.as_factor()  # a clipped size is printed without the clip
        return f"{self.name}({', '.join(map(str, self.operands))})"

    def evaluate(self, values: tuple[Fraction, ...]) -> Fraction:
        """The result of the operation on two numbers; 0 for a division by 0."""
        a, b = values
        if self.name in ("//", "%"):
            return Fraction(0) if not b else Fraction(a // b) if self.name == "//" else a % b
        return max(a, b) if self.name == "max" else min(a, b)


Atom = str | Operation
Product = tuple[tuple[Atom, int], ...]  # atoms with their powers, in the order of their texts


@dataclass(frozen=True)
class Formula(Form[Product, Fraction]):
    """A polynomial: a sum of products of atoms with coefficients. ``order`` is the order in which symbols are printed."""

    const: Fraction = Fraction(0)
    terms: tuple[tuple[Product, Fraction], ...] = ()
    order: tuple[str, ...] = field(default=(), compare=False)

    @staticmethod
    def of(value: int | Fraction | Formula) -> Formula:
        """The number as a formula; a formula unchanged."""
        return value if isinstance(value, Formula) else Formula(Fraction(value))

    @staticmethod
    def symbol(name: str) -> Formula:
        """The formula that is a single symbol."""
        return Formula.factor(name, (name,))

    @staticmethod
    def factor(atom: Atom, order: tuple[str, ...]) -> Formula:
        """The formula that is a single atom; ``order`` is the order in which the names in it are printed."""
        return Formula(terms=((((atom, 1),), Fraction(1)),), order=order)

    @staticmethod
    def operation(name: str, *operands: int | Formula) -> Formula:
        """``max``, ``min``, ``//`` or ``%``, as ``name`` says, of two operands; a constant if both are constants, the operand
        itself for ``max(a, a)``, ``min(a, a)`` and ``a // 1``."""
        made = tuple(Formula.of(o) for o in operands)
        found = Operation(name, made)
        if all(o.is_const for o in made):
            return Formula.of(found.evaluate(tuple(o.const for o in made)))
        if name in ("max", "min") and made[0] == made[1] or name == "//" and made[1] == Formula.of(1):
            return made[0]
        order = tuple(dict.fromkeys(s for o in made for s in o.order))
        return Formula.factor(found, order)

    # ---- arithmetic

    def made(self, const: Any, terms: Iterable[tuple[Any, Any]], *others: Formula) -> Formula:
        """A formula with this constant and these terms, which are sorted, without those with coefficient 0; it prints symbols
        in the order of ``self``, then of ``others``."""
        order = tuple(dict.fromkeys(s for one in (self, *others) for s in one.order))
        kept = sorted([(p, Fraction(c)) for p, c in terms if c], key=lambda t: str(t[0]))
        return Formula(Fraction(const), tuple(kept), order)

    def with_const(self, const: Any) -> Formula:
        return Formula(Fraction(const), self.terms, self.order)

    def product(self, other: Formula) -> Formula:
        """The product with another formula, multiplied out."""
        terms: dict[Product, Fraction] = {}
        for p, a in self.summands:
            for q, b in other.summands:
                powers = dict(p)
                for atom, power in q:
                    powers[atom] = powers.get(atom, 0) + power
                both = tuple(sorted(powers.items(), key=lambda t: str(t[0])))
                terms[both] = terms.get(both, Fraction(0)) + a * b
        return self.made(terms.pop((), 0), terms.items(), other)

    def __pow__(self, power: int) -> Formula:
        out = Formula.of(1)
        for _ in range(power):
            out = out * self
        return out

    # ---- questions

    @property
    def summands(self) -> tuple[tuple[Product, Fraction], ...]:
        """The constant, unless it is 0, as a term without atoms, then the terms."""
        return (((), self.const), *self.terms) if self.const else self.terms

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names in the formula, also inside operations, in the order in which they are printed."""
        found: dict[str, None] = {}
        for product, _ in self.terms:
            for atom, _ in product:
                names = (atom,) if isinstance(atom, str) else [s for o in atom.operands for s in o.symbols]
                found.update(dict.fromkeys(names))
        return tuple(sorted(found, key=lambda s: (self.order.index(s) if s in self.order else 99, s)))

    def at(self, sizes: Mapping[str, int] | None = None, **more: int) -> int:
        """The value, an int rounded up, for the values of the symbols in ``sizes`` and ``more``; KeyError if one is missing."""
        given = {**(sizes or {}), **more}
        value = self.substitute(lambda name: Formula.of(given[name])).const
        return int(value) if value.denominator == 1 else -int(-value // 1)

    def substitute(self, found: Callable[[str], Formula | None]) -> Formula:
        """The formula with each symbol replaced by ``found(symbol)``, or unchanged if that is None, also inside operations."""
        total = Formula(self.const)
        for product, coefficient in self.terms:
            part = Formula.of(coefficient)
            for atom, power in product:
                part = part * _replaced(atom, found) ** power
            total = total + part
        return total

    def coefficients(self, name: str) -> list[Formula] | None:
        """The coefficients by power of the symbol ``name``, that of power 0 first; None if ``name`` occurs inside an
        operation."""
        found: dict[int, Formula] = {}
        for product, coefficient in self.summands:
            if any(isinstance(a, Operation) and name in Formula.factor(a, ()).symbols for a, _ in product):
                return None
            power = dict(product).get(name, 0)
            left = tuple(t for t in product if t[0] != name)
            rest = self.made(0, [(left, coefficient)]) if left else Formula(coefficient)
            found[power] = found.get(power, Formula()) + rest
        return [found.get(k, Formula()) for k in range(max(found, default=0) + 1)]

    def summed(self, name: str, count: Formula) -> Formula | None:
        """The sum over ``name`` = 0, 1, ... ``count`` - 1; None if ``name`` occurs inside an operation."""
        parts = self.coefficients(name)
        if parts is None:
            return None
        total = Formula()
        for part, sums in zip(parts, _power_sums(len(parts), count)):
            total = total + part * sums
        return total

    # ---- text

    def as_factor(self) -> str:
        """The text as part of a product: in parentheses, unless it is a single term whose coefficient is 1 or more."""
        if len(self.summands) == 1 and self.summands[0][1] >= 1:
            return str(self)
        return f"({self})"

    def __str__(self) -> str:
        scale = lcm(*(c.denominator for _, c in self.summands))
        rank = {name: k for k, name in enumerate(self.order)}
        written = sorted(self.summands, key=lambda t: (-sum(p for _, p in t[0]), _key(t[0], rank)))
        out = ""
        for product, coefficient in written:
            factors = [_power(a, p) for a, p in sorted(product, key=lambda t: _rank(t[0], rank))]
            value = coefficient * scale
            number = [f"{abs(value)}"] if abs(value) != 1 or not factors else []
            text = "·".join([*number, *factors])
            out += (" - " if value < 0 else " + ") + text if out else f"-{text}" if value < 0 else text
        return (f"({out}) / {scale}" if scale != 1 else out) or "0"


def product_text(number: int, factors: tuple[Formula, ...]) -> str:
    """The product as text, without multiplying out: ``8·(n - 1)·m``. ``number`` is a factor too.

    >>> n = Formula.symbol("n")
    >>> product_text(8, (n - 1, Formula.of(2), Formula.symbol("m")))
    '16·(n - 1)·m'
    """
    for factor in factors:
        if factor.is_const:
            number *= int(factor.const)
    parts = [f.as_factor() for f in factors if not f.is_const]
    if number == 0:
        return "0"
    return "·".join([*([str(number)] if number != 1 or not parts else []), *parts])


def _power(atom: Atom, power: int) -> str:
    text = str(atom)
    return text if power == 1 else text + str(power).translate(_DIGITS)


def _rank(atom: Atom, rank: Mapping[str, int]) -> tuple[int, str]:
    """What an atom is sorted by: the first place in ``rank`` of a symbol in it, then its text."""
    if isinstance(atom, str):
        return rank.get(atom, len(rank)), atom
    return min((rank.get(s, len(rank)) for o in atom.operands for s in o.symbols), default=len(rank)), str(atom)


def _key(product: Product, rank: Mapping[str, int]) -> list[tuple[int, str]]:
    return sorted(_rank(atom, rank) for atom, _ in product)


def _replaced(atom: Atom, found: Callable[[str], Formula | None]) -> Formula:
    if isinstance(atom, Operation):
        return Formula.operation(atom.name, *(o.substitute(found) for o in atom.operands))
    value = found(atom)
    return Formula.symbol(atom) if value is None else value


def _power_sums(count: int, n: Formula) -> list[Formula]:
    """For each ``k`` below ``count``, the formula of ``sum(t**k for t in range(n))``, from ``n**(k + 1) = sum((t + 1)**(k + 1)
    - t**(k + 1))``."""
    found: list[Formula] = []
    for k in range(count):
        rest = Formula()
        for j, lower in enumerate(found):
            rest = rest + lower * comb(k + 1, j)
        found.append((n ** (k + 1) - rest) * Fraction(1, k + 1))
    return found
