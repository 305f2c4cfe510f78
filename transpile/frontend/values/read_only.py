"""Containers that whoever made them would not see changed."""

from __future__ import annotations

from transpile.frontend.lifter import Lifter
from transpile.frontend.values.values import Cell

HANDED_ON = "a list, dict or object that a recursive function is called with cannot be changed in it"
GIVEN = "jit cannot change a list, dict or object of its caller, who would see it as it was"
_HINTS = {HANDED_ON: "return a new one", GIVEN: "change a copy of it, and return that"}


def refuse(lx: Lifter, cell: Cell) -> None:
    """Refuses to change a container that whoever made it would not see changed."""
    if cell.readonly:
        hint = "pass it in as an argument, or make it inside the function"
        raise lx.error("T123", cell.readonly, hint=_HINTS.get(cell.readonly, hint))
