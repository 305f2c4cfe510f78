"""``any`` and ``all`` end with the first item that decides: what later items would raise, print, append or bind is not done."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

X = np.array([0.9, 0.5, 0.7, -0.5])
STEP = np.array([0.3, -0.7, 0.9, 0.4])
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


def shown(v):
    print("item")
    return v < 0.6


def positive(v):
    if v < 0:
        raise ValueError("negative")
    return v > 0.6


@program
def of_indices_that_go_too_far(x):
    return x[0] * 2 if any(x[i + 1] < x[i] for i in range(9)) else x[1]


@program
def all_of_indices_that_go_too_far(x):
    return x[0] * 2 if all(x[i + 1] < x[i] for i in range(9)) else x[1]


@program
def all_of_what_is_known_of_each(x):
    return x[0] * 2 if all(isinstance(v, (float, int)) for v in x) else x[1]


@program
def any_of_what_is_known_of_each(x):
    return x[0] * 2 if any(v is None for v in x) or any(True for v in x) else x[1]


@program
def of_rows_of_known_ranks(x):
    rows = np.outer(x, STEP)
    return rows.sum() if all(row.ndim == 1 and row.size == len(STEP) for row in rows) else x[1]


@program
def of_nothing_that_is_known_of_each(x):
    return x[0] * all(isinstance(v, str) for v in x[:0]) + x[1] * any(isinstance(v, float) for v in x[:0])


@program
def of_what_raises(x):
    return x[0] if any(positive(v) for v in x) else x[1]


@program
def raises_before_it_ends(x):
    return x[0] if all(positive(v) for v in x[[0, 2, 3, 1]]) else x[1]


@program
def of_what_prints(x):
    return x[0] * any(shown(v) for v in x)


@program
def of_what_prints_and_is_known(x):
    return x[0] * all(shown(v) for v in [x[1], x[0], x[2]])


@program
def mapped(x):
    return x[0] * any(map(positive, x)) + all(map(shown, x)) * x[1]


@program
def mapped_together(x):
    return x[0] * any(map(lambda a, b: shown(a * b), x, x[1:]))


@program
def in_a_test_of_the_generator(x):
    return x[0] * any(v > 0 for v in x if shown(v))


@program
def of_two_loops(x):
    return x[0] * any(shown(a * b) for a in x for b in x[1:] if a > b)


@program
def that_divides(x):
    k = np.array([1, 2, 0, 3])
    return x[0] * all(6 // int(v) > 4 for v in k[:3])


@program
def that_counts(x):
    seen = [0]

    def small(v):
        seen[0] += 1
        return v < 0.6

    first = any(small(v) for v in x)
    return seen[0] * x[0] + first + all(small(v) for v in x) * x[1] + seen[0]


@program
def that_appends(x):
    seen = []
    found = any((seen.append(v) or v < 0.6) for v in x)
    return sum(seen) * len(seen) + found


@program
def that_pops(x):
    stack = [1, 2, 3, 4]
    found = any(stack.pop() < 4 for _ in range(4))
    return x[0] * len(stack) + found


@program
def that_binds(x):
    if any((witness := v) < 0.6 for v in x):
        return witness * 2
    return x[0]


@program
def that_binds_what_failed(x):
    values = [x[0], x[1], x[2]]
    if all((failed := v) > 0.6 for v in values):
        return x[0]
    return failed * 3


@program
def in_a_loop(x):
    s, k = 0.1, 0
    while not all(x[(j + k) % 4] * s > x[0] for j in range(3)):
        s += x[k % 4] ** 2
        k += 1
        if k > 7:
            break
    return s


@program
def inside_each_other(x):
    def decided(k):
        if k == 0:
            return any(x[i] < 0.6 for i in range(9))
        return all(decided(k - 1) for _ in range(2))

    return x[0] * decided(2)


@program
def of_a_list_that_grows(x):
    primes = []
    for n in range(2, 20):
        if all(n % p for p in primes):
            primes.append(n)
    return x[0] * sum(primes)


@program
def of_nothing(x):
    return x[0] * any(x[i] for i in range(0)) + x[1] * all(x[i] for i in range(0))


def outcome(f, capsys, *args):
    try:
        value = float(f(*args))
    except (ValueError, IndexError) as e:
        return type(e).__name__, capsys.readouterr().out
    return value, capsys.readouterr().out


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.sampled(4)
def test_it_ends_where_python_ends(f, capsys):
    value, said = outcome(f, capsys, X)
    for made in (lambda x: tp.vjp(f, x)[0], tp.jit(f)):
        found, printed = outcome(made, capsys, X.copy())
        assert found == pytest.approx(value) if isinstance(value, float) else found == value
        assert printed == said
    if isinstance(value, float):
        slope = (f(X + 1e-6 * STEP) - f(X - 1e-6 * STEP)) / 2e-6
        for gradient in (tp.grad(f), tp.jit(tp.grad(f))):
            assert gradient(X) @ STEP == pytest.approx(slope, abs=1e-7)
        assert tp.jvp(f, (X,), (STEP,))[1] == pytest.approx(slope, abs=1e-7)


def test_what_only_compares_is_folded():
    """No loop that returns where later items do nothing."""

    def ordered(x):
        return np.sum(x * x) if all(a <= b for a, b in zip(x, x[1:])) else 0.0

    assert "break" not in tp.source(tp.grad(ordered), X)
