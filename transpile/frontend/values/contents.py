"""What lists, dicts and instances hold, read and replaced."""

from __future__ import annotations

from typing import Any

from transpile.frontend.control import dynamic_lists
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import aliases, read_only
from transpile.frontend.values.values import Cell, Items, Ref


def items(lx: Lifter, value: Ref, node: Any = None) -> Items:
    """What a list, dict or instance holds."""
    state: Items = lx.state.cells[value.cell]
    if state.kind == "conflict":
        dynamic_lists.use_inside(lx, value.cell, state)
        message = "the number of items of this list, dict or object depends on the data"
        raise lx.error("T118", message, node, "fill an array of known size, or append on both paths")
    return state


def replace_items(lx: Lifter, cell: Cell, new: tuple[Any, ...], keys: tuple[Any, ...] | None = None) -> None:
    """Gives a container other contents."""
    state: Items = lx.state.cells[cell]
    read_only.refuse(lx, cell)
    aliases.check_write(lx, cell)
    if state.kind == "list" and len(new) != len(state.items):
        dynamic_lists.changes_length(lx, cell, state.items, new)
    lx.state.cells[cell] = Items(state.kind, new, state.keys if keys is None else keys, state.cls)
