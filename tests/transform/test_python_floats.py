"""Derivatives of functions of Python's floats raise nothing that NumPy's floats would not, where their function does not raise."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import transpile as tp

POINTS = (0.0, 1.0, 2.0, -1.0, 0.5, 1e200, math.inf, -math.inf, math.nan)


def cut(x):
    return max(x, 0.0) ** 0.7


def saturation(x):
    tau = 1.0 - x / 2.0 if x < 2.0 else 0.0
    return 2.0 * tau**0.35 + 3.0 * tau ** (2 / 3.0) + 4.0 * tau + 5.0 * tau ** (4 / 3.0)


def rooted(x):
    return math.sqrt(x) if x >= 0 else 0.0


def over_root(x):
    return x * abs(x) ** -0.5 if x else 0.0


def cubic_root(x):
    return (x - 1.0) ** (1 / 3) if x >= 1.0 else x


def arcs(x):
    return math.asin(x) + math.acos(x) * x + math.atanh(0.5 * x) if abs(x) <= 1.0 else x


def area(x):
    return math.acosh(x) if x >= 1.0 else math.asinh(x)


def powers(x):
    return math.pow(abs(x), 0.5) + abs(x) ** 1.5


def logistic(x):
    return 1.0 / (1.0 + math.exp(-min(max(x, -700.0), 700.0) * 1.0))


def steep(x):
    return math.expm1(min(x, 700.0)) + math.cosh(min(abs(x), 700.0))


def angle(x):
    return math.atan2(x, 0.0 * x) + math.hypot(x, 0.0) + math.fmod(min(abs(x), 9.0), 1.5)


def of_numpy(x):
    return np.float64(x) ** 0.3


def reciprocal(x):
    return x * x / (x if x else 1.0) + 1.0 / (1.0 + x * x)


def from_nothing(x):
    """The first trip reads a power of a number that depends on nothing."""
    total, t = 0.0, 0.0
    for _ in range(3):
        total, t = total + t**0.4, t + min(x * x + 0.5, 9.0)
    return total


def bent(x):
    return np.sum(np.maximum(x, np.zeros(3)) ** 0.6 + np.cbrt(np.where(np.arange(3) > 1, x, 0.0)))


def lined_up(x):
    t = np.zeros(3)
    t[1] = x
    return t[0] ** 0.3 + t[2] ** 0.7 + np.sum(np.stack([0.0, x * x + 0.5]) ** 0.9)


def capped(x):
    return math.acos(max(min(x, 1.0), -1.0)) + np.arcsin(np.clip(x, -1.0, 1.0))


FUNCTIONS = [
    cut,
    saturation,
    rooted,
    over_root,
    cubic_root,
    arcs,
    area,
    powers,
    logistic,
    steep,
    angle,
    of_numpy,
    reciprocal,
    from_nothing,
    bent,
    lined_up,
    capped,
]


def outcome(g, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that of the function's own
        return float(g(x))


def runs(f, x):
    try:
        outcome(f, x)
    except (ArithmeticError, ValueError):
        return False
    return True


def agree(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= 1e-9 * (abs(a) + abs(b))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_interpreted(f):
    first, second = tp.grad(f), tp.grad(tp.grad(f))

    def forward(x):
        return tp.jvp(f, (x,), (1.0,))[1]

    for x in POINTS:
        if runs(f, x):
            found = outcome(first, x)
            assert agree(found, outcome(first, np.float64(x))), (x, found)
            assert agree(outcome(forward, x), outcome(forward, np.float64(x))), (x, found)
            assert agree(outcome(forward, x), found) or not math.isfinite(x), (x, found)
            outcome(second, x)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_compiled_is_interpreted(f):
    for g in (tp.grad(f), tp.grad(tp.grad(f))):
        compiled = tp.jit(g)
        for x in POINTS:
            if runs(f, x):
                assert agree(outcome(compiled, x), outcome(g, x)), (g, x, outcome(compiled, x), outcome(g, x))


def power(t, p):
    return t**p


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 0.0, 0.3])
def test_a_base_of_zero_that_stays(p):
    """In the direction of the exponent alone a power of 0 does not change, whatever its slope in the base."""
    assert tp.jvp(power, (0.0, p), (0.0, 1.0))[1] == tp.grad(power, 1)(0.0, p) == 0.0
    array = np.array([0.0, 2.0])
    found = tp.jvp(power, (array, p), (np.array([0.0, 1.0]), 1.0))[1]
    np.testing.assert_allclose(found, [0.0, p * 2.0 ** (p - 1) + 2.0**p * math.log(2.0)], rtol=1e-14)


def zero_of_a_trip(x, p):
    total, y = 0.0, x
    for trip in range(3):
        total += y**p
        y = 0.0 if trip == 0 else y
    return total


def zero_handed_on(x, p):
    total, y, z, w = 0.0, x, x, x
    for _ in range(5):
        total += w**p
        w, z, y = z, y, 0.0
    return total


def zero_while(x, p):
    total, y, trip = 0.0, x, 0
    while trip < 3:
        total += y**p
        if trip == 0:
            y = 0.0
        trip += 1
    return total


def zero_written(x, p):
    y = np.ones(3) * x
    y[0] = 0.0
    return np.sum(y**p)


def zero_in_a_view(x, p):
    y, total = np.ones(3) * x, 0.0
    for k in range(2):
        tail = y[k + 1 :]
        tail[...] = 0.0
        total += np.sum(np.cbrt(y)) * p
    return total


def zero_of_a_list(x, p):
    waiting, total = [0.0 if k % 2 else x for k in range(4)], 0.0
    while len(waiting) > 0:
        total += waiting.pop() ** p
    return total


def deeper(y, p):
    return y**p + (deeper(0.0, p) if y > 0.0 else 0.0)


def zero_of_a_call(x, p):
    return deeper(x, p)


ZEROS = [zero_of_a_trip, zero_handed_on, zero_while, zero_written, zero_in_a_view, zero_of_a_list, zero_of_a_call]


@pytest.mark.parametrize("f", ZEROS, ids=lambda f: f.__name__)
def test_a_zero_that_comes_later(f):
    """A base that a trip, a write or a call sets to 0.0 has no tangent there, whatever its slope: as in reverse."""
    x, p, h = 1.5, 0.4, 1e-6
    difference = (f(x + h, p) - f(x - h, p)) / (2 * h)
    assert difference == pytest.approx(tp.grad(f)(x, p), rel=1e-8)
    assert tp.jacfwd(f)(x, p) == pytest.approx(difference, rel=1e-8)
    assert tp.jvp(f, (x, p), (1.0, 0.0))[1] == pytest.approx(difference, rel=1e-8)


def test_tangents_of_nothing_have_a_derivative():
    """The derivative in the tangent is the slope, also at a tangent of 0."""
    for f in (cut, saturation, cubic_root):
        slopes = tp.grad(lambda dot: tp.jvp(f, (1.5,), (dot,))[1])(0.0), tp.grad(f)(1.5)  # noqa: B023
        assert agree(*slopes), slopes
    assert tp.grad(lambda dot: tp.jvp(power, (2.0, 0.5), (dot, 1.0))[1])(0.0) == 0.5 * 2.0**-0.5


def means(x):
    return np.mean(x) + np.std(x)


def spread(x):
    return np.std(x, ddof=1) + np.var(x, ddof=1)


def between(x):
    return np.sum(np.interp(0.3, x, x))


def smoothed(x):
    return np.sum(np.convolve(x, np.ones(2)))


def slopes(x):
    return np.sum(np.gradient(x))


def covariance(x):
    return np.cov(x) * 1.0


@pytest.mark.parametrize("wrap", [lambda g: g, pytest.param(tp.jit, marks=[pytest.mark.numba, pytest.mark.slow])])
@pytest.mark.parametrize("f", [means, spread, between, smoothed, slopes, covariance], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_short_arrays(f, size, wrap):
    """What NumPy gives or raises for arrays of no or one element, and for ones that a longer call was compiled for."""

    def value(x):
        return f(x)

    x = np.linspace(0.5, 1.5, size)
    compiled = wrap is tp.jit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = f(x)
        except ValueError:
            for g in (wrap(tp.grad(f)), wrap(value) if compiled else lambda x: tp.jvp(f, (x,), (x,))[0]):
                with pytest.raises((ValueError, tp.TranspileError)):
                    g(x)
            return
        found = wrap(value)(x) if compiled else tp.jvp(f, (x,), (np.ones_like(x),))[0]
        assert agree(found, wanted) or abs(found - wanted) < 1e-12
        assert wrap(tp.grad(f))(x).shape == x.shape
