"""Captured values, which each call reads anew: where they are, how they are read, and how `vjp` freezes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from transpile.base.held_copies import copy_of
from transpile.base.signature import collect


class Stale(Exception):
    """A captured value has another type than when the function was lifted, or a flag or function has changed."""


class Place:
    """Where a captured value is: a global variable of a module ("global"), a cell ("cell") or an object, and ``steps`` from
    there: ("attr", name) or ("item", key)."""

    __slots__ = ("holder", "kind", "name", "steps")

    def __init__(self, kind: str, holder: Any, name: str, steps: tuple[tuple[str, Any], ...]) -> None:
        self.kind, self.holder, self.name, self.steps = kind, holder, name, steps

    @staticmethod
    def of(captured: Any) -> Place:
        """The place of a `transpile.frontend.resolve.bindings.Captured`."""
        root = captured.root
        return Place(root.kind, root.holder, root.name, captured.steps)

    def read(self) -> Any:
        """The value that the place has now, taken from the holder by ``steps``; raises what the lookup raises if it is gone."""
        value = self.holder
        if self.kind == "global":
            value = value[self.name]
        elif self.kind == "cell":
            value = value.cell_contents
        for kind, key in self.steps:
            value = getattr(value, key) if kind == "attr" else value[key]
        return value

    def key(self) -> tuple[Any, ...]:
        """A hashable tuple; equal keys mean the same place."""
        return (self.kind, id(self.holder), self.name if self.kind == "global" else "", self.steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


def reader(places: Sequence[Place]) -> Callable[[], list[Any]] | None:
    """A function without arguments that returns the current values, in order; None if there are no places. It raises `Stale` if
    a value is gone or no longer has the structure and types that it has now."""
    if not places:
        return None
    expected = _key_of([_read(p) for p in places])

    def read() -> list[Any]:
        try:
            values = [_read(p) for p in places]
        except (AttributeError, LookupError, ValueError, TypeError):  # the value is gone: lifting again reports it
            raise Stale from None
        if _key_of(values) != expected:
            raise Stale
        return values

    return read


def _key_of(values: list[Any]) -> list[Any]:
    key: list[Any] = []
    collect(values, [], key)
    return key


# ------------------------------------------------------------------------------------------------------- holding

_held: ContextVar[dict[Place, Any] | None] = ContextVar("held", default=None)


class _Holders:
    """The number of open `holding` blocks, over all threads; if it is 0, the context variable need not be read."""

    def __init__(self) -> None:
        self.open = 0


HOLDERS = _Holders()


def _read(place: Place) -> Any:
    """The current value of a place; inside `holding`, the value when it was first read there, of an array a copy."""
    held = _held.get()
    if held is None:
        return place.read()
    if place not in held:
        value = place.read()
        held[place] = copy_of(value) if isinstance(value, np.ndarray) else value
    return held[place]


@contextmanager
def holding(held: dict[Any, Any]) -> Iterator[None]:
    """A context in which captured values are read from ``held``, which maps each `Place` to its value. A value read for the
    first time is added to ``held``, an array as a copy."""
    token = _held.set(held)
    HOLDERS.open += 1
    try:
        yield
    finally:
        HOLDERS.open -= 1
        _held.reset(token)
