"""Several trips at once: which loops go in blocks of sixteen, and that values and gradients are those of interpreted code."""

from __future__ import annotations

import re

import numpy as np
import pytest
from loop_text import Loops

import transpile as tp
from transpile.aggregates import flatten
from transpile.loops.unroll_and_jam_legality import AT_ONCE

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731
SIZES = (0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE + 5)


def arguments(n: int, m: int = 5, dtype: type = np.float64) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n + m)
    return tuple((0.5 * rng.normal(size=size)).astype(dtype) for size in (m, n, n))


def text(fn, *args, stage: str = "loops") -> str:
    return tp.source(tp.jit(fn), *args, stage=stage)


def is_taken(fn, *args) -> bool:
    return f"range({AT_ONCE})" in text(fn, *args)


# ------------------------------------------------------------------------------------------------ loops in blocks


def polynomial(x, y, t):
    total = 0.0
    for i in range(len(y)):
        error = y[i]
        power = 1.0
        for j in range(len(x)):
            error -= x[j] * power
            power *= t[i]
        total += error * error
    return total


def counting_down(x, y, t):
    """The sum goes on through the inner loops."""
    total = 1.0
    for i in range(len(y) - 1, -1, -1):
        p = t[i]
        for j in range(len(x)):
            p = p * y[i] + x[j]
            total += p * 0.5
        for j in range(len(x) - 1, -1, -1):
            total -= x[j] * p
    return total


def three_deep(x, y, t):
    total = 0.0
    for i in range(1, len(y)):
        s = y[i] - y[i - 1]
        for _ in range(3):
            q = s * 0.1
            for j in range(len(x)):
                q = q * t[i] + x[j]
            for j in range(1, len(x)):
                s = s * 0.5 + x[j - 1] * q
        total += s
    return total


def integers(x, y, t):
    """Each trip has an integer and a boolean of its own, and one that counts the inner trips, as it does in all."""
    total = 0.0
    count = 0
    for i in range(len(y)):
        k = i
        trips = 0
        odd = False
        s = y[i]
        for j in range(len(x)):
            k = 5 - k if k % 2 == 1 else k // 2
            odd = not odd
            trips += 1
            s = s * 0.5 + x[j] * trips if odd else s * t[i]
        count += k
        total += s
    return total + 0.25 * count


def exchanged(x, y, t):
    total = 0.0
    for i in range(len(y)):
        a, b = y[i], t[i]
        for j in range(len(x)):
            a, b = b, a * 0.9 + np.tanh(x[j] + b)
        total += a - 2 * b
    return total


def array_of_its_own(x, y, t):
    total = 0.0
    for i in range(len(y)):
        s = np.zeros(len(x))
        s[0] = y[i]
        for j in range(1, len(x)):
            s[j] = s[j - 1] * t[i] + x[j]
        for j in range(len(x) - 1, -1, -1):
            total += s[j] * x[j]
    return total


def written(x, y, t):
    """Elements that no other trip touches, beside each other."""
    z = np.zeros(len(y))
    w = np.zeros((2, len(y)))
    for i in range(len(y)):
        s = 1.0
        for j in range(len(x)):
            s = s * t[i] + x[j]
        z[i] = s
        w[1, i] = s * y[i]
        w[0, i] += s
    return np.sum(z * w[0]) + np.sum(np.sin(w[1]))


def added_up(x, y, t):
    """What all trips add to, in the loop and around it."""
    h = np.zeros(len(x) + 1)
    for i in range(len(y)):
        s = y[i]
        for j in range(len(x)):
            s = s * t[i] + x[j]
            h[j] += s
            h[j + 1] -= 0.5 * s
        h[0] += 1.0
    return np.sum(np.sin(h))


def selected(x, y, t):
    total = 0.0
    for i in range(len(y)):
        s = y[i]
        for j in range(len(x)):
            s = s * t[i] + x[j]
            if s > 0.3:
                s = s - 1.0
        if y[i] > 0:
            total += s
        else:
            total -= 2 * s
    return total


TAKEN = (
    polynomial,
    counting_down,
    three_deep,
    integers,
    exchanged,
    array_of_its_own,
    written,
    added_up,
    selected,
)


