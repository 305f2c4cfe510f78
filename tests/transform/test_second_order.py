"""Second derivatives where the first derivative has tapes, stacks and branches of its own, in all four combinations of modes."""

from __future__ import annotations

import numpy as np
import pytest
from corpus.found_by_fuzz import fixed_state

import transpile as tp


def early_returns(x):
    if x[0] > 2.0:
        return x[0] ** 3
    total = x[0]
    for i in range(1, len(x)):
        total = total * 1.5 + np.sin(x[i] * total)
        if total > 6.0:
            return total * total * x[i]
    return total**2


def called_twice(x):
    return early_returns(x) * early_returns(2.0 * x + 1.0)


def until_converged(x):
    r = 1.0
    while abs(r * r - x[0] * x[1] - 2.0) > 1e-13:
        r = 0.5 * (r + (x[0] * x[1] + 2.0) / r)
    return r * x[2]


def in_place(x):
    y = x.copy()
    for _ in range(3):
        for i in range(1, len(y)):
            y[i] = y[i] * np.cos(y[i - 1])
    return np.sum(y**2)


def rows(x):
    table = np.outer(x, x)
    for k in range(len(x)):
        table[k] = np.tanh(table[k] + table[k - 1])
    return np.sum(table * table.T)


def shrinking(x):
    """The trips write fewer and fewer elements."""
    total = 0.0
    for k in range(3):
        work = np.sin(x * (k + 1))
        for level in range(1, 3):
            work[: 3 - level] = x[0] * work[: 3 - level] + work[1 : 4 - level] ** 2
        total += work[0]
    return total


def ending_here(x):
    """The trips read more and more elements."""
    y = x * 1.0
    for k in range(1, 3):
        y[k] = np.sum(y[:k] ** 2) * np.cos(y[k])
    return y[2] * y[1]


def chosen(x):
    """How many elements a trip reads depends on the data."""
    total = x[0]
    for k in range(3):
        total = total * np.sum(x[x > 0.23 * k] ** 2)
    return total


def growing(x):
    """A list that grows until a test holds."""
    values, v = [], x[0]
    while v < 3.0:
        values.append(v * x[1])
        v = v + x[2] ** 2 + 0.5
    return np.sum(np.array(values) ** 3) * v


def growing_rows(x):
    rows, v = [x], 0.0
    while v < 2.0:
        v += np.sum(rows[-1] ** 2) + 0.4
        rows.append(np.sin(rows[-1] * v))
    return np.sum(np.stack(rows) ** 2)


FUNCTIONS = [
    early_returns,
    called_twice,
    until_converged,
    in_place,
    rows,
    shrinking,
    ending_here,
    chosen,
    growing,
    growing_rows,
]


@pytest.mark.quick
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("point", [(0.4, 0.3, 0.9), (1.3, 0.8, 0.5), (2.5, 0.1, 0.2)])
@pytest.mark.sampled(3)
def test_hessian(f, point):
    x = np.array(point)
    gradient = tp.grad(f)
    h = 1e-5
    expected = np.array([(gradient(x + h * e) - gradient(x - h * e)) / (2 * h) for e in np.eye(3)])
    found = {
        "forward over reverse": tp.jacfwd(gradient)(x),
        "reverse over reverse": tp.jacrev(gradient)(x),
        "reverse over forward": tp.jacrev(tp.jacfwd(f))(x),
        "forward over forward": tp.jacfwd(tp.jacfwd(f))(x),
    }
    for name, hessian in found.items():
        np.testing.assert_allclose(hessian, expected, rtol=1e-6, atol=1e-7, err_msg=name)
        np.testing.assert_allclose(hessian, found["forward over reverse"], rtol=1e-11, atol=1e-12, err_msg=name)


def test_hessian_with_sizes_that_are_numbers():
    """The checks of sizes stand in the function, in its Jacobian and in that of the Jacobian."""
    rng = np.random.default_rng(0)
    w, v, xs = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=(4, 3))
    d, h = rng.normal(size=(3, 3)), 1e-5
    gradient = tp.grad(fixed_state)
    expected = (gradient(w + h * d, v, xs) - gradient(w - h * d, v, xs)) / (2 * h)
    found = np.einsum("ijkl,kl->ij", tp.hessian(fixed_state)(w, v, xs), d)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert tp.source(tp.hessian(fixed_state), w, v, xs).count("raise ") == 3
    for bad in ((w, v[:2], xs), (w[:2], v, xs), (w, v, xs[:, :2]), (w[:, :2], v, xs)):
        with pytest.raises(ValueError):
            tp.hessian(fixed_state)(*bad)
