"""Results of a call: leaves converted to the types that the caller expects, in the structure of the result.

The gradient of a Python float is a Python float, of a float32 scalar a float32 scalar, of a 0-d array a 0-d array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from transpile.aggregates import Leaf, Node, Static, Tree, close_own, open_node

Convert = Callable[[Any], Any]
# the kind, "python" (number), "numpy" (scalar), "array" (of rank 0) or "entries" (cast of an array), and the dtype
Wanted = tuple[str, str] | None


def _whole(value: Any) -> Any:
    """The value as a Python integer; a float is unchanged: an integer to a power that turns out to be negative at run time."""
    return value if type(value) is float else int(value)


_PYTHON: dict[str, Convert] = {"float64": float, "int64": _whole, "bool": bool}


def converter(wanted: Wanted) -> Convert | None:
    """The function that converts a leaf to the wanted type; None if no conversion is needed."""
    if wanted is None:
        return None
    kind, dtype = wanted
    if kind == "entries":
        return partial(np.asarray, dtype=dtype)
    if kind == "array":
        return partial(np.array, dtype=dtype)
    return _PYTHON[dtype] if kind == "python" else np.dtype(dtype).type


def assemble_flat(given: Tree | None, convert: Sequence[Convert | None]) -> Callable[[Any], Any]:
    """The function from a kernel's return value (a tuple of leaves, or the only leaf) to the result, whose structure is
    ``given`` (None: as returned). ``convert`` has one entry per leaf, None if it stays as it is."""
    count = len(convert)
    tree = flat_tree(given, count)

    def leaves(out: Any) -> list[Any]:
        values = out if count != 1 else (out,)
        return [v if c is None else c(v) for v, c in zip(values or (), convert)]

    return lambda out: rebuild(tree, leaves(out))


def flat_tree(tree: Tree | None, count: int) -> Tree:
    """The structure of a result of ``count`` leaves; if ``tree`` is None, a tuple of them or the only leaf."""
    if tree is not None:
        return tree
    return Leaf(0) if count == 1 else Node("tuple", tuple(Leaf(k) for k in range(count)))


def is_as_returned(tree: Tree, convert: Sequence[Convert | None]) -> bool:
    """True if a kernel's return value is the result as it stands: no leaf is converted, and the result is the only leaf or a
    flat tuple of all leaves in order."""
    if any(convert):
        return False
    count = len(convert)
    if count == 1:
        return isinstance(tree, Leaf)
    return bool(count) and tree == Node("tuple", tuple(Leaf(k) for k in range(count)))


def rebuild(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The value with this structure and these leaves, by number; static content is copied."""
    if isinstance(tree, Leaf):
        return leaves[tree.k]
    if isinstance(tree, Static):
        return tree.fresh()
    assert isinstance(tree, Node)
    return close_own(tree, [rebuild(c, leaves) for c in tree.children])


def adjust_tree(tree: Tree | None, convert: Sequence[Convert | None]) -> Callable[[Any], Any] | None:
    """The function from the return value of generated Python (already structured) to the result; None if no leaf is converted.

    ``tree`` None: the value is the only leaf. ``convert`` has one entry per leaf, None if it stays as it is.
    """
    if tree is None:
        tree = Leaf(0)
    if not any(convert):
        return None
    if isinstance(tree, Leaf):
        return convert[tree.k]
    return lambda out: _adjust(tree, out, convert)


def _adjust(tree: Tree, value: Any, convert: Sequence[Convert | None]) -> Any:
    """``value`` with its leaves converted and its containers rebuilt as those of ``tree``; static parts come from the tree."""
    if isinstance(tree, Leaf):
        c = convert[tree.k]
        return value if c is None else c(value)
    if not isinstance(tree, Node):
        return tree.fresh() if isinstance(tree, Static) else value
    found = open_node(value)
    assert found is not None, value
    return close_own(tree, [_adjust(t, v, convert) for t, v in zip(tree.children, found[1])])
