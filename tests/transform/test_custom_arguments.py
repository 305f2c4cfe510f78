"""How functions with derivatives of their own are given their arguments: in every way in which Python gives them, to every rule."""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
import pytest

import transpile as tp

A = np.array([0.5, -1.0, 2.0])


def scaled(x, k=2.0, shift=0.5):
    return np.sin(x) * k + shift


def with_jvp(fn, **options):
    f = tp.custom_jvp(fn, **options)
    f.defjvp(lambda primals, tangents: (scaled(*primals), 10.0 * primals[1] * tangents[0] + tangents[2]))
    return f


def with_jvps(fn):
    f = tp.custom_jvp(fn)
    f.defjvps(lambda t, y, x, k, shift: 10.0 * k * t, None, lambda t, y, x, k, shift: t)
    return f


def with_vjp(fn):
    f = tp.custom_vjp(fn)
    f.defvjp(lambda x, k, shift: (scaled(x, k, shift), k), lambda k, g: (10.0 * k * g, None, g))
    return f


def unnamed_jvp(fn):
    """The second argument has no derivative, and comes first."""
    f = tp.custom_jvp(fn, nondiff_argnums=1)
    f.defjvp(lambda k, primals, tangents: (scaled(primals[0], k, primals[1]), 10.0 * k * tangents[0] + tangents[1]))
    return f


def named_jvp(fn):
    f = tp.custom_jvp(fn, nondiff_argnames="k")
    f.defjvp(lambda k, primals, tangents: (scaled(primals[0], k, primals[1]), 10.0 * k * tangents[0] + tangents[1]))
    return f


def named_vjp(fn):
    f = tp.custom_vjp(fn, nondiff_argnames=("k",))
    f.defvjp(lambda x, k, shift: (scaled(x, k, shift), ()), lambda k, kept, g: (10.0 * k * g, g))
    return f


RULES = [with_jvp, with_jvps, with_vjp, unnamed_jvp, named_jvp, named_vjp]
CALLS = {
    "positions": (lambda f: lambda x: f(x, 3.0, 1.0), 3.0),
    "keywords": (lambda f: lambda x: f(x, shift=1.0, k=3.0), 3.0),
    "all keywords": (lambda f: lambda x: f(k=3.0, shift=x, x=x), 3.0),
    "defaults": (lambda f: lambda x: f(x), 2.0),
    "one default": (lambda f: lambda x: f(x, shift=x), 2.0),
    "partial": (lambda f: functools.partial(f, k=4.0), 4.0),
    "partial inside": (lambda f: lambda x: functools.partial(f, x, 5.0)(), 5.0),
}
ADDED = ("all keywords", "one default")  # the argument is the shift too


@pytest.mark.parametrize("rule, name", list(product(RULES, CALLS)))
@pytest.mark.sampled(14)
def test_every_way_of_a_call(rule, name):
    make, k = CALLS[name]
    f = make(rule(scaled))
    slope = 10.0 * k + (name in ADDED)
    assert tp.grad(f)(0.7) == pytest.approx(slope)
    assert tp.jit(tp.grad(f))(0.7) == pytest.approx(slope)
    assert f(0.7) == pytest.approx(tp.jit(f)(0.7))
    np.testing.assert_allclose(tp.vmap(tp.grad(f))(A), np.full(3, slope))
    if "vjp" not in rule.__name__:
        np.testing.assert_allclose(tp.grad(lambda x: np.sum(f(x)))(A), np.full(3, slope))
        assert tp.jvp(f, (0.7,), (2.0,))[1] == pytest.approx(2.0 * slope)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.sampled(3)
