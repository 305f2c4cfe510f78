"""Zero and minus zero are two numbers where branches join, loops carry, and arguments are static."""

from __future__ import annotations

import math

import numpy as np
import pytest

import transpile as tp

SIGNS = (1.0, -1.0)


def one_side(x, c):
    a = 0.0
    if c < 0.0:
        a = -0.0
    return math.copysign(x, a)


def choice(x, c):
    return math.copysign(x, -0.0 if c > 0.0 else 0.0)


def of_tuples(x, c):
    pair = (0.0, -0.0) if c > 0.0 else (-0.0, -0.0)
    return math.copysign(x, pair[0]) + 2.0 * math.copysign(x, pair[1])


def carried(x, c):
    a = 0.0
    for _ in range(3 if c > 0.0 else 0):
        a = -0.0
    return math.copysign(x, a)


def carried_by_while(x, c):
    a = -0.0
    while c > 0.0:
        a = 0.0
        c = c - 1.0
    return math.copysign(x, a)


def given(x, zero):
    return math.copysign(1.0, zero) * x


PROGRAMS = (one_side, choice, of_tuples, carried, carried_by_while)


@pytest.mark.parametrize("c", SIGNS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_value_and_slope(f, c: float) -> None:
    value, slope = tp.value_and_grad(f)(2.0, c)
    assert value == f(2.0, c)
    assert slope == (f(3.0, c) - f(2.0, c))


@pytest.mark.numba
@pytest.mark.parametrize("c", SIGNS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f, c: float) -> None:
    assert tp.jit(f)(2.0, c) == f(2.0, c)


@pytest.mark.numba
@pytest.mark.usefixtures("cache_directory")
@pytest.mark.parametrize("cache", [False, True])
def test_static_arguments(cache: bool) -> None:
    compiled = tp.jit(given, static_argnums=(1,), cache=cache)
    for zero in (0.0, -0.0, -0.0, 0.0, np.float64(-0.0), 0.0):  # the later ones go the short way
        assert compiled(2.0, zero) == given(2.0, zero)
