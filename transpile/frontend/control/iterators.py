"""Iterators give their items once: what ``zip``, ``map``, ``enumerate``, ``reversed``, ``iter`` and generator expressions make.

Each has a cell, which holds who used it. A second use would find the iterator where the first has left it; that is not followed,
so it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transpile.frontend.lifter import Lifter
from transpile.frontend.values.values import Cell, Generator, Items, Iteration

LAZY = frozenset(
    "builtins.zip builtins.map builtins.filter builtins.enumerate builtins.reversed builtins.iter builtins.isinstance "
    "builtins.type builtins.print builtins.callable builtins.hasattr builtins.getattr builtins.id".split()
)  # functions that use nothing of the iterators that they are given
OF_ITERABLES = frozenset(
    "builtins.zip builtins.map builtins.filter builtins.enumerate builtins.iter builtins.list builtins.tuple builtins.sum "
    "builtins.any builtins.all builtins.sorted builtins.min builtins.max builtins.set builtins.dict".split()
)  # functions that ask an object of the user's for its items


def made(lx: Lifter, kind: str, parts: tuple[Any, ...]) -> Iteration:
    """A new iterator."""
    return Iteration(kind, parts, new_cell(lx))


def handed_on(lx: Lifter, value: Any) -> Any:
    """An iterator for whom the one hands it on to that takes its items."""
    if isinstance(value, Iteration):
        return made(lx, value.kind, tuple(handed_on(lx, part) for part in value.parts))
    return value


def new_cell(lx: Lifter) -> Cell:
    """The cell of a new iterator, which nobody has used."""
    cell = Cell("iterator")
    lx.state.cells[cell] = Items("iterator", ())
    return cell


def use(lx: Lifter, value: Any, node: Any) -> None:
    """Notes that all items are taken, by the expression or statement ``node``."""
    cells = list(_cells(value))
    by = (id(node), lx.frame.code, lx.frame.caller, lx.turns)
    for k, cell in enumerate(cells):
        state = lx.state.cells.get(cell)
        if state is None:
            continue
        if cell in cells[:k] or state.kind != "iterator" or state.cls not in (None, by):
            raise lx.error(
                "T120", "an iterator is used twice: it gives its items once", node, "make a list of it first"
            )
        if state.cls is None:
            lx.state.cells[cell] = Items("iterator", (), None, by)


def _cells(value: Any) -> Iterator[Cell]:
    """The iterators that an iterable is made of, itself first."""
    if isinstance(value, (Iteration, Generator)) and value.cell is not None:
        yield value.cell
    for part in value.parts if isinstance(value, Iteration) else ():
        yield from _cells(part)
