"""Rolled rows: loops whose subscripts wrap around are cut where they do, and the results are the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from loop_compare import Subject
from loop_text import Loops

import transpile as tp


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def neighbours(x):
    return np.sum((np.roll(x, -1) - 2.0 * x + np.roll(x, 1)) * x * x)


def further(x):
    return np.sum(x * np.roll(x, -3) * np.roll(x, 2) + np.roll(x, -1) ** 2)


def one_side(x):
    return np.sum(x * np.roll(x, -2) ** 2)


def turned(x, k):
    return np.sum(x * np.roll(x, k) ** 2)


def two_turns(x, k):
    return np.sum(x * np.roll(x, k) ** 2 * np.roll(x, k + 1))


def periodic(x, steps):
    x = x.copy()
    for _ in range(steps):
        x += 0.1 * (np.roll(x, 1, axis=1) + np.roll(x, -1, axis=1) + np.roll(x, (1, 1), axis=(0, 1)) - 3.0 * x)
    return np.sum(x * x)


def far_around(x):
    return np.sum(np.roll(x, 5) * x * np.roll(x, -7))


def carried(x):
    total = 0.0
    n = len(x)
    for i in range(n):
        total = total + x[i] * x[(i + 1) % n]
    return total


def ring(x):
    n = len(x)
    y = np.empty(n)
    for i in range(n):
        y[i] = x[(i + 1) % n] - x[i] * x[(i - 2) % n]
    return np.sum(y * y)


ALONG = [neighbours, further, one_side, far_around]


@pytest.mark.parametrize("f", ALONG, ids=lambda f: f.__name__)
def test_rows_of_all_sizes(f: Callable[..., Any]) -> None:
    subject = Subject(tp.value_and_grad(f))
    for n in (0, 1, 2, 3, 4, 9, 40):
        subject.check((numbers(n),))


@pytest.mark.parametrize("f", [turned, two_turns], ids=lambda f: f.__name__)
def test_turns_that_are_not_known(f: Callable[..., Any]) -> None:
    subject = Subject(tp.value_and_grad(f))
    for n in (0, 1, 2, 5, 33):
        for k in (0, 1, -1, 4, -7, n, 2**62, -(2**62)):
            subject.check((numbers(n), k))


def test_planes_in_place() -> None:
    subject = Subject(tp.value_and_grad(periodic))
    for shape in ((0, 3), (1, 1), (2, 2), (3, 1), (1, 5), (7, 6)):
        subject.check((numbers(*shape), 3))


@pytest.mark.parametrize("f", [neighbours, further, one_side, turned, periodic], ids=lambda f: f.__name__)
def test_most_trips_wrap_nothing(f: Callable[..., Any]) -> None:
    """Two loops that read the same rolled array: in one of them no subscript wraps."""
    args = {turned: (numbers(40), 3), periodic: (numbers(6, 40), 2)}.get(f, (numbers(40),))
    text = Loops(f, args).text("optimised")
    inner = [part for part in re.split(r"\n(?= *for )", text)[1:] if "x" in part]
    plain = [part for part in inner if "wrap(j" not in part and re.search(r"x\w*\[.*[ij]\w* [-+] ", part)]
    assert plain, text


@pytest.mark.parametrize("f", [carried, ring], ids=lambda f: f.__name__)
def test_remainders_of_the_user_wrap_alike(f: Callable[..., Any]) -> None:
    """``x[(i + 1) % n]`` is what a rolled row is."""
    subject = Subject(tp.value_and_grad(f))
    for n in (0, 1, 2, 3, 9, 40):
        subject.check((numbers(n),))
    text = Loops(f, (numbers(40),)).text("optimised")
    middle, *others = [part for part in re.split(r"\n(?= *for )", text)[1:] if "wrap" not in part]
    assert re.search(r"x\w*\[i\w* \+ 1\]", middle) and not others, text
