"""Values in `vjp`, `jvp` and `linearize`: copies of primals, and checks of tangents and cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.aggregates import Node, close_node, flatten, number_leaves, open_node, structure_text, unflatten
from transpile.base.foreign_arrays import as_arrays
from transpile.base.signature import plain_array
from transpile.errors import error

LIKE = "pass values of the same structure and shapes as the primals or the result that they belong to"


def own(values: Any) -> Any:
    """A copy of the values, a tree, so that later writes of the caller are not seen; arrays that share memory do so within the
    copy."""
    values = as_arrays(values)
    arrays = [v for v in flatten(values)[0] if isinstance(v, np.ndarray)]
    shared = [
        v for k, v in enumerate(arrays) if any(j != k and np.may_share_memory(v, w) for j, w in enumerate(arrays))
    ]
    return _copied(values, {}, {id(v) for v in shared})


def _copied(value: Any, made: dict[int, Any], shared: set[int]) -> Any:
    """The copy of a container or an array, another value itself; ``made`` holds the copies so far by identity, ``shared`` the
    ids of the arrays that overlap others."""
    opened = open_node(value)
    if opened is None and not isinstance(value, np.ndarray):
        return value
    if id(value) not in made:
        if opened is not None:
            kind, children, keys, cls = opened
            parts = [_copied(v, made, shared) for v in children]
            made[id(value)] = close_node(Node(kind, tuple(parts), keys, cls), parts)
        else:
            array = plain_array(value)
            made[id(value)] = _part(array, made) if id(value) in shared else np.array(array)
    return made[id(value)]


def _part(value: np.ndarray, made: dict[int, Any]) -> np.ndarray:
    """A copy of an array that may be a view, as a view of the copy of its base, which is shared through ``made``; an
    independent copy if the base is not contiguous."""
    whole = value
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    if not (whole.flags.c_contiguous or whole.flags.f_contiguous):
        return np.array(value)
    if id(whole) not in made:
        made[id(whole)] = whole.copy(order="K")
    start = value.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return np.ndarray(value.shape, value.dtype, made[id(whole)].ravel(order="K").data, start, value.strides)


def fitted(like: Any, given: Any, what: str) -> Any:
    """``given`` with each leaf cast to the dtype of its leaf of ``like``, if that is a float; T309 unless it has the structure
    of ``like`` and the shapes of these.

    If ``like`` has no floats, ``given`` may have any structure and is returned as it is. ``what`` names it in messages.
    """
    given = as_arrays(given)
    wanted, tree = flatten(like)
    found, other = flatten(given)
    if not wanted:
        return given
    if len(wanted) != len(found) or tree != other:
        if any(_is_float(a) for a in wanted):
            raise error("T309", f"{what} is {_text(given)}, expected {_text(like)}", hint=LIKE)
        return given
    return unflatten(other, [_fitted_leaf(a, b, what) for a, b in zip(wanted, found)])


def _text(value: Any) -> str:
    """The text of a value for messages: its structure, with a word for each leaf."""
    leaves, tree = flatten(value)
    (tree,), _ = number_leaves([tree])
    return structure_text(tree, lambda leaf: _word(leaves[leaf.k]))


def _word(leaf: Any) -> str:
    return f"an array of shape {np.shape(leaf)}" if np.shape(leaf) else "a number"


def _is_float(value: Any) -> bool:
    return np.result_type(value).kind in "fc"


def _fitted_leaf(like: Any, given: Any, what: str) -> Any:
    """``given`` cast to the dtype of ``like``, as an array, NumPy scalar or Python float like it; unchanged if ``like`` is not
    a float. T309 for another shape or a complex value."""
    if not _is_float(like):
        return given
    if np.shape(like) != np.shape(given):
        raise error("T309", f"{what} has shape {np.shape(given)}, expected {np.shape(like)}", hint=LIKE)
    dtype = np.result_type(like)
    if np.result_type(given).kind == "c" and dtype.kind != "c":
        raise error("T309", f"{what} is complex, expected {dtype}", hint="pass its real part")
    if isinstance(like, np.ndarray):
        return np.asarray(plain_array(given) if isinstance(given, np.ndarray) else given, dtype)
    return float(given) if type(like) is float else dtype.type(given)
