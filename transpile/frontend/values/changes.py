"""Which arguments a function changes: noted while it is lifted, so that each call can ask whether one is the memory of another.

>>> with recorded() as changes:
...     pass
>>> changes.containers, list(changes.written)
(False, [])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from transpile.aggregates import ArgLeaf

SHARED = "writes into an argument that shares memory with another argument: their derivatives are not defined"


class Changes:
    """``own``: the array leaves of the function's arguments, by identity; ``written``: those that it writes into; ``containers``:
    whether it changes a list, a dict or an object among its arguments."""

    def __init__(self) -> None:
        self.own: dict[int, ArgLeaf] = {}
        self.written: dict[int, ArgLeaf] = {}
        self.containers = False


_open: ContextVar[Changes | None] = ContextVar("changes", default=None)


@contextmanager
def recorded() -> Iterator[Changes]:
    """Collects what is noted inside."""
    found = Changes()
    token = _open.set(found)
    try:
        yield found
    finally:
        _open.reset(token)


def argument(tree: Any) -> None:
    """Notes what an argument of the function, or a part of one, is."""
    found = _open.get()
    if found is not None and isinstance(tree, ArgLeaf):
        found.own[id(tree)] = tree


def note(trees: Iterable[Any]) -> None:
    """Notes that one of these is written; None stands for what is no argument."""
    found = _open.get()
    if found is None:
        return
    for tree in trees:
        if isinstance(tree, ArgLeaf):
            found.written[id(tree)] = tree
        elif tree is not None:
            found.containers = True


def stand_for(leaves: Sequence[Any], others: Sequence[Any]) -> None:
    """Notes of leaves what is noted of the others, which were lifted for them: those of one lane."""
    found = _open.get()
    if found is None:
        return
    for leaf, other in zip(leaves, others):
        for noted in (found.own, found.written):
            if id(other) in noted:
                noted[id(leaf)] = leaf
