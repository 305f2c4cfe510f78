"""Functions of NumPy written in terms of other NumPy functions: plain Python, lifted like user code."""

from __future__ import annotations

import numpy as np

from transpile.base.intrinsics import stop_gradient


def piecewise(x, condlist, funclist):  # type: ignore[no-untyped-def]
    """``np.piecewise``: each function (or number) gives the elements where its condition holds; if several hold, the last one
    counts. One further function is for elements where none holds; else these are 0."""
    if len(funclist) not in (len(condlist), len(condlist) + 1):
        raise ValueError("np.piecewise takes a function for each condition, and one for the rest")
    tests = list(condlist)
    if len(funclist) > len(condlist):
        tests.append(np.logical_not(np.any(np.stack(tests), axis=0)))
    if np.ndim(x) == 0:
        return _piece_of_number(np.asarray(x), tests, funclist)
    y = np.zeros_like(x)
    for test, entry in zip(tests, funclist):
        if not callable(entry):
            y[test] = entry
        elif np.any(test):
            y[test] = entry(x[test])
    return y


def _piece_of_number(x, tests, funclist):  # type: ignore[no-untyped-def]
    """``np.piecewise`` of a number, as an array of rank 0; all functions are called."""
    y = np.zeros_like(x)
    for test, entry in zip(tests, funclist):
        y = np.where(test, entry(x) if callable(entry) else entry, y)
    return np.asarray(y, dtype=x.dtype)


def fromfunction(function, shape, dtype=float):  # type: ignore[no-untyped-def]
    """``np.fromfunction``: the result of one call of ``function`` with the index arrays."""
    return function(*np.indices(shape, dtype=dtype))


def fromiter(iter, dtype, count=-1):  # type: ignore[no-untyped-def]
    """``np.fromiter``: the items as an array; with a count only the first ones, and no more are consumed."""
    found = list(iter) if count < 0 else [item for _, item in zip(range(count), iter)]
    if len(found) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(found)} items.")
    return np.array(found, dtype=dtype)


def ndarray(shape, dtype=float):  # type: ignore[no-untyped-def]
    """``np.ndarray(shape, dtype)``: uninitialised memory."""
    return np.empty(shape, dtype=dtype)


def joined(parts, axis, least, place):  # type: ignore[no-untyped-def]
    """``np.r_[parts]`` and ``np.c_[parts]``: the concatenation along ``axis``. Parts of rank below ``least`` get axes of size
    1, before the old ones if ``place`` is -1, else so that the old ones begin at axis ``place`` (negative: from the end)."""
    dtype = np.result_type(*parts)
    return np.concatenate([_of_rank(np.asarray(part, dtype=dtype), least, place) for part in parts], axis=axis)


def _of_rank(a, least, place):  # type: ignore[no-untyped-def]
    """``a`` with axes of size 1 up to rank ``least``, before the old ones if ``place`` is -1, else so that the old ones begin
    at axis ``place`` (negative: from the end)."""
    missing = least - a.ndim
    if missing <= 0:
        return a
    whole = np.reshape(a, (*(1 for _ in range(missing)), *a.shape))
    if place == -1:
        return whole
    start = place if place >= 0 else place + missing + 1
    return np.transpose(whole, (*range(start), *range(missing, least), *range(start, missing)))


def mgrid(axes):  # type: ignore[no-untyped-def]
    """``np.mgrid``: the coordinates of each grid point, one array for each axis, stacked along a new first axis; ``axes`` are
    the vectors of coordinates."""
    dtype = np.result_type(*axes)
    return np.stack(np.meshgrid(*[np.asarray(a, dtype=dtype) for a in axes], indexing="ij"))


def ogrid(axes):  # type: ignore[no-untyped-def]
    """``np.ogrid``: a tuple of the vectors ``axes``, each along its axis of the grid, so that they broadcast."""
    dtype = np.result_type(*axes)
    return tuple(_along(np.asarray(a, dtype=dtype), k, len(axes)) for k, a in enumerate(axes))


def _along(a, k, rank):  # type: ignore[no-untyped-def]
    return np.reshape(a, tuple(-1 if j == k else 1 for j in range(rank)))