def test_defaults_of_a_function_inside(rule):
    def outer(x):
        def inner(x, k=2.0 * 1.5, shift=0.5):
            return np.sin(x) * k + shift

        return rule(inner)(x)

    assert tp.grad(outer)(0.7) == pytest.approx(30.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.sampled(3)
def test_of_a_partial(rule):
    f = rule(functools.partial(lambda a, x, k, shift: scaled(x, k, shift) * a, 1.0))
    assert tp.grad(lambda x: f(x, 3.0, 1.0))(0.7) == pytest.approx(30.0)
    assert tp.grad(f)(0.7, 3.0, 1.0) == pytest.approx(30.0)


def test_a_function_that_is_not_differentiated():
    @functools.partial(tp.custom_jvp, nondiff_argnums=(0, 2))
    def applied(f, x, n):
        return f(x) * n

    applied.defjvp(lambda f, n, primals, tangents: (f(primals[0]) * n, n * 2.0 * tangents[0]))
    for g in (tp.grad, lambda f: tp.jit(tp.grad(f)), lambda f: lambda x: tp.vmap(tp.grad(f))(np.full(2, x))[1]):
        assert g(lambda x: applied(np.sin, x, 3))(1.0) == pytest.approx(6.0)


ADJOINTS = {
    "all": ({"a": 2.0, "b": (3.0, 4.0)}, {"a": 2.0, "b": (3.0, 4.0)}),
    "a leaf": ({"a": None, "b": (3.0, 4.0)}, {"a": 0.0, "b": (3.0, 4.0)}),
    "a leaf below": ({"a": 2.0, "b": (None, 4.0)}, {"a": 2.0, "b": (0.0, 4.0)}),
    "a subtree": ({"a": 2.0, "b": None}, {"a": 2.0, "b": (0.0, 0.0)}),
    "everything": (None, {"a": 0.0, "b": (0.0, 0.0)}),
}


@pytest.mark.parametrize("name", ADJOINTS)
@pytest.mark.parametrize("like", [1.0, np.ones(2)], ids=["numbers", "arrays"])
@pytest.mark.sampled(5)
def test_none_is_zero_wherever_it_stands(name, like):
    given, wanted = ADJOINTS[name]

    @tp.custom_vjp
    def f(p, x):
        return p["a"] * x + p["b"][0] + p["b"][1]

    def backward(kept, g):
        return tp.tree.map(lambda c: None if c is None else c * g, given, is_leaf=lambda c: c is None), None

    f.defvjp(lambda p, x: (f(p, x), None), backward)
    args = {"a": like, "b": (like, like)}, like
    for transform in (tp.grad, lambda f: tp.jit(tp.grad(f)), lambda f: lambda p, x: f_of_lanes(f, p, x)):
        found = transform(lambda p, x: np.sum(f(p, x)))(*args)
        tp.tree.map(lambda a, b: np.testing.assert_array_equal(a, np.full(np.shape(like), b)), found, wanted)


def f_of_lanes(f, p, x):
    found = tp.vmap(tp.grad(f))(*tp.tree.map(lambda leaf: np.stack((leaf, leaf)), (p, x)))
    return tp.tree.map(lambda leaf: leaf[1], found)


def test_a_rule_is_looked_at_when_it_is_needed():
    @tp.custom_jvp
    def f(x):
        return 2.0 * x

    f.defjvp(lambda primals, tangents: (f(*primals), np.fft.fft(tangents[0])))
    for g in (tp.jit(lambda x: f(x)), tp.vmap(lambda x: f(x)), tp.vmap(tp.vmap(f))):
        x = np.ones((2, 2))
        np.testing.assert_array_equal(g(x), 2.0 * x)
    assert tp.grad(lambda x: np.sum(f(2.0) * x))(3.0) == 4.0
    for g in (tp.grad(f), lambda x: tp.vmap(tp.grad(f))(np.ones(2)), lambda x: tp.jvp(f, (x,), (x,))):
        with pytest.raises(tp.TranspileError, match=r"(?s)test_custom_arguments.py.*fft"):
            g(1.0)


@pytest.mark.parametrize(
    "make, code",
    [
        (lambda: tp.custom_jvp(scaled, nondiff_argnames="q"), "T505"),
        (lambda: tp.custom_vjp(scaled, nondiff_argnums="k"), "T505"),
        (lambda: named_jvp(scaled).defjvps(None), "T307"),
        (lambda: tp.grad(lambda x: with_jvp(scaled)(x, q=1.0))(1.0), "T307"),
    ],
)
def test_mistakes(make, code):
    with pytest.raises(tp.TranspileError) as failed:
        make()
    assert failed.value.codes == (code,)


def test_check_grads_says_how_to_check_a_reverse_rule():
    f = tp.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (np.sin(x), x), lambda x, g: (g * np.cos(x),))
    with pytest.raises(tp.TranspileError, match=r"modes=\('rev',\)"):
        tp.check_grads(f, (0.5,))
    tp.check_grads(f, (0.5,), modes=("rev",))
