"""Linear systems and distances: the same small problem in each lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp
from bench.batching.batched import batched
from bench.problem import Problem

N = 8


def cholesky_solve(a, b):
    """``a @ x = b`` for a symmetric positive definite matrix, as a textbook writes it."""
    n = len(b)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    x = np.zeros(n)
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= low[i, k] * x[k]
        x[i] = s / low[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= low[k, i] * x[k]
        x[i] = s / low[i, i]
    return x


def library_solve(a, b):
    return np.linalg.solve(a, b)


def systems(lanes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    roots = rng.normal(size=(lanes, N, N))
    return roots @ roots.transpose(0, 2, 1) + N * np.eye(N), rng.normal(size=(lanes, N))


def unrolled(xp: Any, a: Any, b: Any) -> Any:
    """All loops unrolled, one value for each element: the fastest form under XLA, which makes it one loop over the lanes."""
    low: list[list[Any]] = [[None] * N for _ in range(N)]
    for i in range(N):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s = s - low[i][k] * low[j][k]
            low[i][j] = xp.sqrt(s) if i == j else s / low[j][j]
    x: list[Any] = [None] * N
    for i in range(N):
        s = b[i]
        for k in range(i):
            s = s - low[i][k] * x[k]
        x[i] = s / low[i][i]
    for i in range(N - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, N):
            s = s - low[k][i] * x[k]
        x[i] = s / low[i][i]
    return xp.stack(x)


def by_columns(xp: Any, a: Any, b: Any) -> Any:
    """Column by column, as vectors."""
    columns = []
    for j in range(N):
        column = a[:, j] / xp.sqrt(a[j, j])
        columns.append(column)
        a = a - column[:, None] * column[None, :]
    y = []
    for j in range(N):
        value = b[j] / columns[j][j]
        y.append(value)
        b = b - columns[j] * value
    x: list[Any] = [None] * N
    for j in range(N - 1, -1, -1):
        s = y[j]
        for k in range(j + 1, N):
            s = s - columns[j][k] * x[k]
        x[j] = s / columns[j][j]
    return xp.stack(x)


def by_hand_of_jax() -> Callable:
    import jax

    return jax.jit(jax.vmap(lambda a, b: unrolled(jax.numpy, a, b)))


def by_hand_of_torch() -> Callable:
    import torch

    return torch.func.vmap(lambda a, b: by_columns(torch, a, b))


def library_of_jax() -> Callable:
    import jax

    return jax.jit(jax.vmap(jax.numpy.linalg.solve))


def library_of_torch() -> Callable:
    import torch

    return torch.func.vmap(torch.linalg.solve)


# ------------------------------------------------------------------------------------------------- distances


def distance(x, y):
    return np.sqrt(np.sum((x - y) ** 2))


def clouds(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(n, d)), rng.normal(size=(n, d))


def distances_of(library: Any, vmap: Callable) -> Callable:
    def one(x: Any, y: Any) -> Any:
        return library.sqrt(library.sum((x - y) ** 2))

    return vmap(vmap(one, (None, 0)), (0, None))


def distances_of_jax() -> Callable:
    import jax

    return jax.jit(distances_of(jax.numpy, jax.vmap))


def distances_of_torch() -> Callable:
    import torch

    return distances_of(torch, torch.func.vmap)


def pairs(f: Callable) -> Callable:
    return tp.vmap(tp.vmap(f, in_axes=(None, 0)), in_axes=(0, None))


PROBLEMS: tuple[Problem, ...] = (
    batched(
        "cholesky_by_hand",
        cholesky_solve,
        tp.vmap,
        lambda: systems(10_000),
        by_hand_of_jax,
        by_hand_of_torch,
    ),
    batched(
        "linear_solve",
        library_solve,
        tp.vmap,
        lambda: systems(10_000),
        library_of_jax,
        library_of_torch,
    ),
    batched(
        "pairwise_distances",
        distance,
        pairs,
        lambda: clouds(1000, 3),
        distances_of_jax,
        distances_of_torch,
        "vmap(vmap)",
    ),
)
