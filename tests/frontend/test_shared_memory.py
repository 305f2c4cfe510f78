"""Arrays and containers that names, lists and trips of a loop share: what Python would show through one name when another is
written comes out right, or is refused where which memory it is depends on the run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import transpile as tp

X = np.array([0.3, 0.7, -0.4, 1.1])
Y = np.array([0.5, -0.2, 0.9, 0.1])
REFUSED = []


@dataclass
class State:
    u: object
    v: object


def refused(f):
    REFUSED.append(f)
    return f


# ---------------------------------------------------------------------------------- lists that grow in a loop


@refused
def fresh_in_each_trip_written_after(x, y, n):
    h = []
    for _ in range(n):
        x = x * 0.9
        h.append(x)
    x[0] = 5.0
    return np.sum(np.stack(h) ** 2)


@refused
def written_in_the_next_trip(x, y, n):
    h = []
    for k in range(n):
        x[k] = np.sin(x[k])
        x = x * 0.9
        h.append(x)
    return np.sum(np.stack(h) ** 2)


@refused
def of_outside_and_written_there(x, y, n):
    z, h = x.copy(), []
    for k in range(n):
        z[k] = np.sin(z[k])
        h.append(z)
    return np.sum(np.stack(h) ** 2)


@refused
def named_again_in_each_trip(x, y, n):
    z, h = x, []
    for _ in range(n):
        z = z
        h.append(z)
    z[0] = 2.0
    return np.sum(np.stack(h))


@refused
def in_the_list_before_the_loop(x, y, n):
    h = [x]
    for k in range(n):
        h.append(x * k)
    x[0] = 5.0 * x[1]
    return np.sum(np.stack(h) ** 2)


@refused
def element_written(x, y, n):
    h = []
    for k in range(n):
        h.append(x * k)
    p = h[-1]
    p[0] = 7.0 * x[1]
    return np.sum(np.stack(h) ** 2)


@refused
def elements_written(x, y, n):
    h = []
    for k in range(n):
        h.append(x * k)
    for p in h:
        p *= 2.0
    return np.sum(np.stack(h) ** 2)


@refused
def dict_that_changes(x, y, n):
    h, s = [], {"u": x.copy()}
    for _ in range(n):
        s["u"] = s["u"] * 1.5
        h.append(s)
    total = 0.0
    for p in h:
        total += np.sum(p["u"])
    return total


@refused
def dict_changed_behind(x, y, n):
    h = []
    for k in range(n):
        s = {"u": x * k}
        h.append(s)
        s["u"] = x * 2.0
    total = 0.0
    for p in h:
        total += np.sum(p["u"] ** 2)
    return total


@refused
def field_changed_behind(x, y, n):
    h = []
    for k in range(n):
        s = State(x * k, 1.0)
        h.append(s)
        s.v = 2.0
    total = 0.0
    for p in h:
        total += np.sum(p.u**2) * p.v
    return total


@refused
def in_a_while_loop(x, y, n):
    z, h, k = x.copy(), [], 0
    while k < n:
        z[k] = np.sin(z[k])
        h.append(z)
        k += 1
    return np.sum(np.stack(h) ** 2)


# ------------------------------------------------------------------------------- names that become one memory


@refused
def one_memory_after_the_loop(x, y, n):
    u, v = x.copy(), y.copy()
    for _ in range(n):
        v = v * 0.9
        u = v
    u[0] = 5.0 * x[1]
    return np.sum(v * v)


@refused
def both_become_a_third(x, y, n):
    u, v, z = x.copy(), y.copy(), x * y
    for k in range(n):
        if k % 2 == 0:
            u = z
        else:
            v = z
    u[0] = 5.0 * x[1]
    return np.sum(v * v)


@refused
def views_that_overlap(x, y, n):
    b = x.copy()
    u, v = b[:3], b[1:]
    for k in range(n):
        if k > 100:
            u, v = u * 1.0, v * 1.0
    v[0] = 5.0 * y[0]
    return np.sum(u * u)


@refused
def named_in_an_earlier_trip(x, y, n):
    z, total = y.copy(), 0.0
    for k in range(n):
        if k > 0:
            before[0] = before[0] * 0.5  # noqa: F821
        before = z  # noqa: F841
        total += np.sum(z * x)
    return total


@refused
def item_becomes_an_array_of_outside(x, y, n):
    s, z = {"u": x.copy()}, y.copy()
    for k in range(n):
        s["u"][k] *= 2.0
        s["u"] = z
    return np.sum(s["u"]) + np.sum(z * z)


@refused
def items_become_one(x, y, n):
    s = State(x.copy(), y.copy())
    for k in range(n):
        s.v[k] = np.sin(s.u[k + 1])
        s.u = s.v
    return np.sum(s.u * s.u * s.v)


@refused
def one_dict_or_another(x, y, n):
    a, b = {"u": x.copy()}, {"u": y.copy()}
    s = a if x[0] > 0.1 else b
    s["u"] = s["u"] * 2.0
    return np.sum(a["u"] * b["u"])


@refused
def another_dict_from_the_second_trip_on(x, y, n):
    a, b = {"u": x.copy()}, {"u": y.copy()}
    for _ in range(n):
        a["u"] = a["u"] * 1.5
        a = b
    return np.sum(a["u"] * b["u"])


@refused
def a_number_after_the_first_trip(x, y, n):
    s = np.zeros(())
    for k in range(n):
        t = s
        s += x[k]
        s = s + t
    return s * y[0]


@refused
def an_array_of_rank_0_after_the_first_trip(x, y, n):
    s = x[0]
    for k in range(n):
        t = s
        s += y[k]
        s = np.asarray(s) * 1.0 if k > 5 else np.array(s + t)
    return s


@refused
def an_element_or_a_view_of_it(x, y, n):
    a = x * 1.0
    s = a[..., 1] if x[0] > 0.1 else a[1]
    a[1] = 7.0
    return s * y[0]


@refused
def a_strided_vector_flattened(x, y, n):
    a = x * 1.0
    b = np.ravel(a[::2])
    a[0] = y[0]
    return b * x[0]


@refused
def tuple_of_one_array(x, y, n):
    s = (x.copy(), y.copy())
    for _ in range(n):
        _, v = s
        s = (v * 2.0,) * 2
    s[0][0] = 7.0
    return np.sum(s[1])


@pytest.mark.quick
@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    with pytest.raises(tp.TranspileError) as caught:
        tp.grad(f, argnums=(0, 1))(X.copy(), Y.copy(), 3)
    assert caught.value.codes == ("T123",), str(caught.value)
    assert ".copy()" in str(caught.value)


def class_of_a_number_or_an_array(x, y, n):
    s = x[0] if x[1] > 0.7 else np.array(x[1])
    return y[0] if isinstance(s, np.ndarray) else y[1]


def operator_in_place_on_flat(x, y, n):
    elements = (x * 1.0).flat
    elements *= y
    return x[0]


def argument_of_rank_0_written_in_compiled_code(s):
    t = s
    t += 1.0
    return s * t


@pytest.mark.quick
@pytest.mark.parametrize(
    "run",
    [
        lambda: tp.grad(class_of_a_number_or_an_array)(X, Y, 3),
        lambda: tp.grad(operator_in_place_on_flat)(X, Y, 3),
        lambda: tp.jit(argument_of_rank_0_written_in_compiled_code)(np.array(2.0)),
    ],
    ids=["class", "flat", "argument"],
)
def test_refused_of_rank_0_and_flat(run):
    with pytest.raises(tp.TranspileError) as caught:
        run()
    assert caught.value.codes[0] in ("T118", "T120", "T123")


def test_a_derivative_writes_into_its_own_argument_of_rank_0():
    assert tp.grad(argument_of_rank_0_written_in_compiled_code)(np.array(2.0)) == 6.0
    assert tp.grad(argument_of_rank_0_written_in_compiled_code)(2.0) == 5.0


# -------------------------------------------------------------------------- shapes that change from trip to trip


def read_after_the_loop(x, y, n):
    total = 0.0
    for k in range(n):
        part = x[k : k + 2]
        total += np.sum(part**2)
    return total + np.sum(part)


def collected(x, y, n):
    h = []
    for k in range(n):
        h.append(x[k : k + 2].copy())
    return np.sum(np.concatenate(h) ** 2)


@pytest.mark.quick
@pytest.mark.parametrize("f", [read_after_the_loop, collected], ids=lambda f: f.__name__)
def test_shapes_that_change_are_refused(f):
    with pytest.raises(tp.TranspileError) as caught:
        tp.grad(f, argnums=(0, 1))(X.copy(), Y.copy(), 3)
    assert caught.value.codes == ("T206",), str(caught.value)
