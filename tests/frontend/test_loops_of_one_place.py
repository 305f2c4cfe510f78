"""What a loop learns of the types that it carries is of that name, object and call alone."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

X = np.array([0.7, 1.3, 0.4])


class Holder:
    def __init__(self, total):
        self.total = total


def objects(x):
    count, total = Holder(0), Holder(0)
    for k in range(len(x)):
        total.total = total.total + 0.5 * x[k]
        count.total = count.total + 1
    return count.total, total.total, count.total // 2, 2**count.total


def lists(x):
    count, total = [0], [0]
    for k in range(len(x)):
        count[0] = count[0] + 1
        total[0] = total[0] + x[k]
    return count[0], total[0], count[0] // 2


def frames(x):
    total = 0

    def add():
        nonlocal total
        total = total + 1

    def run():
        total = 0
        for k in range(len(x)):
            add()
            total = total + x[k]
        return total

    return run(), total, total // 2, 2**total


def count(x, step):
    total = 0
    for _ in range(len(x)):
        total = total + step
    return total


def until(x, step):
    total = 0
    while total < 3.0 * x[0]:
        total = total + step
    return total


STEPS = (0.5, 1, np.float32(2.0), 3)


def of_generator(x):
    return tuple(count(x, step) for step in STEPS)


def of_map(x):
    return tuple(map(lambda step: count(x, step), STEPS))


def of_loop(x):
    found = []
    for step in STEPS:
        found.append(until(x, step))
    return tuple(found)


def of_tree(x):
    return tp.tree.map(lambda step: count(x, step), (0.5, 1, 3))


def of_reduce(x):
    return functools.reduce(lambda made, step: (*made, count(x, step)), (0.5, 1, 3), ())


def of_largest(x):
    return max((0.5, 1, 2), key=lambda step: -count(x, step)), count(x, 1)


def counter():
    n = 0

    def bump(step):
        nonlocal n
        n = n + step
        return n

    return bump


def of_frames_of_one_place(x):
    whole, half = [counter() for _ in range(2)]
    for _ in x:
        whole(1)
        half(0.5)
    return whole(1), half(0.5), 2 ** whole(1)


class Logged:
    """Its operators note the type of what a loop adds up."""

    def __init__(self, step, log):
        self.step, self.log = step, log

    def note(self, other):
        self.log.append(count(X, other.step))
        return True

    def __add__(self, other):
        self.note(other)
        return self

    def __radd__(self, other):
        return self

    def __lt__(self, other):
        return self.note(other)

    __gt__ = __lt__

    def __bool__(self):
        return self.note(self)


def of_sums(x):
    log = []
    sum([Logged(3, log), Logged(0.5, log), Logged(1, log)])
    return tuple(log)


def of_comparisons(x):
    log = []
    assert Logged(3, log) < Logged(0.5, log) < Logged(1, log)
    return tuple(log)


def of_all(x):
    log = []
    assert all([Logged(0.5, log), Logged(1, log), Logged(3, log)])
    return tuple(log)


def of_max(x):
    log = []
    max([Logged(0.5, log), Logged(3, log), Logged(0.5, log), Logged(1, log)])
    return tuple(log)


@pytest.mark.parametrize(
    "f",
    [
        objects,
        lists,
        frames,
        of_generator,
        of_map,
        of_loop,
        of_tree,
        of_reduce,
        of_largest,
        of_frames_of_one_place,
        of_sums,
        of_comparisons,
        of_all,
        of_max,
    ],
    ids=lambda f: f.__name__,
)
def test_types_are_those_of_each(f):
    wanted, got = f(X), Transformed(f, Level())(X)
    assert len(wanted) == len(got)
    for a, b in zip(got, wanted):
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.allclose(a, b), (got, wanted)
