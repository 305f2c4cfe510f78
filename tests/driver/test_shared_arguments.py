"""Arguments that are one memory, where the function writes into one: the value is what Python's own run gives, a derivative in each
of them is not defined and is refused; and a call that comes after ordinary ones notices."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


def two(a, b):
    a[0] = b[1] * 2.0
    b[0] += a[0]
    return np.sum(a * b)


def through_a_view(a, b):
    part = a[::-1]
    part[:2] *= 3.0
    return np.sum(a * b)


def through_a_choice(a, b):
    c = a if b[2] > 0.0 else a.copy()
    c[1] = 5.0
    return np.sum(c * b)


def nested(g):
    g[0][0] = 5.0 * g[1][1]
    return g[1][0] * g[0][1]


def fields(o):
    o.a[0] = 5.0 * o.b[1]
    return o.b[0] * o.a[1]


def item(p, q):
    p[0] = q[1] * 3.0
    return q[0] * p[1]


def grown(p, q):
    p.append(q[0] * 2.0)
    return q[-1] * len(q)


def key(p, q):
    p["a"] = 2.0 * q["a"]
    return q["a"] + p["b"]


def attribute(p, q):
    p.a = 2.0 * q.a
    return q.a + p.b


A = np.zeros(3)
HELD = [A]
NUMBERS = [0.0, 0.0]


def captured(p):
    p[0] = 7.0 * p[1]
    return A[0] * p[1]


def captured_in_a_list(p):
    p[0] = 7.0 * p[1]
    return HELD[0][0] * p[1]


def captured_list(p):
    p[0] = 7.0 * p[1]
    return NUMBERS[0] * p[1]


def array():
    return np.array([1.0, 2.0, 3.0])


def outside(values, to):
    to[:] = values
    return (to,)


def parts(n=4):
    whole = np.arange(1.0, n + 1.0)
    return whole[1:], whole[:-1]


# a function, arguments that are one memory, the same arguments apart
CASES = {
    "the same array": (two, lambda: (array(),) * 2, lambda: (array(), array())),
    "parts of one array": (two, parts, lambda: tuple(p.copy() for p in parts())),
    "a view is written": (through_a_view, lambda: (array(),) * 2, lambda: (array(), array())),
    "a choice is written": (through_a_choice, lambda: (array(),) * 2, lambda: (array(), array())),
    "in a list": (nested, lambda: ([array()] * 2,), lambda: ([array(), array()],)),
    "rows of one list": (nested, lambda: ([[1.0, 2.0]] * 2,), lambda: ([[1.0, 2.0], [1.0, 2.0]],)),
    "fields of an object": (fields, lambda: (Pair(*[array()] * 2),), lambda: (Pair(array(), array()),)),
    "a list": (item, lambda: ([1.0, 2.0],) * 2, lambda: ([1.0, 2.0], [1.0, 2.0])),
    "a list that grows": (grown, lambda: ([1.0, 2.0],) * 2, lambda: ([1.0, 2.0], [1.0, 2.0])),
    "a dict": (key, lambda: ({"a": 1.0, "b": 2.0},) * 2, lambda: ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0})),
    "an object": (attribute, lambda: (Pair(1.0, 2.0),) * 2, lambda: (Pair(1.0, 2.0), Pair(1.0, 2.0))),
    "a global array": (captured, lambda: outside(array(), A), lambda: outside(array(), A.copy())),
    "an array in a global list": (captured_in_a_list, lambda: outside(array(), A), lambda: outside(array(), A.copy())),
    "a global list": (captured_list, lambda: outside([1.0, 2.0], NUMBERS), lambda: ([1.0, 2.0],)),
}
NO_ARRAY = ("rows of one list", "a list", "a list that grows", "a dict", "an object", "a global list")
each = pytest.mark.parametrize("f, one, apart", CASES.values(), ids=CASES)


def plain(f):
    return Transformed(f, Level())


def agree(level, f, make):
    outside(array(), A), outside([1.0, 2.0], NUMBERS)
    wanted = f(*make())
    outside(array(), A), outside([1.0, 2.0], NUMBERS)
    assert level(*make()) == pytest.approx(wanted)


@each
def test_values(f, one, apart):
    for first, second in ((one, apart), (apart, one)):
        level = plain(f)
        for make in (first, first, second, second, second, first, second):
            agree(level, f, make)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_values_compiled(name):
    """What is written into must be an array: a list or object would stay as it was for the caller, and is refused."""
    f, one, apart = CASES[name]
    level = tp.jit(f)
    for make in (apart, apart, one, apart, one):
        if name in NO_ARRAY:
            with pytest.raises(tp.TranspileError, match="T123"):
                level(*make())
        else:
            agree(level, f, make)


@each
def test_derivatives_are_refused(f, one, apart):
    gradient = tp.value_and_grad(f, tuple(range(len(apart()))))
    for make in (apart, apart, one, apart, apart, one):
        if make is apart:
            value, found = gradient(*apart())
            args = apart()
            assert value == pytest.approx(f(*args)) and len(found) == len(args)
            continue
        with pytest.raises(tp.TranspileError, match="T123"):
            gradient(*make())
    with pytest.raises(tp.TranspileError, match="T123"):
        tp.jvp(f, one(), copy.deepcopy(apart()))
    if f.__name__.startswith("captured"):  # the copies that vjp holds are not what is outside
        for call in (tp.vjp, tp.linearize):
            with pytest.raises(tp.TranspileError, match="T123"):
                call(f, *one())
        return
    value, pullback = tp.vjp(f, *one())
    assert value == pytest.approx(f(*one())) == tp.linearize(f, *one())[0]
    with pytest.raises(tp.TranspileError, match="T123"):
        pullback(1.0)


@pytest.mark.slow
@each
def test_derivatives_are_refused_compiled(f, one, apart):
    gradient = tp.jit(tp.grad(f))
    for make in (apart, apart, one, apart, one):
        if make is apart:
            gradient(*make())
        else:
            with pytest.raises(tp.TranspileError, match="T123"):
                gradient(*make())


def reads(a, b):
    c = a.copy()
    c[0] = 4.0
    return np.sum(c * b)


def interleaved():
    whole = np.arange(1.0, 7.0)
    return whole[::2], whole[1::2]


def test_what_is_only_read_or_does_not_overlap():
    x = array()
    np.testing.assert_array_equal(tp.grad(reads, (0, 1))(x, x)[0], [0.0, 2.0, 3.0])
    gradient = tp.grad(two, (0, 1))
    for _ in range(3):
        for found, wanted in zip(gradient(*interleaved()), gradient(*map(np.copy, interleaved()))):
            np.testing.assert_array_equal(found, wanted)


def passed_twice(x):
    return two(x, x)


def test_a_function_of_one_argument_that_passes_it_twice():
    x, h = array(), 1e-6
    found = tp.grad(passed_twice)(x)
    for k in range(3):
        step = h * np.eye(3)[k]
        assert found[k] == pytest.approx((passed_twice(x + step) - passed_twice(x - step)) / (2 * h))


def inner(x):
    return np.sum(tp.grad(two)(x, x))


def inner_parts(x):
    return np.sum(tp.grad(two)(x[1:], x[:-1]))


def inner_closure(x):
    def g(y):
        y[0] = 3.0
        return np.sum(y * x)

    return np.sum(tp.grad(g)(x))


def inner_of_two(a, b):
    return np.sum(tp.grad(two)(a, b))


def test_inside_a_function_of_several():
    """Python's own run of the inner gradient refuses."""
    for level in (lambda f: f, plain, tp.grad, tp.jit):
        f = level(inner_of_two)
        f(array(), array()), f(array(), array())
        with pytest.raises(tp.TranspileError, match="T123"):
            f(*[array()] * 2)


def inner_apart(x):
    return np.sum(tp.grad(two)(x, x * 1.0))


@pytest.mark.parametrize("f", [inner, inner_parts, inner_closure])
def test_inside_a_function(f):
    for level in (lambda f: f, plain, tp.grad):
        with pytest.raises(tp.TranspileError, match="T123"):
            level(f)(array())
    assert plain(inner_apart)(array()) == inner_apart(array())
