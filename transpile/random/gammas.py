"""Gamma variables by acceptance and rejection, and what is made of them: differentiable in their shapes by the implicit function
theorem. Their numbers are not those of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from transpile_runtime import random as runtime


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers of the gamma distribution of shape ``a`` and scale 1: an array of the shape, by default of that of ``a``.

    float64 or float32. The draw is differentiable in ``a``: as if the number were the quantile of a number that is held.

    >>> gamma(np.array([0, 42], np.uint32), 2.0, (2,)).round(6)
    array([1.352338, 1.824349])
    """
    return np.exp(_log_gamma(runtime.single(key), a, shape)).astype(_real(dtype))


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The logarithms of what `gamma` draws with the key: they are exact where a small shape leaves nothing of the number itself.

    >>> loggamma(np.array([0, 42], np.uint32), 1e-5, (2,)).round(2)
    array([ -26876.3 , -135525.97])
    """
    return _log_gamma(runtime.single(key), a, shape).astype(_real(dtype))


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers of the beta distribution: an array of the shape, by default of what those of ``a`` and ``b`` broadcast to.

    The draw is differentiable in both.

    >>> beta(np.array([0, 42], np.uint32), 2.0, 3.0, (2,)).round(6)
    array([0.709528, 0.495657])
    """
    if shape is None:
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    first, second = runtime.split(runtime.single(key))
    # x / (x + y) of two gamma variables, of which both may be too small for a float
    return special.expit(_log_gamma(first, a, shape) - _log_gamma(second, b, shape)).astype(_real(dtype))


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Vectors of the Dirichlet distribution of parameters ``[..., d]``: an array ``[*shape, d]``.

    shape: what the leading axes of ``alpha`` broadcast to, by default they themselves. The draw is differentiable in ``alpha``.

    >>> dirichlet(np.array([0, 42], np.uint32), np.array([1.0, 2.0, 3.0])).round(6)
    array([0.083137, 0.318831, 0.598032])
    """
    alpha = np.asarray(alpha)
    runtime.demand(alpha.ndim > 0, "alpha has one axis or more")
    if shape is None:
        shape = alpha.shape[:-1]
    lead = shape if isinstance(shape, (tuple, list)) else (shape,)
    logs = _log_gamma(runtime.single(key), alpha, (*lead, alpha.shape[-1]))
    return special.softmax(logs, axis=-1).astype(_real(dtype))


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers of the chi-squared distribution with ``df`` degrees of freedom: an array of the shape, by default of that of ``df``.

    The draw is differentiable in ``df``.

    >>> chisquare(np.array([0, 42], np.uint32), 4.0, (2,)).round(6)
    array([2.704676, 3.648697])
    """
    return (2.0 * np.exp(_log_gamma(runtime.single(key), np.asarray(df) / 2.0, shape))).astype(_real(dtype))


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers of Student's distribution with ``df`` degrees of freedom: an array of the shape, by default of that of ``df``.

    The draw is differentiable in ``df``.

    >>> t(np.array([0, 42], np.uint32), 3.0, (2,)).round(6)
    array([-3.42731 , -0.378285])
    """
    first, second = runtime.split(runtime.single(key))
    half = np.asarray(df).astype(np.float64) / 2.0
    z = runtime.normal(first, np.shape(df) if shape is None else shape)
    return (z * np.exp(0.5 * (np.log(half) - _log_gamma(second, half, shape)))).astype(_real(dtype))


def ball(key: Any, d: Any, p: Any = 2, shape: Any = (), dtype: Any = None) -> Any:
    """Points of the unit ball of dimension ``d`` in the norm ``p``, uniformly distributed: an array ``[*shape, d]``.

    F. Barthe, O. Guedon, S. Mendelson and A. Naor, A probabilistic approach to the geometry of the l_p^n-ball, 2005.

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
    """Logarithms of gamma variables, which do not underflow where a shape is small.

    They are float64 whatever the dtype of the draw: beside a logarithm of -1e7 a float32 holds no fraction, and the difference of
    two of them is a draw's logit.
    """
    a = np.asarray(a).astype(np.float64)
    return runtime.log_gamma(key, a if shape is None else np.broadcast_to(a, shape))


def _real(dtype: Any) -> Any:
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    runtime.demand_type(dtype == np.float64 or dtype == np.float32, f"the dtype is float64 or float32, not {dtype}")
    return dtype
