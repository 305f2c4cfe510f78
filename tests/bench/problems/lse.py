"""Log-sum-exp of a vector (GradBench), shifted by its largest entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.idioms import jax_gradient, torch_gradient
from bench.native import at, function
from bench.problem import Problem


def lse(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def of_jax() -> Callable:
    from jax.scipy.special import logsumexp

    return jax_gradient(logsumexp, (0,))


def of_torch() -> Callable:
    import torch

    return torch_gradient(lambda x: torch.logsumexp(x, 0), (0,))


def of_c() -> Callable:
    call = function("lse", "ipp")

    def value_and_gradient(x):
        x_bar = np.empty_like(x)
        return call(len(x), at(x), at(x_bar)), (x_bar,)

    return value_and_gradient


def arguments(n: int) -> tuple:
    return (np.random.default_rng(2).normal(scale=3.0, size=n),)


PROBLEMS = tuple(
    Problem("lse", "problems", size, lse, lambda n=n: arguments(n), (0,), jax=of_jax, torch=of_torch, c=of_c)
    for size, n in (("small", 1_000), ("medium", 100_000), ("large", 10_000_000))
)
