"""The checks themselves: they find what is wrong, and say nothing where all is well."""

from __future__ import annotations

import math

import numpy as np
import pytest
from differences import (
    Subject,
    Unstable,
    apart,
    check_against_differences,
    check_jvp,
    check_value,
    check_vjp,
    copied,
    directional,
    same,
    same_form,
)

pytestmark = pytest.mark.quick


def cubes(x):
    return np.sum(x**3)


def by_hand(f, primals, tangents):
    """Forward mode of `cubes`."""
    (x,), (v,) = primals, tangents
    return f(x), np.sum(3 * x**2 * v)


def pulled(f, x):
    return f(x), lambda y_bar: (3 * x**2 * y_bar,)


@pytest.fixture
def subject():
    return Subject(cubes, lambda: (np.array([0.5, -1.5, 2.0]),))


def test_right_derivatives_pass(subject):
    check_jvp(subject, by_hand)
    check_vjp(subject, by_hand, pulled)


def test_a_wrong_value_is_found(subject):
    with pytest.raises(AssertionError, match="value of jvp"):
        check_jvp(subject, lambda f, x, v: (by_hand(f, x, v)[0] * (1 + 1e-9), by_hand(f, x, v)[1]))


def test_a_slightly_wrong_tangent_is_found(subject):
    with pytest.raises(AssertionError, match="against differences"):
        check_jvp(subject, lambda f, x, v: (f(*x), by_hand(f, x, v)[1] * (1 + 1e-5)))


def test_a_wrong_adjoint_is_found(subject):
    with pytest.raises(AssertionError, match="vjp against jvp"):
        check_vjp(subject, by_hand, lambda f, x: (f(x), lambda y_bar: (3 * x**2 * y_bar + [0, 1e-6, 0],)))


def test_an_adjoint_of_another_form_is_found(subject):
    for wrong in (lambda b: [b], lambda b: (b.astype(np.float32),), lambda b: (b[:, None],)):
        with pytest.raises(AssertionError):
            check_vjp(subject, by_hand, lambda f, x: (f(x), lambda y_bar: wrong(3 * x**2 * y_bar)))


def test_differences_are_precise():
    """Two different formulas of one function: their differences agree to 14 digits in long double."""
    x, v = np.array([0.3, 1.1]), np.array([1.0, -0.4])
    one = directional(lambda x: np.sum(np.tanh(x)), (x,), (v,))
    two = directional(lambda x: np.sum(1 - 2 / (np.exp(2 * x) + 1)), (x,), (v,))
    same(one.leaves[0], two.leaves[0], "tanh", 1e-14)
    assert one.errors[0] < 1e-14


def test_differences_of_a_function_that_rounds():
    found = directional(lambda x: math.sin(x) * math.exp(x), (0.7,), (1.0,))
    wide = directional(lambda x: np.sin(x) * np.exp(x), (0.7,), (1.0,))
    same(found.leaves[0], wide.leaves[0], "sin", 1e-10)


def test_a_kink_is_unstable():
    def f(x):
        return np.sqrt(np.maximum(x, 0.0))

    with pytest.raises(Unstable):
        check_against_differences([0.0], f(0.0), directional(f, (0.0,), (1.0,)), "root", 1e-7)


def test_a_kink_near_by_is_no_obstacle():
    d = directional(lambda x: np.abs(x - 1e-6), (0.0,), (1.0,))
    same(d.leaves[0], -1.0, "abs", 1e-9)


def test_nan_and_infinity_are_compared():
    same(np.array([np.nan, np.inf, 1.0]), np.array([np.nan, np.inf, 1.0]), "equal", 1e-12)
    for wrong in ([0.0, np.inf, 1.0], [np.nan, -np.inf, 1.0], [np.nan, np.inf, np.nan], [np.nan, np.nan, 1.0]):
        with pytest.raises(AssertionError):
            same(np.array(wrong), np.array([np.nan, np.inf, 1.0]), "different", 1e-12)


def test_a_constant_infinity_has_the_slope_zero():
    d = directional(lambda x: np.array([np.inf, x]), (0.5,), (1.0,))
    same(d.leaves[0], np.array([0.0, 1.0]), "infinity", 1e-10)


def test_shared_memory_is_found():
    x = np.zeros(4)
    apart("two", first=x[:2], second=x[2:])
    with pytest.raises(AssertionError, match="one memory"):
        apart("two", first=x[1:], second=(x[2:],))
    with pytest.raises(AssertionError, match="one memory"):
        apart("one", only=[x, x])


def test_forms():
    same_form((1.0, np.zeros(2)), (np.float64(2.0), np.ones(2)), "scalars")
    for a, b in (
        (1.0, np.array(1.0)),
        (np.zeros(2, np.float32), np.zeros(2)),
        ((1.0,), [1.0]),
        ({"a": 1.0}, {"b": 1.0}),
        (1.0, None),
        (1, 1.0),
    ):
        with pytest.raises(AssertionError):
            same_form(a, b, "form")


def test_values_are_compared_in_full(subject):
    check_value(subject, cubes(*subject.args()), "value")
    with pytest.raises(AssertionError):
        check_value(subject, np.float32(cubes(*subject.args())), "value")


def test_copies_keep_layout():
    a = np.arange(6.0).reshape(2, 3)
    for x in (a, a.T, a[::-1], a[:, ::-2], np.asfortranarray(a)):
        y = copied(x)
        assert np.array_equal(x, y)
        assert not np.shares_memory(x, y)
        assert [s > 0 for s in x.strides] == [s > 0 for s in y.strides]
