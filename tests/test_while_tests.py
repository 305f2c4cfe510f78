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


def writes_in_the_test(x):
    s, y = 0.0, x.copy()

    def following():
        y[0] += 1.0
        return y[0]

    while following() < 4:
        s += y[0] * y[1]
    return s + y[0]


@pytest.mark.parametrize("f", [counts_in_the_test, pops_in_the_test, writes_while_a_list_grows])
def test_refused(f):
    for call in (lambda x: tp.vjp(f, x), tp.grad(f), tp.jit(f)):
        with pytest.raises(TranspileError, match="T119"):
            call(X.copy())


def test_an_array_may_be_written_in_the_test():
    wanted = writes_in_the_test(X.copy())
    assert tp.vjp(writes_in_the_test, X)[0] == pytest.approx(wanted)
    assert tp.jit(writes_in_the_test)(X.copy()) == pytest.approx(wanted)
