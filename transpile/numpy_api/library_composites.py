"""Functions of NumPy that are compositions of other NumPy functions: plain Python, lifted like user code.

A function belongs here if the printed result and the error messages are as good as with a builder (a function that emits
primitives). Built instead are those that report sizes that disagree in their own words (`np.average`, `np.cov`, `np.gradient`),
those whose rank or dtype depends on facts that only the builder has (`np.kron`, `np.vander`), and those that are one primitive
for most arguments (`np.var`).
"""

from __future__ import annotations

import numpy as np


def ptp(a, axis=None, keepdims=False):  # type: ignore[no-untyped-def]
    """``np.ptp``."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def select(condlist, choicelist, default=0):  # type: ignore[no-untyped-def]
    """``np.select``: for each element the first choice whose condition holds, ``default`` where none does."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    dtype = np.result_type(default, *choicelist)
    found = np.asarray(default, dtype)
    for k in range(len(condlist) - 1, -1, -1):
        if np.asarray(condlist[k]).dtype.kind != "b":
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
        found = np.where(condlist[k], np.asarray(choicelist[k], dtype), found)
    return found


def append(arr, values, axis=None):  # type: ignore[no-untyped-def]
    """``np.append``."""
    if axis is None:
        return np.concatenate((np.ravel(arr), np.ravel(values)))
    return np.concatenate((arr, values), axis=axis)


def ediff1d(ary, to_end=None, to_begin=None):  # type: ignore[no-untyped-def]
    """``np.ediff1d``."""
    flat = np.ravel(ary)
    if flat.dtype.kind == "b":
        raise TypeError("np.ediff1d does not take truth values, which NumPy does not subtract")
    found = np.diff(flat)
    for end in (to_begin, to_end):
        if end is not None and not np.can_cast(np.asarray(end).dtype, found.dtype, "same_kind"):
            raise TypeError("np.ediff1d: the dtypes of to_begin and to_end must be compatible with that of the input")
    parts = [found] if to_begin is None else [np.ravel(to_begin).astype(found.dtype), found]
    parts = parts if to_end is None else [*parts, np.ravel(to_end).astype(found.dtype)]
    return found if len(parts) == 1 else np.concatenate(parts)


def trapezoid(y, x=None, dx=1.0, axis=-1):  # type: ignore[no-untyped-def]
    """``np.trapezoid``: the integral along ``axis`` with constant steps ``dx``, with widths ``dx`` that broadcast along the
    other axes, or at the points ``x``."""
    y = np.asarray(y)
    if y.ndim == 0:
        raise TypeError("np.trapezoid takes an array, not a number")
    before = (slice(None),) * (axis % y.ndim)
    later, earlier = (*before, slice(1, None)), (*before, slice(None, -1))
    total = y[later] + y[earlier]
    if x is None and np.ndim(dx) == 0:
        return np.sum(_halves(total), axis=axis) / 2.0 * dx
    if x is None:
        return np.sum(_halves(dx * total), axis=axis) / 2.0
    width = np.diff(x, axis=-1 if np.ndim(x) == 1 else axis)
    if width.ndim == 1 and axis % y.ndim < y.ndim - 1:
        width = np.reshape(width, [-1 if k == axis % y.ndim else 1 for k in range(y.ndim)])
    return np.sum(_halves(width * total), axis=axis) / 2.0


def _halves(parts):  # type: ignore[no-untyped-def]
    """The terms that NumPy halves after adding; integers are added as floats."""
    return parts if np.issubdtype(parts.dtype, np.floating) else parts * 1.0


def diag_indices(n, ndim=2):  # type: ignore[no-untyped-def]
    """``np.diag_indices``."""
    return (np.arange(n),) * ndim


def multi_dot(arrays):  # type: ignore[no-untyped-def]
    """``np.linalg.multi_dot``: the products from left to right, or from right to left if the last operand is a vector; the
    order is not optimised."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    parts = [np.asarray(a) for a in arrays]
    if parts[-1].ndim == 1:
        total = parts[-1]
        for x in parts[-2::-1]:
            total = np.matmul(x, total)
        return total
    total = parts[0]
    for x in parts[1:]:
        total = np.matmul(total, x)
    return total
