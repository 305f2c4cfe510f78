"""Second derivatives, and gradients of all lanes, where a mask is read or written in loops in loops: how many it selects is found
in each trip, of the trips that run again and of those backwards."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp


def squared(x):
    y, m = x.copy(), x > 0.5
    for _ in range(3):
        for _ in range(2):
            y[m] = y[m] ** 2
        y = y * y
    return np.sum(y)


def squared_in_a_copy(x):
    y, m = x, x > 0.5
    for _ in range(2):
        z = y.copy()
        for _ in range(2):
            z[m] = z[m] ** 2
            z[~m] *= 0.9
        y = z * z[0]
    return np.sum(y)


def filled_at_both_depths(x):
    z, s, m = x * 0.5, 0.3, x > 0.5
    for i in range(3):
        z[m] = s * 0.5
        for _ in range(i):
            z[m] = s * 0.5
            s = np.sum(x * z)
    return np.sum(x * z) + s


def read_at_both_depths(x):
    z, s, m = x * 0.5, 0.3, x > 0.5
    for i in range(3):
        s = s + np.sum(z[m] ** 2)
        for _ in range(i):
            z[m] = z[m] * s
        z[m] = np.cos(z[m])
    return s * np.sum(z)


def until_large(x):
    y, s, n = x.copy(), 0.3, 0
    while s < 4.0:
        m = y > 0.4
        if n % 2:
            for _ in range(n):
                y[m] = y[m] * y[m] + 0.1
                s += np.sum(y[m])
        else:
            y[m] = 0.5 * s + y[m]
        s, n = s + np.sum(y), n + 1
    return s + np.sum(y**2)


def in_a_branch_of_a_while_loop(x):
    y, s = x.copy(), 0.3
    for _ in range(2):
        n = 0
        while n < 3 and s < 5.0:
            if np.sum(y) > 1.0:
                m = y > 0.5
                y[m] = y[m] * 0.7 + 0.2 * s
                s += 0.3 * np.sum(y[m] * y[m])
            n += 1
        y = y * np.cos(s)
    return s * np.sum(y * y)


PROGRAMS = [
    squared,
    squared_in_a_copy,
    filled_at_both_depths,
    read_at_both_depths,
    until_large,
    in_a_branch_of_a_while_loop,
]
X = np.array([0.74, 1.02, 0.43])


def differences(f, x):
    return np.stack([(np.asarray(f(x + h)) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.sampled(3)
def test_second_derivatives(f):
    gradient = tp.grad(f)
    assert np.allclose(gradient(X), differences(f, X), rtol=1e-5, atol=1e-5)
    expected = differences(gradient, X)
    for twice in (tp.jacrev(gradient), tp.hessian(f), tp.jacrev(tp.jacfwd(f))):
        assert np.allclose(twice(X), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients_of_all_lanes(f):
    lanes = np.stack([X, X * 0.9, X[::-1]])
    expected = [tp.grad(f)(x) for x in lanes]
    assert np.allclose(tp.vmap(tp.grad(f))(lanes), expected)
    assert np.allclose(tp.grad(lambda lanes: np.sum(tp.vmap(f)(lanes)))(lanes), expected)


@pytest.mark.parametrize("f", [squared_in_a_copy, filled_at_both_depths])
def test_compiled(f):
    assert np.allclose(tp.jit(tp.jacrev(tp.grad(f)), cache=False)(X), tp.hessian(f)(X))
