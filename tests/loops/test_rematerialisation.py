"""Arrays that only branches read: what is computed again instead, what stays in memory, and that results are the same."""

from __future__ import annotations

import numpy as np
import pytest
from test_product_invariants import check, normal
from test_zero_skipping import branches, loops

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def stored(text: str, branch: str = "if ") -> int:
    """How many reads of elements of arrays made by the function stand in its branches, loops over sums not counted."""
    made = {line.split(" = ")[0].strip() for line in text.splitlines() if "= np.empty(" in line}
    lines = [line for line in text.splitlines() if line.strip()]
    depth = [len(line) - len(line.lstrip()) for line in lines]
    count = 0
    for k, line in enumerate(lines):
        around = [n for n in range(k) if all(depth[n] < depth[m] for m in range(n + 1, k + 1))]
        if any(lines[n].lstrip().startswith(branch) and depth[n] > 4 for n in around) and "=" in line:
            count += sum(f"{name}[" in line.split("=", 1)[1] for name in made)
    return count


# -------------------------------------------------------------------------------------------- what is computed again


def nearest(c, x):
    offsets = x[:, None, :] - c[None, :, :]
    return np.sum(np.min(np.sum(offsets * offsets, axis=2), axis=1))


def scaled(c, x):
    """Two operations."""
    offsets = x[:, None, :] * c[None, :, :] - c[None, :, :]
    return np.sum(np.max(np.sum(np.abs(offsets) + offsets**2, axis=2), axis=1))


def whole(c, x):
    """The array has an axis more than the loop that reads it, and is the same in all trips of the outer one."""
    offsets = x - c[0]
    far = np.sum(np.abs(offsets), axis=1)
    return np.sum(np.where(far > np.sum(c), far, 0.0))


AGAIN = (nearest, scaled, whole)


@pytest.mark.parametrize("fn", AGAIN, ids=names)
@pytest.mark.parametrize("shape", ((1, 1, 1), (3, 6, 9), (8, 21, 18), (5, 0, 10), (30, 4, 40)), ids=str)
def test_cheap_values_are_computed_again(fn, shape):
    k, n, d = shape
    args = normal(k, d), normal(n, d)
    check(fn, args)
    check(fn, args, (0,))
    if d > 8 and n > 1:
        text = loops(fn, args)
        assert branches(text) and not stored(text), text


@pytest.mark.parametrize("fn", AGAIN, ids=names)
def test_single_precision(fn):
    args = normal(4, 20).astype(np.float32), normal(9, 20).astype(np.float32)
    text = loops(fn, args)
    assert branches(text) and not stored(text), text


# ------------------------------------------------------------------------------------------------- what stays stored


def dear(c, x):
    """A function that takes longer than a read."""
    parts = np.exp(0.1 * x[:, None, :] * c[None, :, :])
    return np.sum(np.max(np.sum(parts, axis=2), axis=1))


def long(c, x):
    """More than two operations."""
    offsets = (x[:, None, :] - c[None, :, :]) * (c[None, :, :] + 1.0) - x[:, None, :] * 0.5
    return np.sum(np.min(np.sum(offsets * offsets, axis=2), axis=1))


STORED = (dear, long)


@pytest.mark.parametrize("fn", STORED, ids=names)
def test_dear_values_stay_stored(fn):
    args = normal(6, 14), normal(9, 14)
    check(fn, args)
    text = loops(fn, args)
    assert branches(text) and stored(text), text


def by_hand(c, x):
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            t[j] = c[j] - x[i]
        total += np.sum(t * t)
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[j])
    return total


def source_is_written(c, x):
    y = c.copy()
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            t[j] = y[j] - x[i]
        total += np.sum(t * t)
        for j in range(c.shape[0]):
            y[j] *= 0.5
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[j])
    return total


def reader_writes(c, x):
    """A trip of the reader changes what a later one would compute from."""
    y = c.copy()
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            t[j] = y[c.shape[0] - 1 - j] - x[i]
        total += np.sum(t * t)
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                y[j] = 0.5 * np.sin(t[j])
    return total + np.sum(y)


def before_it_is_written(c, x):
    """What the trip before has stored."""
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[j])
        for j in range(c.shape[0]):
            t[j] = c[j] - x[i]
        total += np.sum(t * t)
    return total


def other_range(c, x):
    """The last element is what it was at first."""
    t = np.full(c.shape[0], 3.0)
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0] - 1):
            t[j] = c[j] - x[i]
        total += np.sum(t * t)
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[j])
    return total


def other_element(c, x):
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            t[j] = c[j] - x[i]
        total += np.sum(t * t)
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[c.shape[0] - 1 - j])
    return total


def in_a_branch(c, x):
    """Only some elements are stored."""
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            if c[j] > 0.0:
                t[j] = c[j] - x[i]
        total += np.sum(t * t)
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[j])
    return total


def added_later(c, x):
    """What was stored is not what is read."""
    t = np.zeros(c.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            t[j] = c[j] - x[i]
        total += np.sum(t * t)
        for j in range(1, c.shape[0]):
            t[j] += t[j - 1]
        for j in range(c.shape[0]):
            if x[i] > c[j]:
                total += np.sin(t[j])
    return total


@pytest.mark.parametrize(
    "fn",
    (
        by_hand,
        added_later,
        source_is_written,
        reader_writes,
        before_it_is_written,
        other_range,
        other_element,
        in_a_branch,
    ),
    ids=names,
)
@pytest.mark.parametrize("n", (0, 1, 2, 15))
@pytest.mark.sampled(2)
def test_loops_by_hand(fn, n):
    args = normal(n), normal(11)
    text = check(fn, args)
    if n > 2:
        assert bool(stored(text)) == (fn is not by_hand), text
