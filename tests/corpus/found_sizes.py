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
