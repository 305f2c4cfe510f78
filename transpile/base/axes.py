"""The axes of `transpile.vmap`: trees of ints and None; each int or None applies to the whole subtree of the argument at its
place.

>>> axes = axes_tree({"w": 0, "b": None}, "in_axes")
>>> from transpile.aggregates import flatten
>>> spread(axes, flatten({"w": (1.0, 2.0), "b": 3.0})[1], "in_axes")
[0, 0, None]
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.aggregates import Meta, Node, Static, Tree, open_node, structure_text, walk_leaves
from transpile.base.loc import NOWHERE, Loc
from transpile.errors import error

Axes = Static | Node
Axis = int | None


def axes_tree(given: Any, what: str) -> Axes:
    """The user's axes as a tree; a tree (from transformed code) is returned unchanged. T601, in which ``what`` names the
    argument, unless ``given`` consists of ints and None in containers. A list becomes a tuple. The auxiliary data of a
    registered class are no axes."""
    if isinstance(given, (Static, Node)):  # from transformed code
        return given
    if given is None or type(given) is Meta:
        return Static(given)
    opened = None if isinstance(given, bool) else open_node(given)
    if opened is not None:
        kind, children, keys, cls = opened
        return Node("tuple" if kind == "list" else kind, tuple(axes_tree(c, what) for c in children), keys, cls)
    try:
        if isinstance(given, bool):
            raise TypeError
        return Static(operator.index(given))
    except TypeError:
        shown, hint = repr(given), "0 is the first axis; None is for what the whole batch shares"
        if isinstance(given, np.ndarray):
            shown, hint = "an array", "write vmap(f)(x): pass the arguments to the function that vmap returns"
        raise error("T601", f"{what} must be an int, None, or a tree of these, not {shown}", hint=hint) from None


def axes_text(axes: Axes) -> str:
    """The axes as the user would write them."""
    return structure_text(axes)


def of_arguments(axes: Axes, args: Sequence[Tree]) -> list[Axis]:
    """The axis of each leaf of the positional arguments ``args``, in one list. A single int or None applies to all of them; a
    container must be a tuple with one entry for each argument (T601)."""
    if isinstance(axes, Node) and (axes.kind != "tuple" or len(axes.children) != len(args)):
        count = f"{len(args)} argument{'s' * (len(args) != 1)}"
        what = f"in_axes={axes_text(axes)}"
        if axes.kind != "tuple":
            hint = "an argument that is passed by name has its batch axis at 0"
            raise error("T601", f"{what}: expected an int, None or a tuple with one entry for each argument", hint=hint)
        number = len(axes.children)
        hint = "write one entry for each positional argument; for one argument that is a tuple, in_axes=((0, 0),)"
        raise error("T601", f"{what} has {number} entr{'y' if number == 1 else 'ies'} for {count}", hint=hint)
    each = axes.children if isinstance(axes, Node) else (axes,) * len(args)
    found: list[Axis] = []
    for k, (axis, arg) in enumerate(zip(each, args)):
        found += spread(axis, arg, f"in_axes[{k}]" if isinstance(axes, Node) else "in_axes")
    return found


def spread(axes: Axes, tree: Tree, where: str, loc: Loc = NOWHERE) -> list[Axis]:
    """The axis of each leaf of ``tree``, in order; each int or None in ``axes`` applies to the whole subtree there. T601 at
    ``loc`` if ``axes`` is no prefix of the tree; ``where`` names the axes in the message."""
    if isinstance(axes, Static):
        return [axes.value for _ in walk_leaves(tree)]
    if not isinstance(tree, Node) or not _fits(axes, tree):
        shown = structure_text(tree) if isinstance(tree, Node) else "a single array or number"
        hint = "write one int or None for all of it, or a tree with the same keys and lengths"
        part = "result" if where.startswith("out") else "argument"
        message = f"{where} is {axes_text(axes)}, which does not fit the {part}: {shown}"
        raise error("T601", message, loc, hint)
    keys = axes.keys if axes.keys and axes.kind != "registered" else range(len(axes.children))
    if tree.kind == "dict":  # the insertion order of keys does not matter
        parts = [(key, axes.children[axes.keys.index(key)], child) for key, child in zip(tree.keys, tree.children)]
    else:
        parts = list(zip(keys, axes.children, tree.children))
    return [axis for key, a, child in parts for axis in spread(a, child, f"{where}[{key!r}]", loc)]


def _fits(axes: Node, tree: Node) -> bool:
    """True if a container of axes fits the container ``tree``: the same class and size, of dicts the same keys in any order.
    Tuples and lists fit each other."""
    if tree.kind == "dict":
        return axes.kind == "dict" and set(axes.keys) == set(tree.keys)
    plain = ("tuple", "list")
    same = axes.kind == tree.kind and axes.cls is tree.cls or axes.kind in plain and tree.kind in plain
    return same and len(axes.children) == len(tree.children)
