"""Distributions with parameters, sampled by the inverse of a distribution function or from normal numbers.

Their numbers are those of JAX up to rounding; they are differentiable in their parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.random.continuous import _least, _sizes, _step, exponential, normal
from transpile_runtime import random as runtime


def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of numbers from the Cauchy distribution, whose density is ``1 / (pi (1 + x**2))``, of float64 (the default) or
    float32.

    >>> cauchy(np.array([0, 42], np.uint32), (2,)).round(6)
    array([ -0.234346, -21.190702])
    """
    u = runtime.unit(runtime.single(key), shape, dtype)
    u = runtime.between(u, _step(u), 1.0)
    return np.tan(np.asarray(np.pi).astype(u.dtype) * (u - 0.5))


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from the Pareto distribution with exponent ``b``: density ``b x**(-b - 1)`` for ``x >= 1``.

    The shape is by default that of ``b``, the dtype float64 (or float32).

    >>> pareto(np.array([0, 42], np.uint32), 2.0, (2,)).round(6)
    array([1.320747, 1.007591])
    """
    e = exponential(key, np.shape(b) if shape is None else shape, dtype)
    return np.exp(e / np.asarray(b).astype(e.dtype))


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from the Rayleigh distribution, whose density is ``x / scale**2 exp(-x**2 / (2 scale**2))``.

    The shape is by default that of ``scale``, the dtype float64 (or float32).

    >>> rayleigh(np.array([0, 42], np.uint32), 2.0, (2,)).round(6)
    array([2.610149, 5.795884])
    """
    u = runtime.unit(runtime.single(key), np.shape(scale) if shape is None else shape, dtype)
    return np.asarray(scale).astype(u.dtype) * np.sqrt(-2.0 * np.log(runtime.between(u, _least(u), 1.0)))


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of numbers ``x`` from the Weibull distribution: ``(x / scale)**concentration`` is exponential with mean 1.

    One number, float64 (the default) or float32, is drawn for each element of ``shape``, then broadcast with the parameters.

    >>> weibull_min(np.array([0, 42], np.uint32), 1.0, 2.0, (2,)).round(6)
    array([0.745918, 0.122979])
    """
    e = exponential(key, shape, dtype)
    scale, concentration = np.asarray(scale).astype(e.dtype), np.asarray(concentration).astype(e.dtype)
    return np.power(e, 1.0 / concentration) * scale


def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of lengths of standard normal vectors in three dimensions, the Maxwell distribution, of float64 (the default) or
    float32.

    >>> maxwell(np.array([0, 42], np.uint32), (2,)).round(6)
    array([2.185681, 0.866467])
    """
    return np.sqrt(np.sum(normal(key, (*_sizes(shape), 3), dtype) ** 2, axis=-1))


def orthogonal(key: Any, n: Any, shape: Any = (), dtype: Any = None, m: Any = None) -> Any:
    """An array ``[*shape, n, m]`` of uniformly distributed matrices with orthonormal columns (rows, if ``m > n``).

    ``m`` None is ``n``: the matrices are orthogonal.

    >>> q = orthogonal(np.array([0, 42], np.uint32), 3)
    >>> np.allclose(q @ q.T, np.eye(3))
    True
    """
    columns = n if m is None else m
    tall = max(n, columns)
    z = normal(key, (*_sizes(shape), tall, n + columns - tall), dtype)
    q, r = np.linalg.qr(z)
    x = q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
    return np.swapaxes(x, -1, -2) if n < columns else x
