"""Integers, booleans, permutations and choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.random.continuous import _step, gumbel, uniform
from transpile_runtime import random as runtime


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """An array of uniform integers from ``minval`` to ``maxval - 1``, of any integer dtype, int64 by default.

    The bounds are integers or arrays of them that broadcast to the shape; they are clipped to the range of the dtype. Where the
    range is empty the result is ``minval``. TypeError if the bounds or the dtype are not integers.

    >>> randint(np.array([0, 42], np.uint32), (5,), 0, 10)
    array([5, 8, 3, 1, 5])
    """
    dtype = np.dtype(np.int64 if dtype is None else dtype)
    low, high = np.asarray(minval), np.asarray(maxval)
    runtime.demand_type(dtype.kind in "iu", f"the dtype of randint must be an integer dtype, not {dtype}")
    runtime.demand_type(low.dtype.kind in "iu" and high.dtype.kind in "iu", "the bounds of randint must be integers")
    words = np.uint64 if dtype.itemsize == 8 else np.uint32
    if dtype.itemsize < 8:
        below = 0 if dtype.kind == "u" else 2 ** (8 * dtype.itemsize - 1)
        least, most = -below, 2 ** (8 * dtype.itemsize) - below - 1
        low, high = np.clip(low.astype(np.int64), least, most), np.clip(high.astype(np.int64), least, most + 1)
    else:
        if dtype.kind == "u":  # a negative bound is cut off, not wrapped round
            low, high = np.maximum(low, 0), np.maximum(high, 0)
        low, high = low.astype(dtype), high.astype(dtype)
    span = np.where(high > low, high - low, 1).astype(words)
    first, second = runtime.split(runtime.single(key))
    if span.ndim > 0:
        span = np.broadcast_to(span, _sizes(shape))
    more = runtime.offset(runtime.bits(first, shape, words), runtime.bits(second, shape, words), span)
    found = low.astype(dtype) + more.astype(dtype)
    return found


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Any:
    """An array of booleans that are true with probability ``p``, by default of the shape of ``p``.

    ``mode`` "low" compares one uniform number of the dtype of ``p`` with it; "high" uses two, so that tiny probabilities are
    exact. TypeError unless ``p`` is a float or an array of floats.

    >>> bernoulli(np.array([0, 42], np.uint32), 0.5, (3,))
    array([ True,  True, False])
    """
    p = np.asarray(p)
    runtime.demand_type(p.dtype.kind == "f", f"a probability must be a float, not {p.dtype}")
    runtime.demand(mode in ("low", "high"), f"mode must be 'low' or 'high', not {mode!r}")
    if shape is None:
        shape = p.shape
    elif p.ndim > 0:
        p = np.broadcast_to(p, _sizes(shape))
    if mode == "low":
        return runtime.unit(runtime.single(key), shape, p.dtype) < p
    u = runtime.unit(runtime.single(key), (2, *_sizes(shape)), p.dtype)
    return u[1] * _step(p) < p - u[0]


def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of -1 and 1 with equal probability, of int64 or the given dtype.

    >>> rademacher(np.array([0, 42], np.uint32), (3,))
    array([ 1,  1, -1])
    """
    dtype = np.dtype(np.int64 if dtype is None else dtype)
    return (2 * (runtime.unit(runtime.single(key), shape) < 0.5).astype(dtype) - 1).astype(dtype)


