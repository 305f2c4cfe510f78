"""The functions that threads of `test_long_calls` call first."""

import numpy as np


def scanned(x):
    return np.sum(np.sin(x) * np.cumsum(x))


def in_order(x):
    total = 0.0
    for v in np.sort(x):
        total += v * v
    return total


def user(n):
    from numba import njit, typed, vectorize

    @njit
    def made(n):
        table, items = typed.Dict(), typed.List()
        for i in range(n):
            table[i] = i * 1.0
            items.append(i)
        return table[n - 1] + items[0] + np.linalg.det(np.eye(2))

    @vectorize(["float64(float64)"])
    def same(y):
        return y

    return float(same(made(n)))
