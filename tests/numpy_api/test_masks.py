"""Masks that are no truth values: NumPy takes them, or refuses to cast them; so do we."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError


def placed(x, m):
    y = np.zeros(4)
    np.place(y, m, x[:3] ** 2)
    return y


def put(x, m):
    y = x * 1.0
    np.putmask(y, m, x[:2] ** 2)
    return y


def extracted(x, m):
    y = x * x
    y[: np.count_nonzero(m)] += np.extract(m, x) + np.compress(m, x * 3)
    return y


def chosen(x, m):
    return np.where(m, x**2, 3 * x) * np.logical_not(m)


def copied(x, m):
    y = x * 1.0
    np.copyto(y, x * x, where=m)
    return y


def summed(x, m):
    return np.sum(x * x, where=m) + np.mean(x, where=m) + np.max(x, where=m, initial=-9.0) + np.zeros(4)


def added(x, m):
    return np.add(x, x * x, out=np.zeros(4), where=m)


def selected(x, m):
    return np.select([m], [x * x], 3.0)


MASKS = {
    "truths": np.array([True, False, True, False]),
    "integers": np.array([1, 0, 2, 0]),
    "small integers": np.array([1, 0, 2, 0], np.uint8),
    "floats": np.array([0.5, 0.0, 1.0, 0.0]),
    "a list of truths": [True, False, True, False],
    "a list": [1, 0, 2, 0],
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "f", [placed, put, extracted, chosen, copied, summed, added, selected], ids=lambda f: f.__name__
)
@pytest.mark.sampled(3)
def test_a_mask_counts_as_it_does_in_numpy(f, mask):
    x, m = np.array([1.0, -2.0, 3.0, -4.0]), MASKS[mask]
    try:
        wanted = f(x, m)
    except TypeError:
        wanted = None
    try:
        found = Transformed(f, Level())(x, m)
    except TranspileError as e:
        assert e.diagnostics[0].code == "T201"
        assert wanted is None or mask == "a list"
        return
    np.testing.assert_array_equal(found, wanted)
    step = 1e-6 * np.array([1.0, 2.0, -1.0, 0.5])
    slope = (f(x + step, m) - f(x - step, m)) / 2e-6
    np.testing.assert_allclose(tp.jacfwd(f)(x, m) @ step / 1e-6, slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(tp.jacrev(f)(x, m) @ step / 1e-6, slope, rtol=1e-6, atol=1e-8)
