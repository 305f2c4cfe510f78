"""Functions of NumPy that write into their first argument: plain Python, lifted like user code."""

from __future__ import annotations

import numpy as np


def copyto(dst, src, casting="same_kind", where=True):  # type: ignore[no-untyped-def]
    """``np.copyto``."""
    if not isinstance(src, int) and not np.can_cast(np.asarray(src).dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast {np.asarray(src).dtype!r} to {dst.dtype!r} according to the rule {casting!r}")
    dst[...] = np.where(where, src, dst)


def set_flat(a, values):  # type: ignore[no-untyped-def]
    """``a.flat = values``: they are repeated to the size of the array."""
    a[...] = values if np.ndim(values) == 0 else np.resize(values, a.shape)


def putmask(a, mask, values):  # type: ignore[no-untyped-def]
    """``np.putmask``: the values are repeated to the size of the array."""
    a[...] = np.where(mask, np.resize(values, a.shape), a)


def place(arr, mask, vals):  # type: ignore[no-untyped-def]
    """``np.place``: the values are used in turn, and again from the first."""
    mask = np.asarray(mask, dtype=bool)
    arr[mask] = np.resize(vals, (np.count_nonzero(mask),))


def put(a, ind, v, mode="raise"):  # type: ignore[no-untyped-def]
    """``np.put``: places are counted through the array, the values used in turn."""
    places = np.ravel(ind)
    if mode == "clip":
        places = np.clip(places, 0, a.size - 1)
    elif mode == "wrap":
        places = places % a.size
    a[np.unravel_index(np.where(places < 0, places + a.size, places), a.shape)] = np.resize(v, places.shape)


def put_along_axis(arr, indices, values, axis):  # type: ignore[no-untyped-def]
    """``np.put_along_axis``."""
    axis = axis % arr.ndim
    shapes = [tuple(-1 if j == k else 1 for j in range(arr.ndim)) for k in range(arr.ndim)]
    arr[tuple(indices if k == axis else np.arange(arr.shape[k]).reshape(shapes[k]) for k in range(arr.ndim))] = values


def fill_diagonal(a, val, wrap=False):  # type: ignore[no-untyped-def]
    """``np.fill_diagonal`` of a matrix that is not square."""
    k = np.arange(min(a.shape[0], a.shape[1]))
    a[k, k] = np.resize(val, k.shape)
