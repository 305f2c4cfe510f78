"""Products and solves with symmetric and triangular matrices, in JAX: whole matrices, one triangle masked."""

from __future__ import annotations

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular


def syrk(alpha, beta, C, A):
    return jnp.sum(jnp.tril(alpha * A @ A.T + beta * C) + jnp.triu(C, 1))


def syr2k(alpha, beta, C, A, B):
    return jnp.sum(jnp.tril(alpha * (A @ B.T + B @ A.T) + beta * C) + jnp.triu(C, 1))


def symm(alpha, beta, C, A, B):
    lower = jnp.tril(A)
    return jnp.sum(alpha * (lower + jnp.tril(A, -1).T) @ B + beta * C)


def trmm(alpha, A, B):
    return jnp.sum(alpha * (B + jnp.tril(A, -1).T @ B))


def trisolv(L, b):
    return jnp.sum(solve_triangular(L, b, lower=True))
