"""Small value classes for the fields of a record, other than types and derivatives."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of Python: its sign, the name of its class in `ast`, and of its special method (and function in
    `operator`)."""

    sign: str
    token: str
    method: str

    @property
    def name(self) -> str:
        """The name of its function in `operator`."""
        return f"{self.method}_" if iskeyword(self.method) else self.method

    @property
    def augmented(self) -> str:
        """The sign of the augmented assignment, such as ``+=``; "" if there is none."""
        return f"{self.sign}=" if hasattr(operator, f"i{self.method}") else ""

    @property
    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(operator, self.name)
        return found


@dataclass(frozen=True, slots=True)
class Relation:
    """A comparison of two numbers, by the cases in which it holds. ``name`` is the name of its primitive."""

    name: str
    less: bool = False
    equal: bool = False
    greater: bool = False

    @property
    def cases(self) -> tuple[bool, bool, bool]:
        return self.less, self.equal, self.greater

    @property
    def negated(self) -> Relation:
        """The relation that holds where this one does not."""
        return _of_cases(not self.less, not self.equal, not self.greater)

    @property
    def turned(self) -> Relation:
        """The relation that holds between ``b`` and ``a`` where this one holds between ``a`` and ``b``."""
        return _of_cases(self.greater, self.equal, self.less)


RELATIONS = (
    Relation("less", less=True),
    Relation("less_equal", less=True, equal=True),
    Relation("greater", greater=True),
    Relation("greater_equal", equal=True, greater=True),
    Relation("equal", equal=True),
    Relation("not_equal", less=True, greater=True),
)
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL = RELATIONS


def _of_cases(*cases: bool) -> Relation:
    return next(r for r in RELATIONS if r.cases == cases)


@dataclass(frozen=True, slots=True)
class Vector:
    """The function of `transpile_runtime.compiled.vector` that computes the same for floats, to ``ulps`` units in the last
    place.

    ``alone``: as fast outside a vectorised loop as inside. The others are several times faster inside one, so that they must
    not end up in a loop that is not vectorised. ``near``: a function that is accurate, or faster, on a range of arguments, and
    the test that finds arguments outside it. Without a ``name`` there is only that function.
    """

    name: str = ""
    alone: bool = False
    near: tuple[str, str] | None = None
    ulps: float = field(default=2.0, compare=False)


@dataclass(frozen=True, slots=True)
class Magnitude:
    """A bound on the absolute value of an integer result: the absolute values of the operands from number ``first`` on, joined
    by a primitive; without a primitive, that of operand ``first``."""

    first: int = 0
    joined: str = ""


def near(function: str, test: str, ulps: float = 2.0) -> Vector:
    """A vector function that holds on a range of arguments only; ``test`` names the function that finds arguments outside
    it."""
    return Vector(near=(function, test), ulps=ulps)
