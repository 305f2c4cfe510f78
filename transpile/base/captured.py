"""Values from outside the function that each call reads anew: where they stand, how they are read, and how `vjp` holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from transpile.base.held_copies import copy_of
from transpile.base.signature import collect


class Stale(Exception):
    """What stands outside the function is of another type than when it was lifted, or a flag or function has changed."""


class Place:
    """A variable of a module ("global"), a cell or an object, and ``steps`` from there: ("attr", name) or ("item", key)."""

    __slots__ = ("holder", "kind", "name", "steps")

    def __init__(self, kind: str, holder: Any, name: str, steps: tuple[tuple[str, Any], ...]) -> None:
        self.kind, self.holder, self.name, self.steps = kind, holder, name, steps

    @staticmethod
    def of(captured: Any) -> Place:
        """Of a `transpile.frontend.resolve.bindings.Captured`."""
        root = captured.root
        return Place(root.kind, root.holder, root.name, captured.steps)

    def read(self) -> Any:
        """What stands there now."""
        value = self.holder
        if self.kind == "global":
            value = value[self.name]
        elif self.kind == "cell":
            value = value.cell_contents
        for kind, key in self.steps:
            value = getattr(value, key) if kind == "attr" else value[key]
        return value

    def key(self) -> tuple[Any, ...]:
        return (self.kind, id(self.holder), self.name if self.kind == "global" else "", self.steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


def reader(places: Sequence[Place]) -> Callable[[], list[Any]] | None:
    """Reads the values, in order, and raises `Stale` if one is not of the type that it has now."""
    if not places:
        return None
    expected = _key_of([_read(p) for p in places])

    def read() -> list[Any]:
        try:
            values = [_read(p) for p in places]
        except (AttributeError, LookupError, ValueError, TypeError):  # nothing stands there: lifting says so
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
    """How many `holding` blocks are open, of all threads: where there is none, nobody has to ask."""

    def __init__(self) -> None:
        self.open = 0


HOLDERS = _Holders()


def _read(place: Place) -> Any:
    """What a captured value is now; inside `holding`, what it was when it was first read there."""
    held = _held.get()
    if held is None:
        return place.read()
    if place not in held:
        value = place.read()
        held[place] = copy_of(value) if isinstance(value, np.ndarray) else value
    return held[place]


@contextmanager
def holding(held: dict[Any, Any]) -> Iterator[None]:
    """Captured values are as they are in ``held``, which keeps copies of what is read for the first time."""
    token = _held.set(held)
    HOLDERS.open += 1
    try:
        yield
    finally:
        HOLDERS.open -= 1
        _held.reset(token)
