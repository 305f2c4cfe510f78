"""A table by identity: the statement or block of the forward sweep that one of the reverse sweep mirrors.

It keeps its keys alive, so that no later object with the same id is mistaken for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Twins(Generic[T]):
    """A mapping whose keys are compared by identity."""

    def __init__(self, held: Mapping[int, tuple[object, T]] | None = None) -> None:
        self._held: dict[int, tuple[object, T]] = dict(held or {})

    def __contains__(self, key: object) -> bool:
        return id(key) in self._held

    def __getitem__(self, key: object) -> T:
        return self._held[id(key)][1]

    def __setitem__(self, key: object, twin: T) -> None:
        self._held[id(key)] = key, twin

    def get(self, key: object) -> T | None:
        """The value for this very object; None if it is no key."""
        held = self._held.get(id(key))
        return None if held is None else held[1]

    def copy(self) -> Twins[T]:
        """A new table with the same keys and values, which are not copied."""
        return Twins(self._held)

    def mapped(self, copies: Twins[T]) -> Twins[T]:
        """A new table with the same keys, where ``copies`` maps each value to its copy; keys whose value has no copy are left
        out."""
        return Twins({k: (key, copies[twin]) for k, (key, twin) in self._held.items() if twin in copies})
