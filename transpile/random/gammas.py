"""Gamma variables by acceptance and rejection, and distributions derived from them.

They are differentiable in their shape parameters by the implicit function theorem. Their numbers differ from those of JAX.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from transpile_runtime import random as runtime


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from the gamma distribution with shape parameter ``a`` and scale 1, by default of the shape of ``a``.

    The dtype is float64 or float32. The draw is differentiable in ``a``: it is the quantile of a uniform number that is held
    fixed. The numbers differ from those of JAX.

    >>> gamma(np.array([0, 42], np.uint32), 2.0, (2,)).round(6)
    array([1.352338, 1.824349])
    """
    return np.exp(_log_gamma(runtime.single(key), a, shape)).astype(_real(dtype))


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The logarithms, float64 or float32, of the numbers that `gamma` draws with these arguments, also where those underflow
    because ``a`` is small.

    >>> loggamma(np.array([0, 42], np.uint32), 1e-5, (2,)).round(2)
    array([ -26876.3 , -135525.97])
    """
    return _log_gamma(runtime.single(key), a, shape).astype(_real(dtype))


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from the beta distribution with parameters ``a`` and ``b``, by default of their broadcast shape;
    float64 or float32.

    The draw is differentiable in both. The numbers differ from those of JAX.

    >>> beta(np.array([0, 42], np.uint32), 2.0, 3.0, (2,)).round(6)
    array([0.709528, 0.495657])
    """
    if shape is None:
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    first, second = runtime.split(runtime.single(key))
    # x / (x + y) for two gamma variables, by their logarithms, because both may underflow
    return special.expit(_log_gamma(first, a, shape) - _log_gamma(second, b, shape)).astype(_real(dtype))


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array ``[*shape, d]`` of vectors from the Dirichlet distribution with parameters ``alpha``, ``[..., d]``; float64 or
    float32.

    ``shape`` is by default that of the leading axes of ``alpha``, which broadcast to it. The draw is differentiable in
    ``alpha``. The numbers differ from those of JAX.

    >>> dirichlet(np.array([0, 42], np.uint32), np.array([1.0, 2.0, 3.0])).round(6)
    array([0.083137, 0.318831, 0.598032])
    """
    alpha = np.asarray(alpha)
    runtime.demand(alpha.ndim > 0, "alpha must have at least one axis")
    if shape is None:
        shape = alpha.shape[:-1]
    lead = shape if isinstance(shape, (tuple, list)) else (shape,)
    logs = _log_gamma(runtime.single(key), alpha, (*lead, alpha.shape[-1]))
    return special.softmax(logs, axis=-1).astype(_real(dtype))


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from the chi-squared distribution with ``df`` degrees of freedom, by default of the shape of ``df``.

    The dtype is float64 (the default) or float32. The draw is differentiable in ``df``. The numbers differ from those of JAX.

    >>> chisquare(np.array([0, 42], np.uint32), 4.0, (2,)).round(6)
    array([2.704676, 3.648697])
    """
    return (2.0 * np.exp(_log_gamma(runtime.single(key), np.asarray(df) / 2.0, shape))).astype(_real(dtype))


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """An array of numbers from Student's t distribution with ``df`` degrees of freedom, by default of the shape of ``df``.

    The dtype is float64 (the default) or float32. The draw is differentiable in ``df``. The numbers differ from those of JAX.

    >>> t(np.array([0, 42], np.uint32), 3.0, (2,)).round(6)
    array([-3.42731 , -0.378285])
    """
    first, second = runtime.split(runtime.single(key))
    half = np.asarray(df).astype(np.float64) / 2.0
    z = runtime.normal(first, np.shape(df) if shape is None else shape)
    return (z * np.exp(0.5 * (np.log(half) - _log_gamma(second, half, shape)))).astype(_real(dtype))


def ball(key: Any, d: Any, p: Any = 2, shape: Any = (), dtype: Any = None) -> Any:
    """An array ``[*shape, d]`` of points distributed uniformly in the unit ball of dimension ``d`` in the norm ``p``; float64
    or float32.

    The numbers differ from those of JAX. F. Barthe, O. Guedon, S. Mendelson and A. Naor, A probabilistic approach to the
    geometry of the l_p^n-ball, 2005.

    >>> points = ball(np.array([0, 42], np.uint32), 3, shape=(100,))
    >>> bool(np.all(np.sum(points**2, axis=-1) <= 1.0))
    True
    """
    lead = shape if isinstance(shape, (tuple, list)) else (shape,)
    first, second = runtime.split(runtime.single(key))
    own = runtime.split(first)
    exponent = 1.0 / np.asarray(p).astype(np.float64)
    powers = np.exp(_log_gamma(own[0], exponent, (*lead, d)))
    signs = np.where(runtime.unit(own[1], (*lead, d)) < 0.5, 1.0, -1.0)
    e = -np.log1p(-runtime.unit(second, (*lead, 1)))
    x = signs * powers**exponent / (np.sum(powers, axis=-1, keepdims=True) + e) ** exponent
    return x.astype(_real(dtype))


def _log_gamma(key: Any, a: Any, shape: Any) -> Any:
    """Logarithms of gamma variates with shape parameters ``a``, broadcast to ``shape`` unless it is None; they do not underflow
    for small ``a``.

    They are float64 whatever the dtype of the draw, because `beta` subtracts two of them and a float32 of -1e7 has no fraction.
    """
    a = np.asarray(a).astype(np.float64)
    return runtime.log_gamma(key, a if shape is None else np.broadcast_to(a, shape))


def _real(dtype: Any) -> Any:
    """``dtype`` as a NumPy dtype, float64 for None; TypeError unless it is float64 or float32."""
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    runtime.demand_type(
        dtype == np.float64 or dtype == np.float32, f"the dtype must be float64 or float32, not {dtype}"
    )
    return dtype
