"""What a primitive is as an operation on numbers: what passes over sums, products and tests ask, and never its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from transpile.ops.traits import Magnitude, Relation


@dataclass(frozen=True, kw_only=True)
class Algebra:
    """
    - ``relation``: of a comparison, what it compares. ``implies(holds)``: of a test made of tests, which operands hold, or do not,
      if it does.
    - ``signs``: of a sum, how often each operand counts; ``multiplies``, ``divides``: it is the product, the quotient;
      ``extreme``: 1 the greatest, -1 the least.
    - ``unit``: the number that changes nothing as the last operand, but a minus before 0. ``undoes_itself``: done twice it is
      nothing. ``same``: it is its operand, perhaps of another dtype or in other memory. ``of_one``: a fold of one element is
      that element.
    - ``division``: of integers, ``//`` where it is the quotient that is rounded down, ``%`` what is left.
    - ``integers``: the function of Python's integers; None, or an error of Python's, where there is no such integer.
    - ``vanishes``: the operands of which each makes it 0 if it is 0. ``positive``: never a number with a minus. ``bounded``: its
      values are small numbers. ``exact``: it rounds nothing. ``picks``: an element of the result is one of an operand, as it is.
    - ``neutral``: of what is folded with, the number of a dtype that changes nothing. ``folds``: of what a loop that carries its
      first operand folds with it (``sub`` folds what ``add`` does): the name of that primitive. ``fold``: of a fold or a scan, the
      primitive that it folds with.
    - ``magnitude``: of integers, what its absolute value is at most. ``interval``: between which numbers the result lies
      (`transpile.ops.interval_arithmetic`). ``within``: of a place or an end that is brought between 0 and a size, the operand that
      is the size.
    """

    relation: Relation | None = None
    implies: Callable[[bool], tuple[tuple[int, bool], ...]] | None = None
    signs: tuple[int, ...] = ()
    multiplies: bool = False
    divides: bool = False
    extreme: int = 0
    unit: int | None = None
    undoes_itself: bool = False
    same: bool = False
    of_one: bool = False
    division: Literal["", "//", "%"] = ""
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
    within: int | None = None

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum or a difference of two."""
        return len(self.signs) == 2

    @property
    def is_difference(self) -> bool:
        return self.is_sum and self.signs[1] < 0

    @property
    def is_opposite(self) -> bool:
        return self.signs == (-1,)

    @property
    def commutes(self) -> bool:
        return self.multiplies or self.signs == (1, 1)

    @property
    def is_negation(self) -> bool:
        """Whether it is a test that holds where its operand does not."""
        return self.implies is not None and self.implies(True) == ((0, False),)

    @property
    def is_conjunction(self) -> bool:
        """Whether it is a test that holds where both operands do."""
        return self.implies is not None and self.implies(True) == ((0, True), (1, True))

    @property
    def is_polynomial(self) -> bool:
        """Whether it is a sum, a product or an opposite."""
        return bool(self.signs) or self.multiplies

    def degree(self, degrees: Sequence[int]) -> int:
        """Of a polynomial, by those of its operands."""
        return sum(degrees) if self.multiplies else max(degrees)
