"""Functions of NumPy that write into their first argument: plain Python, lifted like user code."""

from __future__ import annotations

import numpy as np


def copyto(dst, src, casting="same_kind", where=True):  # type: ignore[no-untyped-def]
    """``np.copyto``."""
    is_weak = isinstance(src, int) and dst.dtype.kind != "b"
    if not is_weak and not np.can_cast(np.asarray(src).dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast {np.asarray(src).dtype!r} to {dst.dtype!r} according to the rule {casting!r}")
    dst[...] = np.where(where, np.asarray(src, dtype=dst.dtype), dst)


def set_flat(a, values):  # type: ignore[no-untyped-def]
    """``a.flat = values``: the values are repeated, or cut, to the size of the array."""
    a[...] = values if np.ndim(values) == 0 else np.resize(values, a.shape)


def putmask(a, mask, values):  # type: ignore[no-untyped-def]
    """``np.putmask``: where the mask holds, the element at the same place of the values repeated to the size of the array; if
    there are none, nothing is written."""
    if np.size(mask) != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    _check_safe(values, a)
    if np.size(values) > 0:
        a[...] = np.where(np.reshape(mask, a.shape), np.resize(np.asarray(values, dtype=a.dtype), a.shape), a)


def _check_safe(values, a):  # type: ignore[no-untyped-def]
    if isinstance(values, np.ndarray) and not np.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(f"Cannot cast array data from {values.dtype!r} to {a.dtype!r} according to the rule 'safe'")


def place(arr, mask, vals):  # type: ignore[no-untyped-def]
    """``np.place``: the values are used in turn for the elements where the mask holds, starting again at the end."""
    _check_safe(vals, arr)
    mask = np.asarray(mask, dtype=bool)
    arr[mask] = np.resize(vals, (np.count_nonzero(mask),))


def put(a, ind, v, mode="raise"):  # type: ignore[no-untyped-def]
    """``np.put``: indices are into the flattened array, the values are used in turn; if there are none, nothing is written."""
    if np.size(ind) > 0 and np.size(v) > 0:
        _put(a, np.ravel(ind), v, mode)


def _put(a, places, v, mode):  # type: ignore[no-untyped-def]
    """``a.flat[places] = v`` with ``v`` repeated; indices out of range are clipped or wrapped in the modes "clip" and
    "wrap"."""
    if mode == "clip":
        places = np.clip(places, 0, a.size - 1)
    elif mode == "wrap":
        places = places % a.size
    a[np.unravel_index(np.where(places < 0, places + a.size, places), a.shape)] = np.resize(v, places.shape)


def put_along_axis(arr, indices, values, axis):  # type: ignore[no-untyped-def]
    """``np.put_along_axis``."""
    if not -arr.ndim <= axis < arr.ndim:
        raise IndexError(f"axis {axis} is out of bounds for array of dimension {arr.ndim}")
    axis = axis % arr.ndim
    shapes = [tuple(-1 if j == k else 1 for j in range(arr.ndim)) for k in range(arr.ndim)]
    arr[tuple(indices if k == axis else np.arange(arr.shape[k]).reshape(shapes[k]) for k in range(arr.ndim))] = values


def fill_diagonal(a, val, wrap=False):  # type: ignore[no-untyped-def]
    """``np.fill_diagonal`` for a matrix that is not square, without ``wrap``."""
    k = np.arange(min(a.shape[0], a.shape[1]))
    a[k, k] = np.resize(val, k.shape)