def apply_along_axis(func1d, axis, arr, *args):  # type: ignore[no-untyped-def]
    """``np.apply_along_axis``: ``func1d(row, *args)`` for each row along an axis; its results, vectors or numbers, stand along
    this axis."""
    x = np.moveaxis(np.asarray(arr), axis, -1)
    rows = np.reshape(x, (-1, x.shape[-1]))
    found = np.stack([func1d(row, *args) for row in rows])
    if found.ndim == 1:
        return np.reshape(found, x.shape[:-1])
    return np.moveaxis(np.reshape(found, (*x.shape[:-1], found.shape[1])), -1, axis)


def apply_over_axes(func, a, axes):  # type: ignore[no-untyped-def]
    """``np.apply_over_axes``: ``func(a, axis)`` for one axis after another; an axis that it drops is kept with size 1."""
    a = np.asarray(a)
    for axis in axes:
        y = func(a, axis)
        a = y if y.ndim == a.ndim else np.expand_dims(y, axis)
    return a


def choose(a, choices, mode="raise"):  # type: ignore[no-untyped-def]
    """``np.choose``: each element comes from the choice whose number stands in ``a``."""
    which, count = np.asarray(a), len(choices)
    if which.dtype.kind == "f":
        raise TypeError(f"Cannot cast array data from {which.dtype!r} to dtype('int64') according to the rule 'safe'")
    if mode == "wrap":
        which = which % count
    elif mode == "clip":
        which = np.clip(which, 0, count - 1)
    elif mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    elif np.any((which < 0) | (which >= count)):
        raise ValueError("invalid entry in choice array")
    found = choices[0]
    for k in range(min(1, count - 1), count):
        found = np.where(which == k, choices[k], found)
    return found


def astype(x, dtype, /, *, copy=True, device=None):  # type: ignore[no-untyped-def]
    """``np.astype``."""
    return x.astype(dtype, copy=copy)


def vecmat(x1, x2):  # type: ignore[no-untyped-def]
    """``np.vecmat``: stacks of vectors times stacks of matrices."""
    if np.ndim(x1) < 1 or np.ndim(x2) < 2:
        raise ValueError("np.vecmat takes vectors and matrices")
    return np.matmul(np.asarray(x1)[..., None, :], x2)[..., 0, :]


def angle(z, deg=False):  # type: ignore[no-untyped-def]
    """``np.angle``, for real numbers."""
    y = np.arctan2(np.zeros_like(z), z)
    return np.degrees(y) if deg else y


def isreal(x):  # type: ignore[no-untyped-def]
    """``np.isreal``, for real numbers."""
    return np.full(np.shape(x), True)


def iscomplex(x):  # type: ignore[no-untyped-def]
    """``np.iscomplex``, for real numbers."""
    return np.full(np.shape(x), False)


def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):  # type: ignore[no-untyped-def]
    """``np.unwrap``: ``p`` plus whole periods, which have derivative 0."""
    p = np.asarray(p)
    steps = stop_gradient(np.diff(p, axis=axis))
    dtype = np.result_type(steps, period)
    whole = np.issubdtype(dtype, np.integer)
    if dtype.kind == "u":
        raise OverflowError("np.unwrap does not take unsigned integers")
    half = period // 2 if whole else period / 2
    wrapped = np.mod(steps + half, period) - half
    if not whole or period % 2 == 0:
        wrapped = np.where((wrapped == -half) & (steps > 0), half, wrapped)
    smallest = period / 2 if discont is None else max(discont, period / 2)
    jumps = np.where(np.abs(steps) < smallest, 0, wrapped - steps)
    first = np.zeros_like(np.take(p, [0], axis=axis))
    found = p + np.concatenate((first, np.cumsum(jumps, axis=axis)), axis=axis)
    return np.asarray(found, dtype=dtype) if whole else found


def union1d(ar1, ar2):  # type: ignore[no-untyped-def]
    """``np.union1d``."""
    return np.unique(np.concatenate((ar1, ar2), axis=None))


