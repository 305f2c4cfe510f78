"""Where loops ask whether Python's integers fit into 64 bits, by the loops' own text: run by Python, with numbers that wrap."""

import math
import re

import numpy as np
import pytest
from loop_text import Loops

import transpile as tp

STAGES = ("lowered", "optimised")


def odd(first, end):
    total = 0.0
    for i in range(first, end):
        total += 1.0 / (2 * i + 1)
    return total


def weighted(n, weight):
    s = 0
    for i in range(n):
        s += i * weight
    return s


def flags(x, limit):
    count, last = 0, -1
    for i in range(len(x)):
        if x[i] > limit:
            count += 1
            last = 3 * i + count
    return count, last


def table(x, m):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(m):
            s += x[i] * (i * m + j)
    return s


def halves(x, value):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def in_loops(text):
    """How often the text asks in a loop whether a number fits."""
    return sum("overflows" in line and line.startswith(" " * 8) for line in text.splitlines())


def text(fn, *args):
    return tp.source(tp.jit(fn), *args, stage="loops")


def raises(fn, args, like):
    loops = Loops(fn, like)
    for stage in STAGES:
        found = loops.run(stage, args)
        assert isinstance(found.error, OverflowError) and "does not fit" in str(found.error), (stage, found)


def agrees(fn, args, like):
    loops, right = Loops(fn, like), fn(*args)
    for stage in STAGES:
        found = loops.run(stage, args)
        assert found.error is None and found.value == right, (stage, found, right)


def test_linear_numbers_are_asked_for_before_the_loop():
    for fn, args in ((odd, (2, 7)), (table, (np.arange(4.0), 3))):
        assert "overflows" in text(fn, *args) and in_loops(text(fn, *args)) == 0
    like = (2, 5)
    for first, end in (
        (2**62 - 3, 2**62 - 1),
        (-(2**62), 5 - 2**62),
        (2**62 + 1, 2**62),
        (2**63 - 1, -(2**63)),
        (4, 4),
    ):
        agrees(odd, (first, end), like)
    for first, end in ((2**62 - 2, 2**62 + 1), (-(2**62) - 1, 3 - 2**62), (2**62, 2**62 + 1)):
        raises(odd, (first, end), like)
    agrees(table, (np.zeros(0), 2**62), (np.zeros(3), 2))  # no trip
    agrees(table, (np.ones(2), 3), (np.zeros(3), 2))


def test_sums_are_asked_for_where_they_may_be_large():
    found = text(weighted, 5, 3)
    assert in_loops(found) == 1 and "< 4.6" in found, found  # of two versions one asks
    for args in ((0, 2**62), (5, 3), (5, -(2**59)), (32, 2**54)):
        agrees(weighted, args, (5, 3))
    for args in ((32, 2**55), (32, -(2**55)), (3, 2**63 - 1)):
        raises(weighted, args, (5, 3))


def pieces(x, w):
    """Parts that lie behind each other, as many as `w` has entries: few, which compiled code knows."""
    d = len(w)
    start, total = 0, 0.0
    for c in range(d):
        total += w[c] * np.sum(x[start : start + d - c - 1])
        start += d - c - 1
    return total


def test_what_is_known_to_be_small_is_not_asked_for():
    found = text(pieces, np.ones(9), np.ones(3))
    assert "overflows" not in found and "e+18" not in found, found
    agrees(pieces, (np.arange(9.0), np.arange(3.0)), (np.ones(9), np.ones(3)))


def test_counters_and_indices_are_not_asked_for():
    for fn, args in ((flags, (np.arange(5.0), 2.5)), (halves, (np.arange(9.0), 4.0))):
        assert "overflows" not in text(fn, *args)
        agrees(fn, args, args)


def growing(x, n):
    k = 1
    for i in range(n):
        x = math.sin(x) * (k * k)
        k = k * 5 + i
        x = x / (1.0 + k * k)
    return x


@pytest.mark.parametrize("n", [14, 26, 40])
def test_integers_that_are_recorded_have_no_end(n):
    """The reverse sweep of printed text computes with Python's integers, as the function does."""
    _, tangent = tp.jvp(growing, (0.3, n), (1.0, 0))
    assert tp.grad(growing)(0.3, n) == pytest.approx(tangent, rel=1e-13, abs=0.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, step: sum([x[i] for i in range(0, 3, step)]),
        lambda x, step: sum(x[i] for i in range(3, 0, step)),
        lambda x, step: len(range(0, 3, step)) * x[0],
    ],
)
def test_a_step_of_zero_is_what_it_is_in_python(f):
    x = np.arange(4.0)
    for made in (tp.value_and_grad(f), tp.jit(f)):
        for step in (0, 2, -1):
            try:
                wanted = f(x, step)
            except ValueError as e:
                with pytest.raises(ValueError, match=re.escape(str(e))):
                    made(x, step)
            else:
                found = made(x, step)
                assert (found[0] if isinstance(found, tuple) else found) == wanted
