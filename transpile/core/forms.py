"""Linear forms: a constant plus atoms with nonzero coefficients. Two forms are equal if constants and terms are, whatever the
atoms are.

The meaning of an atom is up to the user of a form: a symbol or an operation on sizes (`transpile.core.dims`), an integer
variable (`transpile.analysis.affine`), a product of unknowns (`transpile.reports.formula`), or any name
(`transpile.analysis.fourier_motzkin`).

>>> i, j = Form.atom("i"), Form.atom("j")
>>> (i + 1).plus(j, -2) == 1 - j * 2 + i
True
>>> (i * 3 - 1).replaced("i", j + 2) == j * 3 + 5
True
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from transpile.core.algebra_protocol import Operation

A = TypeVar("A", bound=Hashable)
N = TypeVar("N", int, Fraction)
F = TypeVar("F", bound="Form[Any, Any]")


@dataclass(frozen=True, slots=True, eq=False)
class Form(Generic[A, N]):
    """``const + sum(coefficient * atom)``. The terms keep their order of insertion, so that output derived from a form is
    reproducible; a subclass may order them differently (`made`)."""

    const: N = 0  # type: ignore[assignment]
    terms: Collection[tuple[A, N]] = ()

    @classmethod
    def atom(cls: type[F], atom: Hashable) -> F:
        """The form that is a single atom."""
        return cls(0, ((atom, 1),))

    def made(self: F, const: Any, terms: Iterable[tuple[Any, Any]], *others: F) -> F:
        """A form of this class from a constant and terms, of which those with coefficient 0 are left out; ``others`` are the
        other forms that the new form comes from."""
        return type(self)(const, tuple([t for t in terms if t[1]]))

    def with_const(self: F, const: Any) -> F:
        """The form with another constant and the same terms."""
        return type(self)(const, self.terms)

    @property
    def key(self) -> frozenset[tuple[A, N]]:
        """The terms as a set: equal for forms that differ only in the constant."""
        return frozenset(self.terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Form) or self.const != other.const or len(self.terms) != len(other.terms):
            return False
        return self.terms == other.terms or self.key == other.key

    def __hash__(self) -> int:
        return hash((self.const, self.key))

    # ---- arithmetic

    def plus(self: F, other: F | int | Fraction, times: int | Fraction = 1) -> F:
        """The form plus ``times * other``, where ``other`` is a form or a number."""
        if not isinstance(other, Form):
            return self.with_const(self.const + times * other)
        found = dict(self.terms)
        for atom, coefficient in other.terms:
            found[atom] = found.get(atom, 0) + times * coefficient
        return self.made(self.const + times * other.const, found.items(), other)

    def times(self: F, factor: int | Fraction) -> F:
        return self.made(self.const * factor, [(a, c * factor) for a, c in self.terms])

    def __add__(self: F, other: F | int | Fraction) -> F:
        return self.plus(other)

    def __radd__(self: F, other: int | Fraction) -> F:
        return self.plus(other)

    def __sub__(self: F, other: F | int | Fraction) -> F:
        return self.plus(other, -1)

    def __rsub__(self: F, other: int | Fraction) -> F:
        return self.times(-1).plus(other)

    def __neg__(self: F) -> F:
        return self.times(-1)

    def __mul__(self: F, other: F | int | Fraction) -> F:
        """The product with a number or a form; that of two nonconstant forms is `product`."""
        if not isinstance(other, Form):
            return self.times(other)
        if self.terms and other.terms:
            return self.product(other)
        return other.times(self.const) if not self.terms else self.times(other.const)

    def __rmul__(self: F, other: int | Fraction) -> F:
        return self.times(other)

    def product(self: F, other: F) -> F:
        """The product of two nonconstant forms: `NotLinear`, unless a subclass defines it."""
        raise NotLinear

    # ---- what is in it

    @property
    def is_const(self) -> bool:
        return not self.terms

    @property
    def atoms(self) -> frozenset[A]:
        return frozenset(a for a, _ in self.terms)

    @property
    def as_atom(self) -> A | None:
        """The atom, if the form is a single atom; else None."""
        if self.const == 0 and len(self.terms) == 1:
            ((atom, coefficient),) = self.terms
            return atom if coefficient == 1 else None
        return None

    def coefficient(self, atom: A) -> Any:
        return next((c for a, c in self.terms if a == atom), 0)

    def without(self: F, atom: Hashable) -> F:
        return self.made(self.const, [t for t in self.terms if t[0] != atom])

    def replaced(self: F, atom: Hashable, by: F) -> F:
        """The form with ``by``, a form, substituted for the atom."""
        coefficient = self.coefficient(atom)
        return self.without(atom).plus(by, coefficient) if coefficient else self


class NotLinear(ArithmeticError):
    """A product of two nonconstant forms."""


def of_operation(record: Operation, forms: Sequence[F]) -> F | None:
    """The form of an integer that this primitive computes from integers with these forms: a sum, a product, or the operand
    itself.

    None for other primitives, and for a product that is not linear.
    """
    if record.same:
        return forms[0]
    if not record.signs and not record.multiplies:
        return None
    try:
        if record.multiplies:
            return functools.reduce(operator.mul, forms)
        return functools.reduce(operator.add, (f if sign > 0 else -f for f, sign in zip(forms, record.signs)))
    except NotLinear:
        return None
