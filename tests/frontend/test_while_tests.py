"""``while`` loops whose test changes something, or that write while a list grows: right, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp
from transpile.errors import TranspileError

X = np.array([0.9, 0.5, 0.7, -0.5])


def counts_in_the_test(x):
    n, s = 0, 0.0

    def following():
        nonlocal n
        n += 1
        return n

    while following() < 4:
        s += x[n - 1]
    return s


def pops_in_the_test(x):
    s, left = 0.0, [1, 2, 3, 0, 5]
    while left.pop():
        s += x[len(left) - 1]
    return s


def writes_while_a_list_grows(x):
    out, v = [], x[0]
    while v < 3:
        x[0] += 1.0
        out.append(v * x[0])
        v = v * 1.5
    return sum(out) * len(out) + x[0]


def steps(x):
    """An orbit: the state is moved in place, its past is a list."""
    y, t, times, past = x.copy(), 0.0, [], []
    while t < 1.0:
        y += 0.1 * np.array([y[1], -y[0], y[3], -y[2]])
        t += 0.1 + 0.01 * y[0] ** 2
        times.append(t)
        past.append(y.copy())
    return sum(times) + np.sum(np.array(past) ** 2) + past[-1][0]


def rows_of_one_array(x):
    """The write goes through a view, and the test reads the array."""
    both = np.stack([x, x])
    row, seen = both[0], []
    while both[0, 0] < 3.0:
        row *= 1.5
        seen.append(both[0, 1])
    return sum(seen) * both[0, 0] + both[1, 0]


def two_lists(x):
    """One list grows, another one changes."""
    seen, last, room = [], [x[0] * 1.0], np.zeros(4)
    while len(seen) < 3:
        room[len(seen)] = x[1]
        last[0] = last[0] * x[0]
        seen.append(last[0] + room[0])
    return sum(seen) + last[0] + np.sum(room)


def writes_in_the_test(x):
    s, y = 0.0, x.copy()

    def following():
        y[0] += 1.0
        return y[0]

    while following() < 4:
        s += y[0] * y[1]
    return s + y[0]


@pytest.mark.parametrize("f", [counts_in_the_test, pops_in_the_test])
def test_refused(f):
    for call in (lambda x: tp.vjp(f, x), tp.grad(f), tp.jit(f)):
        with pytest.raises(TranspileError, match="T119"):
            call(X.copy())


def test_an_array_may_be_written_in_the_test():
    wanted = writes_in_the_test(X.copy())
    assert tp.vjp(writes_in_the_test, X)[0] == pytest.approx(wanted)
    assert tp.jit(writes_in_the_test)(X.copy()) == pytest.approx(wanted)


WRITES = [writes_while_a_list_grows, steps, rows_of_one_array, two_lists]


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_a_list_grows_while_an_array_is_written(f):
    """The loop is run once to count, which writes into copies."""
    h = 1e-6
    slopes = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(4)]
    value, gradient = tp.value_and_grad(f)(X.copy())
    assert value == pytest.approx(f(X.copy()))
    np.testing.assert_allclose(gradient, slopes, atol=1e-7)
    np.testing.assert_allclose(tp.jacfwd(f)(X.copy()), slopes, atol=1e-7)


@pytest.mark.numba
def test_compiled():
    given, own = X.copy(), X.copy()
    assert tp.jit(writes_while_a_list_grows)(given) == pytest.approx(writes_while_a_list_grows(own))
    np.testing.assert_array_equal(given, own)
