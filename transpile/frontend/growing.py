"""Lists that a loop appends to, and comprehensions of a length that only the run knows."""

from __future__ import annotations

from typing import Any, NoReturn

from transpile.frontend.lifter import Lifter


def restructured(carrying: Any, cell: Any, held: Any, now: Any) -> NoReturn:
    """A container whose structure a trip changes."""
    from transpile.frontend.carrying import StructureChanges

    raise StructureChanges(
        carrying.lx.error("T119", "a list or dict changes its structure from trip to trip of this loop", carrying.node,
                          hint="fill an array of known size instead")  # fmt: skip
    )


def stacked(lx: Lifter, value: Any) -> Any:
    raise NotImplementedError


def item(lx: Lifter, value: Any, index: Any, node: Any) -> Any:
    raise NotImplementedError


def length(lx: Lifter, value: Any) -> Any:
    raise NotImplementedError


def append(lx: Lifter, owner: Any, item: Any, node: Any) -> Any:
    raise NotImplementedError


def filled(lx: Lifter, value: Any, node: Any) -> Any:
    """A comprehension as an array that a loop fills."""
    raise lx.error("T112", "a comprehension over a length that only the run knows", node, hint="write it as a loop")
