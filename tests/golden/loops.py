"""Loops, branches, in-place writes: what is recorded, and how the reverse sweep reads."""

import numpy as np


def power(x):
    c = 1.0
    while c < 10.0:
        c *= x
    return c


def heat(u, steps):
    u = u.copy()
    for t in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def recurrence(x):
    h = np.zeros(len(x))
    h[0] = x[0]
    for t in range(1, len(x)):
        h[t] = np.tanh(h[t - 1] + x[t])
    return h[-1]


def cumulative_product(x):
    p = 1.0
    for i in range(len(x)):
        p = p * x[i]
    return p


def clipped(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 1.0:
            total += np.log(x[i])
        else:
            total += x[i] - 1.0
    return total


def newton(a):
    x = 1.0
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def leapfrog(q, p, steps, dt):
    for _ in range(steps):
        p = p - 0.5 * dt * np.sin(q)
        q = q + dt * p
        p = p - 0.5 * dt * np.sin(q)
    return 0.5 * p * p - np.cos(q)


def first_above(x, limit):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        if total > limit:
            break
    return total


def swap(u, v, steps):
    for _ in range(steps):
        w = u * v
        u, v = v, w
    return np.sum(v)


def updated(x, i):
    for k in range(len(i)):
        x = x.at[i[k]].multiply(x[k])
    return np.sum(x)
