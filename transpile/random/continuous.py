"""Real distributions sampled by the inverse of their distribution function, from uniform or normal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from transpile_runtime import random as runtime


def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """An array of uniform numbers in ``[minval, maxval)``, of float64 (the default) or float32.

    The bounds are numbers or arrays that broadcast to the shape; the draw is differentiable in them. A number is ``u * (maxval
    - minval) + minval`` with ``u`` in [0, 1), rounded: this can give ``maxval`` itself. TypeError for another dtype, or if
    ``key`` is not one key.

    >>> uniform(np.array([0, 42], np.uint32), (3,))
    array([0.42672757, 0.01501007, 0.57414442])
    """
    u = runtime.unit(runtime.single(key), shape, dtype)
    if np.ndim(minval) > 0:
        minval = np.broadcast_to(minval, u.shape)
    if np.ndim(maxval) > 0:
        maxval = np.broadcast_to(maxval, u.shape)
    return runtime.between(u, minval, maxval)


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of standard normal numbers, of float64 (the default) or float32.

    >>> normal(np.array([0, 42], np.uint32), (3,)).round(6)
    array([-0.184712, -2.169825,  0.186936])
    """
    return runtime.normal(runtime.single(key), shape, dtype)


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: Any = None) -> Any:
    """An array of numbers from the Gumbel distribution, whose distribution function is ``exp(-exp(-x))``, of float64 or
    float32.

    ``mode`` "low" (None) uses one uniform number for each; "high" uses two, so that large values are resolved as finely as
    small ones.

    >>> gumbel(np.array([0, 42], np.uint32), (2,)).round(6)
    array([ 0.160627, -1.434854])
    """
    if mode == "high":
        u = runtime.unit(runtime.single(key), (2, *_sizes(shape)), dtype)
        coarse, fine = u[0], u[1] * _step(u) + _least(u)
        return -np.log(-np.log1p(-np.where(coarse >= 0.5, coarse, coarse + fine)))
    runtime.demand(mode is None or mode == "low", f"mode must be 'low' or 'high', not {mode!r}")
    return -np.log(-np.log(_positive(key, shape, dtype)))


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of numbers from the exponential distribution with mean 1, of float64 (the default) or float32.

    >>> exponential(np.array([0, 42], np.uint32), (2,)).round(6)
    array([0.556394, 0.015124])
    """
    return -np.log1p(-runtime.unit(runtime.single(key), shape, dtype))


def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of numbers from the Laplace distribution, whose density is ``exp(-|x|) / 2``, of float64 (the default) or
    float32.

    >>> laplace(np.array([0, 42], np.uint32), (2,)).round(6)
    array([0.158462, 3.505887])
    """
    u = runtime.unit(runtime.single(key), shape, dtype)
    u = runtime.between(u, _step(u) - 1.0, 1.0)
    return np.sign(u) * np.log1p(-np.abs(u))


def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of numbers from the logistic distribution, whose distribution function is ``1 / (1 + exp(-x))``, of float64 or
    float32.

    >>> logistic(np.array([0, 42], np.uint32), (2,)).round(6)
    array([-0.295215, -4.18391 ])
    """
    u = _positive(key, shape, dtype)
    return np.log(u / (1.0 - u))


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from the standard normal distribution restricted to lie strictly between ``lower`` and ``upper``.

    The shape is by default that of the bounds, broadcast; the dtype is float64 (the default) or float32. The draw is
    differentiable in the bounds.

    >>> truncated_normal(np.array([0, 42], np.uint32), -1.0, 2.0, (2,)).round(6)
    array([ 0.019985, -0.950448])
    """
    if shape is None:
        shape = np.broadcast_shapes(np.shape(lower), np.shape(upper))
    u = runtime.unit(runtime.single(key), shape, dtype)
    lower, upper = np.asarray(lower).astype(u.dtype), np.asarray(upper).astype(u.dtype)
    low, high = (np.broadcast_to(special.erf(x * np.sqrt(0.5).astype(u.dtype)), u.shape) for x in (lower, upper))
    x = np.sqrt(2.0).astype(u.dtype) * special.erfinv(runtime.between(u, low, high))
    return np.clip(x, np.nextafter(lower, upper), np.nextafter(upper, lower))


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky"
) -> Any:
    """An array ``[*shape, d]`` of normal vectors with mean ``[..., d]`` and covariance ``[..., d, d]``.

    ``shape`` is by default the broadcast shape of the leading axes of both. ``method`` says how the covariance is factored:
    "cholesky" (LinAlgError if it is singular), or "eigh" or "svd", for which eigenvalues that vanish up to rounding count as 0.
    The draw is differentiable in mean and covariance.

    >>> multivariate_normal(np.array([0, 42], np.uint32), np.array([1.0, 2.0]), np.eye(2)).round(6)
    array([ 0.815288, -0.169825])
    """
    mean, cov = np.asarray(mean), np.asarray(cov)
    runtime.demand(mean.ndim > 0, "mean must have at least one axis")
    runtime.demand(cov.ndim > 1, "cov must have at least two axes")
    runtime.demand(method in ("cholesky", "eigh", "svd"), f"method must be 'cholesky', 'eigh' or 'svd', not {method!r}")
    if shape is None:
        shape = np.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    z = runtime.normal(runtime.single(key), (*_sizes(shape), mean.shape[-1]), dtype)
    if method == "cholesky":
        factor = np.linalg.cholesky(cov)
    elif method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        factor = vectors * _roots(values)[..., None, :]
    else:
        u, values, _ = np.linalg.svd(cov, full_matrices=False)
        factor = u * _roots(values)[..., None, :]
    return (mean + np.matmul(factor, z[..., None])[..., 0]).astype(z.dtype)


def _roots(values: Any) -> Any:
    """Square roots of the eigenvalues (last axis) of a covariance: 0 for eigenvalues that vanish up to rounding, NaN for
    negative ones."""
    is_zero = np.abs(values) <= values.shape[-1] * _step(values) * np.max(
        np.abs(values), axis=-1, initial=0.0, keepdims=True
    )
    return np.where(is_zero, 0.0, np.sqrt(np.where(is_zero, 1.0, values))).astype(values.dtype)


def _positive(key: Any, shape: Any, dtype: Any) -> Any:
    """Uniform numbers in (0, 1) of this shape, of float64 (the default) or float32."""
    u = runtime.unit(runtime.single(key), shape, dtype)
    return runtime.between(u, _least(u), 1.0)


def _step(x: Any) -> float:
    """The distance from 1 to the next larger float of the dtype of ``x``."""
    return 2.0**-52 if x.dtype.itemsize == 8 else 2.0**-23


def _least(x: Any) -> float:
    """The smallest positive normal float of the dtype of ``x``."""
    return 2.0**-1022 if x.dtype.itemsize == 8 else 2.0**-126


def _sizes(shape: Any) -> Any:
    return shape if isinstance(shape, (tuple, list)) else (shape,)
