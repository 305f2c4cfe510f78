"""Discrete distributions of counts: integers, or floats with integer values. They have no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile_runtime import random as runtime


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of integers from the Poisson distribution with mean ``lam``, by default of its shape and of int64.

    -1 where a mean is negative or NaN (0 for an unsigned dtype); a count too large for the dtype is its largest number. The
    numbers differ from those of JAX.

    >>> poisson(np.array([0, 42], np.uint32), 4.0, (5,))
    array([2, 5, 3, 4, 0])
    """
    dtype = _whole("poisson", dtype)
    lam = np.asarray(lam).astype(np.float64)
    counts = runtime.poisson(runtime.single(key), lam if shape is None else np.broadcast_to(lam, shape))
    return _fitted(counts, -1.0, dtype)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of floats from the binomial distribution: the number of successes in ``n`` trials of probability ``p``.

    The shape is by default the broadcast shape of ``n`` and ``p``, the dtype float64 (or float32). NaN where ``n`` is negative
    or ``p`` is not in [0, 1]. The numbers differ from those of JAX.

    >>> binomial(np.array([0, 42], np.uint32), 10, 0.5, (5,))
    array([4., 6., 4., 5., 2.])
    """
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    runtime.demand_type(
        dtype == np.float64 or dtype == np.float32, f"the dtype must be float64 or float32, not {dtype}"
    )
    if shape is None:
        shape = np.broadcast_shapes(np.shape(n), np.shape(p))
    n, p = (np.broadcast_to(np.asarray(x).astype(np.float64), shape) for x in (n, p))
    return runtime.binomial(runtime.single(key), n, p).astype(dtype)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of integers from the geometric distribution: the number of trials up to the first success, at least 1.

    The shape is by default that of ``p``, the dtype int64. A number too large for the dtype is its largest number.

    >>> geometric(np.array([0, 42], np.uint32), 0.3, (5,))
    array([ 3, 12,  2,  1,  2])
    """
    dtype = _whole("geometric", dtype)
    p = np.asarray(p)
    if p.dtype.kind != "f":
        p = p.astype(np.float64)
    u = runtime.unit(runtime.single(key), p.shape if shape is None else shape, p.dtype)
    u = np.where(u == 0, np.ones_like(u), u)
    return _fitted(np.floor(np.log(u) / np.log1p(-p)) + 1, 1.0, dtype)


def _whole(what: str, dtype: Any) -> Any:
    """``dtype`` as a NumPy dtype, int64 for None; TypeError unless it is an integer dtype. ``what`` names the function."""
    dtype = np.dtype(np.int64 if dtype is None else dtype)
    runtime.demand_type(dtype.kind in "iu", f"the dtype of {what} must be an integer dtype, not {dtype}")
    return dtype


def _fitted(counts: Any, least: float, dtype: Any) -> Any:
    """The counts, floats, clipped to ``least`` (0 for an unsigned dtype) and the largest float64 that the dtype holds, and cast
    to this integer dtype."""
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    most = 2.0**bits - (2.0 ** (bits - 53) if bits > 53 else 1.0)
    return np.clip(counts, 0.0 if dtype.kind == "u" else least, most).astype(dtype)
