"""What lifting reads outside a function and builds into the text: flags, strings, functions, the structure of containers.

Arrays and numbers are read at each call (`transpile.frontend.capture`); the rest is remembered here, so that a call after one of
them was changed lifts the function again.

>>> with recorded() as found:
...     note("global", {"mode": "relu"}, "mode", "relu")
>>> unchanged = checker(found)
>>> unchanged()
True
>>> found[0].holder["mode"] = "tanh"
>>> unchanged()
False
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from transpile.tree import Static, flatten, is_leaf, open_node

MISSING = object()


@dataclass(frozen=True, slots=True)
class Read:
    """One look outside: at ``key`` of ``holder``, which held ``value``. ``tree`` is the structure of a container."""

    kind: str  # global, cell, attr; function: an attribute of a function, the same object or another
    holder: Any
    key: str
    value: Any
    tree: Any = None

    def now(self) -> Any:
        """What stands there now; `MISSING` if nothing does."""
        return _NOW[self.kind](self.holder, self.key)

    def holds(self) -> bool:
        """Whether it means what it meant."""
        value = self.now()
        if self.kind == "function":
            return value is self.value
        if self.tree is not None:
            return value is not MISSING and flatten(value)[1] == self.tree
        return value is self.value or Static(value) == Static(self.value)


def _cell(cell: Any, key: str) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


_NOW: dict[str, Callable[[Any, str], Any]] = {
    "global": lambda holder, key: holder.get(key, MISSING),
    "cell": _cell,
    "attr": lambda holder, key: getattr(holder, key, MISSING),
    "function": lambda holder, key: getattr(holder, key, MISSING),
}

_open: ContextVar[dict[Any, Read] | None] = ContextVar("reads", default=None)


@contextmanager
def recorded() -> Iterator[list[Read]]:
    """Collects what is noted inside, in a list that is filled at the end."""
    found: dict[Any, Read] = {}
    reads: list[Read] = []
    token = _open.set(found)
    try:
        yield reads
    finally:
        _open.reset(token)
        reads += found.values()


def note(kind: str, holder: Any, key: str, value: Any) -> None:
    """Remembers what stands at a place outside, unless that is a module, or cannot be told from its next reading."""
    found = _open.get()
    if found is None or isinstance(value, types.ModuleType) or (kind, id(holder), key) in found:
        return
    contains = kind != "function" and open_node(value) is not None
    read = Read(kind, holder, key, value, flatten(value)[1] if contains else None)
    if read.holds():
        found[kind, id(holder), key] = read


def note_data(kind: str, holder: Any, key: str, value: Any) -> None:
    """The same for data that is read at each call: of that only the structure is remembered."""
    if not is_leaf(value):
        note(kind, holder, key, value)


def checker(reads: list[Read]) -> Callable[[], bool] | None:
    """A function that says whether all that was read means what it meant; None if there is nothing to ask."""
    if not reads:
        return None
    plain = [r for r in reads if r.tree is None and r.key.isidentifier() and r.now() is r.value]
    others = [r for r in reads if all(r is not p for p in plain)]
    identical = _identical(plain)

    def unchanged() -> bool:
        try:
            same = identical()
        except (AttributeError, ValueError):
            return False
        return (same or all(r.holds() for r in plain)) and (not others or all(r.holds() for r in others))

    return unchanged


_TEXT = {
    "global": "h{k}.get({key!r}, MISSING) is v{k}",
    "cell": "h{k}.cell_contents is v{k}",
    "attr": "h{k}.{key} is v{k}",
    "function": "h{k}.{key} is v{k}",
}


def _identical(reads: list[Read]) -> Callable[[], bool]:
    """Whether each place holds the very same object, as one expression: it is asked at every call."""
    scope: dict[str, Any] = {"MISSING": MISSING}
    for k, read in enumerate(reads):
        scope[f"h{k}"], scope[f"v{k}"] = read.holder, read.value
    tests = [_TEXT[r.kind].format(k=k, key=r.key) for k, r in enumerate(reads)]
    exec(f"def identical():\n    return {' and '.join(tests) or True}", scope)
    return scope["identical"]
