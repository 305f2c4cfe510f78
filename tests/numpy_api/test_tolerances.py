"""Decisions that hang on the last bit or on a tolerance: grids are NumPy's exactly, `isclose` takes a tolerance of the run."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

NUMBERS = (0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, np.nan, 1e300, 2.0)
RELATIVE = (0.0, 0.5, 1e-5, np.inf, np.nan, -1.0)
ABSOLUTE = (0.0, 0.5, -0.1, np.inf)
WAYS = [lambda f: Transformed(f, Level()), pytest.param(tp.jit, marks=pytest.mark.numba)]


def close(x, y, a, b):
    return (
        np.isclose(x, y, rtol=a, atol=b),
        np.allclose(x, y, a, b),
        np.isclose(x, y, a, b, equal_nan=True),
        np.allclose(x, y, atol=b, equal_nan=True),
        np.isclose(x, y, rtol=a),
    )


def near(x, y, a, b):
    return math.isclose(x, y, rel_tol=a, abs_tol=b), math.isclose(x, y, abs_tol=b), math.isclose(x, y, rel_tol=a)


def steps(x, tol):
    n = 0
    y = 0.5 * x
    while not np.allclose(x, y, atol=tol, rtol=0):
        x, y = y, 0.5 * (y + 0.3 / y)
        n += 1
    return np.sum(y), n


@pytest.mark.parametrize("make", WAYS)
def test_tolerances_of_the_run(make):
    made, one = make(close), make(near)
    for x, y, a, b in itertools.product(NUMBERS, NUMBERS, RELATIVE, ABSOLUTE):
        with np.errstate(all="ignore"):
            p, q = np.array([x, 1.0]), np.array([y, 1.0])
            for got, wanted in zip(made(p, q, a, b), close(p, q, a, b)):
                assert type(got) is type(wanted) and np.array_equal(got, wanted), (x, y, a, b)
            assert outcome(one, x, y, a, b) == outcome(near, x, y, a, b), (x, y, a, b)


def outcome(f, *args):
    try:
        return f(*args)
    except ValueError:
        return ValueError


def test_an_iteration_that_ends_within_a_tolerance():
    x = np.array([0.5, 0.7])
    for tol in (0.5, 1e-3, 1e-12):
        assert Transformed(steps, Level())(x, tol) == steps(x, tol)


def grids(start, stop, step, n):
    return (
        np.linspace(start, stop, n),
        np.linspace(start, stop, n, endpoint=False),
        np.arange(start, stop, step),
        np.arange(start, stop),
    )


def counts(x, low, high):
    return np.histogram(x, bins=10, range=(low, high))[0], np.searchsorted(np.linspace(low, high, 11), x)


@pytest.mark.parametrize("make", WAYS)
def test_grids_are_numpys_to_the_last_bit(make):
    made, counted = make(grids), make(counts)
    rng = np.random.default_rng(0)
    for _ in range(200):
        start, step = float(rng.integers(-9, 9) * 0.1), float(rng.choice([0.1, 0.3, 1 / 3, 0.7]))
        stop, n = float(start + rng.integers(1, 40) * step), int(rng.integers(1, 40))
        for got, wanted in zip(made(start, stop, step, n), grids(start, stop, step, n)):
            assert np.array_equal(got, wanted), (start, stop, step, n)
        x = start + step * rng.integers(-5, 45, 30)
        for got, wanted in zip(counted(x, start, stop), counts(x, start, stop)):
            assert np.array_equal(got, wanted), (start, stop, step, n)


def said(x):
    return (
        np.isclose(x, 2.0, atol=np.inf),
        np.isclose(x, 2.0, rtol=math.nan),
        math.isclose(x[0], 2.0, abs_tol=math.inf),
        np.digitize(x, [1.0, 2.0], right=np.nan),
        np.interp(x, [1.0, 2.0], [3.0, 4.0], left=np.nan, right=-np.inf),
        np.nan_to_num(x, nan=np.inf, posinf=np.nan),
        np.std(x, ddof=np.nan),
        np.var(x, ddof=-math.inf),
        np.max(x, initial=np.nan),
        np.sum(x, initial=-np.inf),
        np.full(2, np.nan),
        np.pad(x, 1, constant_values=np.nan),
        np.histogram(x, bins=[-np.inf, 2.0, np.inf])[0],
        np.clip(x, -np.inf, 2.0),
        np.unwrap(x, discont=np.inf),
        np.where(x > 2, np.nan, -np.inf),
    )


@pytest.mark.parametrize("make", WAYS)
def test_options_that_are_infinite_or_no_numbers(make):
    x = np.array([1.0, 2.0, 3.0])
    with np.errstate(all="ignore"):
        for got, wanted in zip(make(said)(x), said(x)):
            assert type(got) is type(wanted) and np.array_equal(got, wanted, equal_nan=True)
