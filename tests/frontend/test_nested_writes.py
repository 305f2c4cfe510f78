"""Transforms inside a function, of functions that write into what they are given: the derivative is that at the arguments as they
were, the arguments stay as they are, and what is written later is not seen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import transpile as tp


@dataclass
class Box:
    a: np.ndarray


def in_place(x):
    x *= 2.0
    return np.sum(x**3)


def element(x):
    x[0] = x[1] * x[0]
    return np.sum(np.sin(x)) * x[0]


def part(x):
    x[1:] += x[:-1] ** 2
    return np.sum(x**3)


def loop(x):
    for k in range(1, len(x)):
        x[k] = x[k] * x[k - 1]
    return x[-1] * np.sum(x)


def of_list(x):
    items = [x, 2.0]
    items[0][0] = x[1] ** 2
    items[1] = items[1] * x[0]
    return np.sum(items[0] ** 2) * items[1]


def of_object(x):
    box = Box(x)
    box.a[1] = box.a[0] * box.a[1]
    return np.sum(box.a**2)


WRITERS = (in_place, element, part, loop, of_list, of_object)
ONE = np.array([1.0, -0.5, 0.25])


def by_vjp(f, x):
    value, pull = tp.vjp(f, x)
    return value, pull(1.5)[0]


def by_vjp_late(f, x):
    value, pull = tp.vjp(f, x)
    x[0] = x[0] + 1.0
    return value, pull(1.5)[0] + pull(-0.5)[0]


def by_linearize(f, x):
    value, push = tp.linearize(f, x)
    x[2] = 0.5
    return value, push(ONE) + 2.0 * push(2.0 * ONE)


def by_jvp(f, x):
    return tp.jvp(f, (x,), (ONE,))


def by_hvp(f, x):
    return np.sum(x), tp.hvp(f, (x,), (ONE,))


def by_grad(f, x):
    return tp.value_and_grad(f)(x)


def by_jacobian(f, x):
    return np.sum(tp.jacrev(f)(x)), tp.jacfwd(f)(x)


def by_hessian(f, x):
    return np.sum(x), tp.hessian(f)(x)


def by_compiled_gradient(f, x):
    return np.sum(x), tp.jit(tp.grad(f))(x)


USES = (by_vjp, by_vjp_late, by_linearize, by_jvp, by_hvp, by_grad, by_jacobian, by_hessian, by_compiled_gradient)


def around(use, f):
    def program(x):
        y = x * 1.0
        value, more = use(f, y)
        return np.sum(np.sin(value)) + np.sum(np.cos(more)) + np.sum(y**2)

    return program


X = np.array([0.7, 1.3, -0.4])


def differences(f, h=1e-5):
    return np.array([(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)])


@pytest.mark.parametrize(("use", "f"), list(product(USES, WRITERS)), ids=lambda f: f.__name__)
@pytest.mark.sampled(8)
def test_the_derivative_is_that_of_what_was_given(use, f):
    program = around(use, f)
    before = X.copy()
    value, pull = tp.vjp(program, X)
    assert np.isclose(value, program(X), rtol=1e-12)
    wanted = differences(program)
    np.testing.assert_allclose(pull(1.0)[0], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(tp.jvp(program, (X,), (ONE,))[1], wanted @ ONE, rtol=1e-5, atol=1e-6)
    assert np.array_equal(X, before)


@pytest.mark.numba
@pytest.mark.parametrize(("use", "f"), list(zip(USES, WRITERS * 2)), ids=lambda f: f.__name__)
@pytest.mark.sampled(3)
def test_compiled(cache_directory, use, f):
    program = around(use, f)
    assert np.isclose(tp.jit(program)(X), program(X), rtol=1e-10)
    np.testing.assert_allclose(tp.jit(tp.grad(program))(X), differences(program), rtol=1e-5, atol=1e-6)
