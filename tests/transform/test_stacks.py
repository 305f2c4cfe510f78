"""Transforms two and three deep over a part of the corpus: each beside the lanes one by one, derived one by one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from corpus import all_programs
from differences import random_like
from test_batch import order, stacked

import transpile as tp

PROGRAMS = {p.name: p for p in all_programs() if p.wrt}
SOME = list(PROGRAMS)[::4]
QUICK = """straight.cubic trips.roots_of_each recursion.modes wrong_elsewhere.hypot_at_zero everyday_systems.max_key
kernels_statistics.soft_time_warping""".split()


class Case:
    """A program of one number in two lanes, with a direction for each."""

    def __init__(self, name: str) -> None:
        self.program = program = PROGRAMS[name]
        self.axes, self.whole, self.each = stacked(program, 2)
        self.wrt = next((k for k, a in enumerate(self.axes) if a == 0), 0)
        self.direction = random_like(self.whole[self.wrt], 3)
        self.f = program.fn
        self.gradient = tp.grad(self.f, self.wrt)

    def args(self) -> list[Any]:
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.whole]

    def moved(self, args: Any, f: Callable[..., Any], direction: Any) -> Any:
        """The derivative of ``f`` along a direction of the one argument."""
        k = self.wrt
        return tp.jvp(lambda x: f(*args[:k], x, *args[k + 1 :]), (args[k],), (direction,))[1]

    @cached_property
    def gradients(self) -> np.ndarray:
        return np.stack([np.asarray(self.gradient(*args)) for args in self.each])

    @cached_property
    def seconds(self) -> np.ndarray:
        found = [self.moved(args, self.gradient, d) for args, d in zip(self.each, self.direction)]
        return np.stack([np.asarray(one) for one in found])

    @property
    def with_directions(self) -> tuple[list[int | None], list[Any]]:
        return [*self.axes, 0], [*self.args(), self.direction]


def lanes_of_lanes(c: Case) -> tuple[Any, Any]:
    twice = [None if a is None else 0 for a in c.axes]
    args = [a if k is None else np.stack([a, a]) for a, k in zip(c.args(), c.axes)]
    values = np.array([c.f(*own) for own in stacked(c.program, 2)[2]])
    return tp.vmap(tp.vmap(c.f, c.axes), twice)(*args), np.stack([values, values])


def gradient_of_lanes(c: Case) -> tuple[Any, Any]:
    lanes = tp.vmap(c.f, c.axes)
    return tp.grad(lambda *args: lanes(*args) @ np.array([2.0, -1.0]), c.wrt)(*c.args()), (
        c.gradients.T * np.array([2.0, -1.0])
    ).T


def lanes_of_lanes_of_gradients(c: Case) -> tuple[Any, Any]:
    args = [a if k is None else np.stack([a, a]) for a, k in zip(c.args(), c.axes)]
    found = tp.vmap(tp.vmap(c.gradient, c.axes), [None if a is None else 0 for a in c.axes])(*args)
    return found, np.stack([c.gradients, c.gradients])


def lanes_of_directions(c: Case) -> tuple[Any, Any]:
    axes, args = c.with_directions
    return tp.vmap(lambda *a: c.moved(a[:-1], c.gradient, a[-1]), axes)(*args), c.seconds


def direction_of_lanes(c: Case) -> tuple[Any, Any]:
    return c.moved(c.args(), tp.vmap(c.gradient, c.axes), c.direction), c.seconds


def gradient_of_lanes_of_gradients(c: Case) -> tuple[Any, Any]:
    lanes = tp.vmap(c.gradient, c.axes)
    return tp.grad(lambda *args: np.sum(lanes(*args) * c.direction), c.wrt)(*c.args()), c.seconds


STACKS = {
    f.__name__: f
    for f in (
        lanes_of_lanes, gradient_of_lanes, lanes_of_lanes_of_gradients, lanes_of_directions, direction_of_lanes,
        gradient_of_lanes_of_gradients,
    )
}  # fmt: skip


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK)) for n in dict.fromkeys([*QUICK, *SOME])]
)
@pytest.mark.sampled(8)
def test_stack(name: str, stack: str) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case = Case(name)
        if set(case.axes) == {None} or not isinstance(case.f(*case.each[0]), float):
            pytest.skip("not one number of floats")
        case = Case(name)  # it may have written into the arguments
        try:
            case.seconds
        except (tp.TranspileError, ValueError, IndexError, ZeroDivisionError) as refused:
            pytest.skip(f"no second derivative: {type(refused).__name__}")
        for by_lane in (False, True) if name not in QUICK else (len(stack) % 2 == 0,):
            with order(by_lane):
                found, wanted = STACKS[stack](case)
            scale = float(np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted)))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11 * max(1.0, scale))
