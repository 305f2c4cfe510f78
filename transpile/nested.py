"""What `vjp`, `jvp` and `linearize` do with values, and the plain forms of them that are lifted inside user code."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.errors import error
from transpile.tree import flatten, structure_text, unflatten


def own(values: Any) -> Any:
    """The values with arrays of their own, so that what the caller writes later is not seen."""
    leaves, tree = flatten(values)
    return unflatten(tree, [np.array(v) if isinstance(v, np.ndarray) else v for v in leaves])


def check_shapes(like: Any, given: Any, what: str) -> None:
    """Raises unless ``given`` has the structure of ``like`` and the shapes of its leaves of floating point."""
    wanted, tree = flatten(like)
    found, other = flatten(given)
    if not wanted:
        return
    if len(wanted) == len(found) and tree == other:
        for a, b in zip(wanted, found):
            if np.shape(a) != np.shape(b) and np.result_type(a).kind in "fc":
                raise error("T309", f"{what} has shape {np.shape(b)}, expected {np.shape(a)}")
    elif all(np.result_type(a).kind in "fc" for a in wanted):
        raise error("T309", f"{what} has structure {structure_text(other)}, expected {structure_text(tree)}")
