"""Symbolic dimensions: linear forms over atoms.

A dimension is ``const + sum(coef * atom)``. An atom is a symbol or a nonlinear operation: ``max(a, 0)``, ``a * b``, ``a // b``.
Two dimensions are equal if their forms are equal; nothing here needs a run-time value.

>>> n = Dim.symbol("n")
>>> n - 1 == Dim.of(-1) + n
True
>>> str((n - 2).clip())
'max(n - 2, 0)'
>>> str((n - 2).clip().evaluate({"n": 5}))
'3'
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from transpile.core.forms import Form


@dataclass(frozen=True, slots=True)
class Atom:
    """A term of which dimensions are linear combinations.

    Kinds: ``symbol`` (a size, never negative), ``int`` (an integer of unknown sign), and ``max0``, ``mul``, ``floordiv`` of
    forms.
    """

    kind: str
    name: str = ""
    operands: tuple[Dim, ...] = ()

    def __str__(self) -> str:
        if self.kind in ("symbol", "int"):
            return self.name
        if self.kind == "max0":
            least = self.operands[0].as_min
            return f"min({least[0]}, {least[1]})" if least else f"max({self.operands[0]}, 0)"
        operator = {"mul": " * ", "floordiv": " // "}[self.kind]
        return operator.join(str(d) if d.is_simple else f"({d})" for d in self.operands)

    @property
    def is_size(self) -> bool:
        """Whether the atom is known to be nonnegative: a size, ``max(a, 0)``, or a product or quotient of such forms."""
        if self.kind in ("symbol", "max0"):
            return True
        return bool(self.operands) and all(d.is_size for d in self.operands)


@dataclass(frozen=True, slots=True)
class Dim(Form[Atom, int]):
    """A linear form over atoms; its terms are sorted by the atoms' text."""

    const: int = 0
    terms: tuple[tuple[Atom, int], ...] = ()

    @staticmethod
    def of(value: int | Dim) -> Dim:
        """The dimension itself, or that of an int."""
        return value if isinstance(value, Dim) else Dim(int(value))

    @staticmethod
    def symbol(name: str) -> Dim:
        return Dim.atom(Atom("symbol", name))

    @staticmethod
    def integer(name: str) -> Dim:
        """An integer value that may be negative (a loop index, a computed number)."""
        return Dim.atom(Atom("int", name))

    def made(self, const: Any, terms: Iterable[tuple[Any, Any]], *others: Dim) -> Dim:
        return Dim(const, tuple(sorted([t for t in terms if t[1]], key=lambda t: str(t[0]))))

    @property
    def is_simple(self) -> bool:
        """Whether its text needs no parentheses in a product."""
        atom = self.as_atom
        return self.is_const or (atom is not None and atom.kind in ("symbol", "int", "max0"))

    @property
    def is_one(self) -> bool:
        return self.is_const and self.const == 1

    @property
    def as_symbol(self) -> str | None:
        """The name of the symbol that this dimension is, of a size or of any integer; None if it is not a single symbol."""
        atom = self.as_atom
        return atom.name if atom is not None and atom.kind in ("symbol", "int") else None

    @staticmethod
    def alike(name: str, other: Dim | None) -> Dim:
        """A symbol with this name: of a size if ``other`` is the symbol of a size, else of any integer."""
        return Dim.symbol(name) if other is not None and other.is_size_symbol else Dim.integer(name)

    @property
    def is_size_symbol(self) -> bool:
        """Whether the form is a single symbol of a size."""
        atom = self.as_atom
        return atom is not None and atom.kind == "symbol"

    @property
    def is_size(self) -> bool:
        """Whether the form is known to be nonnegative: neither the constant nor a coefficient is negative, and all its atoms
        are sizes."""
        return self.const >= 0 and all(c > 0 and a.is_size for a, c in self.terms)

    @property
    def as_min(self) -> tuple[Dim, Dim] | None:
        """The sizes a and b if this is ``a - max(a - b, 0)``, which is ``min(a, b)``; else None."""
        for atom, coef in self.terms:
            if atom.kind == "max0" and coef == -1:
                a = self + Dim.atom(atom)
                b = a - atom.operands[0]
                return (a, b) if a.is_size and b.is_size else None
        return None

    def product(self, other: Dim) -> Dim:
        return Dim.atom(Atom("mul", operands=tuple(sorted((self, other), key=str))))

    def __floordiv__(self, other: int | Dim) -> Dim:
        other = Dim.of(other)
        if other.is_one:
            return self
        if self.is_const and other.is_const and other.const:
            return Dim(self.const // other.const)
        return Dim.atom(Atom("floordiv", operands=(self, other)))

    @property
    def unclipped(self) -> Dim:
        """``d`` if this is ``max(d, 0)``; otherwise itself."""
        atom = self.as_atom
        return atom.operands[0] if atom is not None and atom.kind == "max0" else self

    def clip(self) -> Dim:
        """``max(self, 0)``, the size of a slice that may be empty; itself if it is known to be nonnegative."""
        if self.is_const:
            return Dim(max(self.const, 0))
        if self.is_size:
            return self
        return Dim.atom(Atom("max0", operands=(self,)))

    def symbols(self) -> tuple[str, ...]:
        """The names of its symbols, those inside operations too, each once, in order of appearance."""
        found: dict[str, None] = {}
        for atom, _ in self.terms:
            if atom.kind in ("symbol", "int"):
                found[atom.name] = None
            for operand in atom.operands:
                found.update(dict.fromkeys(operand.symbols()))
        return tuple(found)

    def substitute(self, lookup: Callable[[str], Dim | None]) -> Dim:
        """The form with each symbol replaced by ``lookup(name)``, or kept if ``lookup`` gives None."""
        total = Dim(self.const)
        for atom, coef in self.terms:
            total = total + _substitute_atom(atom, lookup).times(coef)
        return total

    def evaluate(self, sizes: Mapping[str, int]) -> Dim:
        """The form with the known sizes inserted; a constant if all symbols are known."""
        return self.substitute(lambda name: Dim(sizes[name]) if name in sizes else None)

    def __str__(self) -> str:
        if least := self.as_min:
            return f"min({least[0]}, {least[1]})"
        parts: list[str] = []
        for atom, coef in self.terms:
            text = str(atom) if abs(coef) == 1 else f"{abs(coef)} * {atom}"
            if parts:
                parts.append(f"- {text}" if coef < 0 else f"+ {text}")
            else:
                parts.append(f"-{text}" if coef < 0 else text)
        if self.const or not parts:
            if parts:
                parts.append(f"- {-self.const}" if self.const < 0 else f"+ {self.const}")
            else:
                parts.append(str(self.const))
        return " ".join(parts)


def _substitute_atom(atom: Atom, lookup: Callable[[str], Dim | None]) -> Dim:
    """The atom as a form, with each symbol in it replaced by ``lookup(name)``, or kept if ``lookup`` gives None."""
    if atom.kind in ("symbol", "int"):
        found = lookup(atom.name)
        return Dim.atom(atom) if found is None else found
    operands = [d.substitute(lookup) for d in atom.operands]
    if atom.kind == "max0":
        return operands[0].clip()
    if atom.kind == "mul":
        return operands[0] * operands[1]
    return operands[0] // operands[1]


def product(dims: Iterable[Dim]) -> Dim:
    """The product of the dims: the number of elements of an array with these sizes; 1 for none."""
    return reduce(operator.mul, dims, Dim(1))


ANY = Dim.symbol("?")  # in a type: a size that differs between calls, or that is never needed
