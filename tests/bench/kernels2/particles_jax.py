"""Interacting particles and small matrices at the sites of a lattice, in JAX."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax


def nbody(mass, pos, vel, dt, gravity, softening, steps):
    def acceleration(pos):
        d = pos[None, :, :] - pos[:, None, :]
        inv_r3 = (jnp.sum(d * d, axis=-1) + softening**2) ** -1.5
        return gravity * jnp.einsum("ijc,ij,j->ic", d, inv_r3, mass[:, 0])

    def energy(pos, vel):
        d = pos[None, :, :] - pos[:, None, :]
        r2 = jnp.sum(d * d, axis=-1)
        inv_r = jnp.where(r2 > 0.0, 1.0 / jnp.sqrt(jnp.where(r2 > 0.0, r2, 1.0)), 0.0)  # twice, or the gradient is NaN
        return 0.5 * jnp.sum(mass * vel**2) - gravity * jnp.sum(jnp.triu(mass * mass.T * inv_r, 1))

    def step(state, _):
        pos, vel, acc = state
        vel = vel + acc * dt / 2.0
        pos = pos + vel * dt
        acc = acceleration(pos)
        vel = vel + acc * dt / 2.0
        return (pos, vel, acc), energy(pos, vel)

    vel = vel - jnp.mean(mass * vel, axis=0) / jnp.mean(mass)
    _, energies = lax.scan(step, (pos, vel, acceleration(pos)), length=steps)
    return jnp.sum(energies)


def scattering(neighbours, dH, G, D):
    left = jnp.einsum("keabmn,abinp->keabimp", G[:, :, neighbours], dH)
    sigma = jnp.zeros_like(G)
    for q in range(D.shape[0]):
        for w in range(min(D.shape[1], G.shape[1])):
            right = jnp.einsum("abjpr,abij->abipr", dH, D[q, w])
            moved = jnp.roll(left, q, axis=0)[:, : G.shape[1] - w]
            sigma = sigma.at[:, w:].add(jnp.einsum("keabimp,abipr->keamr", moved, right))
    return jnp.sum(sigma)


def lennard_jones(pos, epsilon, sigma):
    d = pos[:, None, :] - pos[None, :, :]
    r2 = jnp.sum(d * d, axis=-1) + jnp.eye(pos.shape[0])  # ones on the diagonal, where a particle meets itself
    s6 = (sigma * sigma / r2) ** 3
    return jnp.sum(jnp.tril(4.0 * epsilon * (s6 * s6 - s6), -1))
