"""Ten kernels of the corpus at the sizes of real use: a compiled call takes 0.1 to 50 ms. There are no peers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from corpus import kernels_chemistry, kernels_finance, kernels_linear, kernels_mechanics, kernels_statistics
from corpus.kernels_chemistry import flash_separation
from corpus.program import definite, normal, uniform

from bench.problem import Problem


def kernel(name: str, fn: Callable, args: Callable[[], tuple], wrt: tuple[int, ...]) -> Problem:
    return Problem(name, "kernels", "medium", fn, args, wrt, refused=dict.fromkeys(("jax", "torch", "c"), "own kernel"))


def lattice(side: int) -> np.ndarray:
    """Particles near the points of a cubic lattice."""
    points = np.stack(np.meshgrid(*[1.1 * np.arange(side)] * 3), axis=-1).reshape(-1, 3)
    return points + 0.05 * normal(len(points), 3)


def flash(feed, ratios):
    """A number from the `while` solver of the vapour fraction."""
    vapour, composition = flash_separation(feed, ratios)
    return vapour + np.sum(composition * composition)


def recurrent_network(params, inputs, targets):
    """The kernel of the corpus with a state of any length."""
    w, u, b, v = params["w"], params["u"], params["b"], params["v"]
    h = np.zeros(len(b))
    loss = 0.0
    for x, target in zip(inputs, targets):
        h = np.tanh(w @ h + u @ x + b)
        error = v @ h - target
        loss += 0.5 * error * error
    return loss / len(targets)


def recurrent_args() -> tuple:
    k, length = 48, 200
    params = {"w": 0.1 * normal(k, k), "u": normal(k, 8, seed=1), "b": normal(k, seed=2), "v": normal(k, seed=3)}
    return params, normal(length, 8, seed=4), normal(length, seed=5)


PROBLEMS = (
    kernel(
        "logistic_regression",
        kernels_statistics.logistic_regression,
        lambda: (normal(50), normal(10_000, 50, seed=1), (normal(10_000, seed=2) > 0.0) * 1.0),
        (0,),
    ),
    kernel(
        "gaussian_mixture",
        kernels_statistics.gaussian_mixture,
        lambda: (normal(8), normal(8, 4, seed=1), 0.3 * normal(8, 4, seed=2), normal(2_000, 4, seed=3)),
        (0, 1, 2),
    ),
    kernel("recurrent_network", recurrent_network, recurrent_args, (0,)),
    kernel("lattice_lennard_jones", kernels_mechanics.lennard_jones, lambda: (lattice(7), 1.2, 0.9), (0,)),
    kernel("stencil_in_place", kernels_mechanics.stencil, lambda: (normal(100, 100), 50), (0,)),
    kernel("cholesky_by_hand", kernels_linear.cholesky_by_hand, lambda: (definite(120), normal(120, seed=1)), (0, 1)),
    kernel(
        "rk4_kinetics",
        kernels_chemistry.runge_kutta_kinetics,
        lambda: (np.array([2.0, 0.5, 0.8]), np.array([1.0, 0.3, 0.0, 0.0]), 2_000),
        (0, 1),
    ),
    kernel("garch", kernels_finance.garch, lambda: (np.array([0.05, 0.12, 0.8]), 0.1 * normal(20_000, seed=1)), (0,)),
    kernel("k_means_cost", kernels_statistics.k_means_cost, lambda: (normal(10, 4), normal(5_000, 4, seed=1)), (0,)),
    kernel("while_solver", flash, lambda: (np.full(5_000, 1 / 5_000), uniform(0.1, 2.5, 5_000, seed=1)), (0, 1)),
)
