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
@pytest.mark.sampled(6)
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
    gradient = tp.grad(lambda x: np.sum(tp.vmap(tp.vmap(f))(x)))
    assert raised(lambda: gradient(rows)) == (kind, numbers)
    assert raised(lambda: gradient(rows[::-1].copy())) == (kind, message.replace("(lane 1)", "(lane 0, 1)"))


def test_what_all_lanes_raise_is_raised_once() -> None:
    """The first lane is the lowest one."""

    def f(x, k):
        if k > 2:
            raise ValueError(f"{k} is too many")
        return x * k

    assert "for lane" not in tp.source(tp.vmap(f, (0, None)), X, 3)
    assert raised(lambda: tp.vmap(f, (0, None))(X, 3)) == (ValueError, "3 is too many (lane 0)")
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


LEVELS = np.array([2, 1])


def as_deep_as_the_run_says(x):
    """What is called stays a function: nobody knows its depth before the run."""
    return told(x, LEVELS[0]) + told(x * x, LEVELS[1])


@pytest.mark.parametrize("f", [program, unread, as_deep_as_the_run_says])
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


# ------------------------------------------------------------------------------- what NumPy raises for all lanes


def read(x, i):
    return x[i] * 2.0


def read_of_shared(x, i):
    return TABLE[i] * np.sum(x)


def read_in_a_branch(x, i):
    if x[0] > 0.0:
        return x[i]
    return x[0]


def written(x, i):
    y = np.zeros(3)
    y[i] = np.sum(x)
    return np.sum(y)


def read_twice(x, i):
    """All of lane 2 is in order in the first statement, and that of lane 3 in the second."""
    y = x[i]
    return y + TABLE[i + 1]


def inverted(x, i):
    return np.linalg.inv(np.diag(x) * (i != 7))


def factorised(x, i):
    return np.linalg.cholesky(np.diag(x) * (i != 7))


def raised_behind(x, i):
    """The raise stands first, and is that of a later lane."""
    if i == 0:
        raise KeyError("none")
    return x[i]


ROWS = np.arange(1.0, 13.0).reshape(4, 3)
PLACES = np.array([1, 2, 7, 0])
FAILS = {
    read: (IndexError, "index 7 is out of bounds for axis 0 with size 3 (lane 2)"),
    read_of_shared: (IndexError, "index 7 is out of bounds for axis 0 with size 4 (lane 2)"),
    read_in_a_branch: (IndexError, "index 7 is out of bounds for axis 0 with size 3 (lane 2)"),
    written: (IndexError, "index 7 is out of bounds for axis 0 with size 3 (lane 2)"),
    inverted: (np.linalg.LinAlgError, "Singular matrix (lane 2)"),
    factorised: (np.linalg.LinAlgError, "Matrix is not positive definite (lane 2)"),
    raised_behind: (IndexError, "index 7 is out of bounds for axis 0 with size 3 (lane 2)"),
}
USES = {
    "vmap": lambda f: tp.vmap(f),
    "keywords": lambda f: lambda x, i: tp.vmap(f)(x, i=i),
    "axes": lambda f: lambda x, i: tp.vmap(f, in_axes=(1, 0))(x.T, i),
    "compiled": lambda f: tp.jit(tp.vmap(f)),
}


@pytest.mark.parametrize("use", [pytest.param(u, marks=[pytest.mark.numba] if u == "compiled" else []) for u in USES])
@pytest.mark.parametrize("f", FAILS, ids=lambda f: f.__name__)
@pytest.mark.sampled(8)
def test_an_error_of_numpy_is_that_of_the_lowest_lane(f: Any, use: str, cache_directory: Any) -> None:
    called = USES[use](f)
    for _ in range(3):  # the first call, the second, and those that go the short way
        assert raised(lambda: called(ROWS, PLACES)) == FAILS[f]
        found = called(ROWS, np.array([1, 2, 1, 2]))
        np.testing.assert_allclose(found, [f(x, i) for x, i in zip(ROWS, [1, 2, 1, 2])])


def test_the_first_statement_that_fails_need_not_be_that_of_the_lowest_lane() -> None:
    places = np.array([0, 1, 3, 5])[::-1].copy()  # lane 1 is in order only in the first statement
    assert raised(lambda: tp.vmap(read_twice)(ROWS, np.array([1, 2, 5, 3])))[1].endswith("(lane 2)")
    assert raised(lambda: tp.vmap(lambda x, i: x[i % 3] + TABLE[i])(ROWS, places))[1].endswith("size 4 (lane 0)")


