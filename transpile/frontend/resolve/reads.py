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

import numpy as np

from transpile.aggregates import Leaf, Static, flatten, is_leaf, open_node
from transpile.base.captured import Place
from transpile.base.content import attributes

MISSING = object()
SAME = ("function", "default")  # kinds of which the very object is asked for


class Read:
    """One look outside: at ``key`` of ``holder``, which held ``value``. ``tree`` is the structure of data (a container, an array,
    a number), ``loose`` are its leaves that no call reads, as numbers, each with its kind: they may have been asked for that.

    ``kind``: global, cell, attr, item; function: an attribute of a function, default: one of its defaults by name, the same object
    or another; has: whether there is such an attribute; content: what a set or deque holds; object: the holder itself; number: one
    or something else at the end of steps from a place; part: the same of a part of a container; fields: the attributes of an object
    there; entries: what an array there holds; signs: which of its numbers are negative.
    `MISSING` is the value of a name that the module does not have, which is therefore Python's own.
    """

    __slots__ = ("holder", "key", "kind", "loose", "tree", "value")

    def __init__(self, kind: str, holder: Any, key: Any, value: Any, tree: Any = None, loose: Any = ()) -> None:
        self.kind, self.holder, self.key, self.value = kind, holder, key, value
        self.tree, self.loose = tree, tuple(loose)

    def now(self) -> Any:
        """What stands there now; `MISSING` if nothing does."""
        return read_place(self.kind, self.holder, self.key)

    def holds(self) -> bool:
        """Whether it means what it meant."""
        value = self.now()
        if self.kind in SAME:
            return value is self.value
        if self.tree is not None and value is not MISSING:
            leaves, tree = flatten(value)
            return tree == self.tree and all(leaf_kind(leaves[k]) == kind for k, kind in self.loose)
        return value is self.value or Static(value) == Static(self.value)  # of a content, tuples of Static


def leaf_kind(leaf: Any) -> Any:
    """What of a leaf decides a program that does not read it: its type, of an array its dtype, its rank and its sizes of 1."""
    if not isinstance(leaf, np.ndarray):
        return type(leaf)
    return type(leaf), leaf.dtype, tuple([n == 1 for n in leaf.shape])


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
    "fields": lambda holder, key: tuple(attributes(_at_steps(holder, key))),
    "part": lambda holder, key: _at_steps(holder, key),
    "entries": lambda holder, key: _entries(_at_steps(holder, key)),
    "signs": lambda holder, key: _signs(_at_steps(holder, key)),
    "has": hasattr,
    "content": lambda holder, key: content(holder),
}

_open: ContextVar[dict[Any, Read] | None] = ContextVar("reads", default=None)
_parts: ContextVar[dict[Any, Any] | None] = ContextVar("parts", default=None)
Steps = tuple[tuple[str, Any], ...]


