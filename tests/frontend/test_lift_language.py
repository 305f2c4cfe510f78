"""The lifter on small programs: what is accepted computes what Python computes, what is refused says why and where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from test_lift import check, lifted, run

from transpile.core.dump import dump
from transpile.errors import TranspileError

X = np.array([0.5, -1.25, 2.0, 0.75])
A = np.arange(12.0).reshape(3, 4) / 7.0

PROGRAMS: list[tuple[Any, Any]] = []


def program(*args: Any):
    def add(fn):
        PROGRAMS.append((fn, args))
        return fn

    return add


@program(X, 3)
def comprehension_over_range(x, n):
    return np.array([x[i] * i for i in range(n)])


@program(X)
def comprehension_with_enumerate(x):
    return np.array([v * k for k, v in enumerate(x)]) + x


@program(A)
def comprehension_of_rows(a):
    return np.array([np.sum(row) for row in a]), np.stack([row * 2 for row in a])


@program(X, 3)
def generator_with_test(x, n):
    return sum(x[i] for i in range(n) if x[i] > 0)


@program(A)
def nested_generator(a):
    return sum(a[i, j] * j for i in range(a.shape[0]) for j in range(i, a.shape[1]))


@program(X, 4)
def appends_on_condition(x, n):
    kept = []
    for i in range(n):
        if x[i] > 0:
            kept.append(x[i] * i)
    return np.array(kept), len(kept)


@program(X, 3)
def appends_twice_a_trip(x, n):
    out = [x[0]]
    for i in range(n):
        out.append(x[i])
        out.append(x[i] * 2)
    return np.array(out), out[-1], len(out)


@program(A)
def appends_in_nested_loops(a):
    out = []
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out.append(a[i, j] ** 2)
    return np.array(out)


@program(X)
def appends_pairs(x):
    pairs = []
    for v in x:
        pairs.append((v, v * v))
    total = 0.0
    for a, b in pairs:
        total += a * b
    return np.array(pairs), total


@program(X)
def list_read_while_it_grows(x):
    y = [x[0]]
    for i in range(1, len(x)):
        y.append(y[-1] * 0.5 + x[i] * y[i - 1])
    return np.array(y)


@program(2.0)
def nonlocal_counter(x):
    count = 0.0

    def bump(t):
        nonlocal count
        count += t
        return count

    bump(x)
    for i in range(3):
        bump(i * x)
    return count


@program(X, 2)
def rebinding_keeps_alias(x, n):
    y = x
    z = y
    for _ in range(n):
        y = y * 2
    return y, z


@program(X, 1)
def mutation_through_carried_name(x, n):
    u, v = x * 1.0, x * 2.0
    for _ in range(n):
        u[0] = v[1]
        u, v = v, u
    u[1] = 10.0
    return u, v


@program(X)
def view_of_carried(x):
    y = x.copy()
    for i in range(1, 4):
        tail = y[i:]
        tail *= 0.5
        y[0] += tail[0]
    return y


@program(X, 5)
def whiles_with_break(x, n):
    i = 0
    while True:
        if i >= n:
            break
        i += 2
    else:
        i = 100
    return i * x


@program(0.3)
def deep_control_flow(x):
    total = 0.0
    for i in range(5):
        for j in range(5):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            total += x ** (i - j)
            if total > 3.0:
                return total
        else:
            total += 0.5
    return -total


@program(X)
def scalars_of_mixed_type(x):
    n = 0
    best = -math.inf
    where = -1
    for i, v in enumerate(x):
        if v > best:
            best, where = v, i
        n += 1
    return best, where, n


@program(X)
def none_then_value(x):
    last = None
    for k in range(4):
        if k > 0:
            last = x[k] if last is None else last + x[k]
    return last


@program(X, 2)
def dictionary_of_arrays(x, n):
    state = {"a": x.copy(), "n": 0}
    for i in range(n):
        state["a"][i] = 7.0
        state["n"] += i
    return state["a"], state["n"]


@dataclass
class Particle:
    x: np.ndarray
    m: float = 2.0

    def scaled(self, by):
        return Particle(self.x * by, self.m)

    @property
    def energy(self):
        return 0.5 * self.m * np.sum(self.x**2)


@program(X)
def dataclass_methods(x):
    p = Particle(x).scaled(2.0)
    p.m += 1.0
    return p.energy, p


@program(X)
def attribute_in_loop(x):
    p = Particle(x.copy(), 0.0)
    for v in x:
        p.m = p.m + v
        p.x[0] += v
    return p.m, p.x


@program(A)
def augmented_view_of_transpose(a):
    b = a.copy()
    t = b.T
    for j in range(4):
        t[j] += j
    return b, t


@program(X)
def several_views_of_one(x):
    y = x.copy()
    left, right = y[:2], y[2:]
    left += right
    right[:] = left[::-1]
    return y, left * right


@program(X)
def star_targets(x):
    first, *rest = [v for v in (x[0], x[1], x[2])]
    (a, b), *c = (rest, 1.0, 2.0)
    return first + a * b, c


@program(X)
def keyword_heavy(x):
    def f(a, *args, k=2.0, **more):
        return a * k + sum(args) + more.get("z", 0.0)

    return f(x[0], x[1], x[2], k=x[3], z=1.5), f(*x[:2].tolist()) if False else f(x[0])


@program(X)
def lambda_table(x):
    fs = [lambda t, k=k: t * k for k in range(3)]
    return sum(f(x[0]) for f in fs)


@program(1.5)
def conditional_functions(x):
    f = math.sin if x is not None else math.cos
    g = (lambda t: t) if isinstance(x, float) else None
    return f(g(x))


@program(X)
def ufunc_methods(x):
    y = np.zeros(4)
    np.add.at(y, np.array([0, 0, 1]), x[:3])
    np.subtract.at(y, [2], 1.0)
    return np.multiply.outer(x, x), np.add.reduce(x), np.maximum.accumulate(x), y


@program(X)
def where_and_out(x):
    y = np.ones(4)
    np.sqrt(x, out=y, where=x > 0)
    z = np.add(x, 1, out=np.empty(4))
    return y, z


@program(X)
def chained_and_walrus(x):
    if 0 < (n := len(x)) <= 4 and (m := n * 2) > 3:
        return x * m
    return x * n


@program(np.float32(2.0), np.ones(3, np.float32))
def float32_carried(s, x):
    total = 0
    y = x
    for i in range(3):
        total += s * x[i]
        y = y * s
    return total, y


@program(np.array([3, 1, 2]))
def integer_arrays(k):
    k = k.copy()
    for i in range(len(k)):
        k[i] //= 2
        k[i] <<= 1
    return k, k.sum() / 2, k % 2 == 0


@program(X)
def masks(x):
    y = x.copy()
    y[y < 0] = 0.0
    y[(x > 0) & (x < 1)] *= 3.0
    return y, x[x > 0].sum()


@program(X, 2)
def slices_of_runtime_bounds(x, k):
    y = np.zeros(4)
    for i in range(k):
        y[i : i + 2] += x[:2]
        y[:i] = x[:i] * 2
    return y, x[k:], x[-k:], x[: k + 10]


@program(X, 7)
def zip_of_unequal_lengths(x, n):
    total = 0.0
    for a, b, i in zip(x, x[1:], range(n)):
        total += a * b * i
    return total


@program(X)
def early_return_of_trees(x):
    if np.sum(x) > 100:
        return {"a": x, "b": (1.0, x[0])}
    y = x * 2
    return {"a": y, "b": (2.0, y[0])}


@program(X)
def raise_in_callee(x):
    def check(v):
        if v > 1e9:
            raise ValueError(f"too large: {v:.2f}")
        return math.sqrt(abs(v))

    return sum(check(v) for v in x)


@program(X)
def prints(x):
    print("x is", x[0], sep="")
    for v in x:
        print(f"{v:.3f}", end="|")
    return x


@program(X)
def maybe_assigned_under_same_test(x):
    big = x[0] > 0.25
    if big:
        y = x * 2
    z = x
    if big:
        z = z + y
    return z


@program(4)
def integers_only(n):
    a, b = 0, 1
    while b < n * 100:
        a, b = b, a + b
    return a, divmod(b, 7), b // 3, -b % 5, n**3


@program(X)
def matrix_products(x):
    m = np.outer(x, x) + np.eye(4)
    return x @ m @ x, m @ m, (m @ x)[1], np.dot(x, x)


@program(X)
def operators_in_place(x):
    y = x.copy()
    y @= np.eye(4)
    y **= 2
    y -= y.mean()
    k = 3
    k |= 8
    k ^= 1
    return y, k


@pytest.mark.parametrize("fn, args", PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_program(fn, args):
    def make() -> tuple:
        return tuple(np.array(a) if isinstance(a, np.ndarray) else a for a in args)

    check(fn, make)


# ------------------------------------------------------------------------------------------------- at run time


def unbound(x, n):
    for i in range(n):
        y = x * i
    return y


def test_variable_that_the_loop_did_not_assign():
    assert run(unbound, 2.0, 3) == 4.0
    core, _ = lifted(unbound, 2.0, 3)
    from core_eval import evaluate

    with pytest.raises(UnboundLocalError, match="'y'"):
        evaluate(core, 2.0, 0)


def two_sizes(x, y):
    return np.sum(x * y)


def test_sizes_are_checked_when_it_runs():
    from core_eval import evaluate

    core, _ = lifted(two_sizes, X, X)
    assert dump(core).count("float64[n]") >= 2
    with pytest.raises(ValueError, match="test_lift_language.py"):
        evaluate(core, X, X[:3])
    core, _ = lifted(two_sizes, X, X[:1])
    assert evaluate(core, X, X[:1])[0] == np.sum(X * X[:1])
    with pytest.raises(ValueError):
        evaluate(core, X, X)


def writes(x, y):
    x[0] = 5.0
    y = y * 2
    y[0] = 1.0
    return x


def test_caller_sees_writes_only_if_asked():
    from core_eval import evaluate

    core, _ = lifted(writes, X, X)
    mine = X.copy()
    evaluate(core, mine, X)
    assert mine[0] == X[0]
    core, _ = lifted(writes, X, X, mutable=True)
    evaluate(core, mine, X)
    assert mine[0] == 5.0
    assert [v.buffer for v in core.params] == [True, False]


# ------------------------------------------------------------------------------------------------------ refusals

REFUSED: list[tuple[str, str, Any, Any]] = []


def refused(code: str, at: str, *args: Any):
    def add(fn):
        REFUSED.append((code, at, fn, args))
        return fn

    return add


@refused("T105", "try:", X)
def uses_try(x):
    try:
        return x
    except ValueError:
        return x


@refused("T102", "class C:", X)
def defines_class(x):
    class C:
        pass

    return x


@refused("T107", "global COUNTER", X)
def writes_global(x):
    global COUNTER
    COUNTER = 1
    return x


@refused("T115", "endless(x - 1)", 3.0)
def endless(x):
    return endless(x - 1)


@refused("T202", "x * y", X, X[:3])
def shapes_do_not_fit(x, y):
    return x * y


@refused("T211", "x > 0", X)
def truth_of_array(x):
    if x > 0:
        return x
    return -x


@refused("T118", "_", 1.0)
def different_trees(x):
    if x > 2:
        return x
    return x, x


@refused("T405", "undefined_thing", X)
def undefined_name(x):
    return x + undefined_thing  # noqa: F821


@refused("T116", "y", X)
def not_assigned(x):
    z = y + x  # noqa: F821
    y = z
    return y


@refused("T130", "np.random.rand(3)", X)
def unsupported_call(x):
    return x[0] * np.random.rand(3)


@refused("T123", "z[0] = 1.0", X, X)
def writes_one_of_two(x, y):
    a, b = x.copy(), y.copy()
    if x[0] > 0:
        z = a
    else:
        z = b
    z[0] = 1.0
    return a, b, z


@refused("T122", "y[0] = 1.0", A)
def writes_through_maybe_copy(a):
    b = a * 2.0
    y = b.reshape(12)
    y[0] = 1.0
    return b


@refused("T212", "k += 0.5", np.array([1, 2]))
def float_into_integers(k):
    k += 0.5
    return k


@refused("T207", "x[1, 2]", X)
def too_many_indices(x):
    return x[1, 2]


@refused("T120", "x + None", X)
def adds_none(x):
    return x + None


@refused("T132", "f(x, 2.0, 3.0)", X)
def too_many_arguments(x):
    def f(a, b):
        return a + b

    return f(x, 2.0, 3.0)


@refused("T112", "{v for v in (1, 2)}", X)
def set_comprehension(x):
    return x * len({v for v in (1, 2)})


@refused("T206", "for", X, 3)
def shape_changes(x, n):
    y = x
    k = np.sum(x)
    while k < 3.0:
        y = np.append(y, k)
        k = k + 1.0
    return y


@refused("T121", "x.nothing", X)
def unknown_attribute(x):
    return x.nothing


@refused("T134", "a, b = (x, x, x)", X)
def unpacks_wrongly(x):
    a, b = (x, x, x)
    return a


@refused("T204", "y", X)
def rank_depends_on_data(x):
    if x[0] > 0:
        y = x
    else:
        y = x[0]
    return y


@pytest.mark.parametrize("code, at, fn, args", REFUSED, ids=lambda p: getattr(p, "__name__", None))
def test_refused(code, at, fn, args):
    with pytest.raises(TranspileError) as caught:
        lifted(fn, *args)
    (found,) = caught.value.diagnostics
    assert found.code == code, str(found)
    assert found.loc.line, str(found)
    text = open(found.loc.file).read().splitlines()[found.loc.line - 1]
    if at not in ("_", "for"):
        assert at in text, str(found)
