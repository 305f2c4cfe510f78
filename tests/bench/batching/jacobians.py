"""Jacobians and Hessians: of many small functions, and of one with many variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp
from bench.batching.batched import batched
from bench.problem import Problem

# lengths, offsets and twists of the seven joints of an arm (Denavit and Hartenberg)
LENGTHS = np.array([0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088, 0.0])
OFFSETS = np.array([0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.107])
TWISTS = np.array([-1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 0.0]) * (np.pi / 2.0)


def arm_tip(angles):
    """Where the hand is, joint after joint."""
    frame = np.eye(4)
    for k in range(len(angles)):
        c, s = np.cos(angles[k]), np.sin(angles[k])
        ct, st = np.cos(TWISTS[k]), np.sin(TWISTS[k])
        joint = np.array(
            [
                [c, -s * ct, s * st, LENGTHS[k] * c],
                [s, c * ct, -c * st, LENGTHS[k] * s],
                [0.0, st, ct, OFFSETS[k]],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        frame = frame @ joint
    return frame[:3, 3]


def poses(lanes: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(5).uniform(-2.0, 2.0, size=(lanes, 7)),)


def tip_of(library: Any, angles: Any) -> Any:
    """The same function with the four numbers of each joint stacked into a matrix."""
    frame = library.eye(4)
    zero, one = library.zeros_like(angles[0]), library.ones_like(angles[0])
    for k in range(7):
        c, s = library.cos(angles[k]), library.sin(angles[k])
        ct, st = float(np.cos(TWISTS[k])), float(np.sin(TWISTS[k]))
        rows = [
            [c, -s * ct, s * st, float(LENGTHS[k]) * c],
            [s, c * ct, -c * st, float(LENGTHS[k]) * s],
            [zero, st * one, ct * one, float(OFFSETS[k]) * one],
            [zero, zero, zero, one],
        ]
        frame = frame @ library.stack([library.stack(row) for row in rows])
    return frame[:3, 3]


def arm_of_jax() -> Callable:
    import jax

    return jax.jit(jax.vmap(jax.jacfwd(lambda angles: tip_of(jax.numpy, angles))))


def arm_of_torch() -> Callable:
    import torch

    torch.set_default_dtype(torch.float64)
    return torch.func.vmap(torch.func.jacfwd(lambda angles: tip_of(torch, angles)))


# --------------------------------------------------------------------------------------------------- Hessians


def well(x):
    """Springs along a ring of a few coordinates, each in a double well."""
    energy = 0.0
    for k in range(len(x)):
        energy += 0.25 * (x[k] ** 2 - 1.0) ** 2 + np.exp(-x[k] * x[k - 1]) + 0.5 * np.sin(x[k] - x[k - 1]) ** 2
    return energy


def starts(lanes: int, n: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(6).normal(size=(lanes, n)),)


def well_of(library: Any, x: Any) -> Any:
    before = library.roll(x, 1)
    each = 0.25 * (x**2 - 1.0) ** 2 + library.exp(-x * before) + 0.5 * library.sin(x - before) ** 2
    return each.sum()


def well_of_jax() -> Callable:
    import jax

    return jax.jit(jax.vmap(jax.hessian(lambda x: well_of(jax.numpy, x))))


def well_of_torch() -> Callable:
    import torch

    def energy(x: Any) -> Any:  # torch.func.vmap has no rule for roll under two levels
        before = torch.cat([x[-1:], x[:-1]])
        each = 0.25 * (x**2 - 1.0) ** 2 + torch.exp(-x * before) + 0.5 * torch.sin(x - before) ** 2
        return each.sum()

    return torch.func.vmap(torch.func.hessian(energy))


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    return jax.jit(jax.hessian(lambda x: jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)))


def rosenbrock_of_torch() -> Callable:
    import torch

    return torch.func.hessian(lambda x: torch.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2))


PROBLEMS: tuple[Problem, ...] = (
    batched(
        "arm_jacobians",
        arm_tip,
        lambda f: tp.vmap(tp.jacfwd(f)),
        lambda: poses(10_000),
        arm_of_jax,
        arm_of_torch,
        "vmap(jacfwd)",
    ),
    batched(
        "small_hessians",
        well,
        lambda f: tp.vmap(tp.hessian(f)),
        lambda: starts(100_000, 6),
        well_of_jax,
        well_of_torch,
        "vmap(hessian)",
    ),
    batched(
        "rosenbrock_hessian",
        rosenbrock,
        tp.hessian,
        lambda: (starts(1, 2000)[0][0],),
        rosenbrock_of_jax,
        rosenbrock_of_torch,
        "hessian",
    ),
)
