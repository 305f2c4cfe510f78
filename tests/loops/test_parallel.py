"""``parallel=True``: outer loops in chunks, with the results of the serial code, the same to the bit at each call."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

pytestmark = pytest.mark.numba


def weighted(a, w):
    """Rows that only add up, with adjoints that all rows share and one that is each row's own."""
    total = 0.0
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * w[j]
        total += s * s
    return total


def smoothed(a, steps):
    """Sweeps that depend on each other, of rows that do not."""
    a = a.copy()
    for _ in range(steps):
        b = a.copy()
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j] = 0.25 * (b[i - 1, j] + 2.0 * b[i, j] + b[i + 1, j])
    return np.sum(a * a)


def running(a):
    """Rows that depend on each other, across columns: nothing to cut."""
    a = a.copy()
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] += 0.5 * a[i - 1, j - 1]
    return np.sum(a)


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def test_sums_and_shared_adjoints() -> None:
    derivative = tp.value_and_grad(weighted, argnums=(0, 1))
    fast = tp.jit(derivative, parallel=True)
    for a, w in ((values(31, 7), values(7)), (values(1, 7), values(7)), (values(0, 7), values(7))):
        value, (a_bar, w_bar) = fast(a, w)
        wanted, (a_wanted, w_wanted) = derivative(a, w)
        np.testing.assert_allclose(value, wanted, rtol=1e-13)
        np.testing.assert_allclose(a_bar, a_wanted, rtol=1e-13)
        np.testing.assert_allclose(w_bar, w_wanted, rtol=1e-12)
    a, w = values(31, 7), values(7)
    first, again = fast(a, w), fast(a, w)
    assert first[0] == again[0]
    assert np.array_equal(first[1][1], again[1][1])
    text = tp.source(fast, a, w, stage="loops")
    assert "prange(" in text
    assert "w_bar_parts" in text
    assert "a_bar_parts" not in text


def test_loops_inside_a_serial_one() -> None:
    derivative = tp.value_and_grad(smoothed)
    fast = tp.jit(derivative, parallel=True)
    a = values(12, 9)
    value, a_bar = fast(a, 5)
    wanted, a_wanted = derivative(a, 5)
    np.testing.assert_allclose(value, wanted, rtol=1e-13)
    np.testing.assert_allclose(a_bar, a_wanted, rtol=1e-12)
    assert "prange(" in tp.source(fast, a, 5, stage="loops")


def test_rows_that_wait_for_each_other_are_not_cut() -> None:
    fast = tp.jit(running, parallel=True)
    a = values(12, 9)
    np.testing.assert_allclose(fast(a), running(a), rtol=1e-13)
    lines = tp.source(fast, a, stage="loops").splitlines()
    at = next(k for k, line in enumerate(lines) if "0.5 *" in line)
    assert not any("prange" in line for line in lines[at - 6 : at])


def rings(data, radius, count):
    """Several sums of one name, before, in and around the parallel loop."""
    total = 0.0
    for i in range(len(radius)):
        total += radius[i]
    result = np.zeros(count)
    for i in range(count):
        mask = (total * i / count <= radius) & (radius < total * (i + 1) / count)
        result[i] = np.sum(data[mask]) / (1 + np.sum(mask))
    return np.sum(result) * total


def test_names_of_sums_in_parallel_loops():
    """Numba makes names of its own of those that parallel loops assign: none of them may be there already."""
    rng = np.random.default_rng(3)
    args = rng.normal(size=50), rng.uniform(0.0, 0.1, size=50), 6
    call = tp.jit(tp.value_and_grad(rings), parallel=True)
    assert "prange(" in tp.source(call, *args, stage="loops")
    value, gradient = call(*args)
    wanted, right = tp.value_and_grad(rings)(*args)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(gradient, right, rtol=1e-12)
