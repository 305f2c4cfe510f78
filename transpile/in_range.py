"""Which part of an array an index means, and what of it lies in the array: for `transpile.at` outside of transformed functions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transpile.errors import error


class Place:
    """``clipped`` is an index within ``shape`` with an item for each axis, and ``inside`` says which of its entries were in range:
    one truth value or, where it has arrays (``is_array``), an array of them. Arrays in it have one shape; ``arrays`` says which
    items they are, ``axis`` where their axes stand in the part."""

    def __init__(self, shape: tuple[int, ...], index: Any, wraps: bool = True) -> None:
        self.inside: Any = True
        clipped: list[Any] = []
        axis = 0
        for part in _expanded(shape, index):
            if part is None or isinstance(part, slice):
                clipped.append(part)
                axis += part is not None
            elif isinstance(part, np.ndarray) and part.dtype.kind == "b":
                clipped += _places(part, shape[axis : axis + part.ndim], axis)
                axis += part.ndim
            else:
                clipped.append(self._clip(part, shape[axis], wraps))
                axis += 1
        self._meet(clipped)

    def _clip(self, part: Any, n: int, wraps: bool) -> Any:
        low = -n if wraps else 0
        self.inside = self.inside & ((part >= low) & (part < n))
        return min(max(part, low), n - 1) if isinstance(part, int) else np.clip(part, low, n - 1)

    def _meet(self, clipped: list[Any]) -> None:
        """Gives the arrays one shape, and finds where their axes stand: numbers count as arrays beside them."""
        self.arrays = tuple(isinstance(p, np.ndarray) for p in clipped)
        self.is_array = any(self.arrays)
        self.axis = self.behind = 0
        if self.is_array:
            shape = np.broadcast_shapes(*(p.shape for p in clipped if isinstance(p, np.ndarray)))
            clipped = [np.broadcast_to(p, shape) if isinstance(p, np.ndarray) else p for p in clipped]
            self.inside = np.broadcast_to(self.inside, shape)
            where = [k for k, p in enumerate(clipped) if p is not None and not isinstance(p, slice)]
            adjacent = where[-1] - where[0] == len(where) - 1
            self.axis = where[0] if adjacent else 0
            self.behind = len(clipped) - len(where) - self.axis
        self.clipped = tuple(clipped)

    def inside_part(self) -> Any:
        """``inside``, with an axis for each that the part has behind those of the arrays."""
        return np.reshape(self.inside, (*np.shape(self.inside), *[1] * self.behind)) if self.is_array else self.inside


def _expanded(shape: tuple[int, ...], index: Any) -> list[Any]:
    """The items of an index: integers, slices, None, arrays of integers or truths, the ellipsis spelled out."""
    parts = [_item(p) for p in (index if isinstance(index, tuple) else (index,))]
    covered = sum(0 if p is None or p is ... else getattr(p, "ndim", 1) if _is_mask(p) else 1 for p in parts)
    if covered > len(shape):
        raise error("T207", f"too many indices: the array has {len(shape)} dimensions, {covered} were given")
    dots = [k for k, p in enumerate(parts) if p is ...]
    if len(dots) > 1:
        raise error("T207", "an index can have only one ellipsis")
    at = dots[0] if dots else len(parts)
    return [*parts[:at], *[slice(None)] * (len(shape) - covered), *parts[at + 1 :]]


def _is_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "b"


def _item(part: Any) -> Any:
    if part is None or part is ... or isinstance(part, slice):
        return part
    found = np.asarray(part)
    if found.dtype.kind in "iu" or (found.dtype.kind == "b" and found.ndim) or not found.size:
        return operator.index(found[()]) if not found.ndim else found if found.size else found.astype(np.intp)
    what = found.dtype if found.dtype.kind in "bfc" else type(part).__name__
    raise error("T207", f"an index must be an integer, an array of truth values or a slice, not {what}")


def _places(mask: NDArray[Any], shape: tuple[int, ...], axis: int) -> list[NDArray[Any]]:
    if mask.shape != shape:
        raise error("T207", f"a mask of shape {mask.shape} does not fit axes of shape {shape}, from axis {axis} on")
    return list(np.nonzero(mask))