def test_numpy_in_lanes_of_lanes_and_under_derivatives() -> None:
    rows, places = np.stack([ROWS, ROWS]), np.stack([np.array([0, 1, 2, 0]), PLACES])
    message = "index 7 is out of bounds for axis 0 with size 3 (lane 1, 2)"
    assert raised(lambda: tp.vmap(tp.vmap(read))(rows, places)) == (IndexError, message)
    assert raised(lambda: tp.vmap(tp.grad(read))(ROWS, PLACES)) == FAILS[read]
    assert raised(lambda: tp.vmap(tp.jit(read))(ROWS, PLACES)) == FAILS[read]


def test_the_users_line_is_shown() -> None:
    import traceback

    with pytest.raises(IndexError) as failed:
        tp.vmap(read)(ROWS, PLACES)
    shown = "".join(traceback.format_exception(failed.type, failed.value, failed.tb))
    assert "return x[i] * 2.0" in shown and "During handling" not in shown and "failing.py" not in shown


def test_what_is_printed_is_not_printed_again(capsys: Any) -> None:
    def f(x, i):
        print(i)
        return x[i]

    assert raised(lambda: tp.vmap(f)(ROWS, PLACES))[0] is IndexError
    assert capsys.readouterr().out.count("7") <= 1


def test_an_argument_that_was_written_is_not_asked_again() -> None:
    """Its lanes are no more what they were: the error is that of all lanes."""

    def f(x, i):
        x[0] *= 2.0
        return x[i]

    rows = ROWS.copy()
    assert raised(lambda: tp.vmap(f)(rows, PLACES))[0] is IndexError
    assert (rows[:, 0] <= 2.0 * ROWS[:, 0]).all()


def test_checks_of_sizes_name_no_lane() -> None:
    f = tp.vmap(lambda x, y: x * y)
    f(ROWS, ROWS)
    for wrong in (ROWS[:2], ROWS[:, :2]):
        kind, text = raised(lambda wrong=wrong: f(ROWS, wrong))
        assert issubclass(kind, (ValueError, tp.TranspileError)) and "(lane" not in text


# ------------------------------------------------------------------------------- messages are not read again


def like_a_place(x, i):
    if i == 0:
        raise ValueError("notes.txt:3: no number")
    return x[i]


def like_a_lane(x, i):
    y = x[i]
    if i == 1:
        raise ValueError("stopped (lane 3)")
    return y


def to_a_negative_power(x, i):
    return x[0] + 2 ** (i - 1)


LOOKS = {
    like_a_place: (IndexError, "index 7 is out of bounds for axis 0 with size 3 (lane 2)"),
    like_a_lane: (ValueError, "stopped (lane 3) (lane 0)"),
    to_a_negative_power: (ValueError, "Integers to negative integer powers are not allowed. (lane 3)"),
}


@pytest.mark.parametrize("use", [pytest.param(u, marks=[pytest.mark.numba] if u == "compiled" else []) for u in USES])
@pytest.mark.parametrize("f", LOOKS, ids=lambda f: f.__name__)
def test_what_a_message_looks_like_does_not_count(f: Any, use: str, cache_directory: Any) -> None:
    called = USES[use](f)
    for _ in range(3):
        assert raised(lambda: called(ROWS, PLACES)) == LOOKS[f]


def test_lanes_of_lanes_where_the_inner_one_is_the_functions_own() -> None:
    """The number of the inner lane comes out of a loop, and of an array."""

    def each(x, i):
        if i == 7:
            raise ValueError("seven")
        return x[0] * i

    def outer(x, i):
        y = tp.vmap(each, (None, 0))(x, i)
        return y + x[i]

    places = np.array([[1, 2, 0, 0], [1, 2, 7, 0], [9, 7, 7, 0], [7, 7, 7, 7]])
    for _ in range(3):
        assert raised(lambda: tp.vmap(outer)(ROWS[:, [0, 1, 2, 2]], places)) == (ValueError, "seven (lane 1, 2)")


def test_a_name_does_not_make_it_a_check_of_sizes() -> None:
    def f(x, sizes):
        return x * sizes

    called = tp.vmap(f)
    called(np.ones(3), np.ones(3))
    wrong = raised(lambda: called(np.ones(3), np.ones(4)))
    assert wrong == (ValueError, "sizes has 4 lanes along axis 0, x has 3")
