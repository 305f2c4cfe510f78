"""Determinant by minors, as the definition says it: a function that calls itself (GradBench)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.idioms import jax_gradient, torch_gradient
from bench.problem import Problem


def det(a):
    n = len(a)
    if n == 1:
        return a[0, 0]
    total = 0.0
    sign = 1.0
    for j in range(n):
        minor = np.empty((n - 1, n - 1))
        minor[:, :j] = a[1:, :j]
        minor[:, j:] = a[1:, j + 1 :]
        total += sign * a[0, j] * det(minor)
        sign = -sign
    return total


def all_at_once(xp: Any, a: Any) -> Any:
    """The same products, with the minors of a level in one array: the recursion is as deep as the matrix is large."""
    n = a.shape[-1]
    if n == 1:
        return a[..., 0, 0]
    minors = xp.stack([xp.concatenate([a[..., 1:, :j], a[..., 1:, j + 1 :]], -1) for j in range(n)], -3)
    terms = a[..., 0, :] * all_at_once(xp, minors)
    return terms[..., 0::2].sum(-1) - terms[..., 1::2].sum(-1)


def of_jax() -> Callable:
    import jax.numpy as jnp

    return jax_gradient(lambda a: all_at_once(jnp, a), (0,))


def of_torch() -> Callable:
    import torch

    return torch_gradient(lambda a: all_at_once(torch, a), (0,))


def arguments(n: int) -> tuple:
    return (np.random.default_rng(9).normal(size=(n, n)),)


PROBLEMS = tuple(
    Problem(
        "det",
        "problems",
        size,
        det,
        lambda n=n: arguments(n),
        (0,),
        jax=of_jax,
        torch=of_torch,
        refused={"c": "not written"},
    )
    for size, n in (("small", 4), ("medium", 7), ("large", 9))
)
