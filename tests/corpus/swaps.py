"""Swaps: of names, of buffers, of rows, of elements."""

import math

import numpy as np

from .program import Collection, normal, spread

PROGRAMS = Collection("swap")
program = PROGRAMS.program


@program(args=lambda: (normal(5), 3), tags="buffers for inplace")
def two_buffers(x, n):
    """Two buffers change places after every trip, an odd number of times."""
    u, v = x.copy(), np.zeros_like(x)
    for _ in range(n):
        for i in range(len(u)):
            v[i] = u[i] * u[i - 1] + 0.5 * u[i]
        u, v = v, u
    return u


@program(args=lambda: (normal(5), 4), tags="buffers for inplace")
def both_buffers_used(x, n):
    """As above, an even number of times, and both are read at the end."""
    u, v = x.copy(), x * x
    for _ in range(n):
        v[1:] = np.sin(u[:-1]) + v[1:]
        u, v = v, u
    return np.sum(u * v)


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="names")
def renamed(x, y):
    """The names change places; then one is written."""
    a, b = x.copy(), y.copy()
    a, b = b, a
    a[0] = b[1] * b[2]
    return a * b


@program(args=lambda: (normal(4), 0.5), wrt=(0, 1), tags="buffers if inplace")
def swap_on_condition(x, t):
    """Whether the buffers change places depends on the data."""
    u, v = x.copy(), 2.0 * x
    if u[0] < t:
        u, v = v, u
    u[1] = v[0] * v[2]
    return u * t, v


@program(args=lambda: (normal(3, 3),), tags="rows fancy inplace")
def swap_rows(a):
    """Two rows change places through integer arrays."""
    b = a.copy()
    b[[0, 2]] = b[[2, 0]]
    b[0] *= b[1]
    return b


@program(args=lambda: (normal(3, 3),), tags="rows copy inplace")
def swap_rows_by_copy(a):
    """Two rows change places through a copy."""
    b = a * a
    kept = b[0].copy()
    b[0] = b[2]
    b[2] = kept
    return b * a


@program(args=lambda: (normal(4),), tags="elements inplace")
def swap_elements(x):
    """Elements of scalars' kind: the right side is read first."""
    y = x.copy()
    y[0], y[3] = y[3], y[0] * y[1]
    y[1], y[2] = y[2] ** 2, y[1]
    return y


@program(args=lambda: (spread(5),), tags="for if elements inplace sort")
def bubble_sort(x):
    """Sorting by hand: neighbours change places where they must."""
    y = x.copy()
    for end in range(len(y) - 1, 0, -1):
        for i in range(end):
            if y[i] > y[i + 1]:
                y[i], y[i + 1] = y[i + 1], y[i]
    return y * np.arange(5.0)


@program(args=lambda: (normal(6),), tags="while elements inplace")
def reverse_by_hand(x):
    """Two indices run towards each other."""
    y = x * x
    i, j = 0, len(y) - 1
    while i < j:
        y[i], y[j] = y[j], y[i]
        i, j = i + 1, j - 1
    return y * x


@program(args=lambda: (0.4, 1.1, -0.7), wrt=(0, 1, 2), tags="rotate for scalar")
def rotate_three(a, b, c):
    """Three carried values move on by one in each trip."""
    for _ in range(4):
        a, b, c = b, c, math.sin(a) * b + c
    return a * b + c


@program(args=lambda: (normal(3),), tags="rotate buffers for inplace")
def rotate_buffers(x):
    """Three buffers move on by one in each trip (leapfrog)."""
    before, now, after = x.copy(), x * x, np.zeros_like(x)
    for _ in range(5):
        after[:] = 0.5 * now - before + 0.1 * now**2
        before, now, after = now, after, before
    return now


@program(args=lambda: (normal(3), normal(3, 3, seed=1)), wrt=(0, 1), tags="if buffers")
def exchanged_by_choice(x, a):
    """Two arrays change names, and nobody sees it in the sum; the mean is a loop of the same length."""
    u = x**2
    v = a[1] ** 2
    if np.sum(x):
        u, v = v, u
    return np.sum(v) + np.sum(u) + np.mean(a)


@program(args=lambda: (spread(4),), tags="while buffers inplace")
def swap_in_while(x):
    """An unknown number of swaps."""
    u, v = x.copy(), np.empty_like(x)
    while np.sum(u * u) > 0.3:
        v[:] = 0.8 * u * np.cos(u)
        v[0] = v[0] + u[1] * v[2]
        u, v = v, u
    return u