class Reads(list[Read]):
    """What was read; ``parts``: of dicts and lists, by their places, what was looked at, None for all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[Any, dict[tuple[str, Any], None] | None] = {}


@contextmanager
def recorded() -> Iterator[Reads]:
    """Collects what is noted inside, in a list that is filled at the end."""
    found: dict[Any, Read] = {}
    reads = Reads()
    token, looks = _open.set(found), _parts.set(reads.parts)
    try:
        yield reads
    finally:
        _open.reset(token)
        _parts.reset(looks)
        reads += found.values()


def note_parts(place: tuple[Any, ...], parts: Steps | None) -> None:
    """Remembers what was looked at of a container: all of it, if it was at any time."""
    found = _parts.get()
    if found is not None:
        before = found.get(place, {})
        found[place] = None if parts is None or before is None else {**before, **dict.fromkeys(parts)}


def note(kind: str, holder: Any, key: Any, value: Any) -> None:
    """Remembers what stands at a place outside, unless that cannot be told from its next reading."""
    contains = kind not in (*SAME, "content") and open_node(value) is not None
    _noted(Read(kind, holder, key, value, *(_of_data(value) if contains else ())), (kind, id(holder), key))


def note_data(kind: str, holder: Any, key: Any, value: Any) -> None:
    """The same for data that is read at each call: of that only the structure is remembered, and what its leaves are."""
    if is_leaf(value):
        _noted(Read(kind, holder, key, value, *_of_data(value)), (kind, id(holder), key))
    else:
        note(kind, holder, key, value)


def _of_data(value: Any) -> tuple[Any, list[tuple[int, Any]]]:
    leaves, tree = flatten(value)
    return tree, [(k, leaf_kind(leaf)) for k, leaf in enumerate(leaves)]


def _noted(read: Read, slot: Any) -> None:
    found = _open.get()
    if found is not None and slot not in found and read.holds():
        found[slot] = read


def settled(reads: Reads, places: Iterable[Place], is_narrow: bool = True) -> list[Read]:
    """The reads, less what each call asks of what it reads at the ``places`` itself; with ``is_narrow`` those of dicts and lists
    are replaced by those of the parts that were looked at."""
    known = {place.key() for place in places}
    found: list[Read] = []
    parts = reads.parts if is_narrow else {}
    for read in [part for whole in reads for part in _narrowed(whole, parts)]:
        if read.tree is not None:
            at = list(_leaf_places(read.value, _start(read)))
            read.loose = tuple([(k, kind) for k, kind in read.loose if known.isdisjoint(at[k])])
        if read.loose or not isinstance(read.tree, Leaf):
            found.append(read)
    return found


def _narrowed(read: Read, parts: dict[Any, Any]) -> Iterator[Read]:
    """The reads of the parts of a container that were looked at; the read itself where that is all of it."""
    found = [()] if read.tree is None or read.kind == "number" else list(_looked_at(_start(read), read.value, parts))
    for steps in found:
        if not steps:
            yield read
            continue
        value = read.value
        for _, key in steps:
            value = value[key]
        data = _of_data(value) if is_leaf(value) or open_node(value) is not None else ()
        yield Read("part", read.holder, (read.kind, read.key, steps), value, *data)


def _looked_at(place: tuple[Any, ...], value: Any, parts: dict[Any, Any]) -> Iterator[Steps]:
    """The steps to what was looked at of a value."""
    looked = parts.get(place) if type(value) in (dict, list) else None
    if looked is None:
        yield ()
    for step in looked or ():
        for rest in _looked_at((*place[:3], (*place[3], step)), value[step[1]], parts):
            yield (step, *rest)


def _start(read: Read) -> tuple[Any, ...]:
    """The place of a read, as `transpile.base.captured.Place.key` says it."""
    if read.kind == "number":
        kind, name, steps = read.key
        return (kind, id(read.holder), name if kind == "global" else "", steps)
    if read.kind == "part":
        kind, key, steps = read.key
        *start, before = _start(Read(kind, read.holder, key, None))
        return (*start, (*before, *steps))
    of_object = read.kind in ("attr", "item", "object")
    steps = ((read.kind, read.key),) if read.kind in ("attr", "item") else ()
    return ("object" if of_object else read.kind, id(read.holder), read.key if read.kind == "global" else "", steps)


def _leaf_places(value: Any, place: tuple[Any, ...]) -> Iterator[set[Any]]:
    """For each leaf the places that it may be read at."""
    opened = None if is_leaf(value) else open_node(value)
    if is_leaf(value):
        yield {place}
    elif opened is not None:
        kind, children, keys, _ = opened
        for k, child in enumerate(children):
            names = [("attr", keys[k])] if kind in ("dataclass", "namedtuple") else []
            names += [] if kind == "dataclass" else [("item", keys[k] if kind == "dict" else k)]
            ways = [list(_leaf_places(child, (*place[:3], (*place[3], step)))) for step in names]
            yield from (set().union(*same) for same in zip(*ways))


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
    key = (root.kind, root.name, found.steps)
    if found.steps:  # all the way: a tuple on it may be replaced by another
        read = Read("number", root.holder, key, found.example)
    else:
        read = Read(root.kind, root.holder, root.name, found.example)
    _noted(read, ("number", id(root.holder), key))


def note_way(found: Any) -> None:
    """Remembers what stands at the end of the steps of a `transpile.frontend.resolve.bindings.Captured`."""
    value = found.example
    is_data = is_leaf(value) or open_node(value) is not None
    _note_at("number", found, value, *(_of_data(value) if is_data else ()))


def note_fields(found: Any, names: tuple[str, ...]) -> None:
    """Remembers the names of the attributes of what stands there."""
    _note_at("fields", found, names)


def note_entries(found: Any) -> None:
    """Remembers a captured array whose entries are built into the text."""
    _note_at("entries", found, _entries(found.example))


def note_signs(found: Any) -> None:
    """Remembers which numbers of a captured integer, or array of integers, are negative."""
    _note_at("signs", found, _signs(found.example))


def _note_at(kind: str, found: Any, value: Any, *data: Any) -> None:
    """Remembers something of what stands at the end of the steps of a captured value."""
    key = (found.root.kind, found.root.name, found.steps)
    _noted(Read(kind, found.root.holder, key, value, *data), (kind, id(found.root.holder), key))


def _signs(value: Any) -> Any:
    return tuple((np.ravel(value) < 0).tolist())


def _entries(value: Any) -> tuple[Any, ...]:
    """What an array holds: it stays the same object when that changes."""
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else (type(value),)


def _at_steps(holder: Any, key: tuple[str, str, tuple[tuple[str, Any], ...]]) -> Any:
    kind, name, steps = key
    value = read_place(kind, holder, name)
    for step, part in steps:
        value = getattr(value, part) if step == "attr" else value[part]
    return value
