"""A primitive as an operation on numbers: passes over sums, products and tests ask for these properties, never for its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from transpile.ops.traits import Magnitude, Relation


@dataclass(frozen=True, kw_only=True)
class Algebra:
    """The algebraic properties of a primitive; a default claims nothing.

    - ``relation``: the relation that a comparison tests. ``implies(holds)``: for a test of other tests, the operands whose
      truth value follows from that of the result, as pairs (operand, truth value).
    - ``signs``: for a sum, the sign of each operand. ``multiplies``, ``divides``: it is the product, the quotient.
      ``is_power``: the first operand to the power of the second. ``extreme``: 1 for a maximum, -1 for a minimum.
    - ``unit``: the right identity: as the last operand this number changes nothing, except the sign of a negative zero.
      ``undoes_itself``: applied twice it is the identity. ``same``: the result equals its operand, perhaps in another dtype or
      other memory. ``of_one``: a fold of one element is that element. ``plain``: the reduction is nothing but the fold.
      ``rounds``: for a primitive with an integer result, the primitive that gives the same number as a float.
    - ``division``: on integers, ``//`` for the floor quotient, ``%`` for the remainder. ``below``: the result lies between 0
      and the last operand, and is less than it or at most equal to it (where the last operand allows that). If the operands are
      not negative and the first one satisfies this, the result is the first operand; else, with "at most", it is the last one.
    - ``integers``: the function on Python's integers; it gives None, or raises an error of Python's, where the result is no
      integer.
    - ``vanishes``: the numbers of the operands that each make the result 0 if they are 0. ``positive``: the result is never
      negative, and never -0.0. ``bounded``: the results are small numbers. ``exact``: nothing is rounded. ``picks``: each
      element of the result is an unchanged element of an operand.
    - ``neutral(dtype)``: the neutral element of a fold with this primitive. ``folds``: a loop that carries the first operand
      folds with the primitive of this name (``sub`` folds as ``add`` does). ``fold``: for a reduction or scan, the primitive
      that it folds with.
    - ``magnitude``: a bound on the absolute value of an integer result. ``interval``: the interval of the result, computed from
      those of the operands (`transpile.ops.interval_arithmetic`).
    """

    relation: Relation | None = None
    implies: Callable[[bool], tuple[tuple[int, bool], ...]] | None = None
    signs: tuple[int, ...] = ()
    multiplies: bool = False
    divides: bool = False
    is_power: bool = False
    extreme: int = 0
    unit: int | None = None
    undoes_itself: bool = False
    same: bool = False
    of_one: bool = False
    plain: bool = False
    rounds: str = ""
    division: Literal["", "//", "%"] = ""
    below: Relation | None = None
    integers: Callable[..., Any] | None = None
    vanishes: tuple[int, ...] = ()
    positive: bool = False
    bounded: bool = False
    exact: bool = False
    picks: bool = False
    neutral: Callable[[str], Any] | None = None
    folds: str = ""
    fold: str = ""
    magnitude: Magnitude | None = None
    interval: Any = None

    @property
    def is_sum(self) -> bool:
        """Whether the primitive is a sum or a difference of two operands."""
        return len(self.signs) == 2

    @property
    def is_difference(self) -> bool:
        return self.is_sum and self.signs[1] < 0

    @property
    def is_opposite(self) -> bool:
        return self.signs == (-1,)

    @property
    def is_plain_sum(self) -> bool:
        """Whether the primitive is the sum over axes (`np.sum`)."""
        return self.plain and self.fold == "add"

    @property
    def commutes(self) -> bool:
        return self.multiplies or self.signs == (1, 1)

    @property
    def is_negation(self) -> bool:
        """Whether the primitive is the logical not."""
        return self.implies is not None and self.implies(True) == ((0, False),)

    @property
    def is_conjunction(self) -> bool:
        """Whether the primitive is a test that holds if both operands hold."""
        return self.implies is not None and self.implies(True) == ((0, True), (1, True))

    @property
    def is_disjunction(self) -> bool:
        """Whether the primitive is a test that holds if at least one of its two operands holds."""
        return self.implies is not None and self.implies(False) == ((0, False), (1, False))

    @property
    def is_polynomial(self) -> bool:
        """Whether the primitive is a sum, a difference, a product or a negated operand."""
        return bool(self.signs) or self.multiplies

    def degree(self, degrees: Sequence[int]) -> int:
        """The degree of a polynomial primitive's result: of a product the sum of the operands' ``degrees``, else their
        maximum."""
        return sum(degrees) if self.multiplies else max(degrees)
