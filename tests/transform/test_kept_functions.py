"""What the forward rule of a `custom_vjp` keeps may be a function: a pullback, the map of `linearize`, a partial."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import transpile as tp

X, W = np.array([0.3, -1.2, 2.1]), np.array([1.5, 0.4, -0.8])
A = np.array([[1.0, 0.5, 0.0], [0.2, -1.0, 0.3], [0.0, 0.7, 2.0]])


def wave(x, w):
    return np.sum(np.sin(A @ x) * w)


def factory(m):
    return lambda x, w: np.sum(np.sin(m @ x) * w)


class Layer:
    def __init__(self, m):
        self.m = m

    def value(self, x, w):
        return np.sum(np.sin(self.m @ x) * w)

    def forward(self, x, w):
        return tp.vjp(self.value, x, w)


made, layer = factory(A), Layer(A)


def of_locals(x, w):
    m = A * 1.0
    y, pull = tp.vjp(lambda v, u: np.sum(np.sin(m @ v) * u), x, w)
    m[0] = 100.0  # nothing to a pullback that is there already
    return y, pull


def of_helpers(x, w):
    k = w * 1.0

    def helper(v):
        return np.sin(A @ v) * k

    return tp.vjp(lambda v, u: np.sum(helper(v)) + 0.0 * np.sum(u), x, w)


def of_defaults(x, w):
    def value(v, u, m=A):
        return np.sum(np.sin(m @ v) * u)

    return tp.vjp(value, x, w)


def in_structures(x, w):
    y, pull = tp.vjp(wave, x, w)
    return y, {"pull": [pull], "w": w}


def by_linearize(x, w):
    y, push = tp.linearize(lambda v: wave(v, w), x)
    return y, (push, x, w)


def by_partial(x, w):
    return wave(x, w), functools.partial(slope, x, w=w)


def of_a_gradient(x, w):
    return tp.vjp(lambda v, u: tp.grad(lambda s: s * wave(v, u))(1.0), x, w)


def slope(x, g, w):
    return A.T @ (np.cos(A @ x) * w) * g


def pulled(pull, g):
    return pull(g)


def pushed(kept, g):
    push, x, w = kept
    return np.stack([push(e) for e in np.eye(3)]) * g, np.sin(A @ x) * g


RULES = {
    "function": (lambda x, w: tp.vjp(wave, x, w), pulled),
    "factory": (lambda x, w: tp.vjp(made, x, w), pulled),
    "method": (layer.forward, pulled),
    "compiled": (lambda x, w: tp.vjp(tp.jit(wave), x, w), pulled),
    "lambda": (lambda x, w: tp.vjp(lambda v, u: wave(v, u), x, w), pulled),
    "locals": (of_locals, pulled),
    "defaults": (of_defaults, pulled),
    "gradient": (of_a_gradient, pulled),
    "structures": (in_structures, lambda kept, g: kept["pull"][0](g)),
    "linearize": (by_linearize, pushed),
    "partial": (by_partial, lambda p, g: (p(g), None)),
    "helpers": (of_helpers, pulled),
}
ONLY_X = {"partial", "helpers"}  # the rule says nothing of w


def ruled(name):
    f = tp.custom_vjp(lambda x, w: wave(x, w))
    f.defvjp(*RULES[name])
    return f


@pytest.mark.parametrize("name", RULES)
def test_the_backward_rule_calls_what_was_kept(name):
    f, several = ruled(name), 0 if name in ONLY_X else (0, 1)
    for own, plain in (
        (tp.grad(f, several), tp.grad(wave, several)),
        (tp.vmap(tp.grad(f, several), (0, None)), tp.vmap(tp.grad(wave, several), (0, None))),
    ):
        x = X if own.__transpile_level__.is_derivative else np.stack([X, 2.0 * X])
        assert np.allclose(np.hstack(own(x, W)), np.hstack(plain(x, W)))


@pytest.mark.parametrize("name", ["locals", "method"])
def test_of_second_order(name):
    f = ruled(name)
    assert np.allclose(tp.jacrev(tp.grad(f))(X, W), tp.jacrev(tp.grad(wave))(X, W))


@pytest.mark.numba
def test_compiled():
    assert np.allclose(tp.jit(tp.grad(ruled("locals")))(X, W), tp.grad(wave)(X, W))


def keeps_a_closure(x, w):
    k = np.sum(w)
    return wave(x, w), lambda g: g * k


def keeps_a_partial(x, w):
    k = np.sum(w)
    return wave(x, w), functools.partial(lambda a, g: g * a * k, x)


@pytest.mark.parametrize("forward", [keeps_a_closure, keeps_a_partial])
def test_a_function_of_what_has_returned_is_refused(forward):
    f = tp.custom_vjp(lambda x, w: wave(x, w))
    f.defvjp(forward, lambda kept, g: (kept(g), None))
    with pytest.raises(tp.TranspileError, match="T417"):
        tp.grad(f)(X, W)


def test_a_pullback_is_no_result_of_other_functions():
    with pytest.raises(tp.TranspileError, match="T417"):
        tp.jit(lambda x: tp.vjp(np.sin, x)[1])(2.0)


def pulled_when_asked(m):
    """The rule keeps its argument, and makes the pullback when it needs it."""

    def value(x):
        return np.sin(m @ x)

    f = tp.custom_vjp(value)
    f.defvjp(lambda x: (value(x), x), lambda x, g: tp.vjp(value, x)[1](g))
    return f


def pulled_from_the_start(m):
    f = tp.custom_vjp(lambda x: np.sin(m @ x))
    f.defvjp(lambda x: tp.vjp(lambda v: np.sin(m @ v), x), pulled)
    return f


def shapes_that_are_asked_for(m):
    def backward(x, g):
        bar = np.zeros(len(x))
        for k in range(len(x)):
            bar[k] = np.sum(g * np.cos(m @ x) * m[:, k])
        return (bar,)

    f = tp.custom_vjp(lambda x: np.sin(m @ x))
    f.defvjp(lambda x: (np.sin(m @ x), x), backward)
    return f


TWO = A[:, :2] @ A[:2], np.arange(6.0).reshape(2, 3) / 7.0, np.arange(8.0).reshape(4, 2) / 9.0
USES = {
    "one in another": (lambda f, g, h: lambda x: np.sum(g(f(x))), (0, 1, 0)),
    "three": (lambda f, g, h: lambda x: np.sum(h(g(f(x)))), (0, 1, 2)),
    "behind a product": (lambda f, g, h: lambda x: np.sum(g(TWO[0] @ x)), (0, 1, 0)),
    "side by side": (lambda f, g, h: lambda x: np.sum(g(x)) + np.sum(h(x[:2] * x[2])), (0, 1, 2)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("make", [pulled_when_asked, pulled_from_the_start, shapes_that_are_asked_for])
def test_rules_of_one_factory_have_sizes_of_their_own(make, use):
    """The sizes of what a forward rule keeps are those of its arguments, not those of the function around with the same names."""
    together, which = USES[use]
    f = together(*(make(TWO[k]) for k in which))
    plain = together(*((lambda x, m=TWO[k]: np.sin(m @ x)) for k in which))
    assert np.allclose(tp.grad(f)(X), tp.grad(plain)(X))
    assert np.allclose(tp.vmap(tp.grad(f))(np.stack([X, W])), tp.vmap(tp.grad(plain))(np.stack([X, W])))


@pytest.mark.numba
def test_rules_of_one_factory_compiled():
    together, which = USES["three"]
    f = together(*(pulled_from_the_start(TWO[k]) for k in which))
    plain = together(*((lambda x, m=TWO[k]: np.sin(m @ x)) for k in which))
    assert np.allclose(tp.jit(tp.grad(f))(X), tp.grad(plain)(X))
