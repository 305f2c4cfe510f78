"""Sizes of what a transform inside a function gives: in terms of what that function is called with, whatever the names."""

from __future__ import annotations

import numpy as np
import pytest
from corpus.functions import guarded

import transpile as tp


def grown(x, n):
    out = []
    for k in range(n):
        out.append(np.sin(x) * (k + 1))
    return np.stack(out)


def filled(x, n):
    y = np.zeros(2 * n + 1)
    for k in range(len(y)):
        y[k] = np.cos(x * k)
    return y


def until(x, n):
    out = [x]
    while out[-1] < n:
        out.append(out[-1] * 1.5)
    return np.array(out)


def same_name(f, ct):
    return lambda x, n: tp.vjp(f, x, n)[1](ct)[0]


def other_name(f, ct):
    return lambda x, m: tp.vjp(f, x, m)[1](ct)[0]


def star(f, ct):
    return lambda *args: tp.vjp(f, *args)[1](ct)[0]


def shifted(f, ct):
    """The name is that of the function's parameter, the number is not."""
    return lambda x, n: tp.vjp(f, x, n + 1 - 1)[1](ct)[0] + n


def one_more(f, ct):
    return lambda x, n: tp.vjp(f, x, n + 1)[1](ct)[0] * n


def of_value(f, ct):
    def both(x, k):
        value, pull = tp.vjp(f, x, k)
        return pull(2.0 * value)[0]

    return both


USES = (same_name, other_name, star, shifted, one_more, of_value)


@pytest.mark.parametrize("use", USES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", [grown, filled, until], ids=lambda f: f.__name__)
def test_a_pullback_inside_a_function(f, use):
    n = 3
    size = len(f(0.7, n + (use is one_more)))
    program = use(f, np.linspace(0.5, 1.5, size))
    for given in (n,) if use is not of_value else (n, 2):
        wanted = (program(0.7 + 1e-6, given) - program(0.7 - 1e-6, given)) / 2e-6
        found = tp.jvp(program, (0.7, given), (1.0, 0))
        np.testing.assert_allclose(found, (program(0.7, given), wanted), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(tp.grad(program)(0.7, given), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("use", [same_name, other_name, star, shifted], ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", [grown, filled], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "wrap", [lambda f: lambda *a: tp.jvp(f, a, (1.0, 0)), pytest.param(tp.jit, marks=pytest.mark.numba)]
)
def test_a_cotangent_of_another_size_raises(cache_directory, f, use, wrap):
    program = use(f, np.ones(len(f(0.7, 3)) + 1))
    with pytest.raises((ValueError, tp.TranspileError), match="do not agree|has shape"):
        wrap(program)(0.7, 3)


def twice_guarded(x):
    """Of two branches on one test nothing that stands between goes before the first whose size is a result of it."""
    return guarded(x[0], 2.0) * guarded(x[1] + 2.0, 2.0) * guarded(x[1], x[0] + 3.0)


def masked_in_a_loop(x):
    """What a mask reads in a reverse sweep has a size of its own there."""
    x = x * 1.0
    for _ in range(3):
        x[x > 0.23] = np.sin(x[x > 0.23])
    return np.sum(x**2)


def masked_and_added(x):
    total = 0.0
    for k in range(3):
        chosen = x[x > 0.1 * k]
        total += np.sum(chosen * np.sin(chosen)) * len(chosen)
    return total


def by_pullback(f):
    return lambda x: tp.vjp(f, x)[1](1.0)[0]


def by_gradient(f):
    return tp.grad(f)


@pytest.mark.parametrize("by", [by_pullback, by_gradient], ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", [twice_guarded, masked_in_a_loop, masked_and_added], ids=lambda f: f.__name__)
def test_reverse_of_reverse(f, by):
    x = np.array([0.9, 0.4])
    gradient = by(f)
    wanted = np.array([(gradient(x + h) - gradient(x - h)) / 2e-5 for h in 1e-5 * np.eye(2)])
    found = np.array([tp.vjp(gradient, x)[1](e)[0] for e in np.eye(2)])
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(tp.jacfwd(gradient)(x), wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.numba
@pytest.mark.parametrize("f", [twice_guarded, masked_in_a_loop, masked_and_added], ids=lambda f: f.__name__)
def test_reverse_of_reverse_compiled(cache_directory, f):
    x = np.array([0.9, 0.4])
    gradient = tp.grad(f)
    np.testing.assert_allclose(tp.jit(tp.jacrev(gradient))(x), tp.jacfwd(gradient)(x), rtol=1e-9, atol=1e-12)
