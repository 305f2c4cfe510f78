"""Functions of NumPy that take functions: plain Python, lifted like user code."""

from __future__ import annotations

import numpy as np


def piecewise(x, condlist, funclist):  # type: ignore[no-untyped-def]
    """``np.piecewise``: of several conditions that hold the last one counts; one more entry is for where none holds."""
    last = funclist[len(condlist)] if len(funclist) > len(condlist) else 0.0
    y = last(x) if callable(last) else np.full_like(x, last)
    for test, entry in zip(condlist, funclist):
        y = np.where(test, entry(x) if callable(entry) else entry, y)
    return y


def fromfunction(function, shape, dtype=float):  # type: ignore[no-untyped-def]
    """``np.fromfunction``: a function of the positions."""
    return function(*np.indices(shape, dtype=dtype))
