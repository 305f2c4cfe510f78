"""k-means: the sum of squared distances to the nearest centroid, its gradient, and the diagonal of its Hessian (GradBench).

The Hessian by the centroids is diagonal, so its product with a vector of ones is its diagonal: forward over reverse, in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp
from bench.native import at, function
from bench.problem import Problem


def kmeans(centroids, points):
    offsets = points[:, None, :] - centroids[None, :, :]
    distances = np.sum(offsets * offsets, axis=2)
    return np.sum(np.min(distances, axis=1))


def gradient_and_diagonal(centroids, points):
    """``(value, (gradient, diagonal))``."""

    def along(c):
        return tp.value_and_grad(kmeans)(c, points)

    (value, gradient), (_, diagonal) = tp.jvp(along, (centroids,), (np.ones_like(centroids),))
    return value, (gradient, diagonal)


def expanded(centroids: Any, points: Any) -> Any:
    """The distances by a matrix product, as users of libraries with a fast one write them."""
    squares = (points * points).sum(1)[:, None] + (centroids * centroids).sum(1)[None, :]
    return squares - 2.0 * points @ centroids.T


def of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def cost(centroids, points):
        return jnp.sum(jnp.min(expanded(centroids, points), axis=1))

    def both(centroids, points):
        def along(c):
            return jax.value_and_grad(cost)(c, points)

        (value, gradient), (_, diagonal) = jax.jvp(along, (centroids,), (jnp.ones_like(centroids),))
        return value, (gradient, diagonal)

    return jax.jit(both)


def of_torch() -> Callable:
    """By torch.func, also with forward mode over reverse mode."""
    import torch
    from torch.func import grad_and_value, jvp

    def cost(centroids, points):
        return torch.sum(torch.amin(expanded(centroids, points), 1))

    def both(centroids, points):
        def along(c):
            return grad_and_value(cost)(c, points)

        (gradient, value), (diagonal, _) = jvp(along, (centroids,), (torch.ones_like(centroids),))
        return value, (gradient, diagonal)

    return both


def of_c() -> Callable:
    call = function("kmeans", "iiipppp")

    def value_and_derivatives(centroids, points):
        (n, d), k = points.shape, len(centroids)
        gradient, diagonal = np.zeros_like(centroids), np.zeros_like(centroids)
        return call(n, k, d, at(centroids), at(points), at(gradient), at(diagonal)), (gradient, diagonal)

    return value_and_derivatives


def arguments(n: int, k: int, d: int) -> tuple:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(n, d))
    return points[:k] + 0.1 * rng.normal(size=(k, d)), points


PROBLEMS = tuple(
    Problem(
        "kmeans",
        "problems",
        size,
        kmeans,
        lambda shape=shape: arguments(*shape),
        (0,),
        wanted="gradient and Hessian diagonal",
        ours=lambda: tp.jit(gradient_and_diagonal, cache=False),
        jax=of_jax,
        torch=of_torch,
        c=of_c,
        numba_ok=False,
    )
    for size, shape in (("small", (50, 3, 2)), ("medium", (2_000, 10, 8)), ("large", (20_000, 100, 32)))
)
