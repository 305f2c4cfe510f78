"""Aliases, views, containers and scopes where several of them meet in loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_lift import check, lifted

from transpile.errors import TranspileError

X = np.array([0.5, -1.25, 2.0, 0.75])
A = np.arange(12.0).reshape(3, 4) / 7.0

PROGRAMS: list[tuple[Any, Any]] = []
REFUSED: list[tuple[Any, Any]] = []


def program(*args: Any):
    def add(fn):
        PROGRAMS.append((fn, args))
        return fn

    return add


def refused(*args: Any):
    """A program whose meaning cannot be kept: which memory is written depends on the data."""

    def add(fn):
        REFUSED.append((fn, args))
        return fn

    return add


def bump(part, by):
    part += by
    part[0] *= 2.0


@program(A, 3)
def callee_writes_in_nested_loops(a, n):
    b = a.copy()
    for i in range(n):
        for j in range(2):
            bump(b[i], j + 1.0)
    return b


@program(X, 2)
def closure_writes_outer_array(x, n):
    y = x.copy()
    total = 0.0

    def push(i):
        nonlocal total
        y[i] += total
        total += y[i]

    for i in range(n):
        if y[i] > 0:
            push(i)
        else:
            push(i + 1)
    return y, total


@program(X, 3)
def dictionary_of_arrays_in_branches(x, n):
    d = {"a": x.copy(), "b": x * 2, "k": 0}
    for i in range(n):
        if x[i] > 0:
            d["a"][i] = d["b"][i] + d["k"]
        else:
            d["k"] += 1
            d["b"] *= 0.5
    return d


@program(X, 3)
def tuple_of_array_and_number(x, n):
    state = (x, 1.0)
    for i in range(n):
        y, s = state
        if s > 2:
            state = (y * 0.5, s - 1.0)
        else:
            state = (y + s, s * 2)
    return state


@program(X, 4)
def assigned_in_one_trip_read_in_the_next(x, n):
    total = 0.0
    for i in range(n):
        if i > 0:
            total += last * x[i]  # noqa: F821
        last = x[i] + i
    return total


@program(X, 4)
def assigned_on_condition_and_read_on_the_same(x, n):
    total = 0.0
    seen = False
    for i in range(n):
        if seen:
            total += best  # noqa: F821
        if x[i] > 0:
            best = x[i]
            seen = True
    return total


@program(A)
def view_taken_before_loop(a):
    b = a.copy()
    column = b[:, 1]
    for i in range(3):
        b[i] *= 2.0
        column[0] += b[i, 1]
    return b, column * 1.0


@program(A)
def views_of_views_in_loop(a):
    b = a.copy()
    t = b.T
    for j in range(1, 4):
        inner = t[j][1:]
        inner[:] = t[j - 1][:-1]
    return b, t[2]


@program(X)
def swapped_in_a_branch_and_written(x):
    u, v = x.copy(), x * 3
    for i in range(3):
        if x[i] > 0:
            u, v = v, u
        u[i] = v[i + 1]
    return u, v


@program(X)
def rebound_in_one_branch(x):
    y = x.copy()
    if x[0] > 0:
        y = y * 2
    y[1] = 7.0
    return y


@program(X)
def list_of_buffers(x):
    parts = [x.copy(), x * 2]
    for k in range(2):
        for i in range(3):
            parts[k][i] += parts[1 - k][i + 1]
    parts[0], parts[1] = parts[1], parts[0]
    parts[0][3] = -1.0
    return parts


@program(X, 2)
def argument_rebound_then_written(x, n):
    for _ in range(n):
        x = x * 2
        x[0] = 1.0
    return x


@program(X)
def same_array_twice_in_a_call(x):
    def f(a, b):
        a[0] += b[1]
        b[1] += a[0]
        return a + b

    y = x.copy()
    return f(y, y), y


@program(X)
def slice_of_argument_is_written(x):
    y = x.copy()
    z = y[1:]
    w = z[1:]
    z[0] = 9.0
    w[0] = z[0] + y[1]
    y[3] = w[0]
    return y, z * 1.0, w * 1.0


@program(A)
def while_over_rows(a):
    b = a.copy()
    i = 0
    while i < 3 and b[i, 0] < 5.0:
        row = b[i]
        row[1:] = row[:-1] + i
        i += 1
    return b, i


@program(X, 3)
def returns_from_a_nest_of_calls(x, n):
    def first_above(v, limit):
        for k in range(len(v)):
            if v[k] > limit:
                return k, v[k]
        return -1, 0.0

    total = 0.0
    for i in range(n):
        k, value = first_above(x, 0.1 * i)
        if k < 0:
            return total
        total += value * k
    return total + 1.0


@program(X)
def generator_reads_what_changes(x):
    scale = 2.0
    total = 0.0
    for i in range(2):
        total += sum(v * scale for v in x)
        scale = scale + i + 1
    return total


@program(X)
def buffers_read_before_and_after(x):
    y = np.zeros(4)
    first = y.sum()
    y[:] = x
    second = y.sum()
    y += y
    return first, second, y.sum(), y @ y


@program(np.arange(6.0))
def reshaped_buffer_is_written(x):
    y = np.zeros(6)
    m = y.reshape(2, 3)
    for i in range(2):
        m[i] = x[i * 3 : i * 3 + 3] * (i + 1)
    y[0] += 100.0
    return y, m * 1.0


@program(A)
def diagonal_follows(a):
    b = a[:, :3].copy()
    d = np.diagonal(b)
    b[1, 1] = 50.0
    return d * 1.0


@program(X, 3)
def else_of_a_loop_in_a_loop(x, n):
    out = np.zeros(4)
    for i in range(n):
        for j in range(4):
            if x[j] > i:
                out[i] = x[j]
                break
        else:
            out[i] = -1.0
            continue
        out[3] += out[i]
    return out


@pytest.mark.parametrize("fn, args", PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_program(fn, args):
    def make() -> tuple:
        return tuple(np.array(a) if isinstance(a, np.ndarray) else a for a in args)

    check(fn, make)


@refused(X, X)
def writes_into_one_of_two(x, y):
    a, b = x.copy(), y.copy()
    z = a if x[0] > 0 else b
    z += 1.0
    return a, b


@refused(X, X)
def writes_behind_a_join(x, y):
    a, b = x.copy(), y.copy()
    z = a if x[0] > 0 else b
    a[0] = 5.0
    return z, b


@refused(X, 2)
def first_trip_writes_the_original(x, n):
    a = x.copy()
    b = a
    for _ in range(n):
        b[0] += 1.0
        b = b * 2
    return a, b


@refused(A, 2)
def carried_view_of_what_is_written(a, n):
    b = a.copy()
    row = b[0]
    for i in range(n):
        row = b[i]
        b[i + 1] += row
    b[0, 0] = 100.0
    return row, b


@refused(X)
def carried_names_become_one(x):
    u, v = x.copy(), x * 2
    for i in range(3):
        u[i] += 1.0
        v[i] -= 1.0
        u, v = v, v
    return u, v


@pytest.mark.parametrize("fn, args", REFUSED, ids=lambda p: getattr(p, "__name__", None))
def test_refused(fn, args):
    with pytest.raises(TranspileError) as caught:
        lifted(fn, *args)
    assert caught.value.codes == ("T123",), str(caught.value)
