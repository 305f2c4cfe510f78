"""Least squares (GradBench): a polynomial is fitted to the sign function on a grid of [-1, 1]; gradient by its coefficients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.idioms import jax_gradient, torch_gradient
from bench.native import at, function
from bench.problem import Problem


def llsq(x, n):
    total = 0.0
    for i in range(n):
        t = -1.0 + 2.0 * i / (n - 1.0)
        error = np.sign(t)
        power = 1.0
        for j in range(len(x)):
            error -= x[j] * power
            power *= t
        total += error * error
    return 0.5 * total


def of_jax() -> Callable:
    import jax.numpy as jnp

    def value(x, n):
        t = jnp.linspace(-1.0, 1.0, n)
        error = jnp.sign(t) - jnp.polyval(x[::-1], t, unroll=128)
        return 0.5 * jnp.sum(error * error)

    return jax_gradient(value, (0,), static=(1,))


def of_torch() -> Callable:
    import torch

    def value(x, n):
        t = torch.linspace(-1.0, 1.0, n, dtype=torch.float64)
        error = torch.sign(t) - torch.linalg.vander(t, N=len(x)) @ x
        return 0.5 * torch.sum(error * error)

    return torch_gradient(value, (0,))


def of_c() -> Callable:
    call = function("llsq", "iipp")

    def value_and_gradient(x, n):
        x_bar = np.zeros_like(x)
        return call(n, len(x), at(x), at(x_bar)), (x_bar,)

    return value_and_gradient


def arguments(m: int, n: int) -> tuple:
    return np.random.default_rng(3).normal(size=m), n


PROBLEMS = tuple(
    Problem(
        "llsq", "problems", size, llsq, lambda shape=shape: arguments(*shape), (0,), jax=of_jax, torch=of_torch, c=of_c
    )
    for size, shape in (("small", (8, 100)), ("medium", (32, 10_000)), ("large", (64, 500_000)))
)
