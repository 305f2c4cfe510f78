"""Containers that whoever made them would not see changed."""

from __future__ import annotations

from transpile.frontend.lifter import Lifter
from transpile.frontend.values.values import Cell

HANDED_ON = "a recursive function cannot change a list, dict or object that it is called with"
GIVEN = "compiled code cannot change a list, dict or object of the caller"
_HINTS = {HANDED_ON: "return a new one", GIVEN: "change a copy of it, and return the copy"}


def refuse(lx: Lifter, cell: Cell) -> None:
    """Refuses to change a container that whoever made it would not see changed."""
    if cell.readonly:
        hint = "pass it as an argument, or make it inside the function"
        raise lx.error("T123", cell.readonly, hint=_HINTS.get(cell.readonly, hint))
