"""What lifting reads outside a function and builds into the text: flags, strings, functions, the structure of containers.

Arrays and numbers are read at each call (`transpile.base.captured`); the rest is remembered here, so that a call after one of
them was changed lifts the function again.

>>> with recorded() as found:
...     note("global", {"mode": "relu"}, "mode", "relu")
>>> found[0].holds()
True
>>> found[0].holder["mode"] = "tanh"
>>> found[0].holds()
False
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from transpile.aggregates import Static, flatten, is_leaf, open_node

MISSING = object()
SAME = ("function", "default")  # kinds of which the very object is asked for


class Read:
    """One look outside: at ``key`` of ``holder``, which held ``value``. ``tree`` is the structure of a container.

    ``kind``: global, cell, attr, item; function: an attribute of a function, default: one of its defaults by name, the same object
    or another; has: whether there is such an attribute; content: what a set or deque holds; object: the holder itself; number: one
    at the end of steps from a place.
    `MISSING` is the value of a name that the module does not have, which is therefore Python's own.
    """

    __slots__ = ("holder", "key", "kind", "tree", "value")

    def __init__(self, kind: str, holder: Any, key: Any, value: Any, tree: Any = None) -> None:
        self.kind, self.holder, self.key, self.value, self.tree = kind, holder, key, value, tree

    def now(self) -> Any:
        """What stands there now; `MISSING` if nothing does."""
        return read_place(self.kind, self.holder, self.key)

    def holds(self) -> bool:
        """Whether it means what it meant."""
        value = self.now()
        if self.kind in SAME:
            return value is self.value
        if self.tree is not None:
            return value is not MISSING and flatten(value)[1] == self.tree
        return value is self.value or Static(value) == Static(self.value)  # of a content, tuples of Static


def read_place(kind: str, holder: Any, key: Any) -> Any:
    """What stands at a place now; `MISSING` if nothing does."""
    try:
        return _NOW[kind](holder, key)
    except (ValueError, LookupError, TypeError, AttributeError):
        return MISSING


_NOW: dict[str, Callable[[Any, Any], Any]] = {
    "global": lambda holder, key: holder.get(key, MISSING),
    "item": lambda holder, key: holder[key],
    "cell": lambda holder, key: holder.cell_contents,
    "attr": lambda holder, key: getattr(holder, key, MISSING),
    "function": lambda holder, key: getattr(holder, key, MISSING),
    "default": lambda holder, key: holder.get(key, MISSING),
    "object": lambda holder, key: holder,
    "number": lambda holder, key: _at_steps(holder, key),
    "has": hasattr,
    "content": lambda holder, key: content(holder),
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


def note(kind: str, holder: Any, key: Any, value: Any) -> None:
    """Remembers what stands at a place outside, unless that cannot be told from its next reading."""
    found = _open.get()
    if found is None or (kind, id(holder), key) in found:
        return
    contains = kind not in (*SAME, "content") and open_node(value) is not None
    read = Read(kind, holder, key, value, flatten(value)[1] if contains else None)
    if read.holds():
        found[kind, id(holder), key] = read


def note_data(kind: str, holder: Any, key: Any, value: Any) -> None:
    """The same for data that is read at each call: of that only the structure is remembered."""
    if not is_leaf(value):
        note(kind, holder, key, value)


def note_absent(holder: Any, key: str) -> None:
    """Remembers that a name of Python's own is not one of the module."""
    note("global", holder, key, MISSING)


_CHANGING: dict[type, Callable[[Any], Iterable[Any]]] = {
    set: set.__iter__,
    list: list.__iter__,
    deque: deque.__iter__,
    bytearray: bytearray.__iter__,
    memoryview: memoryview.tolist,
    dict: dict.items,
    MappingProxyType: MappingProxyType.items,
}
"""Containers of Python's own that lifting looks into where they are not opened to their leaves, and that may change."""


def content(held: Any) -> tuple[Static, ...]:
    """What a container holds now."""
    opened = next(items for cls, items in _CHANGING.items() if isinstance(held, cls))
    return tuple(map(Static, opened(held)))


def note_content(held: Any) -> None:
    """Remembers what a container outside holds: it stays the same object when that changes."""
    if isinstance(held, tuple(_CHANGING)):
        note("content", held, "", content(held))


_HEAP, _IMMUTABLE = (
    1 << 9,
    1 << 8,
)  # Py_TPFLAGS_HEAPTYPE; Py_TPFLAGS_IMMUTABLETYPE, of classes made in C whatever else they are


def is_written(cls: Any) -> bool:
    """Whether a class is written in Python."""
    return isinstance(cls, type) and cls.__flags__ & (_HEAP | _IMMUTABLE) == _HEAP


def note_member(cls: Any, name: str) -> None:
    """Remembers what a class has under a name, or that it has nothing there: methods, properties, operators."""
    if is_written(cls) and _is_users(cls):
        note("attr", cls, name, getattr(cls, name, MISSING))


def note_class(held: Any) -> None:
    """Remembers the class of an object outside."""
    if is_written(type(held)) and _is_users(type(held)):
        note("attr", held, "__class__", type(held))


def _is_users(cls: type) -> bool:
    return cls.__module__.partition(".")[0] not in ("transpile", "typing", "numpy", "builtins")


def note_number(found: Any) -> None:
    """Remembers a captured integer (a `transpile.frontend.resolve.bindings.Captured`) whose value is built into the text."""
    root = found.root
    if found.steps:  # all the way: a tuple on it may be replaced by another
        note("number", root.holder, (root.kind, root.name, found.steps), found.example)
    else:
        note(root.kind, root.holder, root.name, found.example)


def _at_steps(holder: Any, key: tuple[str, str, tuple[tuple[str, Any], ...]]) -> Any:
    kind, name, steps = key
    value = read_place(kind, holder, name)
    for step, part in steps:
        value = getattr(value, part) if step == "attr" else value[part]
    return value
