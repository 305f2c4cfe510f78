"""Recurrences along one axis of a grid, in JAX: scans that stack their results."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax


def bordered(inner):
    """A frame of ones above and below; the sides are still missing."""
    return jnp.pad(inner, ((1, 1), (0, 0)), constant_values=1.0)


def half_step(u, a, b, d):
    """The lines of `u` (rows, as the scan needs) after an implicit half step."""
    zeros, ones = jnp.zeros_like(u[0, 1:-1]), jnp.ones_like(u[0, 1:-1])

    def forward(state, row):
        p, q = state
        pivot = a * p + b
        p = -a / pivot
        q = (-d * row[:-2] + (1.0 + 2.0 * d) * row[1:-1] - d * row[2:] - a * q) / pivot
        return (p, q), (p, q)

    _, (p, q) = lax.scan(forward, (zeros, ones), u[1:-1])

    def backward(v, pq):
        v = pq[0] * v + pq[1]
        return v, v

    _, v = lax.scan(backward, ones, (p, q), reverse=True)
    return bordered(v)


def adi(u, steps):
    n = u.shape[0]
    mul1, mul2 = 2.0 * n * n / steps, n * n / steps
    a, b, d, e = -mul1 / 2.0, 1.0 + mul1, -mul2 / 2.0, 1.0 + mul2

    def step(_, u):
        v = half_step(u, a, b, d)  # rows 0 and n-1 are 1
        inner = half_step(jnp.pad(v, ((0, 0), (1, 1))).T, d, e, a)  # only the inner columns of v are read
        return u.at[1:-1, :].set(inner.T)

    return jnp.sum(lax.fori_loop(0, steps, step, u))


def thomas(lower, diagonal, upper, right):
    zeros = jnp.zeros_like(right[0])

    def forward(state, row):
        c, x = state
        low, middle, up, r = row
        pivot = middle - low * c
        state = up / pivot, (r - low * x) / pivot
        return state, state

    _, (c, x) = lax.scan(forward, (zeros, zeros), (lower, diagonal, upper, right))

    def backward(above, row):
        x = row[1] - row[0] * above
        return x, x

    _, x = lax.scan(backward, zeros, (c, x), reverse=True)
    return jnp.sum(x)


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    def levels(a):
        return jnp.moveaxis(a, 2, 0)

    inner = levels(0.125 * (wcon[1:, :, 1:] + wcon[:-1, :, 1:]))  # between the levels
    none = jnp.zeros_like(inner[:1])
    acol = jnp.concatenate([none, -inner])
    upper = jnp.concatenate([inner, none])
    u = levels(u_stage)
    difference = jnp.concatenate([none, u[1:] - u[:-1], none])
    correction = acol * difference[:-1] - upper * difference[1:]
    right = levels(dtr_stage * u_pos + utens + utens_stage) + correction
    bcol = dtr_stage - acol - upper

    def forward(state, row):
        c, d = state
        low, middle, up, r = row
        pivot = middle - c * low
        state = up / pivot, (r - d * low) / pivot
        return state, state

    zero = jnp.zeros_like(u[0])
    _, (ccol, dcol) = lax.scan(forward, (zero, zero), (acol, bcol, upper, right))

    def backward(data, row):
        data = row[1] - row[0] * data
        return data, data

    _, data = lax.scan(backward, zero, (ccol, dcol), reverse=True)
    return jnp.sum(dtr_stage * (data - levels(u_pos)))


def deriche(image, alpha):
    decay = jnp.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - jnp.exp(-2.0 * alpha))
    a1, a2, a3, a4 = k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay * decay
    b1, b2 = 2.0 ** (-alpha), -decay * decay

    def both(rows):
        """Forward and backward along the first axis."""
        zero = jnp.zeros_like(rows[0])

        def filtered(state, x):
            y = x + b1 * state[0] + b2 * state[1]
            return (y, state[0]), y

        before = jnp.concatenate([zero[None], rows[:-1]])
        after = jnp.concatenate([rows[1:], zero[None]])
        after2 = jnp.concatenate([rows[2:], zero[None], zero[None]])
        _, there = lax.scan(filtered, (zero, zero), a1 * rows + a2 * before)
        _, back = lax.scan(filtered, (zero, zero), a3 * after + a4 * after2, reverse=True)
        return there + back

    return jnp.sum(both(both(image.T).T))


def soft_dtw(x, y, gamma):
    """By diagonals: each depends on the two before it."""
    n, m = x.shape[0], y.shape[0]
    i = jnp.arange(n + 1)

    def diagonal(state, s):
        before, last = state
        j = s - i
        cost = (x[i - 1] - y[jnp.clip(j - 1, 0, m - 1)]) ** 2
        three = -jnp.stack([jnp.roll(before, 1), jnp.roll(last, 1), last]) / gamma
        top = jnp.max(three, axis=0)
        value = cost - gamma * (jnp.log(jnp.sum(jnp.exp(three - top), axis=0)) + top)
        new = jnp.where((i >= 1) & (j >= 1) & (j <= m), value, 1e10)
        return (last, new), None

    far = jnp.full(n + 1, 1e10)
    (_, last), _ = lax.scan(diagonal, (far.at[0].set(0.0), far), jnp.arange(2, n + m + 1))
    return last[n]
