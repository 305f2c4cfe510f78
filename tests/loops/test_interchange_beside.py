"""What stands beside the inner loop of two touches what only a trip of the inner one would keep apart: it may have none."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]


def written_before(x, a, t):
    m, n = a.shape
    total = 0.0
    for i in range(n):
        s = 0.0
        t[i] = x[i]
        for j in range(m):
            s += a[j, i]
        total += t[n - 1 + m] * s + t[n - 1 + m]
    return total


def read_before(x, a, t):
    m, n = a.shape
    for i in range(n):
        s = t[i]
        for j in range(m):
            s += a[j, i]
        t[n - 1 + m] = 2.0 * s
    return np.sum(t)


def handed_on(x, a, t):
    m, n = a.shape
    for i in range(n):
        s = t[i]
        for j in range(m):
            s += a[j, i]
        t[n - 1 + m] = 2.0 * s
        x[i] = s
    return np.sum(t)


@pytest.mark.parametrize("f", [written_before, read_before, handed_on], ids=lambda f: f.__name__)
def test_no_trips_inside(f) -> None:
    compiled = tp.jit(f)
    rng = np.random.default_rng(2)
    for n, m in ((7, 3), (7, 0), (2, 0), (1, 0), (9, 1)):
        x, a, t = rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=n + m)
        given, wanted = (x.copy(), a, t.copy()), (x, a, t)
        np.testing.assert_allclose(compiled(*given), f(*wanted), rtol=1e-12)
        for found, right in zip(given, wanted):
            np.testing.assert_allclose(found, right, rtol=1e-12)
