"""Functions as what the forward rule of a `custom_vjp` keeps for the backward rule: pullbacks of `vjp`, maps of `linearize`,
partials. In the tree of what is kept each is a node, whose children are the values that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from transpile.aggregates import Node
from transpile.aggregates import Static as StaticTree
from transpile.frontend.calls import surroundings
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.parts import parts, with_parts
from transpile.frontend.values.stand import Stand, opened, stacked
from transpile.frontend.values.values import Bound, Closure, Static, Tuple

KIND = "function"


def is_kept(lx: Lifter, value: Any) -> bool:
    """Whether the result is for the backward rule, and is a function that reads nothing of the forward rule: what a pullback reads
    of it is among its arguments."""
    if lx.outer is None or not lx.outer.keeps or not _is_function(value):
        return False
    held = value.function.value if isinstance(value, Bound) and isinstance(value.function, Static) else None
    return isinstance(held, surroundings.Holding) or not surroundings.of(lx, value)


def _is_function(value: Any) -> bool:
    return isinstance(value, (Bound, Closure)) or isinstance(value, Static) and opened(value) is not None


def taken_apart(lx: Lifter, value: Any, tree: Callable[[Any], Any]) -> Node:
    """The node that the function is, its children by ``tree`` where they are no functions."""

    def child(part: Any) -> Any:
        if _is_function(part):
            return Node(KIND, tuple(map(child, parts(part))), (), part)
        if isinstance(part, Tuple) and part.cls is None:
            return Node("tuple", tuple(map(child, part.items)))
        return StaticTree(Stand(part, lx.outer)) if isinstance(part, Static) else tree(part)

    made: Node = child(value)
    return made


def put_together(lx: Lifter, node: Node, items: Sequence[Any]) -> Any:
    """The function with these parts, in the lifter of the backward rule."""
    made = with_parts(node.cls, tuple(items))
    found = opened(made) if isinstance(made, Static) else None
    return made if found is None else stacked(found[0], Stand(found[1].value, lx))
