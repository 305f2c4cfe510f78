"""Functions of ``numpy.linalg`` written in terms of other NumPy functions: plain Python, lifted like user code."""

from __future__ import annotations

import numpy as np


def tensorinv(a, ind=2):  # type: ignore[no-untyped-def]
    """``np.linalg.tensorinv``: the inverse of ``a`` as a linear map from its last axes to its first ``ind``, with the last axes
    first."""
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    a = np.asarray(a)
    inner = _count(a.shape[ind:])
    found = np.linalg.inv(np.reshape(a, (inner, -1)))
    return np.reshape(found, (*a.shape[ind:], *a.shape[:ind]))


def tensorsolve(a, b, axes=None):  # type: ignore[no-untyped-def]
    """``np.linalg.tensorsolve``: ``x`` with ``np.tensordot(a, x, x.ndim) == b``; ``axes`` of ``a`` are moved to its end
    first."""
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        a = np.transpose(a, [k for k in range(a.ndim) if k not in axes] + list(axes))
    shape = a.shape[-(a.ndim - b.ndim) :]
    inner = _count(shape)
    if _count(a.shape) != inner**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.reshape(np.linalg.solve(np.reshape(a, (inner, inner)), np.ravel(b)), shape)


def _count(shape):  # type: ignore[no-untyped-def]
    """The number of elements of an array of this shape."""
    count = 1
    for size in shape:
        count *= size
    return count
