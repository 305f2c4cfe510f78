"""A particle between two charges, one of them placed so that it lands nearest to the origin (Siskind and Pearlmutter).

The force is the gradient of a potential, so the gradient that the placing follows is of second order, and it goes back through
a loop that runs until the particle reaches the ground. What is wanted is the best place, and how near the particle comes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import transpile as tp
from bench.problem import Problem
from bench.problems.descent import jax_minimise, minimise, torch_minimise


def potential(x, charges):
    total = 0.0
    for charge in charges:
        offset = x - charge
        total += 1.0 / np.sqrt(np.sum(offset * offset))
    return total


def landing(w, step):
    """The square of where the particle lands, by the steps of Euler's method; the last one is as long as the ground is far."""
    charges = np.array([[10.0, 10.0 - w[0]], [10.0, 0.0]])
    x = np.array([0.0, 8.0])
    v = np.array([0.75, 0.0])
    ahead = x + step * v
    while ahead[1] > 0.0:
        force = -tp.grad(potential)(x, charges)
        x = ahead
        v = v + step * force
        ahead = x + step * v
    rest = -x[1] / v[1]
    return (x[0] + rest * v[0]) ** 2


def particle(w, step):
    """``(square of the distance, place)``."""
    best = minimise(lambda t: landing(t, step), w)
    return landing(best, step), best


def of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def potential(x, charges):
        return jnp.sum(1.0 / jnp.sqrt(jnp.sum((x - charges) ** 2, axis=1)))

    def landing(w, step):
        charges = jnp.stack([jnp.stack([10.0, 10.0 - w[0]]), jnp.array([10.0, 0.0])])

        def fall(state):
            x, v = state
            return x + step * v, v - step * jax.grad(potential)(x, charges)

        start = jnp.array([0.0, 8.0]), jnp.array([0.75, 0.0])
        x, v = jax.lax.while_loop(lambda state: state[0][1] + step * state[1][1] > 0.0, fall, start)
        return (x[0] - x[1] / v[1] * v[0]) ** 2

    def particle(w, step):
        def value_and_slope(t):
            slope, value = jax.jacfwd(lambda t: (landing(t, step),) * 2, has_aux=True)(t)
            return value, slope

        best = jax_minimise(value_and_slope, w)
        return landing(best, step), best

    return jax.jit(particle)


def of_torch() -> Callable:
    import torch

    def landing(w, step):
        charges = torch.stack([torch.stack([torch.full_like(w[0], 10.0), 10.0 - w[0]]), w.new_tensor([10.0, 0.0])])
        x, v = w.new_tensor([0.0, 8.0]).requires_grad_(), w.new_tensor([0.75, 0.0])
        while (x[1] + step * v[1]).item() > 0.0:
            energy = (1.0 / (x - charges).norm(dim=1)).sum()
            force = -torch.autograd.grad(energy, x, create_graph=True)[0]
            x, v = x + step * v, v + step * force
        return (x[0] - x[1] / v[1] * v[0]) ** 2

    def particle(w, step):
        best = torch_minimise(lambda t: landing(t, step), w.detach())
        return landing(best, step).detach(), best.detach()

    return particle


PROBLEMS = tuple(
    Problem(
        "particle",
        "problems",
        size,
        landing,
        lambda step=step: (np.zeros(1), step),
        (0,),
        wanted="optimum",
        ours=lambda: tp.jit(particle, cache=False),
        jax=of_jax,
        torch=of_torch,
        numba_ok=False,
        refused={} if size == "small" else {"torch": "minutes in eager mode"},
    )
    for size, step in (("small", 0.1), ("medium", 0.01), ("large", 0.001))
)
