"""Factorisations and recursions of linear algebra, in JAX: one step updates the whole matrix, masks say where."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax


def cholesky(A):
    rows = jnp.arange(A.shape[0])

    def column(k, A):
        pivot = jnp.sqrt(A[k, k])
        below = jnp.where(rows > k, A[:, k] / pivot, 0.0)
        inner = (rows[:, None] > k) & (rows[None, :] > k) & (rows[:, None] >= rows[None, :])
        A = jnp.where(inner, A - jnp.outer(below, below), A)
        return A.at[:, k].set(jnp.where(rows > k, below, A[:, k]).at[k].set(pivot))

    return jnp.sum(lax.fori_loop(0, A.shape[0], column, A))


def cholesky2(A):
    symmetric = jnp.tril(A) + jnp.tril(A, -1).T  # only the lower triangle is read and differentiated
    return jnp.sum(jnp.linalg.cholesky(symmetric, symmetrize_input=False) + jnp.triu(A, 1))


def decompose(A):
    rows = jnp.arange(A.shape[0])

    def step(k, A):
        factor = jnp.where(rows > k, A[:, k] / A[k, k], 0.0)
        right = jnp.where(rows > k, A[k], 0.0)
        A = A - jnp.outer(factor, right)
        return A.at[:, k].set(jnp.where(rows > k, factor, A[:, k]))

    return lax.fori_loop(0, A.shape[0], step, A)


def lu(A):
    return jnp.sum(decompose(A))


def ludcmp(A, b):
    A = decompose(A)
    n = A.shape[0]
    lower, upper = jnp.tril(A, -1), jnp.triu(A, 1)
    y = lax.fori_loop(0, n, lambda i, y: y.at[i].set(b[i] - lower[i] @ y), jnp.zeros_like(b))

    def back(k, x):
        i = n - 1 - k
        return x.at[i].set((y[i] - upper[i] @ x) / A[i, i])

    x = lax.fori_loop(0, n, back, jnp.zeros_like(b))
    return jnp.sum(x) + jnp.sum(y)


def gramschmidt(A):
    columns = jnp.arange(A.shape[1])

    def step(A, k):
        norm = jnp.sqrt(A[:, k] @ A[:, k])
        q = A[:, k] / norm
        r = jnp.where(columns > k, q @ A, 0.0)
        return A - jnp.outer(q, r), (q, r.at[k].set(norm))

    _, (Q, R) = lax.scan(step, A, columns)
    return jnp.sum(Q) + jnp.sum(R)


def durbin(r):
    places = jnp.arange(r.shape[0])

    def step(k, state):
        y, alpha, beta = state
        beta = beta * (1.0 - alpha * alpha)
        known = places < k
        mirrored = jnp.where(known, k - 1 - places, 0)
        alpha = -(r[k] + jnp.sum(jnp.where(known, r[mirrored] * y, 0.0))) / beta
        y = jnp.where(known, y + alpha * y[mirrored], y).at[k].set(alpha)
        return y, alpha, beta

    start = (jnp.zeros_like(r).at[0].set(-r[0]), -r[0], 1.0)
    y, _, _ = lax.fori_loop(1, r.shape[0], step, start)
    return jnp.sum(y)