@pytest.mark.parametrize("fn", TAKEN, ids=names)
@pytest.mark.sampled(4)
def test_values_and_gradients(fn):
    gradient = tp.value_and_grad(fn, argnums=(0, 1, 2))
    compiled, plain = tp.jit(gradient), tp.jit(fn)
    assert is_taken(fn, *arguments(SIZES[-1]))
    for n in SIZES:
        args = arguments(n)
        np.testing.assert_allclose(plain(*args), fn(*args), rtol=1e-11, atol=1e-12)
        (value, found), (wanted_value, wanted) = compiled(*args), gradient(*args)
        np.testing.assert_allclose(value, wanted_value, rtol=1e-11, atol=1e-12)
        for a, b in zip(found, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("fn", (polynomial, integers, array_of_its_own, written, added_up), ids=names)
def test_single_precision(fn):
    args = arguments(3 * AT_ONCE + 5, dtype=np.float32)
    gradient = tp.value_and_grad(fn, argnums=(0, 1, 2))
    (value, found), (wanted_value, wanted) = tp.jit(gradient)(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-4)
    for a, b in zip(found, wanted):
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n", (1, AT_ONCE + 1, 3 * AT_ONCE + 5))
@pytest.mark.parametrize("fn", TAKEN, ids=names)
@pytest.mark.sampled(8)
def test_memory_and_order(fn, n):
    """No element is touched that is not there, with loops cut into chunks and run backwards where trips are apart."""
    args = arguments(n)
    for target in (fn, tp.value_and_grad(fn, argnums=(0, 1, 2))):
        loops, wanted = Loops(target, args), flatten((target(*args),))[0]
        for stage in ("optimised", "assumed", "parallel"):
            outcome = loops.run(stage, args)
            assert outcome.error is None, outcome
            for a, b in zip(flatten((outcome.value,))[0], wanted):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


def test_text():
    loops = text(polynomial, *arguments(20))
    assert (
        """\
    t_2 = m // 16 * 16
    if t_2 > 0:
        total = np.empty((16,), np.float64)
        error = np.empty((16,), np.float64)
        power = np.empty((16,), np.float64)
        for lane in range(16):
            total[lane] = 0.0
        for first in range(0, t_2, 16):
            for lane in range(16):
                error[lane] = y[np.uint64(first + lane)]
                power[lane] = 1.0
            for j in range(n):
                t_3 = x[j]
                for lane in range(16):
                    power_2 = power[lane]
                    power_3 = power_2 * t[np.uint64(first + lane)]
                    error[lane] = error[lane] - t_3 * power_2
                    power[lane] = power_3
            for lane in range(16):
                error_2 = error[lane]
                total[lane] = total[lane] + error_2 * error_2
        total_2 = 0.0
        for lane in range(16):
            total_2 = total_2 + total[lane]
        t_4 = t_2
        total_3 = total_2
    else:
        t_4 = 0
        total_3 = 0.0
    for i in range(t_4, m):
        error_3 = y[np.uint64(i)]
"""
        in loops
    ), loops


def test_text_of_a_gradient():
    """What trips add to in memory the lanes add up first; the powers of sixteen trips are kept."""
    loops = text(tp.grad(polynomial), *arguments(20))
    assert (
        """\
            for j in range(n):
                t_4 = 0.0
                for lane in range(16):
                    t_4 = t_4 + -(error_bar[lane] * power_tape[j, lane])
                x_bar[j] += t_4
"""
        in loops
    ), loops


def test_sums_of_integers_are_exact():
    def fn(x, n):
        count = 2**62
        for i in range(n):
            k = i
            for j in range(len(x)):
                k = (5 * k + j) % 1000003
            count += k
        return count

    x = np.zeros(7)
    assert is_taken(fn, x, 100)
    for n in SIZES:
        assert tp.jit(fn)(x, n) == fn(x, n)


def test_on_several_threads():
    """Each thread has blocks of its own."""
    args = arguments(40_003, m=24)
    gradient = tp.value_and_grad(polynomial, argnums=(0, 1, 2))
    compiled = tp.jit(gradient, parallel=True)
    assert "prange" in tp.source(compiled, *args, stage="loops")
    (value, found), (wanted_value, wanted) = compiled(*args), tp.jit(gradient)(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-10)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def test_large_arrays_of_a_trip():
    """Sixteen times as much memory is not taken where it is much."""
    args = arguments(AT_ONCE + 3, m=3000)
    loops = text(array_of_its_own, *args)
    assert f"{AT_ONCE} * n <= 32768" in loops, loops
    np.testing.assert_allclose(tp.jit(array_of_its_own)(*args), array_of_its_own(*args), rtol=1e-10)


# ------------------------------------------------------------------------------------------- loops that stay


def trip_after_trip(x, y, t):
    z = np.zeros(len(y) + 1)
    for i in range(len(y)):
        s = z[i]
        for j in range(len(x)):
            s = s * t[i] + x[j]
        z[i + 1] = s * y[i]
    return np.sum(z)


def as_long_as_the_data_say(x, y, t):
    total = 0.0
    for i in range(len(y)):
        s = y[i]
        for j in range(int(abs(4 * t[i]))):
            s = s * 0.7 + x[j]
        total += s
    return total


def longer_and_longer(x, y, t):
    total = 0.0
    for i in range(len(y)):
        s = 0.0
        for j in range(i):
            s = s * t[i] + y[j]
        total += s
    return total


def read_and_added_to(x, y, t):
    h = np.zeros(len(x))
    for i in range(len(y)):
        s = y[i]
        for j in range(len(x)):
            s = s * t[i] + x[j] + 0.1 * h[j]
            h[j] += s
    return np.sum(h)


def read_elsewhere(x, y, t):
    total = 0.0
    for i in range(len(y)):
        s = y[i]
        for j in range(len(x)):
            s = s * t[i] + x[j]
            total += s
        total = total * 0.99
    return total


def sums_alone(x, y, t):
    """LLVM makes vectors of these."""
    total = 0.0
    for i in range(len(y)):
        s = 0.0
        for j in range(len(x)):
            s += np.sin(x[j] * t[i])
        total += s * y[i]
    return total


def until_it_is_small(x, y, t):
    total = 0.0
    for i in range(len(y)):
        s = y[i]
        for j in range(len(x)):
            s = s * t[i] + x[j]
            if s < 0.1:
                break
        total += s
    return total


def told_to_others(x, y, t):
    z = np.zeros(4)
    for i in range(len(y)):
        s = y[i]
        for j in range(len(x)):
            s = s * t[i] + x[j]
        z[i % 4] += s
    return np.sum(z * z)


STAY = (
    trip_after_trip,
    as_long_as_the_data_say,
    longer_and_longer,
    read_and_added_to,
    read_elsewhere,
    sums_alone,
    until_it_is_small,
    told_to_others,
)


@pytest.mark.parametrize("fn", STAY, ids=names)
def test_what_stays_as_it_is(fn):
    args = arguments(2 * AT_ONCE + 3)
    assert not is_taken(fn, *args)
    np.testing.assert_allclose(tp.jit(fn)(*args), fn(*args), rtol=1e-11)


@pytest.mark.parametrize("turned", (False, True))
def test_neighbours_in_memory(turned):
    def rows(a, t):
        total = 0.0
        for i in range(len(t)):
            s, power = t[i], 1.0
            for j in range(a.shape[1]):
                s = s * 0.5 + power * a[i, j]
                power = power * t[i]
            total += s
        return total

    def columns(a, t):
        total = 0.0
        for i in range(len(t)):
            s, power = t[i], 1.0
            for j in range(a.shape[0]):
                s = s * 0.5 + power * a[j, i]
                power = power * t[i]
            total += s
        return total

    fn, a = (columns, np.ones((5, 37))) if turned else (rows, np.ones((37, 5)))
    t, gradient = np.linspace(0.0, 1.0, 37), tp.grad(fn, argnums=(0, 1))
    assert is_taken(gradient, a, t)
    assert ("a_2 = np.empty((" in text(gradient, a, t)) != turned
    for found, wanted in zip(tp.jit(gradient)(a, t), gradient(a, t)):
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_few_trips_that_are_known():
    def fn(x, y):
        total = 0.0
        for i in range(15):
            s = y[i]
            for j in range(len(x)):
                s = s * 0.5 + x[j] * s
            total += s
        return total

    x, y, _ = arguments(AT_ONCE)
    assert not is_taken(fn, x, y)


# ------------------------------------------------------------------------------------------------ rows of trips


def recurrence_in_place(a, t):
    """Rows that are read and written."""
    b = a.copy()
    for i in range(len(b)):
        for j in range(1, b.shape[1]):
            b[i, j] += 0.5 * b[i, j - 1] * t[i]
    return b


def axis_in_the_middle(a, t):
    """The place of a trip is at an axis between others, and read beside others that are the same in all trips."""
    out = np.zeros((a.shape[1], 2))
    for i in range(1, a.shape[1]):
        s = a[1, i, 0]
        for j in range(a.shape[0]):
            for k in range(a.shape[2]):
                s = s * 0.3 + a[j, i, k] * a[0, i, 2] * t[i - 1]
        out[i - 1, 1] = s
        out[i, 0] = a[0, i, 1] - s
    return out


def another_row(a, t):
    """A trip reads what the one before has written: it stays."""
    b = a.copy()
    for i in range(1, len(b)):
        s = t[i]
        for j in range(b.shape[1]):
            s = s * 0.5 + b[i - 1, j]
            b[i, j] = s
    return b


def added_up_in_rows(a, t):
    b = np.ones((len(t), 3))
    for i in range(len(t)):
        s = t[i]
        for j in range(a.shape[1]):
            s = np.sin(s) + a[i, j]
            b[i, j % 3] += s
    return b


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("fn", (recurrence_in_place, axis_in_the_middle, another_row, added_up_in_rows), ids=names)
def test_rows(fn, n):
    rng = np.random.default_rng(n)
    shape = (4, n + 1, 3) if fn is axis_in_the_middle else (n, 5)
    a, t = 0.5 * rng.normal(size=shape), 0.5 * rng.normal(size=n + 1 if fn is axis_in_the_middle else n)
    if fn is added_up_in_rows and n == SIZES[-1]:
        assert is_taken(fn, a, t)
    np.testing.assert_allclose(tp.jit(fn)(a, t), fn(a, t), rtol=1e-12, atol=1e-15)


def test_rows_of_gradients():
    rng = np.random.default_rng(1)
    n = AT_ONCE + 3
    args = 0.5 * rng.normal(size=(n, 5)), 0.5 * rng.normal(size=n)
    gradient = tp.grad(lambda a, t: np.sum(recurrence_in_place(a, t) ** 2), argnums=(0, 1))
    assert is_taken(gradient, *args)
    for found, wanted in zip(tp.jit(gradient)(*args), gradient(*args)):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-14)


