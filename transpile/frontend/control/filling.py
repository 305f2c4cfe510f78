"""List comprehensions: a known list, or a loop that appends where only the run knows how many items there are."""

from __future__ import annotations

from typing import Any

import gast

from transpile.frontend.control import comprehensions, generator_folds
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import containers
from transpile.frontend.values.convert import new_list
from transpile.frontend.values.values import Generator


def list_of(lx: Lifter, node: gast.ListComp) -> Any:
    """``[element for ... in ...]``."""
    first = comprehensions.first_of(lx, node)
    found = comprehensions.items_of(lx, node, first)
    if found is not None:
        return new_list(lx, found)
    return filled(lx, Generator(node, lx.frame, first), node)


def filled(lx: Lifter, value: Any, node: Any) -> Any:
    """A list comprehension over a length that only the run knows: a loop that appends."""
    made = new_list(lx, [])

    def one(item: Any) -> None:
        containers.METHODS["list", "append"](lx, made, [item], {}, node)

    saved = lx.frame
    outer = generator_folds.frame_of(lx, node)
    lx.frame = outer
    try:
        lx.state.vars[outer, generator_folds.TOTAL] = made
        generator_folds.generated(lx, value, one, node)
        lx.state.vars.pop((outer, generator_folds.TOTAL))
    finally:
        lx.frame = saved
    return made
