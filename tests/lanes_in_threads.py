"""The meaning of functions with collectives, without the compiler: Python runs each lane in its own thread, and the threads
meet at the collectives to exchange values.

>>> def f(x):
...     return x / lax.psum(x, "i")
>>> from transpile import lax
>>> vmap(f, axis_name="i")(np.array([1.0, 3.0]))
array([0.25, 0.75])
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

import transpile as tp
from transpile.tree import flatten, unflatten
from transpile.tree import map as tree_map

here: ContextVar[tuple[tuple[Any, Any, int], ...]] = ContextVar(
    "here", default=()
)  # (name, meeting, lane), outermost first


class Meeting:
    """The meeting point of the lanes of one vmap. Lanes of an inner vmap meet those with the same position in their own inner
    vmap."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.slots: dict[Any, list[Any]] = {}
        self.turns: dict[Any, int] = {}
        self.changed = threading.Condition()
        self.failed = False

    def exchange(self, place: Any, lane: int, value: Any) -> list[Any]:
        with self.changed:
            turn = self.turns[place, lane] = self.turns.get((place, lane), 0) + 1
            slot = self.slots.setdefault((place, turn), [])
            slot.append((lane, value))
            self.changed.notify_all()
            while len(slot) < self.lanes and not self.failed:
                self.failed = not self.changed.wait(20)
            if self.failed:
                raise RuntimeError("another lane has failed")
        return [v for _, v in sorted(slot, key=lambda s: s[0])]


def everyone(axis_name: Any, value: Any) -> list[Any]:
    """The value of each lane of an axis, or of several axes, the first one varying slowest."""
    if isinstance(axis_name, (tuple, list)):
        first, *rest = axis_name
        return [v for one in everyone(first, everyone(tuple(rest), value) if rest else [value]) for v in one]
    axes = here.get()
    k = next(k for k in reversed(range(len(axes))) if axes[k][0] == axis_name)
    _, meeting, lane = axes[k]
    return meeting.exchange(tuple(a[2] for a in axes[k + 1 :]), lane, value)


def of_leaves(f: Callable) -> Callable:
    return lambda x, axis_name, **options: tree_map(lambda leaf: f(everyone(axis_name, leaf), axis_name, **options), x)


def axis_index(axis_name: Any) -> int:
    names = axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)
    total = 0
    for name in names:
        _, meeting, lane = next(a for a in reversed(here.get()) if a[0] == name)
        total = total * meeting.lanes + lane
    return total


def ppermute(x: Any, axis_name: Any, perm: Any) -> Any:
    me = axis_index(axis_name)
    sender = {int(target): int(source) for source, target in perm}

    def got(leaf: Any) -> Any:
        each = everyone(axis_name, leaf)
        return each[sender[me]] if me in sender else 0 * np.asarray(leaf)[()]

    return tree_map(got, x)


def psum_scatter(parts: list, axis_name: Any, scatter_dimension: int = 0, tiled: bool = False) -> Any:
    total, me = sum(parts), axis_index(axis_name)
    if tiled:
        return np.split(total, len(parts), axis=scatter_dimension)[me]
    return np.take(total, me, axis=scatter_dimension)


LAX = SimpleNamespace(
    psum=of_leaves(lambda parts, _: sum(p + 0 for p in parts)),
    pmean=of_leaves(lambda parts, _: sum(parts) / len(parts)),
    pmax=of_leaves(lambda parts, _: np.max(parts, axis=0)),
    pmin=of_leaves(lambda parts, _: np.min(parts, axis=0)),
    all_gather=of_leaves(
        lambda parts, _, axis=0, tiled=False: np.concatenate(parts, axis) if tiled else np.stack(parts, axis)
    ),
    psum_scatter=of_leaves(psum_scatter),
    ppermute=ppermute,
    axis_index=axis_index,
    axis_size=lambda name: len(everyone(name, None)),
    scan=tp.lax.scan,
    fori_loop=tp.lax.fori_loop,
)


def vmap(f: Callable, in_axes: Any = 0, axis_name: Any = None) -> Callable:
    """As `transpile.vmap`, for functions that read ``lax`` as a global name; ``in_axes`` is an int, None or a tuple of
    these."""

    def call(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        n = next(len(np.moveaxis(flatten(a)[0][0], k, 0)) for a, k in zip(args, axes) if k is not None)
        meeting, found, errors = Meeting(n), [None] * n, []

        def lane(k: int) -> None:
            here.set((*here.get(), (axis_name, meeting, k)))
            own = [
                a if axis is None else tree_map(lambda leaf, axis=axis: np.moveaxis(leaf, axis, 0)[k], a)
                for a, axis in zip(args, axes)
            ]
            try:
                with np.errstate(all="ignore"):
                    found[k] = plain(f)(*own)
            except BaseException as failed:
                errors.append(failed)
                with meeting.changed:
                    meeting.failed = True
                    meeting.changed.notify_all()

        threads = [threading.Thread(target=copy_context().run, args=(lane, k)) for k in range(n)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if errors:
            raise errors[0]
        leaves = [flatten(y)[0] for y in found]
        return unflatten(flatten(found[0])[1], [np.stack(column) for column in zip(*leaves)])

    return call


def plain(f: Callable) -> Callable:
    """The function with these collectives in place of `transpile.lax`, and with this `vmap`."""
    names = {"lax": LAX, "tp": SimpleNamespace(vmap=vmap, lax=LAX, grad=tp.grad)}
    return FunctionType(f.__code__, {**f.__globals__, **names}, f.__name__, f.__defaults__, f.__closure__)
