"""What a record says of a primitive beside its types and derivatives: small values, each asked for by somebody who does not know
the primitive by its name."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """Python's operator: its sign, the name of its class in `ast`, and of its special method (and its function in `operator`)."""

    sign: str
    token: str
    method: str

    @property
    def name(self) -> str:
        """That of its function in `operator`."""
        return f"{self.method}_" if iskeyword(self.method) else self.method

    @property
    def augmented(self) -> str:
        """How Python says it of what gets the result; "" where it has no such sign."""
        return f"{self.sign}=" if hasattr(operator, f"i{self.method}") else ""

    @property
    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(operator, self.name)
        return found


@dataclass(frozen=True, slots=True)
class Relation:
    """A comparison, by in which of three cases of two numbers it holds. ``name`` is that of its primitive."""

    name: str
    less: bool = False
    equal: bool = False
    greater: bool = False

    @property
    def cases(self) -> tuple[bool, bool, bool]:
        return self.less, self.equal, self.greater

    @property
    def negated(self) -> Relation:
        """What holds where this does not."""
        return _of_cases(not self.less, not self.equal, not self.greater)

    @property
    def turned(self) -> Relation:
        """The same, said of ``b`` and ``a``."""
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
    """The function of `transpile_runtime.compiled.vector` that computes the same of floats, to ``ulps`` units in the last place.

    ``alone``: as fast outside of a loop that LLVM vectorises as in one; the others gain several times their own time there, so that
    they must not end up in a loop that has no vectors. ``near``: a function that is right, or still faster, where a test of the
    arguments holds, and the test. Without a ``name`` there is only that one.
    """

    name: str = ""
    alone: bool = False
    near: tuple[str, str] | None = None
    ulps: float = field(default=2.0, compare=False)


@dataclass(frozen=True, slots=True)
class Magnitude:
    """What the absolute value of an integer result is at most: those of the operands from number ``first`` on, joined by a
    primitive; without one that of the ``first``."""

    first: int = 0
    joined: str = ""


def near(function: str, test: str, ulps: float = 2.0) -> Vector:
    return Vector(near=(function, test), ulps=ulps)
