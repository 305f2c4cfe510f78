"""Reports of derivatives that record arrays whose sizes the loops around them change: the bytes are those of the run, not the
largest size times the number of iterations."""

from __future__ import annotations

import numpy as np
import pytest
from bench.recorded import measured_bytes

import transpile as tp


def halved_while(x):
    while x.shape[0] > 1:
        x = x[: x.shape[0] // 2] * np.sin(x[: x.shape[0] // 2])
    return x[0]


def cut_for(x, n):
    for _ in range(n):
        x = x[1:] * x[:-1]
    return np.sum(x)


def cut_until(x, n):
    for k in range(n):
        x = x[1:] * x[:-1]
        if x.shape[0] < 4:
            break
    return np.sum(x) * k


def columns_cut(a):
    while a.shape[1] > 2:
        a = a[:, 1:] * a[:, :-1]
    return np.sum(a)


def both_cut(a):
    while a.shape[0] > 2:
        a = a[1:, :-1] * a[:-1, 1:]
    return np.sum(a)


def cut_inside(x):
    total = 0.0
    for k in range(3):
        y = x * (k + 1.0)
        while y.shape[0] > 2:
            y = y[1:] * y[:-1]
        total += np.sum(y)
    return total


def two_cut(x, y):
    while x.shape[0] > 2:
        x = x[1:] * np.cos(x[:-1])
        y = y[2:] * np.sin(y[:-2])
    return np.sum(x) * np.sum(y)


def chosen(x, p):
    total = 0.0
    while p > 0:
        part = x[:p] * x[:p]
        total += np.sum(part * part * part)
        p = p - 2
    return total


VECTOR, MATRIX = np.linspace(0.6, 1.4, 8), np.linspace(0.6, 1.4, 30).reshape(5, 6)
PROGRAMS = {
    halved_while: (VECTOR,),
    cut_for: (VECTOR, 3),
    cut_until: (VECTOR, 9),
    columns_cut: (MATRIX,),
    both_cut: (MATRIX,),
    cut_inside: (VECTOR[:5],),
    two_cut: (VECTOR[:6], np.linspace(0.5, 1.5, 12)),
    chosen: (VECTOR, 7),
}


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_bytes_are_those_of_the_run(fn):
    args = PROGRAMS[fn]
    gradient = tp.grad(fn)
    found = tp.report(gradient, *args)
    assert found.recorded and all(r.bytes is not None for r in found.recorded)
    assert found.bytes == measured_bytes(gradient, args)
    assert "bytes" in str(found)


@pytest.mark.parametrize("fn", [cut_inside, cut_for])
def test_a_bound_is_marked(fn):
    """What is exact is equal; what is not says that it is a bound, and is one."""
    found = tp.report(tp.grad(fn), *PROGRAMS[fn])
    for r in found.recorded:
        assert r.exact is not r.formula_text.startswith("≤")
        if r.exact:
            assert r.formula.at({**found.known, **found.measured}) == r.bytes
        else:
            assert r.formula.at({**found.known, **found.measured}) >= r.bytes
