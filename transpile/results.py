"""What a call gives back: leaves in the types that the caller expects, put together by the result's structure.

A Python float has a Python float for its gradient, a float32 scalar a float32 scalar, a 0-d array a 0-d array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from transpile.core.nodes import Operand, Undef
from transpile.core.types import Type
from transpile.tree import Leaf, Node, Static, Tree, close_node, open_node, walk_leaves

Convert = Callable[[Any], Any]

_PYTHON: dict[str, Convert] = {"float64": float, "int64": int, "bool": bool, "complex128": complex}


def scalar_converter(type_: Type) -> Convert:
    """Makes a scalar of exactly this type."""
    return _PYTHON[type_.dtype] if type_.weak else np.dtype(type_.dtype).type


def converters(yields: Sequence[Operand], tree: Tree | None) -> list[Convert | None]:
    """For each leaf what makes it of its type, None for arrays: they are."""
    arrays = (
        {leaf.k for leaf in walk_leaves(tree) if isinstance(leaf, Leaf) and leaf.zero_dim}
        if tree is not None
        else set()
    )

    def one(k: int, y: Operand) -> Convert | None:
        if y.type.dims or isinstance(y, Undef):
            return None
        return partial(np.array, dtype=y.type.dtype) if k in arrays else scalar_converter(y.type)

    return [one(k, y) for k, y in enumerate(yields)]


def assemble_flat(tree: Tree | None, convert: Sequence[Convert | None]) -> Callable[[Any], Any]:
    """From what a kernel returns (a tuple of leaves, or the only one) to the result."""
    count = len(convert)
    if tree is None:
        tree = Leaf(0) if count == 1 else Node("tuple", tuple(Leaf(k) for k in range(count)))

    def leaves(out: Any) -> list[Any]:
        values = out if count != 1 else (out,)
        return [v if c is None else c(v) for v, c in zip(values or (), convert)]

    if isinstance(tree, Leaf) and count == 1:
        only = convert[0]
        return (lambda out: out) if only is None else only
    if isinstance(tree, Node) and tree.kind == "tuple" and tree.children == tuple(Leaf(k) for k in range(count)):
        if not any(convert):
            return lambda out: out if count != 1 else (out,)
        return lambda out: tuple(leaves(out))
    return lambda out: rebuild(tree, leaves(out))


def rebuild(tree: Tree, leaves: Sequence[Any]) -> Any:
    if isinstance(tree, Leaf):
        return leaves[tree.k]
    if isinstance(tree, Static):
        return tree.value
    assert isinstance(tree, Node)
    return close_node(tree, [rebuild(c, leaves) for c in tree.children])


def adjust_tree(tree: Tree | None, convert: Sequence[Convert | None]) -> Callable[[Any], Any] | None:
    """From what generated Python returns (the structure itself) to the result; None if nothing has to be done."""
    if tree is None:
        tree = Leaf(0)
    if not any(convert) and not _has_dataclass(tree):
        return None
    if isinstance(tree, Leaf):
        return convert[tree.k]
    return lambda out: _adjust(tree, out, convert)


def _has_dataclass(tree: Tree) -> bool:
    return isinstance(tree, Node) and any(_has_dataclass(c) for c in tree.children)


def _adjust(tree: Tree, value: Any, convert: Sequence[Convert | None]) -> Any:
    if isinstance(tree, Leaf):
        c = convert[tree.k]
        return value if c is None else c(value)
    if not isinstance(tree, Node):
        return tree.value if isinstance(tree, Static) else value
    found = open_node(value)
    assert found is not None, value
    return close_node(tree, [_adjust(t, v, convert) for t, v in zip(tree.children, found[1])])
