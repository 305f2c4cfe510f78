"""Indices clipped to an array, and which of their entries are in range: for `transpile.at` outside transformed functions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transpile.errors import error


class Place:
    """An index into an array of ``shape``, clipped to it.

    ``clipped`` has an item for each axis. ``inside`` says which entries were in range: one boolean or, if the index has arrays
    (``is_array``), an array of booleans. The arrays are broadcast to one shape; ``arrays`` says which items they are, ``axis``
    where their axes stand in the part, ``behind`` the number of axes after these. The index is one into ``x[lead]``, in which
    scalar booleans have axes of their own.
    """

    def __init__(self, shape: tuple[int, ...], index: Any, wraps: bool = True) -> None:
        """With ``wraps``, negative indices down to minus the size count from the end; else they are out of range. T207 for an
        invalid index, T202 for index arrays that do not broadcast."""
        self.inside: Any = True
        clipped: list[Any] = []
        axis = 0
        parts = _expanded(shape, index)
        self.lead, shape = _with_axes(parts, shape)
        for part in parts:
            if part is None or part is ... or isinstance(part, slice):
                clipped.append(part)
                axis += isinstance(part, slice)
            elif part is True or part is False:
                clipped.append(np.zeros(int(part), np.intp))
                axis += 1
            elif isinstance(part, np.ndarray) and part.dtype.kind == "b":
                clipped += _places(part, shape[axis : axis + part.ndim], axis)
                axis += part.ndim
            else:
                clipped.append(self._clip(part, shape[axis], wraps))
                axis += 1
        self._meet(clipped)

    def _clip(self, part: Any, n: int, wraps: bool) -> Any:
        """The index ``part``, an int or an array, clipped to an axis of size ``n``; updates ``inside``."""
        low = -n if wraps else 0
        self.inside = self.inside & ((part >= low) & (part < n))
        return min(max(part, low), n - 1) if isinstance(part, int) else np.clip(part, low, n - 1)

    def _meet(self, clipped: list[Any]) -> None:
        """Sets ``clipped`` and the attributes that describe it: the arrays are broadcast to one shape, and the place of their
        axes is found; beside arrays, numbers count as arrays."""
        self.arrays = tuple(isinstance(p, np.ndarray) for p in clipped)
        self.is_array = any(self.arrays)
        self.axis = self.behind = 0
        if self.is_array:
            shape = _common_shape([p.shape for p in clipped if isinstance(p, np.ndarray)])
            clipped = [np.broadcast_to(p, shape) if isinstance(p, np.ndarray) else p for p in clipped]
            self.inside = np.broadcast_to(self.inside, shape)
            where = [k for k, p in enumerate(clipped) if _is_index(p)]
            adjacent = where[-1] - where[0] == len(where) - 1
            self.axis = where[0] if adjacent else 0
            self.behind = sum(p is not ... for p in clipped) - len(where) - self.axis
        self.clipped = tuple(clipped)

    def within(self, x: NDArray[Any]) -> NDArray[Any]:
        """The array that ``clipped`` indexes: ``x``, or a view with axes for scalar booleans."""
        return x if self.lead is None else x[self.lead]

    def inside_part(self) -> Any:
        """``inside``, shaped to broadcast with the part."""
        return np.reshape(self.inside, (*np.shape(self.inside), *[1] * self.behind)) if self.is_array else self.inside


def _expanded(shape: tuple[int, ...], index: Any) -> list[Any]:
    """The items of an index, with the ellipsis expanded: integers, slices, None, booleans, arrays of integers or booleans. An
    ellipsis that stands for no axis stays if it separates arrays. T207 for too many items, or for two ellipses."""
    parts = [_item(p) for p in (index if isinstance(index, tuple) else (index,))]
    covered = sum(map(_covered, parts))
    if covered > len(shape):
        message = f"too many indices: the array has {len(shape)} dimension{'s' * (len(shape) != 1)}, but {covered} were indexed"
        raise error("T207", message, hint="write at most one index for each axis")
    dots = [k for k, p in enumerate(parts) if p is ...]
    if len(dots) > 1:
        raise error("T207", "an index can have only one ellipsis")
    at = dots[0] if dots else len(parts)
    full: list[Any] = [slice(None)] * (len(shape) - covered)
    if not full and any(map(_is_index, parts[:at])) and any(map(_is_index, parts[at:])):
        full = [...]  # it stands for no axis, and keeps the arrays apart
    return [*parts[:at], *full, *parts[at + 1 :]]


def _with_axes(parts: list[Any], shape: tuple[int, ...]) -> tuple[tuple[Any, ...] | None, tuple[int, ...]]:
    """The index that adds an axis of size 1 for each scalar boolean among the parts of an index, None if there is none, and the
    shape with these axes."""
    if not any(isinstance(p, bool) for p in parts):
        return None, shape
    lead: list[Any] = []
    for part in parts:
        lead += [None] if isinstance(part, bool) else [slice(None)] * _covered(part)
    sizes = iter(shape)
    return tuple(lead), tuple(1 if p is None else next(sizes) for p in lead)


def _is_index(part: Any) -> bool:
    """True for a number, a boolean or an array."""
    return part is not None and part is not ... and not isinstance(part, slice)


def _covered(part: Any) -> int:
    """The number of axes that an item indexes."""
    if part is None or part is ... or isinstance(part, bool):
        return 0
    return part.ndim if _is_mask(part) else 1


def _common_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which index arrays of these shapes broadcast; T202 if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, shapes))
        message = f"index arrays of shapes {text} cannot be broadcast together"
        raise error("T202", message, hint="give them one shape, or add axes with [:, None]") from None


def _is_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "b"


def _item(part: Any) -> Any:
    """One item of an index: None, an ellipsis and slices unchanged, a bool, an int, or an array of integers or booleans; T207
    for others."""
    if part is None or part is ... or isinstance(part, slice):
        return part
    found = np.asarray(part)
    if found.dtype.kind == "b" and not found.ndim:
        return bool(found)
    if found.dtype.kind in "iub" or not found.size:
        return (
            operator.index(found[()])
            if not found.ndim
            else found
            if found.dtype.kind in "iub"
            else found.astype(np.intp)
        )
    what = found.dtype if found.dtype.kind in "fc" else type(part).__name__
    message = f"an index must be an integer, an array of truth values or a slice, not {what}"
    raise error("T207", message, hint="convert it with int(...) or .astype(int)")


def _places(mask: NDArray[Any], shape: tuple[int, ...], axis: int) -> list[NDArray[Any]]:
    """The index arrays of the true elements of a mask, one for each axis; T207 if it has not the shape of the axes from
    ``axis`` on."""
    if mask.shape != shape:
        message = f"a mask of shape {mask.shape} does not fit axes of shape {shape}, from axis {axis} on"
        raise error("T207", message, hint="make the mask from the array that it indexes")
    return list(np.nonzero(mask))
