"""A chain of equations ``y_0' = x_0``, ``y_j' = x_j y_(j-1)`` by the Runge-Kutta method of order 4 to time 2 (GradBench, CppAD)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.idioms import jax_gradient, torch_gradient
from bench.native import at, function
from bench.problem import Problem

END = 2.0


def slope(x, y):
    rate = np.empty(len(x))
    rate[0] = x[0]
    rate[1:] = x[1:] * y[:-1]
    return rate


def ode(x, steps):
    y = np.zeros(len(x))
    h = END / steps
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + 0.5 * h * k1)
        k3 = slope(x, y + 0.5 * h * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y[-1]


def step(slope: Callable, x: Any, y: Any, h: float) -> Any:
    """A step for libraries whose arrays are immutable."""
    k1 = slope(x, y)
    k2 = slope(x, y + 0.5 * h * k1)
    k3 = slope(x, y + 0.5 * h * k2)
    k4 = slope(x, y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def rate(x, y):
        return x * jnp.concatenate([jnp.ones(1), y[:-1]])

    def value(x, steps):
        h = END / steps
        return jax.lax.scan(lambda y, _: (step(rate, x, y, h), None), jnp.zeros(len(x)), length=steps)[0][-1]

    return jax_gradient(value, (0,), static=(1,))


def of_torch() -> Callable:
    import torch

    one = torch.ones(1, dtype=torch.float64)

    def rate(x, y):
        return x * torch.cat([one, y[:-1]])

    def value(x, steps):
        y = torch.zeros_like(x)
        for _ in range(steps):
            y = step(rate, x, y, END / steps)
        return y[-1]

    return torch_gradient(value, (0,))


def of_c() -> Callable:
    call = function("ode", "iipp")

    def value_and_gradient(x, steps):
        x_bar = np.zeros_like(x)
        return call(len(x), steps, at(x), at(x_bar)), (x_bar,)

    return value_and_gradient


def arguments(n: int, steps: int) -> tuple:
    """Rates that keep the last component of order one: it is near ``prod(x) 2^n / n!``."""
    return np.random.default_rng(4).uniform(0.9, 1.1, size=n) * np.arange(1, n + 1) / 2.0, steps


PROBLEMS = tuple(
    Problem(
        "ode", "problems", size, ode, lambda shape=shape: arguments(*shape), (0,), jax=of_jax, torch=of_torch, c=of_c
    )
    for size, shape in (("small", (5, 50)), ("medium", (20, 1_000)), ("large", (50, 20_000)))
)
