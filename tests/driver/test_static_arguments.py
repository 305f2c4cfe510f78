"""Arguments whose values are known when the function is transformed: where they stand, and that they have no adjoint."""

import numpy as np
import pytest

import transpile as tp


def power(x, n):
    return np.sum(x**n)


def along(x, axis):
    return np.sum(x, axis=axis) * np.sum(x)


X = np.arange(1.0, 7.0).reshape(2, 3)
STATIC = [{"static_argnums": 1}, {"static_argnums": -1}, {"static_argnames": "n"}]


@pytest.mark.parametrize("static", STATIC)
def test_they_are_those_of_the_function_under_a_derivative(static):
    f = tp.jit(power, cache=False, **static)
    value, tangent = tp.jvp(f, (X, 3), (X, None))
    assert np.allclose((value, tangent), (np.sum(X**3), 3 * np.sum(X**3)))
    value, pullback = tp.vjp(f, X, 3)
    found, none = pullback(2.0)
    assert none is None and np.allclose(found, 6 * X**2)
    assert np.allclose(tp.hvp(f, (X, 3), (X, None))[0], 6 * X * X)
    value, pushed = tp.linearize(f, X, 3)
    assert np.allclose(pushed(X, None), 3 * np.sum(X**3))
    tangents = tp.jvp(lambda x, n: tp.jvp(f, (x, n), (x, None))[1], (X, 3), (X, None))
    assert np.allclose(tangents, (3 * np.sum(X**3), 9 * np.sum(X**3)))


@pytest.mark.parametrize("transform", [lambda f: f, tp.jit])
def test_a_number_that_must_be_known_has_no_adjoint(transform):
    for _ in range(3):
        _, pullback = tp.vjp(transform(along), X, 1)
        found, none = pullback(np.ones(2))
        assert none is None and np.allclose(found, 2 * np.sum(X))
    _, pullback = tp.vjp(lambda held: along(held["x"], held["axis"]), {"x": X, "axis": 1})
    (found,) = pullback(np.ones(2))
    assert found["axis"] is None and np.allclose(found["x"], 2 * np.sum(X))


def scaled(n, x):
    return x**n


def test_the_last_argument_may_be_given_by_name():
    for _ in range(3):
        assert tp.grad(scaled, argnums=-1)(3, x=2.0) == 12.0
        assert tp.jacrev(scaled, argnums=-1)(3, x=2.0) == 12.0
    with pytest.raises(tp.TranspileError, match="T302"):
        tp.grad(scaled, argnums=-2)(3, x=2.0)
