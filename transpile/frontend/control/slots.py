"""What the lifting of a loop is about: the carried names and containers, and what is learnt on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from transpile.core import nodes as ir
from transpile.frontend.lifter import Lifter
from transpile.frontend.state import State
from transpile.frontend.values.values import Items

Key = Any  # (frame, name), or a cell that holds a list, dict or instance


SMALL = 32  # trips of a loop that is unrolled because the structure of its values changes


class Again(Exception):
    """Something was learnt: lift the body again."""


@dataclass
class Slot:
    """One carried name or container: its value before the loop, and the parameters for its leaves."""

    key: Key
    entry: Any  # the value, or Items; None: unassigned before the loop
    params: list[ir.Var] = field(default_factory=list)
    inits: list[ir.Operand] = field(default_factory=list)
    inside: Any = None  # the value when the body begins
    skeleton: Any = None  # and its structure, taken then: the body may forget the arrays that it begins with
    places: dict[int, None] | None = (
        None  # of a container: the items that the body changes; the others stay what they are
    )
    numbers: list[int] = field(default_factory=list)  # of the parameters: which leaves they are
    short: list[int] = field(default_factory=list)  # the axes that get shorter: see `shrinking`
    kinds: list[str] = field(default_factory=list)  # of all leaves, when the body begins: see `carries.kinds`

    def parts(self, held: Any) -> tuple[Any, ...]:
        """The values that are carried, of what the name or container holds."""
        if not isinstance(held, Items):
            return (held,)
        return tuple(v for k, v in enumerate(held.items) if self.places is None or k in self.places)


@dataclass
class Body:
    """A lifted loop: what the node needs."""

    block: ir.Block
    inits: tuple[ir.Operand, ...]
    results: tuple[ir.Var, ...]
    test: ir.Block | None


class StructureChanges(Exception):
    """A carried value has another structure or shape after a trip; ``why`` is the diagnostic if nothing helps."""

    def __init__(self, why: Any) -> None:
        super().__init__(why)
        self.why = why


def state_around(lx: Lifter) -> State:
    """The state around the body that is being lifted."""
    return lx.outer_states[-1]


class Once:
    """An operand that is computed when it is first asked for, at each place anew."""

    def __init__(self, make: Callable[[], ir.Operand]) -> None:
        self.make = make

    def __call__(self) -> ir.Operand:
        return self.make()


def same(a: Any, b: Any) -> bool:
    """Whether a name holds what it held before."""
    return a is b or (type(a) is type(b) and a == b)
