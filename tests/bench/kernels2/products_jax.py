"""Chains of products of matrices and vectors, in JAX."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax


def gemm(alpha, beta, C, A, B):
    return jnp.sum(alpha * A @ B + beta * C)


def k2mm(alpha, beta, A, B, C, D):
    return jnp.sum(alpha * A @ B @ C + beta * D)


def k3mm(A, B, C, D):
    return jnp.sum(A @ B @ C @ D)


def atax(A, x):
    return jnp.sum((A @ x) @ A)


def bicg(A, p, r):
    return jnp.sum(r @ A) + jnp.sum(A @ p)


def mvt(x1, x2, y1, y2, A):
    return jnp.sum(x1 + A @ y1) + jnp.sum(x2 + y2 @ A)


def gemver(alpha, beta, A, u1, v1, u2, v2, x, y, z, w):
    A = A + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = x + beta * (y @ A) + z
    w = w + alpha * (A @ x)
    return jnp.sum(A) + jnp.sum(x) + jnp.sum(w)


def gesummv(alpha, beta, A, B, x):
    return jnp.sum(alpha * (A @ x) + beta * (B @ x))


def doitgen(A, C4):
    return jnp.sum(A @ C4)


def conjugate_gradient(A, b, steps):
    def step(_, state):
        x, r, p, rr = state
        Ap = A @ p
        alpha = rr / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = r @ r
        return x, r, r + new / rr * p, new

    x, *_ = lax.fori_loop(0, steps, step, (jnp.zeros_like(b), b, b, b @ b))
    return jnp.sum(x)
