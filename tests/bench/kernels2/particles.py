"""Interacting particles and small matrices at the sites of a lattice."""

from __future__ import annotations

import numpy as np
from corpus.program import normal, uniform

from bench.kernels2.kernel import Kernel


def acceleration(pos, mass, gravity, softening):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = (dx**2 + dy**2 + dz**2 + softening**2) ** (-1.5)
    ax = gravity * (dx * inv_r3) @ mass
    ay = gravity * (dy * inv_r3) @ mass
    az = gravity * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energy(pos, vel, mass, gravity):
    """Kinetic and potential energy."""
    kinetic = 0.5 * np.sum(mass * vel**2)
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r = np.where(r > 0.0, 1.0 / np.where(r > 0.0, r, 1.0), 0.0)
    potential = gravity * np.sum(np.triu(-(mass * mass.T) * inv_r, 1))
    return kinetic, potential


def nbody(mass, pos, vel, dt, gravity, softening, steps):
    """Stars under gravity, by leapfrog; the sum of the energies after each step."""
    pos, vel = pos.copy(), vel.copy()
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, gravity, softening)
    kinetic = np.empty(steps)
    potential = np.empty(steps)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, gravity, softening)
        vel += acc * dt / 2.0
        kinetic[i], potential[i] = energy(pos, vel, mass, gravity)
    return np.sum(kinetic) + np.sum(potential)


def nbody_args(n: int, steps: int) -> tuple:
    return uniform(0.5, 1.5, n, 1) / n, normal(n, 3, seed=1), normal(n, 3, seed=2), 0.01, 1.0, 0.1, steps


def scattering(neighbours, dH, G, D):
    """Self-energies of electrons in a device: products of small matrices over neighbours, energies and (periodic) momenta."""
    sigma = np.zeros_like(G)
    for k in range(G.shape[0]):
        for e in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    if e >= w:
                        for a in range(neighbours.shape[0]):
                            for b in range(neighbours.shape[1]):
                                for i in range(D.shape[-2]):
                                    left = G[k - q, e - w, neighbours[a, b]] @ dH[a, b, i]
                                    for j in range(D.shape[-1]):
                                        sigma[k, e, a] += left @ (dH[a, b, j] * D[q, w, a, b, i, j])
    return np.sum(sigma)


def scattering_args(nk: int, ne: int, nq: int, nw: int, na: int, nb: int, orbitals: int) -> tuple:
    neighbours = np.random.default_rng(0).integers(0, na, size=(na, nb))
    dH = normal(na, nb, 3, orbitals, orbitals, seed=1)
    return neighbours, dH, normal(nk, ne, na, orbitals, orbitals, seed=2), normal(nq, nw, na, nb, 3, 3, seed=3)


def lennard_jones(pos, epsilon, sigma):
    """The energy of all pairs, in loops over scalars."""
    total = 0.0
    for i in range(pos.shape[0]):
        for j in range(i):
            r2 = 0.0
            for c in range(3):
                d = pos[i, c] - pos[j, c]
                r2 += d * d
            s6 = (sigma * sigma / r2) ** 3
            total += 4.0 * epsilon * (s6 * s6 - s6)
    return total


def lennard_jones_args(side: int) -> tuple:
    points = np.stack(np.meshgrid(*[1.2 * np.arange(side)] * 3), axis=-1).reshape(-1, 3)
    return points + 0.05 * normal(len(points), 3), 1.2, 0.9


KERNELS = (
    Kernel(nbody, nbody_args, (4, 3), (60, 30), numba_ok=False),
    Kernel(scattering, scattering_args, (1, 2, 1, 2, 2, 2, 2), (2, 6, 2, 3, 6, 4, 4)),
    Kernel(lennard_jones, lennard_jones_args, (2,), (10,)),
)
