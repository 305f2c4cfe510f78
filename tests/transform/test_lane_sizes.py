"""A size that differs between lanes and is found inside of a branch or a loop: what needs it later stands in the same region."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import transpile as tp

X = np.array([[0.4, -0.7, 1.1, 0.2], [1.4, 0.3, 2.1, 1.2], [0.8, -1.4, 2.2, 0.4]])
N = np.array([0, 1, 2])


def in_a_branch(x, n):
    c = x * 1.0
    if n == 0:
        c[n:] += x[0]
        c = np.roll(c, 1)
    c[1:] = c[:-1]
    return np.sum(c * x)


def in_a_loop(x, n):
    c, b = x * 1.0, np.sin(x)
    for _ in range(n):
        b[n:] += x[0] * c[0]
        c = np.roll(c, 1)
    b[1:] += c[:-1]
    return np.sum(b * b * x)


def in_loops_that_lanes_share(x, n):
    c = x * 1.0
    for k in range(2):
        if n > k:
            c[n:] *= x[k]
    c[1:] = c[:-1]
    for k in range(2):
        if n > k:
            c[:n] += np.sum(c[n:]) * x[k]
    return np.sum(c * x)


@pytest.mark.parametrize("f", [in_a_branch, in_a_loop, in_loops_that_lanes_share])
def test_lanes_of_gradients(f: Callable[..., NDArray[np.float64]]) -> None:
    for made in (tp.vmap(f), tp.vmap(tp.grad(f))):
        one = f if made(X, N).ndim == 1 else tp.grad(f)
        np.testing.assert_allclose(made(X, N), [one(x, int(n)) for x, n in zip(X, N)], rtol=1e-12)
    total = tp.grad(lambda x: np.sum(tp.vmap(f)(x, N)))
    np.testing.assert_allclose(total(X), [tp.grad(f)(x, int(n)) for x, n in zip(X, N)], rtol=1e-12)
