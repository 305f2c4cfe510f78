"""The function that `transpile.tree.ravel_pytree` returns as its second result."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from transpile.base.treedef import TreeDef


def unravelled(treedef: TreeDef, shapes: Any, dtypes: Any, flat: Any) -> Any:
    """The tree of a flat array, whose leaves have these shapes and dtypes, in order. ValueError for another size; if the dtypes
    differ, TypeError unless ``flat`` has their common dtype. Transformed code contains these lines."""
    size = sum([math.prod(shape) for shape in shapes])
    if np.shape(flat) != (size,):
        raise ValueError(f"unravel takes an array of shape {(size,)}, not {np.shape(flat)}")
    is_mixed = any(dtype != dtypes[0] for dtype in dtypes)
    if is_mixed and flat.dtype != np.result_type(*dtypes):
        raise TypeError(f"unravel takes an array of dtype {np.result_type(*dtypes)}, not {flat.dtype}")
    parts = []
    start = 0
    for shape, dtype in zip(shapes, dtypes):
        stop = start + math.prod(shape)
        part = np.reshape(flat[start:stop], shape) if len(shape) > 0 else flat[start]
        parts.append(part.astype(dtype) if is_mixed else part)
        start = stop
    return treedef.unflatten(parts)


class Unravel:
    """A function from a flat array to a tree with the structure, shapes and dtypes of the original one."""

    __lifter_methods__: ClassVar = {"__call__": "transpile.base.unravel.Unravel.__call__"}

    def __init__(self, treedef: TreeDef, shapes: tuple[tuple[int, ...], ...], dtypes: tuple[Any, ...]) -> None:
        self.treedef, self.shapes, self.dtypes = treedef, shapes, dtypes

    def _parts(self) -> tuple[Any, ...]:
        return self.treedef, self.shapes, self.dtypes

    def __eq__(self, other: object) -> bool:
        return type(other) is Unravel and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __call__(self, flat: Any) -> Any:
        return unravelled(self.treedef, self.shapes, self.dtypes, flat)
