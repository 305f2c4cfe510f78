"""Stencils on grids, in JAX: loops of whole-array updates."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax


def jacobi_1d(A, B, steps):
    def step(_, state):
        A, B = state
        B = B.at[1:-1].set(0.33333 * (A[:-2] + A[1:-1] + A[2:]))
        A = A.at[1:-1].set(0.33333 * (B[:-2] + B[1:-1] + B[2:]))
        return A, B

    A, B = lax.fori_loop(0, steps, step, (A, B))
    return jnp.sum(A) + jnp.sum(B)


def jacobi_2d(A, B, steps):
    def mean(A):
        return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])

    def step(_, state):
        A, B = state
        B = B.at[1:-1, 1:-1].set(mean(A))
        A = A.at[1:-1, 1:-1].set(mean(B))
        return A, B

    A, B = lax.fori_loop(0, steps, step, (A, B))
    return jnp.sum(A) + jnp.sum(B)


def heat(A):
    centre = A[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * centre + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * centre + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * centre + A[1:-1, 1:-1, :-2])
        + centre
    )


def heat_3d(A, B, steps):
    def step(_, state):
        A, B = state
        B = B.at[1:-1, 1:-1, 1:-1].set(heat(A))
        A = A.at[1:-1, 1:-1, 1:-1].set(heat(B))
        return A, B

    A, B = lax.fori_loop(0, steps, step, (A, B))
    return jnp.sum(A) + jnp.sum(B)


def seidel_2d(A, steps):
    def row(above, rows):
        middle, below = rows
        known = above[:-2] + above[1:-1] + above[2:] + middle[1:-1] + middle[2:] + below[:-2] + below[1:-1] + below[2:]

        def point(left, k):
            new = (k + left) / 9.0
            return new, new

        _, inner = lax.scan(point, middle[0], known)
        new = middle.at[1:-1].set(inner)
        return new, new

    def sweep(_, A):
        _, inner = lax.scan(row, A[0], (A[1:-1], A[2:]))
        return A.at[1:-1].set(inner)

    return jnp.sum(lax.fori_loop(0, steps, sweep, A))


def fdtd_2d(source, ex, ey, hz):
    def step(state, s):
        ex, ey, hz = state
        ey = ey.at[0].set(s)
        ey = ey.at[1:].add(-0.5 * (hz[1:] - hz[:-1]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None

    (ex, ey, hz), _ = lax.scan(step, (ex, ey, hz), source)
    return jnp.sum(ex) + jnp.sum(ey) + jnp.sum(hz)


def hdiff(field, coeff):
    inner = field[1:-1, 1:-1]
    lap = 4.0 * inner - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = jnp.where(flux * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0, 0.0, flux)
    flux = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = jnp.where(flux * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0, 0.0, flux)
    return jnp.sum(field[2:-2, 2:-2] - coeff * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1]))
