"""Sizes that are related in circles, sizes of paths that are not taken, arrays that are unpacked or get shorter."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("sizes found")
program = PROGRAMS.program


@program(args=lambda: (normal(10), 8), tags="inplace broadcast")
def added_then_met(x, n):
    """A size that only the run knows is another one or 1, and that one is it or 1: they are equal."""
    out = np.zeros(n)
    out += x[:n]
    return out * np.ones(8)


@program(args=lambda: (normal(10), 8), tags="inplace broadcast")
def scaled_rows(x, n):
    """The same of rows."""
    width = x[2 : n + 2] - x[:n]
    bank = np.ones((n, 3))
    bank *= width[:, None]
    return np.ones((8, 3)) * bank


def nodes(n, h):
    if n == 0:
        return np.array([[0.0]]), np.array([1.0])
    x = np.cos(h * np.arange(n + 1) / n)
    return np.outer(x, x), x


@program(args=lambda: (5, 0.7), wrt=1, tags="branches returns")
def degenerate_case(n, h):
    """An early return of other sizes, in a function that is called."""
    matrix, _ = nodes(n, h)
    inner = (matrix @ matrix)[1:n, 1:n]
    return inner @ np.ones(n + 1)[1:n]


@program(args=lambda: (5, 0.7), wrt=1, tags="branches returns inplace")
def degenerate_return(n, h):
    """An early return of one entry, where the other path writes into an array."""
    if n == 0:
        return np.ones(1) * h
    x = h * np.arange(n + 1) / n
    y = np.ones(n + 1) * x
    y[np.arange(n + 1)] = -x * x
    return y


@program(args=lambda: (normal(3), normal(4, seed=1), 0.5), wrt=(0, 1), tags="branches")
def either_argument(x, y, c):
    """One of two arguments whose sizes differ."""
    z = x if c > 1.0 else y
    return np.sum(z * z)


@program(args=lambda: (normal(3), normal(4, seed=1), 0), wrt=(0, 1), tags="loops")
def no_trip(x, y, k):
    """Sizes that do not agree in a loop that does not run."""
    s = np.sum(x) * np.sum(y)
    for _ in range(k):
        s = s + np.sum(x * y)
    return s


@program(args=lambda: (normal(4),), tags="unpack")
def unpacked_part(theta):
    """The first line of most models: a part of the parameters in names."""
    a, b, c = theta[:3]
    return a * b * c * np.exp(theta[3])


@program(args=lambda: (normal(6),), tags="unpack")
def orbit(state):
    """The right-hand side of an equation of motion."""
    x, y, z = state[0:3]
    u, v, w = state[3:6]
    r3 = (x * x + y * y + z * z) ** 1.5
    return np.array([u, v, w, -x / r3, -y / r3, -z / r3])


@program(args=lambda: (normal(4, 2), 1), tags="unpack")
def unpacked_window(points, i):
    """Two rows from an index on: how many there are is checked when the function runs."""
    p, q = np.exp(points[i : i + 2])
    return q - p * p


@program(args=lambda: (normal(4),), tags="unpack")
def unpacked_rest(x):
    """All but the last: the argument has one more."""
    a, b, c = x[:-1]
    return a * b * c + x[3]


@program(args=lambda: (0.95, 1.0, 0.05, 0.2, 1.0, 6), wrt=(0, 3), tags="loops shrinking")
def american_put(s, strike, r, sigma, t, n):
    """A binomial tree: the array of values gets shorter from level to level."""
    dt = t / n
    u = np.exp(sigma * np.sqrt(dt))
    q = (np.exp(r * dt) - 1 / u) / (u - 1 / u)
    v = np.maximum(strike - s * u ** np.arange(n, -n - 1, -2.0), 0.0)
    for i in range(n - 1, -1, -1):
        v = np.exp(-r * dt) * (q * v[:-1] + (1 - q) * v[1:])
        v = np.maximum(v, strike - s * u ** np.arange(i, -i - 1, -2.0))
    return v[0]


@program(args=lambda: (normal(5, 2), 0.3), wrt=(0, 1), tags="whiles shrinking")
def casteljau(p, t):
    """A point of a Bezier curve, while there is more than one."""
    while len(p) > 1:
        p = (1 - t) * p[:-1] + t * p[1:]
    return p[0]


@program(args=lambda: (normal(8),), tags="whiles shrinking")
def product_by_halves(x):
    """Pairs are multiplied until one is left."""
    while len(x) > 1:
        x = x[0::2] * x[1::2]
    return x[0]


@program(args=lambda: (np.array([0.1, 0.2, 5.0, 0.15]),), tags="whiles shrinking mask")
def trimmed_mean(x):
    """What lies furthest off is left out: the data says how often."""
    while np.max(np.abs(x - np.mean(x))) > 0.5:
        x = x[np.abs(x - np.mean(x)) < np.max(np.abs(x - np.mean(x)))]
    return np.mean(x)
