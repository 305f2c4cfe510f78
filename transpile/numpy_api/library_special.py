"""Functions of ``scipy.special`` written in terms of NumPy functions: plain Python, lifted like user code.

The shift by the largest element is hidden from the derivative (`stop_gradient`): the result does not depend on it.
"""

from __future__ import annotations

import numpy as np

from transpile.base.intrinsics import stop_gradient


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):  # type: ignore[no-untyped-def]
    """``log(sum(b * exp(a)))`` without overflow; -inf, with derivative 0, where every term vanishes, and NaN where the sum is
    negative. With ``return_sign`` the pair of the logarithm of the absolute value and the sign."""
    a = np.atleast_1d(a)
    if not np.issubdtype(a.dtype, np.floating):
        a = a + 0.0
    counts = a if b is None else np.where(b == 0, -np.inf, a)
    top = np.max(counts, axis=axis, keepdims=True, initial=-np.inf)
    top = stop_gradient(np.where(np.isfinite(top), top, 0.0))
    terms = np.exp(a - top) if b is None else b * np.exp(_bounded(a - top, b))
    total = np.sum(terms, axis=axis, keepdims=keepdims)
    if not keepdims:
        top = np.squeeze(top, axis=axis)
    size = np.abs(total) if return_sign else total
    empty = size == 0
    if b is not None and not return_sign:  # the logarithm of a negative sum, without a warning
        top = np.where(size < 0, np.nan, top)
        size = np.where(size < 0, 1.0, size)
    result = np.log(np.where(empty, 1.0, size)) + np.where(empty, -np.inf, top)
    return (result, np.sign(total)) if return_sign else result


def _bounded(above, b):  # type: ignore[no-untyped-def]
    """The exponents ``above``, with 0 for terms that have ``b == 0`` and would overflow."""
    return np.where((b == 0) & ~(above < 80.0), 0.0, above)


def softmax(x, axis=None):  # type: ignore[no-untyped-def]
    """``exp(x) / sum(exp(x))`` along ``axis`` (None: over all elements), without overflow."""
    terms = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return terms / np.sum(terms, axis=axis, keepdims=True)


def log_softmax(x, axis=None):  # type: ignore[no-untyped-def]
    """``log(softmax(x))``, accurate where the softmax is tiny."""
    shifted = x - stop_gradient(np.max(x, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def softplus(x):  # type: ignore[no-untyped-def]
    """``log(1 + exp(x))`` without overflow."""
    return np.logaddexp(0.0, x)


def huber(delta, r):  # type: ignore[no-untyped-def]
    """The Huber loss: quadratic for ``abs(r)`` up to ``delta``, linear beyond; infinite for a negative ``delta``."""
    delta, r = _both_floats(delta, r)
    size = np.abs(r)
    loss = np.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return np.where(delta < 0, np.inf, loss)


def pseudo_huber(delta, r):  # type: ignore[no-untyped-def]
    """The smooth Huber loss ``delta**2 (sqrt(1 + (r / delta)**2) - 1)``, in a form that does not cancel for small r; infinite
    for a negative ``delta``."""
    delta, r = _both_floats(delta, r)
    v = r / np.where(delta == 0, 1.0, delta)
    loss = r * (r / (1.0 + np.hypot(1.0, v)))
    return np.where(delta < 0, np.inf, np.where(delta == 0, 0.0, loss))


def _both_floats(x, y):  # type: ignore[no-untyped-def]
    """Both operands as floats: integers become the float of the common dtype, promoted as a float ufunc does (small ones
    float32)."""
    dtype = np.result_type(x, y)
    if not np.issubdtype(dtype, np.floating):
        dtype = np.result_type(dtype, np.float32)
    return _as_float(x, dtype), _as_float(y, dtype)


def _as_float(x, dtype):  # type: ignore[no-untyped-def]
    return x if np.issubdtype(np.result_type(x), np.floating) else np.asarray(x, dtype)
