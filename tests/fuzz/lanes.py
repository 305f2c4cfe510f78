"""A random program in lanes: under `vmap`, over and under its derivatives, twice, and compiled, compared with the lanes one by
one.

Random, but fixed for given arguments: which arguments have lanes, along which axis, the number of lanes, and the axis of the
results.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from differences import Subject, floats, random_like, same_tree
from lane_orders import order

from transpile.aggregates import flatten, unflatten

CLOSE, FLOOR = 1e-9, 1e-3  # tolerances between two computations of one number, relative to its neighbours


class Lanes:
    """Some arguments of a program with lanes, and the results of single lanes."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.rng = rng = random.Random(repr(subject.args()))
        self.count = rng.choice((1, 2, 3, 3, 5))
        ranks = [np.ndim(a) for a in subject.args()]
        chosen = [k for k in range(len(ranks)) if rng.random() < 0.7] or [rng.choice(subject.wrt)]
        if not set(chosen) & set(subject.wrt):
            chosen.append(rng.choice(subject.wrt))
        self.axes = tuple(
            rng.randrange(-ranks[k] - 1, ranks[k] + 1) if k in chosen else None for k in range(len(ranks))
        )
        self.out = rng.choice((0, 0, -1))

    def f(self, *args: Any) -> Any:
        return self.subject.f(*args)

    def lane(self, j: int, scale: float) -> tuple[Any, ...]:
        rng = np.random.default_rng([j, 5])
        return tuple(
            a if axis is None else _moved(a, rng, scale * (j > 0)) for a, axis in zip(self.subject.args(), self.axes)
        )

    @cached_property
    def each(self) -> list[tuple[Any, ...]]:
        """The arguments of the lanes, shifted far enough to take different branches where that is a fair test."""
        for scale in (0.5, 0.1, 1e-3, 0.0):
            found = [self.lane(j, scale) for j in range(self.count)]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    values = [self.subject.f(*(own(a) for a in args)) for args in found]
                    for args in found:  # integers with lanes are NumPy's, which wrap
                        self.subject.f(*(np.int64(a) if type(a) is int else own(a) for a in args))
            except Exception:  # it fails in plain NumPy there
                continue
            numbers = [np.ravel(leaf) for value in values for leaf in floats(value)]
            forms = {tuple(np.shape(leaf) for leaf in flatten(value)[0]) for value in values}
            if len(forms) == 1 and np.all(np.abs(np.concatenate([*numbers, np.zeros(1)])) < 1e4):
                return found
        return []

    def whole(self) -> tuple[Any, ...]:
        return self.of_all([[own(a) for a in args] for args in self.each])

    def of_all(self, each: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        return tuple(
            each[0][k] if axis is None else np.stack([np.asarray(args[k]) for args in each], axis)
            for k, axis in enumerate(self.axes)
        )


def _moved(a: Any, rng: np.random.Generator, scale: float) -> Any:
    if isinstance(a, (bool, int)):
        return max(0, a + int(rng.integers(-1, 3))) if scale else a
    moved = a + scale * rng.standard_normal(np.shape(a))
    return moved if isinstance(a, np.ndarray) else float(moved)


def own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def stacked(each: Sequence[Any], axis: int) -> Any:
    """The trees of all lanes stacked into one."""
    leaves = [flatten(tree)[0] for tree in each]
    return unflatten(flatten(each[0])[1], [np.stack([np.asarray(x) for x in column], axis) for column in zip(*leaves)])


def stages(subject: Subject, tp: Any, compiled: bool) -> list[tuple[str, Callable[[], Any]]]:
    """The checks, by name."""
    lanes = Lanes(subject)
    if not lanes.each:
        return []
    check = _Checks(lanes, tp)
    found = [
        ("vmap", check.values),
        ("vmap of grad", check.gradients),
        ("grad of vmap", check.gradient_of_all),
        ("jvp of vmap", check.forward),
        ("vmap of vmap", check.twice),
    ]
    return [*found, ("vmap compiled", check.compiled)] if compiled else found


class _Checks:
    def __init__(self, lanes: Lanes, tp: Any) -> None:
        self.lanes, self.tp = lanes, tp
        subject, axes = lanes.subject, lanes.axes
        f = subject.f
        self.f = lambda *args: f(*(own(a) for a in args))
        self.wrt = subject.wrt if len(subject.wrt) > 1 else subject.wrt[0]
        self.total = summed(subject, self.f)
        self.by_lane = lanes.rng.random() < 0.5
        self.all = tp.vmap(self.f, in_axes=axes, out_axes=lanes.out)
        vmapped = tp.vmap(self.total, in_axes=axes)
        self.weights = weights = np.linspace(0.5, 1.5, lanes.count)
        self.loss = lambda *args: np.sum(weights * vmapped(*args))
        self.gradient = tp.grad(self.total, argnums=self.wrt)

    def compare(self, found: Any, wanted: Any, what: str) -> None:
        same_tree(found, wanted, what, CLOSE, FLOOR)

    @cached_property
    def each_gradient(self) -> list[Any]:
        return [self.gradient(*args) for args in self.lanes.each]

    def values(self) -> None:
        wanted = stacked([self.f(*args) for args in self.lanes.each], self.lanes.out)
        for by_lane in (False, True):
            with order(by_lane):
                self.compare(self.all(*self.lanes.whole()), wanted, f"vmap, by lane {by_lane}")

    def gradients(self) -> None:
        with order(self.by_lane):
            found = self.tp.vmap(self.gradient, in_axes=self.lanes.axes)(*self.lanes.whole())
        self.compare(found, stacked(self.each_gradient, 0), "vmap of grad")

    def gradient_of_all(self) -> None:
        with order(not self.by_lane):
            found = self.tp.grad(self.loss, argnums=self.wrt)(*self.lanes.whole())
        self.compare(found, self.wanted_of_all, "grad of vmap")

    @cached_property
    def wanted_of_all(self) -> Any:
        """The weighted gradients of the lanes: stacked for arguments with lanes, else summed."""
        each = [g if isinstance(g, tuple) else (g,) for g in self.each_gradient]
        axes = [self.lanes.axes[k] for k in self.lanes.subject.wrt]
        found = []
        for k, axis in enumerate(axes):
            parts = [w * g[k] for w, g in zip(self.weights, each)]
            found.append(sum(parts) if axis is None else np.stack([np.asarray(p) for p in parts], axis))
        return tuple(found) if isinstance(self.each_gradient[0], tuple) else found[0]

    def forward(self) -> None:
        whole = self.lanes.whole()
        tangents = tuple(
            random_like(a, 7 + k) if k in self.lanes.subject.wrt else _zero(a) for k, a in enumerate(whole)
        )
        with order(self.by_lane):
            _, found = self.tp.jvp(self.loss, whole, tangents)
        gradients = self.wanted_of_all if isinstance(self.wanted_of_all, tuple) else (self.wanted_of_all,)
        wanted = sum(np.sum(g * tangents[k]) for k, g in zip(self.lanes.subject.wrt, gradients))
        terms = sum(np.sum(np.abs(g * tangents[k])) for k, g in zip(self.lanes.subject.wrt, gradients))
        assert abs(found - wanted) <= CLOSE * max(1.0, float(terms)), f"jvp of vmap: {found!r}, not {wanted!r}"

    def twice(self) -> None:
        """Lanes of lanes: the same lanes twice, along other axes; an argument without lanes gets some or stays shared."""
        lanes = self.lanes
        outer = tuple(None if k % 2 and a is not None else 0 for k, a in enumerate(lanes.axes))
        if all(a is None for a in outer):
            outer = tuple(0 for _ in outer)
        first, second = lanes.each, [tuple(_nudged(a) for a in args) for args in lanes.each]
        groups = [
            [tuple(b if o is not None else a for a, b, o in zip(x, y, outer)) for x, y in zip(first, other)]
            for other in (first, second)
        ]
        for group in groups:  # arguments shared in a group are those of its first lane
            group[:] = [
                tuple(a if axis is not None else b for a, b, axis in zip(args, group[0], lanes.axes)) for args in group
            ]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                each = [stacked([self.f(*args) for args in group], lanes.out) for group in groups]
        except Exception:
            return
        wholes = [lanes.of_all([[own(a) for a in args] for args in group]) for group in groups]
        args = [np.stack([w[k] for w in wholes]) if o is not None else wholes[0][k] for k, o in enumerate(outer)]
        with order(self.by_lane):
            found = self.tp.vmap(self.all, in_axes=outer)(*args)
        self.compare(found, stacked(each, 0), "vmap of vmap")

    def compiled(self) -> None:
        lanes, jit = self.lanes, self.tp.jit
        self.compare(
            jit(self.all)(*lanes.whole()), stacked([self.f(*args) for args in lanes.each], lanes.out), "jit of vmap"
        )
        found = jit(self.tp.vmap(self.gradient, in_axes=lanes.axes))(*lanes.whole())
        self.compare(found, stacked(self.each_gradient, 0), "jit of vmap of grad")
        found = jit(self.tp.grad(self.loss, argnums=self.wrt))(*lanes.whole())
        self.compare(found, self.wanted_of_all, "jit of grad of vmap")


def summed(subject: Subject, f: Callable[..., Any]) -> Callable[..., Any]:
    """The program with the sum of all its results, unless it returns one number."""
    if isinstance(subject.value, float):
        return f
    if isinstance(subject.value, tuple):
        return lambda *args: sum(np.sum(part) for part in f(*args))
    return lambda *args: np.sum(f(*args))


def _zero(a: Any) -> Any:
    return np.zeros(np.shape(a), np.asarray(a).dtype) if isinstance(a, np.ndarray) else type(a)(0)


def _nudged(a: Any) -> Any:
    return a if isinstance(a, (bool, int)) else a * 0.98
