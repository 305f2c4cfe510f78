"""Series: soft dynamic time warping of pairs, the likelihood of GARCH(1, 1), and Kepler's equation, whose lanes stop at different
times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp
from bench.batching.batched import NO_CONTROL, batched
from bench.problem import Problem

GAMMA = 0.5
LENGTH = 64


def soft_dtw(x, y):
    """The soft minimum over all alignments of two series (Cuturi and Blondel)."""
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a = r[i - 1, j - 1]
            b = r[i - 1, j]
            c = r[i, j - 1]
            low = min(a, b, c)
            total = np.exp((low - a) / GAMMA) + np.exp((low - b) / GAMMA) + np.exp((low - c) / GAMMA)
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + low - GAMMA * np.log(total)
    return r[n, m]


def pairs(lanes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.normal(size=(lanes, LENGTH)).cumsum(1), rng.normal(size=(lanes, LENGTH)).cumsum(1)


def dtw_of_jax() -> Callable:
    """By diagonals: each is computed from the two before it, all of its cells at once."""
    import jax
    import jax.numpy as jnp

    def one(x, y):
        n, m = len(x), len(y)
        rows = jnp.arange(n + 1)
        mine = jnp.concatenate([x[:1], x])
        theirs = jnp.pad(y[::-1], n)  # a diagonal reads contiguous elements of it, without a gather

        def step(carried, k):
            before, last = carried  # of diagonals k - 2 and k - 1, by row
            columns = k - rows
            a = jnp.concatenate([jnp.full(1, 1e10), before[:-1]])
            b = jnp.concatenate([jnp.full(1, 1e10), last[:-1]])
            low = jnp.minimum(jnp.minimum(a, b), last)
            total = jnp.exp((low - a) / GAMMA) + jnp.exp((low - b) / GAMMA) + jnp.exp((low - last) / GAMMA)
            cost = (mine - jax.lax.dynamic_slice(theirs, (n + m - k,), (n + 1,))) ** 2
            inside = (rows >= 1) & (columns >= 1) & (columns <= m)
            new = jnp.where(inside, cost + low - GAMMA * jnp.log(total), 1e10)
            return (last, new), None

        start = jnp.full(n + 1, 1e10)
        (_, last), _ = jax.lax.scan(step, (start.at[0].set(0.0), start), jnp.arange(2, n + m + 1))
        return last[n]

    return one


def dtw_of_torch() -> Callable:
    import torch

    def one(x, y):
        n, m = len(x), len(y)
        rows = torch.arange(n + 1)
        far = torch.full((n + 1,), 1e10, dtype=torch.float64)
        edge = far[:1]
        before, last = torch.cat([torch.zeros(1, dtype=torch.float64), far[1:]]), far
        mine, theirs = torch.cat([x[:1], x]), torch.nn.functional.pad(y.flip(0), (n, n))
        for k in range(2, n + m + 1):
            columns = k - rows
            a, b = torch.cat([edge, before[:-1]]), torch.cat([edge, last[:-1]])
            low = torch.minimum(torch.minimum(a, b), last)
            total = torch.exp((low - a) / GAMMA) + torch.exp((low - b) / GAMMA) + torch.exp((low - last) / GAMMA)
            cost = (mine - theirs[n + m - k : n + m - k + n + 1]) ** 2
            inside = (rows >= 1) & (columns >= 1) & (columns <= m)
            before, last = last, torch.where(inside, cost + low - GAMMA * torch.log(total), far)
        return last[n]

    return one


# ------------------------------------------------------------------------------------------------------ GARCH


def garch(params, returns):
    """Minus the log-likelihood; the variance of a day is that of the day before, moved by its return."""
    omega, alpha, beta = params[0], params[1], params[2]
    variance = np.mean(returns * returns)
    total = 0.0
    for t in range(len(returns)):
        total += 0.5 * (np.log(variance) + returns[t] ** 2 / variance)
        variance = omega + alpha * returns[t] ** 2 + beta * variance
    return total


def days(lanes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    params = np.array([0.05, 0.1, 0.8]) * rng.uniform(0.5, 1.2, size=(lanes, 3))
    return params, rng.normal(size=(lanes, 250))


def garch_of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def one(params, returns):
        omega, alpha, beta = params[0], params[1], params[2]

        def day(carried, r):
            total, variance = carried
            total = total + 0.5 * (jnp.log(variance) + r * r / variance)
            return (total, omega + alpha * r * r + beta * variance), None

        return jax.lax.scan(day, (0.0, jnp.mean(returns * returns)), returns)[0][0]

    return one


def garch_of_torch() -> Callable:
    import torch

    def one(params, returns):
        omega, alpha, beta = params[0], params[1], params[2]
        variance, total = torch.mean(returns * returns), 0.0
        for t in range(len(returns)):
            total = total + 0.5 * (torch.log(variance) + returns[t] ** 2 / variance)
            variance = omega + alpha * returns[t] ** 2 + beta * variance
        return total

    return one


# ----------------------------------------------------------------------------------------------------- Kepler


def kepler(mean_anomaly, eccentricity):
    """The eccentric anomaly by Newton's method."""
    e = mean_anomaly
    step = 1.0
    while abs(step) > 1e-12:
        step = (e - eccentricity * np.sin(e) - mean_anomaly) / (1.0 - eccentricity * np.cos(e))
        e -= step
    return e


