"""The saddle of ``|x|^2 - |y|^2``: the x that is best against the best y, both found by descent (Siskind and Pearlmutter).

The outer gradient goes back through the inner descent, which runs until it has converged and follows a gradient itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import transpile as tp
from bench.problem import Problem
from bench.problems.descent import jax_minimise, maximise, minimise, torch_minimise


def payoff(x, y):
    return np.sum(x * x) - np.sum(y * y)


def best_answer(x, y):
    """What is left to the first player when the second, who starts from y, answers x as well as can be."""
    return payoff(x, maximise(lambda t: payoff(x, t), y))


def saddle(x, y):
    best = minimise(lambda t: best_answer(t, y), x)
    answer = maximise(lambda t: payoff(best, t), y)
    return payoff(best, answer), (best, answer)


def of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def payoff(x, y):
        return jnp.sum(x * x) - jnp.sum(y * y)

    def answer(x, y):
        return jax_minimise(jax.value_and_grad(lambda t: -payoff(x, t)), y)

    def value_and_slope(x, y):
        slope, value = jax.jacfwd(lambda t: (payoff(t, answer(t, y)),) * 2, has_aux=True)(x)
        return value, slope

    def saddle(x, y):
        best = jax_minimise(lambda t: value_and_slope(t, y), x)
        found = answer(best, y)
        return payoff(best, found), (best, found)

    return jax.jit(saddle)


def of_torch() -> Callable:
    def payoff(x, y):
        return (x * x).sum() - (y * y).sum()

    def answer(x, y, again):
        return torch_minimise(lambda t: -payoff(x, t), y.detach(), again)

    def saddle(x, y):
        best = torch_minimise(lambda t: payoff(t, answer(t, y, True)), x.detach()).detach()
        found = answer(best, y, False).detach()
        return payoff(best, found), (best, found)

    return saddle


PROBLEMS = tuple(
    Problem(
        "saddle",
        "problems",
        size,
        best_answer,
        lambda n=n: (np.linspace(1.0, 2.0, n), np.linspace(1.0, 3.0, n)),
        (0,),
        wanted="optimum",
        ours=lambda: tp.jit(saddle, cache=False),
        jax=of_jax,
        torch=of_torch,
        numba_ok=False,
    )
    for size, n in (("small", 2), ("medium", 20), ("large", 500))
)
