"""`check_grads` passes what is right, fails what is planted, and tells kinks from errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import transpile as tp

X = np.array([0.5, 1.5, 2.5])


def loop(x, n, p):
    for _ in range(n):
        x = np.sin(x) * p["w"] + 0.1
    return {"a": x, "b": np.sum(x**2), "n": n}


def square(x):
    return x * x


def planted(by, rule):
    """The square with a wrong derivative."""
    if rule == "rev":
        made = tp.custom_vjp(square)
        made.defvjp(lambda x: (x * x, x), lambda x, y_bar: (by * x * y_bar,))
        return made
    made = tp.custom_jvp(square)

    @made.defjvp
    def _rule(primals, tangents):
        return square(primals[0]), by * primals[0] * tangents[0]

    return made


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_derivatives_pass(order):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tp.check_grads(loop, (X, 3, {"w": np.array(0.7)}), order=order)
        tp.check_grads(lambda x: np.sum(np.tanh(x)), (X.astype(np.float32),), order)
        tp.check_grads(np.hypot, [1.0, 2.0], order)
        tp.check_grads(tp.jit(lambda x: np.sum(x**3)), (X,), order=1)
        tp.check_grads(lambda *args: args[0] * args[1], (1.5, 2.5), order)


@pytest.mark.parametrize("rule", ["fwd", "rev"])
@pytest.mark.parametrize("by", [2.001, -2.0, 0.0, 3.0, np.nan])
def test_wrong_derivatives_fail(rule, by):
    f = planted(by, rule)

    def of_tree(tree):
        return np.sum(f(tree["a"][0]))

    for fn, x in ((f, 1.5), (f, X), (of_tree, {"a": [X]})):
        with pytest.raises(AssertionError, match=rf"order 1 \({rule}\): '\w+'.*differences of the function give"):
            tp.check_grads(fn, (x,), order=1, modes=(rule,))
    tp.check_grads(planted(2.0, rule), (X,), order=1, modes=(rule,))


def test_a_wrong_second_derivative_fails():
    made = tp.custom_jvp(square)

    @made.defjvp
    def _rule(primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return x * x, (tp.stop_gradient(x) + x) * x_dot  # its own derivative is half of what it should be

    def of(x):
        return made(x)

    tp.check_grads(of, (1.5,), order=1)
    with pytest.raises(AssertionError, match=r"order 2 \(fwd, then fwd\)"):
        tp.check_grads(of, (1.5,), order=2)


def test_which_argument_and_which_entry():
    made = tp.custom_jvp(lambda a, b: a * b)

    @made.defjvp
    def _rule(primals, tangents):
        (a, b), (a_dot, b_dot) = primals, tangents
        return a * b, a * b_dot * np.array([1.0, 1.0, 2.0]) + a_dot * b

    def product(first, second):
        return made(first, second)

    with pytest.raises(AssertionError, match=r"'second', in entry \[2\] of result 0: "):
        tp.check_grads(product, (X, X), order=1)


KINKS = {
    "abs": (np.abs, (0.0,), "kink"),
    "relu": (lambda x: np.maximum(x, 0.0), (np.array([1.0, 0.0, -1.0]),), "kink"),
    "max": (np.max, (np.ones(3),), "kink"),
    "branch": (lambda x: x if x > 1.0 else 2.0 * x - 1.0, (1.0,), "kink"),
    "floor": (np.floor, (2.0,), "step or a pole"),
    "sqrt": (np.sqrt, (0.0,), "the end of the domain"),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks_are_told_from_errors(name):
    f, args, kind = KINKS[name]
    with pytest.warns(UserWarning, match=f"at (a )?{kind}"):
        tp.check_grads(f, args)


def test_a_wrong_derivative_at_a_kink_fails():
    made = tp.custom_jvp(lambda x: np.abs(x))

    @made.defjvp
    def _rule(primals, tangents):
        return np.abs(primals[0]), 5.0 * tangents[0]

    with pytest.raises(AssertionError, match="it does not lie between the slopes"):
        tp.check_grads(made, (0.0,), order=1)


def test_the_end_of_a_domain():
    tp.check_grads(lambda x: np.sum(x * np.sqrt(x)), (np.array([0.0, 1.0]),), order=1)
    made = tp.custom_jvp(lambda x: x * np.sqrt(x))

    @made.defjvp
    def _rule(primals, tangents):
        return made(primals[0]), 5.0 * tangents[0]

    with pytest.raises(AssertionError, match="end of the domain"):
        tp.check_grads(made, (0.0,), order=1)


def test_arguments_are_left_alone():
    def writes(x):
        x *= 2.0
        return np.sum(x**2)

    x = X.copy()
    tp.check_grads(writes, (x,))
    assert np.array_equal(x, X)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: tp.check_grads(3, (X,)), "T411"),
        (lambda: tp.check_grads(square, X), "T309"),
        (lambda: tp.check_grads(square, (X,), modes="fwd"), "T505"),
        (lambda: tp.check_grads(square, (X,), modes=("fwd", "forward")), "T505"),
    ],
)
def test_requests_that_are_refused(call, code):
    with pytest.raises(tp.TranspileError) as refused:
        call()
    assert refused.value.codes == (code,)
