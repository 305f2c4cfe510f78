"""Functional updates (`transpile.at`): plain Python, lifted like user code.

``out`` is the caller's own copy of the array. ``index`` has an item for each axis; ``is_array`` says which items are arrays,
all of one shape, and ``axis`` where their axes are in the indexed part. ``inside`` says which indices are in range: a boolean
or, with index arrays, one for each element. ``values`` are further arguments of the function, after the element: one value, or
none (``apply``); with index arrays a number, or an array of the shape of the part.
"""

from __future__ import annotations

import numpy as np


def put(out, index, value, inside=True):  # type: ignore[no-untyped-def]
    """``out[index] = value`` if ``inside``: the index is in range."""
    if inside:
        out[index] = value


def change(function, out, index, values, inside=True):  # type: ignore[no-untyped-def]
    """``out[index] = function(out[index], *values)`` if ``inside``: the index is in range. A repeated index counts once."""
    if inside:
        out[index] = function(out[index], *values)


def put_kept(out, index, is_array, value, inside, axis):  # type: ignore[no-untyped-def]
    """``out[index] = value`` for those elements of the index arrays that are in range."""
    out[kept(index, is_array, inside)] = kept_value(value, inside, axis)


def change_kept(function, out, index, is_array, values, inside, axis):  # type: ignore[no-untyped-def]
    """``out[index] = function(out[index], *values)`` for the indices in range, none of which is repeated."""
    place = kept(index, is_array, inside)
    out[place] = function(out[place], *(kept_value(v, inside, axis) for v in values))


def kept(index, is_array, inside):  # type: ignore[no-untyped-def]
    """The index with only those elements of its arrays that are in range, where ``inside`` is true."""
    return tuple(part[inside] if array else part for part, array in zip(index, is_array))


def kept_value(value, inside, axis):  # type: ignore[no-untyped-def]
    """The part of a value that belongs to the indices in range, where its axes from ``axis`` on are those of ``inside``; a
    number unchanged."""
    return value if np.ndim(value) == 0 else value[(slice(None),) * axis + (inside,)]


def change_each(function, out, index, is_array, values, inside, axis):  # type: ignore[no-untyped-def]
    """``out[index] = function(out[index], *values)`` for each element of the index arrays in turn, so that repeated indices all
    count; only for those in range, unless ``inside`` is None."""
    first = [part for part, array in zip(index, is_array) if array][0]  # noqa: RUF015
    flat = tuple(np.ravel(part) if array else part for part, array in zip(index, is_array))
    parts = tuple(v if np.ndim(v) == 0 else rows(v, axis, first.ndim) for v in values)
    kept = None if inside is None else np.ravel(inside)
    for k in range(first.size):
        if kept is None or kept[k]:
            place = tuple(part[k] if array else part for part, array in zip(flat, is_array))
            out[place] = function(out[place], *(v if np.ndim(v) == 0 else v[k] for v in parts))


def rows(x, axis, rank):  # type: ignore[no-untyped-def]
    """``x`` with the ``rank`` axes from ``axis`` on merged into one, which becomes the first."""
    if rank == 1 and axis == 0:
        return x
    x = np.moveaxis(x, tuple(range(axis, axis + rank)), tuple(range(rank)))
    return np.reshape(x, (int(np.prod(x.shape[:rank])), *x.shape[rank:]))


def get(x, index, fill, inside):  # type: ignore[no-untyped-def]
    """The number ``x[index]``, or ``fill`` if the index is out of range."""
    return x[index] if inside else fill
