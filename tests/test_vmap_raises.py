"""What lanes print and raise: in the order of the lanes, and what is raised is that of the lowest lane, which it names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transpile as tp

X = np.array([0.5, 2.0, 3.0, -1.0])
TABLE = np.arange(4.0)


class TooLarge(ValueError):
    pass


def with_a_message(x):
    if x > 1.0:
        raise ValueError(f"{x} is too large")
    return x * x


def without_a_message(x):
    if x > 1.0:
        raise ValueError
    return x * x


def of_a_class_of_ones_own(x):
    if x > 1.0:
        raise TooLarge("it is too large")
    return x * x


def asserted(x):
    assert x < 1.0
    return x * x


def asserted_with_a_message(x):
    assert x < 1.0, "it is too large"
    return x * x


def in_a_loop_that_lanes_share(x):
    """Lane 3 raises in an earlier trip."""
    for k in range(3):
        if x < 0.0:
            raise KeyError("negative")
        x = x * 2.0
        if x > 3.0 + k:
            raise ValueError(f"too large after {k}")
    return x


def behind_another(x):
    """The first check that the text has fails in the last lane."""
    if x < 0.0:
        raise KeyError("negative")
    y = np.sin(x)
    if x > 1.0:
        raise ValueError("large")
    return y


def deep(x, k):
    if x > 4.0:
        raise ValueError(f"{x} in depth {k}")
    return x if k == 0 else deep(x * 1.5, k - 1)


def in_a_kept_function(x):
    return deep(x, 3) + 1.0


@tp.custom_jvp
def checked(x):
    if x > 1.0:
        raise ValueError("in the function")
    return x * x


@checked.defjvp
def _(primals, tangents):
    return checked(primals[0]), 3.0 * tangents[0]


def in_a_function_with_a_rule(x):
    return checked(x) + 1.0


@tp.custom_vjp
def plain(x):
    return x * x


def plain_backward(x, y_bar):
    if x > 1.0:
        raise ValueError("in the rule")
    return (3.0 * y_bar,)


plain.defvjp(lambda x: (x * x, x), plain_backward)


def in_a_rule(x):
    return plain(x) + 1.0


def in_a_rule_of_one_lane(x):
    """The call itself is by lane."""
    if x > -5.0:
        return plain(x)
    return x


CASES = {
    with_a_message: (ValueError, "2.0 is too large (lane 1)"),
    without_a_message: (ValueError, "(lane 1)"),
    of_a_class_of_ones_own: (ValueError, "it is too large (lane 1)"),
    asserted: (AssertionError, "(lane 1)"),
    asserted_with_a_message: (AssertionError, "it is too large (lane 1)"),
    in_a_loop_that_lanes_share: (ValueError, "too large after 0 (lane 1)"),
    behind_another: (ValueError, "large (lane 1)"),
    in_a_kept_function: (ValueError, "4.5 in depth 1 (lane 1)"),
    in_a_function_with_a_rule: (ValueError, "in the function (lane 1)"),
}
IN_RULES = [in_a_rule, in_a_rule_of_one_lane]
STACKS = {
    "vmap": tp.vmap,
    "of_grad": lambda f: tp.vmap(tp.grad(f)),
    "of_jvp": lambda f: tp.vmap(lambda x: tp.jvp(f, (x,), (1.0,))[1]),
    "grad_of": lambda f: tp.grad(lambda x: np.sum(tp.vmap(f)(x))),
    "jacfwd_of": lambda f: tp.jacfwd(tp.vmap(f)),
    "compiled": lambda f: tp.jit(tp.vmap(f)),
    "compiled_grad": lambda f: tp.jit(tp.vmap(tp.grad(f))),
}


def raised(call: Any) -> tuple[type, str]:
    with pytest.raises(Exception) as failed:  # noqa: PT011
        call()
    return type(failed.value), str(failed.value)


@pytest.mark.parametrize(
    "stack", [pytest.param(s, marks=[pytest.mark.numba] if "compiled" in s else []) for s in STACKS]
)
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_the_lowest_lane_is_named(f: Any, stack: str, cache_directory: Any) -> None:
    assert raised(lambda: STACKS[stack](f)(X)) == CASES[f]
    small = np.array([0.25, 0.5])
    if "grad" not in stack and "jac" not in stack and "jvp" not in stack:
        np.testing.assert_allclose(STACKS[stack](f)(small), [f(x) for x in small], rtol=1e-14)


@pytest.mark.parametrize("f", IN_RULES)
def test_what_a_rule_raises_names_its_lane(f: Any) -> None:
    for stack in (STACKS["of_grad"], STACKS["grad_of"]):
        assert raised(lambda stack=stack: stack(f)(X)) == (ValueError, "in the rule (lane 1)")
    np.testing.assert_allclose(tp.vmap(f)(X), X * X + (f is in_a_rule))


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_lanes_of_lanes(f: Any) -> None:
    """The lane of the outer axis stands first, as in an index; also where lanes differ in one axis alone."""
    kind, message = CASES[f]
    rows = np.stack([X[[0, 0, 0]], X[:3]])
    numbers = message.replace("(lane 1)", "(lane 1, 1)")
    assert raised(lambda: tp.vmap(tp.vmap(f))(rows)) == (kind, numbers)
    assert raised(lambda: tp.vmap(tp.vmap(tp.vmap(f)))(rows[None]))[1] == message.replace("(lane 1)", "(lane 0, 1, 1)")
    assert raised(lambda: tp.grad(lambda x: np.sum(tp.vmap(tp.vmap(f))(x)))(rows)) == (kind, numbers)


def test_what_all_lanes_raise_is_raised_once() -> None:
    """No lane is named: there is none to look for."""

    def f(x, k):
        if k > 2:
            raise ValueError(f"{k} is too many")
        return x * k

    assert raised(lambda: tp.vmap(f, (0, None))(X, 3)) == (ValueError, "3 is too many")
    np.testing.assert_allclose(tp.vmap(f, (0, None))(X, 2), X * 2)


# ---------------------------------------------------------------------------------------------------------- prints


def told(x, k):
    print("deep", k, x)
    return x if k == 0 else told(x * 0.5, k - 1)


@tp.custom_vjp
def telling(x):
    print("function", x)
    return x * x


def _telling_backward(x, y_bar):
    print("rule", x)
    return (3.0 * x * y_bar,)


telling.defvjp(lambda x: (telling(x), x), _telling_backward)


def program(x):
    print("before", x)
    y = told(x, 1)
    z = telling(y)
    told(1.0, 0)
    print("behind", z)
    return y + z


def unread(x):
    telling(x)
    told(x, 0)
    return x * 2.0


@pytest.mark.parametrize("f", [program, unread])
@pytest.mark.parametrize("stack", ["vmap", "of_grad", "compiled", "compiled_grad"])
@pytest.mark.numba
def test_prints_are_in_the_order_of_lanes(f: Any, stack: str, capfd: Any, cache_directory: Any) -> None:
    x = np.array([0.25, 0.5, 1.5])
    one = tp.grad(f) if "grad" in stack else f
    wanted = [one(v) for v in x]
    text = capfd.readouterr().out
    assert text.count("\n") >= 6
    np.testing.assert_allclose(STACKS[stack](f)(x), wanted, rtol=1e-14)
    assert capfd.readouterr().out == text


def test_what_is_printed_before_an_error(capsys: Any) -> None:
    """That of the lanes before it, and that of the lane itself up to there."""

    def f(x):
        print("first", x)
        y = deep(x, 1)
        print("second", x)
        return y

    with pytest.raises(ValueError, match=r"4\.5 in depth 0 \(lane 2\)"):
        tp.vmap(f)(X[[0, 0, 2, 3]])
    assert capsys.readouterr().out == "first 0.5\nsecond 0.5\nfirst 0.5\nsecond 0.5\nfirst 3.0\n"