def cholesky(a, b):
    n = len(b)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    y = np.zeros(n)
    for i in range(n):
        for k in range(i + 1):
            y[i] += low[i, k] * b[k]
    return y


@pytest.mark.parametrize("n", (1, 5, 40))
def test_lanes_of_small_problems(n):
    """Sums in loops of few trips are no vectors: lanes are. Of many trips they are, and lanes come one after the other."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=(2 * AT_ONCE + 3, n, n))
    a, b = a @ a.transpose(0, 2, 1) + n * np.eye(n), rng.normal(size=(len(a), n))
    batched = tp.vmap(cholesky)
    assert is_taken(batched, a, b)
    np.testing.assert_allclose(tp.jit(batched)(a, b), [cholesky(x, y) for x, y in zip(a, b)], rtol=1e-10)


def alternating(x, y):
    """A branch that all lanes take, of numbers that differ between them."""
    s = 0.0
    for k in range(len(x)):
        p = s * 0.5 + x[k]
        if k % 3 == 1:
            q = np.sqrt(p * p + 1.0)
            r = 2
        else:
            q = p / (y[k] + 2.0)
            r = k
        s = s * 0.25 + q * r
    return s


def test_a_branch_that_all_lanes_take_is_one():
    rng = np.random.default_rng(3)
    for lanes in SIZES:
        x, y = rng.normal(size=(lanes, 7)), rng.uniform(size=(lanes, 7))
        wanted = [alternating(*rows) for rows in zip(x, y)]
        np.testing.assert_allclose(tp.jit(tp.vmap(alternating))(x, y), wanted, rtol=1e-12)
        gradient = tp.vmap(tp.grad(alternating))
        np.testing.assert_allclose(tp.jit(gradient)(x, y), gradient(x, y), rtol=1e-12, atol=1e-14)
    found = text(tp.vmap(alternating), x, y)
    assert re.search(rf"if \w+:\n +for lane in range\({AT_ONCE}\):", found), found


def test_lanes_that_are_copied_or_added_stay():
    def plus(x, y):
        out = np.empty(len(x))
        for i in range(len(x)):
            out[i] = x[i] + y[i]
        return out

    x = np.ones((40, 5))
    assert not is_taken(tp.vmap(plus), x, x)


def around(x):
    """A subscript before the beginning is known to be that of the end: nothing is asked."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * np.sin(x[k - 1])
    return total


@pytest.mark.parametrize("n", (0, 1, 2, 19))
def test_what_goes_around_is_known_to_be_there(n):
    x = np.linspace(0.1, 1.0, n)
    assert "IndexError" not in text(around, x)
    np.testing.assert_allclose(tp.jit(around)(x), around(x), rtol=1e-12)
    if n > 2:
        with pytest.raises(IndexError):
            tp.jit(far_around)(x[:2])
        np.testing.assert_allclose(tp.jit(far_around)(x), far_around(x), rtol=1e-12)


def far_around(x):
    total = 0.0
    for k in range(len(x)):
        total += x[k - 3]
    return total
