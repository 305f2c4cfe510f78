"""Fluids on grids, in JAX."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from bench.kernels2.flow import VELOCITIES, WEIGHTS


def cavity_flow(u, v, p, rho, nu, dt, dx, dy, steps, sweeps):
    def inner(a):
        return a[1:-1, 1:-1]

    def advance(a, u, v):
        """Advection and diffusion of the inner points of one component."""
        middle, left, right, below, above = inner(a), a[1:-1, :-2], a[1:-1, 2:], a[:-2, 1:-1], a[2:, 1:-1]
        return (
            middle
            - inner(u) * dt / dx * (middle - left)
            - inner(v) * dt / dy * (middle - below)
            + nu * dt / dx**2 * (right - 2 * middle + left)
            + nu * dt / dy**2 * (above - 2 * middle + below)
        )

    def step(_, state):
        u, v, p = state
        u_x = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
        u_y = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        v_x = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
        v_y = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        b = rho * ((u_x + v_y) / dt - u_x**2 - 2 * u_y * v_x - v_y**2)

        def relax(_, p):
            new = ((p[1:-1, 2:] + p[1:-1, :-2]) * dy**2 + (p[2:, 1:-1] + p[:-2, 1:-1]) * dx**2 - dx**2 * dy**2 * b) / (
                2 * (dx**2 + dy**2)
            )
            p = p.at[1:-1, 1:-1].set(new)
            p = p.at[:, -1].set(p[:, -2])
            p = p.at[0, :].set(p[1, :])
            p = p.at[:, 0].set(p[:, 1])
            return p.at[-1, :].set(0.0)

        p = lax.fori_loop(0, sweeps, relax, p)
        new_u = advance(u, u, v) - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        new_v = advance(v, u, v) - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        return jnp.pad(new_u, 1).at[-1, :].set(1.0), jnp.pad(new_v, 1), p

    u, v, p = lax.fori_loop(0, steps, step, (u, v, p))
    return jnp.sum(u) + jnp.sum(v) + jnp.sum(p)


def channel_flow(u, v, p, rho, nu, force, dt, dx, dy, sweeps):
    """The value alone: the loop has no reverse mode."""

    def left(a):
        return jnp.roll(a, 1, axis=1)[1:-1]

    def right(a):
        return jnp.roll(a, -1, axis=1)[1:-1]

    def advance(a, u, v):
        """Advection and diffusion between the walls of one component."""
        middle, below, above = a[1:-1], a[:-2], a[2:]
        return (
            middle
            - u[1:-1] * dt / dx * (middle - left(a))
            - v[1:-1] * dt / dy * (middle - below)
            + nu * dt * ((right(a) - 2 * middle + left(a)) / dx**2 + (above - 2 * middle + below) / dy**2)
        )

    def step(state):
        u, v, p, _ = state
        u_x, v_x = (right(u) - left(u)) / (2 * dx), (right(v) - left(v)) / (2 * dx)
        u_y, v_y = (u[2:] - u[:-2]) / (2 * dy), (v[2:] - v[:-2]) / (2 * dy)
        b = rho * ((u_x + v_y) / dt - u_x**2 - 2 * u_y * v_x - v_y**2)

        def relax(_, p):
            new = ((left(p) + right(p)) * dy**2 + (p[2:] + p[:-2]) * dx**2 - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2))
            p = p.at[1:-1].set(new)
            p = p.at[-1].set(p[-2])
            return p.at[0].set(p[1])

        p = lax.fori_loop(0, sweeps, relax, p)
        walls = ((1, 1), (0, 0))
        new_u = jnp.pad(advance(u, u, v) - dt / rho * (right(p) - left(p)) / (2 * dx) + force * dt, walls)
        new_v = jnp.pad(advance(v, u, v) - dt / rho * (p[2:] - p[:-2]) / (2 * dy), walls)
        return new_u, new_v, p, (jnp.sum(new_u) - jnp.sum(u)) / jnp.sum(new_u)

    u, v, p, _ = lax.while_loop(lambda state: state[3] > 0.001, step, (u, v, p, 1.0))
    return jnp.sum(u) + jnp.sum(v) + jnp.sum(p)


def lattice_boltzmann(f, omega, steps):
    def step(_, f):
        f = jnp.stack([jnp.roll(f[q], VELOCITIES[q], axis=(0, 1)) for q in range(9)])
        velocities, weights = jnp.array(VELOCITIES, float), jnp.array(WEIGHTS)
        rho = jnp.sum(f, axis=0)
        u = jnp.einsum("qc,qij->cij", velocities, f) / rho
        along = jnp.einsum("qc,cij->qij", velocities, u)
        equilibrium = weights[:, None, None] * rho * (1.0 + 3.0 * along + 4.5 * along**2 - 1.5 * jnp.sum(u * u, axis=0))
        return f + omega * (equilibrium - f)

    f = lax.fori_loop(0, steps, step, f)
    return jnp.sum(f * f)


def shallow_water(h, u, v, g, dt, dx, steps):
    def step(_, state):
        h, u, v = state
        u = u.at[1:-1].add(-g * dt / dx * (h[1:] - h[:-1]))
        v = v.at[:, 1:-1].add(-g * dt / dx * (h[:, 1:] - h[:, :-1]))
        flux_x = jnp.pad(0.5 * (h[1:] + h[:-1]) * u[1:-1], ((1, 1), (0, 0)))
        flux_y = jnp.pad(0.5 * (h[:, 1:] + h[:, :-1]) * v[:, 1:-1], ((0, 0), (1, 1)))
        h = h - dt / dx * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])
        return h, u, v

    h, u, v = lax.fori_loop(0, steps, step, (h, u, v))
    return jnp.sum(h * h) + jnp.sum(u) + jnp.sum(v)