def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, mode: Any = None
) -> Any:
    """An array of int64 indices along ``axis`` of ``logits``, drawn with probabilities proportional to ``exp(logits)``.

    ``shape`` is by default that of the logits without the axis, and must end with it. Without ``replace``, the draws along the
    axes of ``shape`` in front of it are all different. ``mode`` is that of `gumbel`.

    >>> categorical(np.array([0, 42], np.uint32), np.log([0.1, 0.2, 0.7]), shape=(4,))
    array([2, 2, 2, 2])
    """
    logits, axis = np.asarray(logits), runtime.axis_number(axis)
    if logits.dtype.kind != "f":
        logits = logits.astype(np.float64)
    runtime.demand(
        -logits.ndim <= axis < logits.ndim, f"axis {axis} is out of bounds for logits of {logits.ndim} dimensions"
    )
    place = axis if axis < 0 else axis - logits.ndim
    weights = np.moveaxis(logits, place, -1)
    batch = weights.shape[:-1]
    shape = batch if shape is None else _sizes(shape)
    lead = len(shape) - len(batch)
    runtime.demand(lead >= 0, f"a shape of {len(shape)} axes must end with the {len(batch)} axes of the logits")
    front = shape[:lead] if replace else ()
    own = shape[lead:]
    whole = (*front, *own[: len(own) + place + 1], logits.shape[place], *own[len(own) + place + 1 :])
    scores = np.moveaxis(gumbel(key, whole, logits.dtype, mode), place, -1) + weights
    if replace:
        return np.argmax(scores, axis=-1)
    count = 1
    for n in shape[:lead]:
        count = count * n
    size = logits.shape[place]
    runtime.demand(count <= size, "cannot draw {} of {} without replacement", count, size)
    best = np.argsort(-scores, axis=-1, kind="stable")[..., :count]
    return np.reshape(np.moveaxis(best, -1, 0), (*shape[:lead], *own))


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """An array with the entries of ``x`` along ``axis`` in random order; for an integer ``n``, a permutation of
    ``np.arange(n)``.

    With ``independent`` every line along the axis has an order of its own, else whole slices are moved. The result is
    differentiable in ``x``.

    >>> permutation(np.array([0, 42], np.uint32), 5)
    array([4, 2, 3, 0, 1])
    """
    x, axis = np.asarray(x), runtime.axis_number(axis)
    rank = max(x.ndim, 1)
    runtime.demand(-rank <= axis < rank, f"axis {axis} is out of bounds for an array of {rank} dimensions")
    if x.ndim == 0:
        runtime.demand_type(x.dtype.kind in "iu", f"permutation takes an array or an integer, not {x.dtype}")
        return _shuffled(key, np.arange(x), 0)
    if independent or x.ndim == 1:
        return _shuffled(key, x, axis)
    return np.take(x, _shuffled(key, np.arange(x.shape[axis]), 0), axis=axis)


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    """``x`` with each line along ``axis`` in a random order of its own: sorted by random 32-bit keys, ``3 log(size) /
    log(2**32)`` times, so that equal keys have no effect."""
    own, size = runtime.single(key), x.size
    for _ in range(int(size > 1) + int(size > 1625) + int(size > 2642245)):
        keys = runtime.split(own)
        own = keys[0]
        order = np.argsort(runtime.bits(keys[1], x.shape), axis=axis, kind="stable")
        x = np.take_along_axis(x, order, axis)
    return x


def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0, mode: Any = None
) -> Any:
    """An array of entries of ``a`` along ``axis``, chosen at random; for an integer ``a``, entries of ``np.arange(a)``.

    ``shape`` takes the place of the axis in the shape of the result. ``p`` are the probabilities of the entries, equal by
    default. Without ``replace`` no entry is chosen twice; ValueError if there are too few. ``mode`` is that of `gumbel`, used
    for ``p`` without ``replace``.

    >>> choice(np.array([0, 42], np.uint32), 10, (4,))
    array([5, 8, 3, 1])
    """
    a, shape, axis = np.asarray(a), _sizes(shape), runtime.axis_number(axis)
    is_known = a.ndim > 0 or a.dtype.kind in "iu"
    runtime.demand_type(is_known, f"choice takes an array or an integer, not {a.dtype}")
    size = a if a.ndim == 0 else a.shape[axis]
    count = 1
    for n in shape:
        count = count * n
    runtime.demand(count == 0 or size > 0, "cannot choose from an empty array")
    runtime.demand(replace or count <= size, "cannot draw {} of {} without replacement", count, size)
    if p is None:
        if not replace:
            return _placed(permutation(key, a, axis), count, shape, axis)
        which = randint(key, shape, 0, size)
    else:
        p = np.asarray(p)
        if p.dtype.kind != "f":
            p = p.astype(np.float64)
        runtime.demand(p.ndim == 1, f"p must have one axis, not {p.ndim}")
        runtime.demand(p.shape[0] == size, "p must have one probability for each element")
        if replace:
            sums = np.cumsum(p)
            which = np.searchsorted(sums, sums[-1] * (1.0 - uniform(key, shape, p.dtype)))
        else:
            scores = gumbel(key, p.shape, p.dtype, mode) + np.log(p)
            which = np.reshape(np.argsort(-scores, kind="stable")[:count], shape)
    return which if a.ndim == 0 else np.take(a, which, axis=axis)


def _placed(x: Any, count: Any, shape: Any, axis: int) -> Any:
    """The first ``count`` entries of ``x`` along ``axis``, which is replaced by axes of the sizes ``shape``."""
    if x.ndim == 1:
        return np.reshape(x[:count], shape)
    at = axis if axis >= 0 else axis + x.ndim
    first = np.take(x, np.arange(count), axis=at)
    return np.reshape(first, (*x.shape[:at], *shape, *x.shape[at + 1 :]))


def _sizes(shape: Any) -> Any:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
