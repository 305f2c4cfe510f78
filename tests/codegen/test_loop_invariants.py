"""What leaves a loop of the printed function, and what must not."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transpile as tp

pytestmark = pytest.mark.quick
X = np.linspace(0.5, 1.5, 6)


def blur(u, steps: int, dx: float):
    """In place, with a row of its own in each step."""
    u = u.copy()
    for _ in range(steps):
        new = np.empty(u.shape[0])
        new[0] = u[0]
        new[-1] = u[-1]
        for i in range(1, u.shape[0] - 1):
            new[i] = (u[i - 1] + 2.0 * u[i] * u[i] + u[i + 1]) / (2.0 * dx) + 1.0 / (2.0 * dx)
        u[:] = new
    return np.sum(u * u)


def inner_rows(u, steps: int):
    u = u.copy()
    for _ in range(steps):
        row = np.empty(max(u.shape[0] - 2, 0))
        for i in range(u.shape[0] - 2):
            row[i] = np.sin(u[i]) + u[i + 1] * u[i + 2]
        u[1:-1] = row
    return np.sum(u * u)


def kept_rows(u, steps: int):
    """Each trip gives its array away."""
    rows = []
    for k in range(steps):
        row = np.empty(u.shape[0])
        for i in range(u.shape[0]):
            row[i] = u[i] * (k + 1)
        rows.append(row)
    total = 0.0
    for row in rows:
        total += np.sum(row * row)
    return total


def last_row(u, steps: int):
    """The array of the last trip is read after the loop."""
    row = u * 1.0
    for k in range(steps):
        old = row
        row = np.empty(u.shape[0])
        for i in range(u.shape[0]):
            row[i] = old[u.shape[0] - 1 - i] * (k + 2)
    return np.sum(row * u)


def lines_in_loops(text: str) -> list[str]:
    """The assignments that stand in a loop."""
    loops = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.For, ast.While))]
    return [ast.unparse(s) for loop in loops for s in ast.walk(loop) if isinstance(s, ast.Assign)]


def printed(f: Callable[..., Any], *args: Any) -> list[str]:
    return lines_in_loops(tp.source(tp.grad(f), *args))


def test_memory_and_numbers_leave_the_time_loop() -> None:
    inside = printed(blur, X, 3, 0.5)
    assert inside and not [s for s in inside if "np.empty" in s or s.endswith("= 2.0 * dx")]
    inside = printed(inner_rows, X, 3)
    assert inside and not [s for s in inside if "np.empty" in s or s.endswith("= max(n - 2, 0)")]


@pytest.mark.parametrize("f", [kept_rows, last_row], ids=lambda f: f.__name__)
def test_what_a_trip_hands_on_is_its_own(f: Callable[..., Any]) -> None:
    tp.check_grads(f, (X, 3))
    assert tp.grad(f)(X, 3) == pytest.approx(tp.jit(tp.grad(f))(X, 3))


def test_memory_that_is_carried_stays() -> None:
    """Before the loop it would be copied by each trip."""
    assert any("np.empty" in line for line in printed(last_row, X, 3))


@pytest.mark.parametrize("f, more", [(blur, (0.5,)), (inner_rows, ())], ids=["blur", "inner_rows"])
@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.sampled(3)
def test_the_derivative_is_the_same(f: Callable[..., Any], more: tuple[float, ...], steps: int) -> None:
    tp.check_grads(f, (X, steps, *more))


def nothing_to_divide(x, n: int, a: float, b: float, k: int):
    total = 0.0
    for i in range(n):
        share = a / b
        power = a**k
        root = np.empty(k)
        root[0] = x
        total += share * x + power * x + root[0] * x
    return total


def test_what_may_raise_stays_where_it_is() -> None:
    """There is no trip, so that nothing is divided by 0, no number too large, no array of a negative size."""
    text = tp.source(tp.grad(nothing_to_divide), 2.0, 3, 1.0, 2.0, 2)
    assert "a / b" in "\n".join(lines_in_loops(text))
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["nothing_to_divide_grad"](2.0, 0, 0.0, 0.0, -3) == 0.0
    with pytest.raises(ZeroDivisionError):
        names["nothing_to_divide_grad"](2.0, 1, 1.0, 0.0, 2)


def too_large(x, n: int):
    peak = x[0]
    total = 0.0
    for i in range(n):
        scale = peak * peak
        total += scale * x[i] + scale
    return total


def test_nothing_warns_where_no_trip_does() -> None:
    names: dict[str, Any] = {}
    exec(tp.source(tp.grad(too_large), np.ones(3), 3), names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names["too_large_grad"](np.full(3, 1e200), 0)
