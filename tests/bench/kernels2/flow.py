"""Fluids on grids: many steps, each of several sweeps with writes in place."""

from __future__ import annotations

import numpy as np
from corpus.program import normal, uniform

from bench.kernels2.kernel import Kernel


def pressure_source(u, v, rho, dt, dx, dy):
    """The right-hand side of the pressure equation at the inner points."""
    b = np.zeros_like(u)
    u_x = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
    u_y = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
    v_x = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
    v_y = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
    b[1:-1, 1:-1] = rho * ((u_x + v_y) / dt - u_x**2 - 2 * u_y * v_x - v_y**2)
    return b


def relax_pressure(p, b, dx, dy, sweeps):
    for _ in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2
            + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2
            - dx**2 * dy**2 * b[1:-1, 1:-1]
        ) / (2 * (dx**2 + dy**2))
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def cavity_flow(u, v, p, rho, nu, dt, dx, dy, steps, sweeps):
    """Navier and Stokes in a box whose lid moves."""
    u, v, p = u.copy(), v.copy(), p.copy()
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        b = pressure_source(u, v, rho, dt, dx, dy)
        relax_pressure(p, b, dx, dy, sweeps)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0
    return np.sum(u) + np.sum(v) + np.sum(p)


def cavity_flow_args(n: int, steps: int, sweeps: int) -> tuple:
    u, v, p = (0.01 * normal(n, n, seed=k) for k in range(3))
    return u, v, p, 1.0, 0.1, 0.001, 2.0 / (n - 1), 2.0 / (n - 1), steps, sweeps


def channel_flow(u, v, p, rho, nu, force, dt, dx, dy, sweeps):
    """Flow between two walls, periodic along them, until it changes by less than one part in a thousand a step."""
    u, v, p = u.copy(), v.copy(), p.copy()
    change = 1.0
    while change > 0.001:
        un, vn = u.copy(), v.copy()
        u_x = (np.roll(un, -1, axis=1) - np.roll(un, 1, axis=1))[1:-1] / (2 * dx)
        v_x = (np.roll(vn, -1, axis=1) - np.roll(vn, 1, axis=1))[1:-1] / (2 * dx)
        u_y = (un[2:] - un[:-2]) / (2 * dy)
        v_y = (vn[2:] - vn[:-2]) / (2 * dy)
        b = rho * ((u_x + v_y) / dt - u_x**2 - 2 * u_y * v_x - v_y**2)
        for _ in range(sweeps):
            pn = p.copy()
            beside = (np.roll(pn, -1, axis=1) + np.roll(pn, 1, axis=1))[1:-1]
            p[1:-1] = (beside * dy**2 + (pn[2:] + pn[:-2]) * dx**2 - dx**2 * dy**2 * b) / (2 * (dx**2 + dy**2))
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        left, right = np.roll(un, 1, axis=1)[1:-1], np.roll(un, -1, axis=1)[1:-1]
        p_x = (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))[1:-1] / (2 * dx)
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - left)
            - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2])
            - dt / rho * p_x
            + nu * dt * ((right - 2 * un[1:-1] + left) / dx**2 + (un[2:] - 2 * un[1:-1] + un[:-2]) / dy**2)
            + force * dt
        )
        left, right = np.roll(vn, 1, axis=1)[1:-1], np.roll(vn, -1, axis=1)[1:-1]
        v[1:-1] = (
            vn[1:-1]
            - un[1:-1] * dt / dx * (vn[1:-1] - left)
            - vn[1:-1] * dt / dy * (vn[1:-1] - vn[:-2])
            - dt / rho * (p[2:] - p[:-2]) / (2 * dy)
            + nu * dt * ((right - 2 * vn[1:-1] + left) / dx**2 + (vn[2:] - 2 * vn[1:-1] + vn[:-2]) / dy**2)
        )
        u[0, :] = 0.0
        u[-1, :] = 0.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
    return np.sum(u) + np.sum(v) + np.sum(p)


def channel_flow_args(n: int, sweeps: int) -> tuple:
    u, v, p = (0.001 * normal(n, n, seed=k) for k in range(3))
    u[[0, -1]] = 0.0
    return u, v, p, 1.0, 0.1, 1.0, 0.3 / (n - 1), 2.0 / (n - 1), 2.0 / (n - 1), sweeps


VELOCITIES = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
WEIGHTS = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)


def lattice_boltzmann(f, omega, steps):
    """Nine populations on a periodic grid: move, then relax towards equilibrium."""
    f = f.copy()
    for _ in range(steps):
        for q in range(9):
            f[q] = np.roll(f[q], VELOCITIES[q], axis=(0, 1))
        rho = np.sum(f, axis=0)
        ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
        uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
        speed = ux * ux + uy * uy
        for q in range(9):
            along = VELOCITIES[q][0] * ux + VELOCITIES[q][1] * uy
            equilibrium = WEIGHTS[q] * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * speed)
            f[q] += omega * (equilibrium - f[q])
    return np.sum(f * f)


def lattice_boltzmann_args(n: int, steps: int) -> tuple:
    return np.array(WEIGHTS)[:, None, None] * uniform(0.8, 1.2, 9, n, n), 1.2, steps


def shallow_water(h, u, v, g, dt, dx, steps):
    """Water of varying depth in a basin, on a staggered grid."""
    h, u, v = h.copy(), u.copy(), v.copy()
    flux_x = np.zeros_like(u)
    flux_y = np.zeros_like(v)
    for _ in range(steps):
        u[1:-1, :] -= g * dt / dx * (h[1:, :] - h[:-1, :])
        v[:, 1:-1] -= g * dt / dx * (h[:, 1:] - h[:, :-1])
        flux_x[1:-1, :] = 0.5 * (h[1:, :] + h[:-1, :]) * u[1:-1, :]
        flux_y[:, 1:-1] = 0.5 * (h[:, 1:] + h[:, :-1]) * v[:, 1:-1]
        h -= dt / dx * (flux_x[1:, :] - flux_x[:-1, :] + flux_y[:, 1:] - flux_y[:, :-1])
    return np.sum(h * h) + np.sum(u) + np.sum(v)


def shallow_water_args(n: int, m: int, steps: int) -> tuple:
    return (
        uniform(1.0, 1.1, n, m),
        0.1 * normal(n + 1, m, seed=1),
        0.1 * normal(n, m + 1, seed=2),
        1.0,
        0.02,
        0.1,
        steps,
    )


KERNELS = (
    Kernel(cavity_flow, cavity_flow_args, (5, 2, 2), (61, 20, 20)),
    Kernel(
        channel_flow,
        channel_flow_args,
        (4, 2),
        (31, 10),
        numba_ok=False,
        refused={"jax": "no reverse mode through a while loop of unknown length"},
    ),
    Kernel(lattice_boltzmann, lattice_boltzmann_args, (4, 2), (64, 30), numba_ok=False),
    Kernel(shallow_water, shallow_water_args, (4, 5, 3), (150, 160, 50)),
)
