"""``x.at`` and ``x.at[index]``, before a method of them is called (`transpile.frontend.calls.functional`)."""

from __future__ import annotations

from typing import Any

from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory
from transpile.frontend.values.values import Array, Method, Updates
from transpile.numpy_api import update_methods

Kwargs = dict[str, Any]


def at(lx: Lifter, args: list[Any], kwargs: Kwargs, node: Any) -> Updates:
    """``at(x)``; of a list or a number as of an array."""
    (value,) = [*args, *kwargs.values()]
    if isinstance(value, Array):
        return Updates(value)
    return Updates(memory.new_array(lx, lx.operand(value, node), contiguous=True))


def attribute(lx: Lifter, value: Updates, name: str, node: Any) -> Method:
    """``x.at[index].name``."""
    if value.index is None:
        raise lx.error("T121", f"x.at has no attribute {name!r}", node, update_methods.without_index("x.at", name))
    if name not in update_methods.METHODS:
        raise lx.error("T121", f"x.at[index] has no method {name!r}", node, update_methods.near(name))
    return Method(value, name)


def part(lx: Lifter, value: Updates, index: Any, node: Any) -> Updates:
    """``x.at[index]``."""
    if value.index is not None:
        raise lx.error("T120", "x.at[index] cannot be indexed again", node, "write x.at[i, j], or x.at[index].get()[j]")
    return Updates(value.owner, index)


def refuse_write(lx: Lifter, node: Any) -> None:
    """``x.at[index] = v``."""
    raise lx.error("T123", update_methods.ASSIGNED.format("x.at"), node, update_methods.ASSIGNED_HINT.format("x.at"))
