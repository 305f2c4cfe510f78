"""A cast and one back again: it is left out where each value of the one type is one of the other, and rounds elsewhere."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
DTYPES = ("bool", "int8", "int32", "int64", "float32", "float64")


def values(dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        return np.array([0.1, -1.0 / 3.0, 1e-30, 5.0, -0.0], dtype=dtype)
    ends = np.iinfo(dtype)
    some = [ends.min + 1, ends.max // 2 + 2, ends.max // 3, 0, -7]
    return np.array(some, dtype=dtype)


@pytest.mark.parametrize(("one", "other"), list(permutations(DTYPES, 2)))
def test_there_and_back(one: str, other: str) -> None:
    if other.startswith("int") and one.startswith("float"):
        x = np.trunc(values(one)) * 3.0
    else:
        x = values(one)

    def back(x):
        return x.astype(other).astype(one)

    found = tp.jit(back)(x)
    np.testing.assert_array_equal(found, back(x))
    assert found.dtype == one


def number(n):
    return int(float(n))


def difference(x):
    return np.copysign(1.0, x - (-0.0)), np.copysign(1.0, x - 0.0), np.copysign(1.0, x + 0.0)


@pytest.mark.parametrize("n", [2**53 + 1, -(2**62) - 3, 12, 0])
def test_python_numbers(n: int) -> None:
    assert tp.jit(number)(n) == number(n)


@pytest.mark.parametrize("x", [0.0, -0.0])
def test_zeros_taken_away(x: float) -> None:
    assert tp.jit(difference)(x) == difference(x)
    np.testing.assert_array_equal(tp.jit(difference)(np.array([x])), difference(np.array([x])))