def intersect1d(ar1, ar2):  # type: ignore[no-untyped-def]
    """``np.intersect1d``: the sorted common values, each once, in the common dtype."""
    values = np.unique(ar1)
    common = np.concatenate((np.ravel(ar1)[:0], np.ravel(ar2)[:0]))
    return values[np.isin(values, ar2)].astype(common.dtype)


def setdiff1d(ar1, ar2):  # type: ignore[no-untyped-def]
    """``np.setdiff1d``: the sorted values of ``ar1``, each once, that are not in ``ar2``."""
    values = np.unique(ar1)
    return values[~np.isin(values, ar2)]


def polyadd(a1, a2):  # type: ignore[no-untyped-def]
    """``np.polyadd``: the sum, with the shorter operand padded in front."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    if a1.ndim > 1 or a2.ndim > 1:  # no polynomials: NumPy adds arrays that have the same number of rows
        if len(a1) != len(a2):
            raise ValueError("all the input array dimensions must match exactly")
        return a1 + a2
    size = max(a1.size, a2.size)
    return np.pad(a1, (size - a1.size, 0)) + np.pad(a2, (size - a2.size, 0))


def polysub(a1, a2):  # type: ignore[no-untyped-def]
    """``np.polysub``."""
    return polyadd(a1, np.negative(a2))


def _window(M):  # type: ignore[no-untyped-def]
    """The number of points, for a float ``M`` below 1 none, and the distance from the first to the last, 1 for a single
    point."""
    if isinstance(M, int):
        return M, np.maximum(M - 1, 1)
    return (M if M >= 1 else 0), (M - 1 if M != 1 else 1)


def bartlett(M):  # type: ignore[no-untyped-def]
    """``np.bartlett``."""
    M, last = _window(M)
    n = np.arange(1 - M, M, 2)
    return np.where(n <= 0, 1 + n / last, 1 - n / last)


def hanning(M):  # type: ignore[no-untyped-def]
    """``np.hanning``: the window of ``M`` points."""
    M, last = _window(M)
    return 0.5 + 0.5 * np.cos(np.pi * np.arange(1 - M, M, 2) / last)


def hamming(M):  # type: ignore[no-untyped-def]
    """``np.hamming``."""
    M, last = _window(M)
    return 0.54 + 0.46 * np.cos(np.pi * np.arange(1 - M, M, 2) / last)


def blackman(M):  # type: ignore[no-untyped-def]
    """``np.blackman``."""
    M, last = _window(M)
    n = np.pi * np.arange(1 - M, M, 2) / last
    return 0.42 + 0.5 * np.cos(n) + 0.08 * np.cos(2.0 * n)


def kaiser(M, beta):  # type: ignore[no-untyped-def]
    """``np.kaiser``."""
    _, last = _window(M)
    n = (np.arange(0, M) - (M - 1) / 2.0) / (last / 2.0)
    beta = np.float64(beta)
    return np.i0(beta * np.sqrt(1 - n**2.0)) / np.i0(beta)


def vectorized(pyfunc, otypes, *args, **kwargs):  # type: ignore[no-untyped-def]
    """A call of ``np.vectorize(pyfunc)``: one call for each element; the dtypes are ``otypes``, or, if it is None, those of the
    results of one more call for the first element."""
    arrays = np.broadcast_arrays(*args, *kwargs.values())
    flat = [np.ravel(a) for a in arrays]
    if otypes is None:
        if flat[0].size == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = pyfunc(*[a[0] for a in flat[: len(args)]], **{k: a[0] for k, a in zip(kwargs, flat[len(args) :])})
        dtypes = [np.asarray(v).dtype for v in (first if isinstance(first, tuple) else (first,))]
    else:
        dtypes = list(otypes)
    found = [pyfunc(*items[: len(args)], **dict(zip(kwargs, items[len(args) :]))) for items in zip(*flat)]
    if len(dtypes) > 1:
        return tuple(
            np.array([one[k] for one in found], dtype=dtype).reshape(arrays[0].shape) for k, dtype in enumerate(dtypes)
        )
    return np.array(found, dtype=dtypes[0]).reshape(arrays[0].shape)
