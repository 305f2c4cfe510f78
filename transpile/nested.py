"""What `vjp`, `jvp` and `linearize` do with values, and the plain forms of them that are lifted inside user code."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.errors import error
from transpile.tree import flatten, number_leaves, structure_text, unflatten


def own(values: Any) -> Any:
    """The values with arrays of their own, so that what the caller writes later is not seen."""
    leaves, tree = flatten(values)
    return unflatten(tree, [np.array(v) if isinstance(v, np.ndarray) else v for v in leaves])


def fitted(like: Any, given: Any, what: str) -> Any:
    """``given`` with the leaves' dtypes of ``like``; raises unless it has its structure, and the shapes of its leaves of
    floating point."""
    wanted, tree = flatten(like)
    found, other = flatten(given)
    if not wanted:
        return given
    if len(wanted) != len(found) or tree != other:
        if any(_is_float(a) for a in wanted):
            raise error("T309", f"{what} is {_text(given)}, expected {_text(like)}")
        return given
    return unflatten(other, [_fitted_leaf(a, b, what) for a, b in zip(wanted, found)])


def _text(value: Any) -> str:
    """A value for messages: its structure, with a word for each leaf."""
    leaves, tree = flatten(value)
    (tree,), _ = number_leaves([tree])
    return structure_text(tree, lambda leaf: _word(leaves[leaf.k]))


def _word(leaf: Any) -> str:
    return f"an array of shape {np.shape(leaf)}" if np.shape(leaf) else "a number"


def _is_float(value: Any) -> bool:
    return np.result_type(value).kind in "fc"


def _fitted_leaf(like: Any, given: Any, what: str) -> Any:
    if not _is_float(like):
        return given
    if np.shape(like) != np.shape(given):
        raise error("T309", f"{what} has shape {np.shape(given)}, expected {np.shape(like)}")
    dtype = np.result_type(like)
    if np.result_type(given).kind == "c" and dtype.kind != "c":
        raise error("T309", f"{what} is complex, expected {dtype}")
    if isinstance(like, np.ndarray):
        return np.asarray(given, dtype)
    return float(given) if type(like) is float else dtype.type(given)