def orbits(lanes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    return rng.uniform(0.0, np.pi, size=lanes), rng.uniform(0.0, 0.9, size=lanes)


def kepler_of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def one(mean_anomaly, eccentricity):
        def newton(carried):
            e, _ = carried
            step = (e - eccentricity * jnp.sin(e) - mean_anomaly) / (1.0 - eccentricity * jnp.cos(e))
            return e - step, step

        return jax.lax.while_loop(lambda c: jnp.abs(c[1]) > 1e-12, newton, (mean_anomaly, 1.0))[0]

    return jax.jit(jax.vmap(one))


# ---------------------------------------------------------------------------------------------------- problems


def of_jax(one: Callable[[], Callable], argnums: Any = None) -> Callable[[], Callable]:
    """The values of all lanes, or with ``argnums`` the pairs of value and gradient."""

    def make() -> Callable:
        import jax

        return jax.jit(jax.vmap(one() if argnums is None else jax.value_and_grad(one(), argnums=argnums)))

    return make


def of_torch(one: Callable[[], Callable], argnums: Any = None) -> Callable[[], Callable]:
    def make() -> Callable:
        import torch

        if argnums is None:
            return torch.func.vmap(one())
        both = torch.func.vmap(torch.func.grad_and_value(one(), argnums=argnums))
        return lambda *args: both(*args)[::-1]

    return make


def both(name: str, fn: Callable, args: Callable, jax: Callable, torch: Callable, argnums: Any) -> tuple[Problem, ...]:
    def gradients(f: Callable) -> Callable:
        return tp.vmap(tp.value_and_grad(f, argnums=argnums))

    return (
        batched(name, fn, tp.vmap, args, of_jax(jax), of_torch(torch)),
        batched(
            f"{name}_gradients",
            fn,
            gradients,
            args,
            of_jax(jax, argnums),
            of_torch(torch, argnums),
            "vmap(value_and_grad)",
        ),
    )


PROBLEMS: tuple[Problem, ...] = (
    *both("soft_dtw", soft_dtw, lambda: pairs(1000), dtw_of_jax, dtw_of_torch, (0, 1)),
    *both("garch", garch, lambda: days(10_000), garch_of_jax, garch_of_torch, 0),
    batched(
        "kepler",
        kepler,
        tp.vmap,
        lambda: orbits(1_000_000),
        kepler_of_jax,
        wanted="values; no aim",
        interpreted=False,
        refused={"torch": NO_CONTROL},
    ),
)
