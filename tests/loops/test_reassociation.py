"""Long sums that are written out: in four parts where no vectors are made, with the same results."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]


def waiting(x, a):
    """A trip needs the one before."""
    y = 0.3
    for k in range(x.shape[0]):
        total = 0.0
        for i in range(3):
            for j in range(3):
                total += x[k, i, j] * a[i, j]
        y = np.sin(y + total)
    return y


def carried(x, a):
    total = 1.0
    for k in range(x.shape[0]):
        for i in range(3):
            for j in range(3):
                total += np.exp(0.1 * x[k, i, j]) * a[i, j]
        if total > 40.0:
            total *= 0.5
    return total


def two_sums(x, a):
    """Partial sums that are wanted too."""
    found = 0.0
    for k in range(x.shape[0]):
        half = x[k, 0, 0] + x[k, 0, 1] + x[k, 0, 2] + x[k, 1, 0] + a[0, 0] + a[0, 1] + a[0, 2] + a[1, 1]
        whole = half + x[k, 1, 1] + x[k, 1, 2] + x[k, 2, 0] + x[k, 2, 1] + x[k, 2, 2] + a[2, 2] + a[2, 1] + half
        found = np.cos(found + half * whole)
    return found


def of_sums(x, a):
    """Terms that are long sums themselves, and one term twice."""
    found = 0.0
    for k in range(x.shape[0]):
        b = a[0, 0] * x[k, 0, 0]
        c = b + b + a[0, 1] + a[0, 2] + a[1, 0] + a[1, 1] + a[1, 2] + a[2, 0] + x[k, 2, 2]
        d = (x[k, 0, 1] + x[k, 0, 2] + x[k, 1, 0] + x[k, 1, 1] + x[k, 1, 2] + x[k, 2, 0] + x[k, 2, 1] + b) + c
        found = np.tanh(found * 0.5 + d)
    return found


@pytest.mark.parametrize("n", (0, 1, 2, 6))
@pytest.mark.parametrize("fn", (waiting, carried, two_sums, of_sums), ids=lambda f: f.__name__)
def test_long_sums(fn, n):
    check(fn, (0.4 * normal(n, 3, 3), normal(3, 3)))


def test_a_sum_is_in_parts_and_what_is_carried_is_last():
    lines = tp.source(tp.jit(waiting), normal(4, 3, 3), normal(3, 3), stage="loops").splitlines()
    at = next(k for k, line in enumerate(lines) if "sin(" in line)
    text = "\n".join(lines[at - 2 : at + 1])
    assert text.count("* a[") == 9 and text.count("(x[") >= 1 and "y + " not in text and "+ y" in text, text


def test_special_values():
    x, a = normal(3, 3, 3), normal(3, 3)
    for value in (np.inf, -np.inf, np.nan):
        x[1, 2, 0] = value
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(tp.jit(of_sums)(x, a), of_sums(x, a), rtol=1e-13)
    zeros = np.full((2, 3, 3), -0.0)
    compiled = tp.jit(carried)(zeros, np.full((3, 3), -0.0))
    np.testing.assert_array_equal(np.signbit(compiled), np.signbit(carried(zeros, np.full((3, 3), -0.0))))
