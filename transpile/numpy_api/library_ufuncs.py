"""Methods of ufuncs for which there is no primitive: plain Python, lifted like user code.

Arrays arrive in the dtype of the computation.
"""

from __future__ import annotations

import numpy as np


def reduce(function, array, axis=0, dtype=None, keepdims=False, initial=None):  # type: ignore[no-untyped-def]
    """``function.reduce``: a fold from the left along one axis, several (merged in order), or all (None). It begins with
    ``initial``, or with the first element if that is None; ValueError for no axes."""
    x = np.asarray(array)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) == 0:
        raise ValueError("reduce takes at least one axis")
    rows = np.moveaxis(x, axes, tuple(range(len(axes))))
    rows = np.reshape(rows, (-1, *rows.shape[len(axes) :]))
    total = rows[0] if initial is None else function(np.asarray(initial, dtype=x.dtype), rows[0])
    for k in range(1, rows.shape[0]):
        total = function(total, rows[k])
    return np.expand_dims(total, axes) if keepdims else total


def accumulate(function, array, axis=0, dtype=None):  # type: ignore[no-untyped-def]
    """``function.accumulate``: a new array with all intermediate results of the fold along ``axis``."""
    x = np.asarray(array)
    y = np.moveaxis(x, axis, 0).copy()
    for k in range(1, y.shape[0]):
        y[k] = function(y[k - 1], y[k])
    return np.moveaxis(y, 0, axis)


def reduceat(function, array, indices, axis=0, dtype=None):  # type: ignore[no-untyped-def]
    """``function.reduceat``: the fold of each segment from one index to just before the next; the last segment ends with the
    axis. IndexError for negative indices."""
    x = np.asarray(array)
    rows = np.moveaxis(x, axis, 0)
    starts = np.asarray(indices)
    if np.any(starts < 0):
        raise IndexError("index out-of-bounds in reduceat")
    y = rows[starts]
    for j in range(starts.shape[0]):
        stop = starts[j + 1] if j + 1 < starts.shape[0] else rows.shape[0]
        for k in range(starts[j] + 1, stop):
            y[j] = function(y[j], rows[k])
    return np.moveaxis(y, 0, axis)


def at(function, a, indices, b):  # type: ignore[no-untyped-def]
    """``function.at`` for two operands: changes ``a`` in place, one element after another, so that repeated indices all
    count."""
    places = np.arange(a.size).reshape(a.shape)[indices]
    values = np.broadcast_to(b, np.shape(places)).ravel()
    places = np.ravel(places)
    for k in range(places.shape[0]):
        place = np.unravel_index(places[k], a.shape)
        a[place] = function(a[place], values[k])


def at_alone(function, a, indices):  # type: ignore[no-untyped-def]
    """``function.at`` for one operand: changes ``a`` in place; repeated indices all count."""
    places = np.ravel(np.arange(a.size).reshape(a.shape)[indices])
    for k in range(places.shape[0]):
        place = np.unravel_index(places[k], a.shape)
        a[place] = function(a[place])
