"""Gaussian mixture: the log-likelihood of points, with a Wishart prior on the covariances (the GMM of ADBench).

The inverse covariance of a component is ``Q^T Q`` with a lower triangular ``Q``, stored as the logarithms of its diagonal and then
the columns below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bench.idioms import jax_gradient, torch_gradient
from bench.native import at, function
from bench.problem import Problem


def gmm(alphas, means, factors, points, gamma, m):
    k, d = means.shape
    n = len(points)
    terms = np.empty((k, n))
    prior = 0.0
    for j in range(k):
        log_diagonal = factors[j, :d]
        below = factors[j, d:]
        q = np.zeros((d, d))
        start = 0
        for c in range(d):
            q[c, c] = np.exp(log_diagonal[c])
            q[c + 1 :, c] = below[start : start + d - c - 1]
            start += d - c - 1
        z = (points - means[j]) @ q.T
        log_determinant = np.sum(log_diagonal)
        terms[j] = alphas[j] + log_determinant - 0.5 * np.sum(z * z, axis=1)
        squares = np.sum(np.exp(2.0 * log_diagonal)) + np.sum(below * below)
        prior += 0.5 * gamma * gamma * squares - m * log_determinant
    top = np.max(terms, axis=0)
    likelihood = np.sum(top + np.log(np.sum(np.exp(terms - top), axis=0))) - n * logsumexp(alphas)
    return likelihood + prior + constant(n, d, k, gamma, m)


def constant(n, d, k, gamma, m):
    """What depends on no parameter: of the normal density and of the prior."""
    freedom = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(d):
        log_gamma += math.lgamma(0.5 * (freedom - j))
    prior = freedom * d * (math.log(gamma) - 0.5 * math.log(2.0)) - log_gamma
    return -0.5 * n * d * math.log(2.0 * math.pi) - k * prior


def batched(xp: Any, log_sum_exp: Callable, alphas, means, q, log_diagonal, below, points, gamma, m):
    """All components at once, in a library with NumPy's function names."""
    k, d = means.shape
    z = xp.einsum("kij,knj->kni", q, points[None] - means[:, None])
    log_determinant = log_diagonal.sum(1)
    terms = alphas[:, None] + log_determinant[:, None] - 0.5 * (z * z).sum(2)
    squares = xp.exp(2.0 * log_diagonal).sum() + (below * below).sum()
    prior = 0.5 * gamma * gamma * squares - m * log_determinant.sum()
    likelihood = log_sum_exp(terms, 0).sum() - len(points) * log_sum_exp(alphas, 0)
    return likelihood + prior + constant(len(points), d, k, gamma, m)


def columns_below(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the elements stored below the diagonal."""
    columns, rows = np.triu_indices(d, 1)
    return rows, columns


def of_jax() -> Callable:
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp as log_sum_exp

    def value(alphas, means, factors, points, gamma, m):
        k, d = means.shape
        rows, columns = columns_below(d)
        log_diagonal, below = factors[:, :d], factors[:, d:]
        q = jnp.zeros((k, d, d)).at[:, rows, columns].set(below)
        q = q + jnp.exp(log_diagonal)[:, :, None] * jnp.eye(d)
        return batched(jnp, log_sum_exp, alphas, means, q, log_diagonal, below, points, gamma, m)

    return jax_gradient(value, (0, 1, 2), static=(4, 5))


def of_torch() -> Callable:
    import torch

    def value(alphas, means, factors, points, gamma, m):
        k, d = means.shape
        rows, columns = columns_below(d)
        log_diagonal, below = factors[:, :d], factors[:, d:]
        q = torch.zeros((k, d, d), dtype=torch.float64)
        q[:, rows, columns] = below
        q = q + torch.diag_embed(torch.exp(log_diagonal))
        return batched(torch, torch.logsumexp, alphas, means, q, log_diagonal, below, points, gamma, m)

    return torch_gradient(value, (0, 1, 2))


def of_c() -> Callable:
    call = function("gmm", "iiippppdipppp")

    def value_and_gradient(alphas, means, factors, points, gamma, m):
        (k, d), n = means.shape, len(points)
        bars = np.zeros_like(alphas), np.zeros_like(means), np.zeros_like(factors)
        terms = np.empty((k, n))
        value = call(
            n, k, d, at(alphas), at(means), at(factors), at(points), gamma, m, *(at(bar) for bar in bars), at(terms)
        )
        return value + constant(n, d, k, gamma, m), bars

    return value_and_gradient


def arguments(d: int, k: int, n: int) -> tuple:
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(k, d + d * (d - 1) // 2)) / math.sqrt(d)
    return rng.normal(size=k), rng.uniform(size=(k, d)), factors, rng.normal(size=(n, d)), 1.0, 0


PROBLEMS = tuple(
    Problem(
        "gmm",
        "problems",
        size,
        gmm,
        lambda shape=shape: arguments(*shape),
        (0, 1, 2),
        jax=of_jax,
        torch=of_torch,
        c=of_c,
        numba_ok=False,
    )
    for size, shape in (("small", (2, 5, 100)), ("medium", (10, 25, 1000)), ("large", (64, 100, 1000)))
)
