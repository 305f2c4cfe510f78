"""Statistics, graphs and elementwise work on tables of data, in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax


def covariance(data):
    n, _ = data.shape
    data = data - jnp.mean(data, axis=0)
    return jnp.sum(data.T @ data / (n - 1.0))


def correlation(data):
    n, m = data.shape
    deviation = jnp.std(data, axis=0)
    deviation = jnp.where(deviation <= 0.1, 1.0, deviation)
    data = (data - jnp.mean(data, axis=0)) / (jnp.sqrt(n) * deviation)
    return jnp.sum(jnp.fill_diagonal(data.T @ data, 1.0, inplace=False))


def softmax(x, weights):
    return jnp.sum(jax.nn.softmax(x, axis=-1) * weights)


def azimint(data, radius, npt):
    rmax = jnp.max(radius)

    def ring(i):
        mask = (rmax * i / npt <= radius) & (radius < rmax * (i + 1) / npt)
        return jnp.mean(data, where=mask)

    return jnp.sum(jax.vmap(ring)(jnp.arange(npt)))


def spmv(starts, columns, values, x):
    m = starts.size - 1
    rows = jnp.repeat(jnp.arange(m), jnp.diff(starts), total_repeat_length=columns.size)
    return jnp.sum(jax.ops.segment_sum(values * x[columns], rows, num_segments=m, indices_are_sorted=True))


def floyd_warshall(path):
    def relax(k, path):
        return jnp.minimum(path, path[:, k, None] + path[None, k, :])

    return jnp.sum(lax.fori_loop(0, path.shape[0], relax, path))


def compute(x, y, a, b, c):
    return jnp.sum(jnp.clip(x, 2.0, 10.0) * a + y * b + c)


def go_fast(a):
    return jnp.sum(a + jnp.sum(jnp.tanh(jnp.diagonal(a))))


def arc_distance(theta1, phi1, theta2, phi2):
    chord = jnp.sin((theta2 - theta1) / 2) ** 2 + jnp.cos(theta1) * jnp.cos(theta2) * jnp.sin((phi2 - phi1) / 2) ** 2
    return jnp.sum(2 * jnp.arctan2(jnp.sqrt(chord), jnp.sqrt(1 - chord)))
