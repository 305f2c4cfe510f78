"""Where lifting is: the scopes of names, and what names and cells hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from transpile.core import nodes as ir
from transpile.frontend.values.values import Cell


@dataclass(frozen=True, eq=False)
class Opposite:
    """The fact that an operand is false."""

    test: ir.Operand


@dataclass(eq=False)
class Frame:
    """One run of a user's function, or of a comprehension: a scope of names."""

    code: Any  # transpile.frontend.sources.sources.Code
    parent: Frame | None = None  # the scope around it in the source
    caller: ir.Loc | None = None
    locals: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()  # names that are declared nonlocal
    depth: int = 0
    live: frozenset[str] | None = None  # the names that are still read after the statement that runs
    stmt: Any = None  # the statement that runs
    keep: bool = False  # a function that was defined in it may outlive it
    up: Frame | None = None  # the frame of the call
    result: Any = None  # what its return statement gave
    turns: Any = ()  # which of several runs of one place it is, the same in every attempt: see `Lifting.turn`
    entered: dict[Any, int] = field(default_factory=dict)  # how often its statement has entered each function


@dataclass
class State:
    """What the names and the cells hold at one point of the program."""

    vars: dict[tuple[Frame, str], Any] = field(default_factory=dict)
    cells: dict[Cell, Any] = field(default_factory=dict)

    def fork(self) -> State:
        return State(dict(self.vars), dict(self.cells))
