"""Access to the parts of a container, as expression nodes."""

from __future__ import annotations

import ast

from transpile.aggregates import Node
from transpile.base import making
from transpile.codegen.templates import literal


def part_of(tree: Node, k: int, base: ast.expr) -> ast.expr:
    """The node of child ``k`` of the container ``tree`` whose node is ``base``: an attribute or a subscript.

    The fields of a dataclass are attributes, those of a namedtuple too, unless reading one may run code of its class. A dict is
    subscripted by its key, anything else by ``k``.
    """
    if tree.kind == "dataclass" or tree.kind == "namedtuple" and not making.is_descriptor(tree.cls, tree.keys[k]):
        return ast.Attribute(base, tree.keys[k], ast.Load())
    key = tree.keys[k] if tree.kind == "dict" else k
    return ast.Subscript(base, literal(key), ast.Load())
