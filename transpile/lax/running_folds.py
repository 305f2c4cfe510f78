"""Running sums, products, minima and maxima along an axis: arrays with the shape and dtype of the operand.

``operand`` is an array of numbers (T201, also for booleans), ``axis`` one of its axes (T203). With ``reverse`` they begin at
the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.lax import checks


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Running sums along ``axis``, with ``reverse`` from its end, of the shape and dtype of ``operand``: sums of narrow
    integers wrap.

    >>> cumsum(np.array([1.0, 2.0, 4.0])), cumsum(np.array([1.0, 2.0, 4.0]), reverse=True)
    (array([1., 3., 7.]), array([7., 6., 4.]))
    """
    checks.cumulative("cumsum", operand, axis)
    return _turned(np.cumsum(_turned(operand, axis, reverse), axis=axis).astype(operand.dtype), axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Running products along ``axis``, with ``reverse`` from its end, of the shape and dtype of ``operand``: narrow integers
    wrap.

    >>> cumprod(np.array([[1, 2], [3, 4]]), axis=1)
    array([[ 1,  2],
           [ 3, 12]])
    """
    checks.cumulative("cumprod", operand, axis)
    return _turned(np.cumprod(_turned(operand, axis, reverse), axis=axis).astype(operand.dtype), axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Running maxima along ``axis``, with ``reverse`` from its end, of the shape and dtype of ``operand``; NaN from the first
    NaN on.

    >>> cummax(np.array([1.0, 3.0, 2.0]))
    array([1., 3., 3.])
    """
    checks.cumulative("cummax", operand, axis)
    return _turned(np.maximum.accumulate(_turned(operand, axis, reverse), axis=axis), axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Running minima along ``axis``, with ``reverse`` from its end, of the shape and dtype of ``operand``; NaN from the first
    NaN on.

    >>> cummin(np.array([1, 3, 2]), reverse=True)
    array([1, 2, 2])
    """
    checks.cumulative("cummin", operand, axis)
    return _turned(np.minimum.accumulate(_turned(operand, axis, reverse), axis=axis), axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """``log(cumsum(exp(x)))`` along ``axis`` of an array of floats (T201), with ``reverse`` from its end, without overflow or
    underflow.

    >>> cumlogsumexp(np.array([-1000.0, -1000.0, 0.0])).round(6)
    array([-1000.      ,  -999.306853,     0.      ])
    """
    checks.cumulative("cumlogsumexp", operand, axis, "f")
    return _turned(np.logaddexp.accumulate(_turned(operand, axis, reverse), axis=axis), axis, reverse)


def _turned(x: Any, axis: int, reverse: bool) -> Any:
    return np.flip(x, axis) if reverse else x
