"""The deep content of a value: static parts of a structure, which are not children of a node, are compared and copied by it.

Two values have the same content if they have one type and the same parts: elements of arrays, items of lists and dicts,
attributes of objects whose class defines equality. Functions, classes and objects of other classes equal only themselves.

>>> content([1, {"a": np.zeros(2)}]) == content([1, {"a": np.zeros(2)}])
True
>>> content([1]) == content([True]), content(0.0) == content(-0.0)
(False, False)
"""

from __future__ import annotations

import dataclasses
from abc import ABCMeta
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import FunctionType, MappingProxyType, MemberDescriptorType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


class Itself:
    """An object compared by identity; the reference keeps it alive, so that no other object gets its address."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return type(other) is Itself and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


class Parts(NamedTuple):
    """The parts of a value, a function that builds such a value from other parts, and whether the parts can be replaced in
    place."""

    items: Sequence[Any]
    again: Callable[[list[Any]], Any]
    changes: bool


_ATOMS = frozenset(
    (type(None), str, int, bool, bytes, type(Ellipsis), type(NotImplemented), range, FunctionType, type, np.dtype)
)


def content(value: Any) -> Any:
    """A hashable object, equal for two values if and only if they have the same type and the same content (see the module)."""
    return _content(value, {})


def _content(value: Any, around: dict[int, int]) -> Any:
    """As `content`; ``around`` maps the ids of the containers around the value to their depth, for values that contain
    themselves."""
    cls = type(value)
    if cls in _ATOMS:
        return (cls, value)
    if cls is float or cls is complex:
        return (cls, repr(value))  # -0.0 is not 0.0, nan is nan
    if id(value) in around:
        return ("around", around[id(value)])
    around[id(value)] = len(around)
    try:
        return (cls, _inside(value, around))
    finally:
        del around[id(value)]


def _inside(value: Any, around: dict[int, int]) -> Any:
    """The content of a value that is no atom, without its type; `Itself` for an object without parts or hash."""
    if isinstance(value, np.generic):
        return (value.dtype, value.tobytes())
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return (value.dtype, value.shape, value.tobytes())
    found = parts(value)
    if found is None:
        return Itself(value) if not is_hashed(value) else value
    held = [_content(v, around) for v in found.items]
    return frozenset(held) if isinstance(value, (set, frozenset)) else tuple(held)


def is_hashed(value: Any) -> bool:
    """Whether ``hash`` accepts the value."""
    try:
        hash(value)
    except (TypeError, ValueError):  # ValueError: a memoryview that may be written
        return False
    return True


def lasts(value: Any) -> bool:
    """True if the value is deeply immutable, or compared by its own hash, so that the same object always has the same
    content."""
    return _lasts(value, set())


def _lasts(value: Any, around: set[int]) -> bool:
    """As `lasts`; ``around`` has the ids of the containers around the value: one that contains itself does not last."""
    if type(value) in _ATOMS or isinstance(value, (float, complex, np.generic)):
        return True
    found = parts(value)
    if found is None:
        return is_hashed(value)
    if found.changes or id(value) in around:
        return False
    return all(_lasts(v, {*around, id(value)}) for v in found.items)


def copied(value: Any) -> Any:
    """A deep copy with the same content, safe from later changes; the value itself if nothing in it can change. Objects that
    are compared by identity or by their own hash are shared, not copied."""
    return _copied(value, set())


def _copied(value: Any, around: set[int]) -> Any:
    if id(value) in around or _lasts(value, set()):
        return value
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return value.copy()
    found = parts(value)
    return value if found is None else found.again([_copied(v, {*around, id(value)}) for v in found.items])


# --------------------------------------------------------------------------------------------------------- parts


def parts(value: Any) -> Parts | None:
    """The parts by which a value is compared; None if it is compared by identity or by its own hash."""
    cls = type(value)
    rule = _PARTS.get(cls)
    if rule is not None:
        return rule(value)
    if isinstance(value, tuple) and hasattr(cls, "_fields") and cls.__eq__ is tuple.__eq__:
        return Parts(value, lambda new: tuple.__new__(cls, new), False)
    return _of_object(value) if is_compared_by_state(cls) else None


def _of_dict(value: Any) -> Parts:
    cls = type(value)
    return Parts(
        [*value.keys(), *value.values()], lambda new: cls(zip(new[: len(new) // 2], new[len(new) // 2 :])), True
    )


def _of_defaultdict(value: Any) -> Parts:
    keys, made_by = len(value), value.default_factory
    return Parts([made_by, *value.keys(), *value.values()],
                 lambda new: defaultdict(made_by, zip(new[1 : keys + 1], new[keys + 1 :])), True)  # fmt: skip


def _of_objects(value: np.ndarray) -> Parts:
    def again(new: list[Any]) -> np.ndarray:
        made = np.empty(value.shape, value.dtype)
        made.reshape(-1)[:] = new[1:]
        return made

    return Parts([value.shape, *value.reshape(-1).tolist()], again, True)


_PARTS: dict[type, Callable[[Any], Parts]] = {
    tuple: lambda value: Parts(value, tuple, False),
    list: lambda value: Parts(value, list, True),
    dict: _of_dict,
    OrderedDict: _of_dict,
    defaultdict: _of_defaultdict,
    MappingProxyType: lambda value: Parts([dict(value)], lambda new: MappingProxyType(new[0]), True),
    set: lambda value: Parts(list(value), set, True),
    frozenset: lambda value: Parts(list(value), frozenset, False),
    slice: lambda value: Parts((value.start, value.stop, value.step), lambda new: slice(*new), False),
    bytearray: lambda value: Parts([bytes(value)], lambda new: bytearray(new[0]), True),
    deque: lambda value: Parts([value.maxlen, *value], lambda new: deque(new[1:], new[0]), True),
    SimpleNamespace: lambda value: Parts([dict(vars(value))], lambda new: SimpleNamespace(**new[0]), True),
    np.ndarray: _of_objects,
}


# ------------------------------------------------------------------------------------------------------- objects


def is_compared_by_state(cls: type) -> bool:
    """True if a class is written in Python, has an ``__eq__`` written in Python, and no state but attributes; False for classes
    of `transpile.frontend`."""
    known = _BY_STATE.get(cls)
    if known is None:
        own = isinstance(cls.__eq__, FunctionType) and not cls.__module__.startswith("transpile.frontend")
        known = _BY_STATE[cls] = own and all(c is object or _is_plain(c) for c in cls.__mro__)
    return known


_BY_STATE: dict[type, bool] = {}


def _is_plain(cls: type) -> bool:
    """Whether the objects of a class have no memory but attributes and slots: no base class is written in C."""
    return cls.__module__ == "typing" or type(cls) in (type, ABCMeta) and cls.__flags__ & _HEAP != 0


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def state(value: Any) -> dict[str, Any]:
    """A new dict of the attributes that an object holds itself, in its ``__dict__`` or in slots, without cached properties."""
    return {
        n: v for n, v in attributes(value).items() if not isinstance(getattr(type(value), n, None), cached_property)
    }


def attributes(value: Any) -> dict[str, Any]:
    """A new dict of the attributes that an object holds itself, in its ``__dict__`` or in slots."""
    found: dict[str, Any] = {}
    for cls in reversed(type(value).__mro__):
        for name, member in vars(cls).items():
            if isinstance(member, MemberDescriptorType):
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue  # the slot is empty
    return {**found, **getattr(value, "__dict__", {})}


def with_state(cls: type, held: Mapping[str, Any]) -> Any:
    """A new object of a class with the attributes ``held``; no code of the class runs."""
    made: Any = object.__new__(cls)
    for name, value in held.items():
        object.__setattr__(made, name, value)
    return made


def _of_object(value: Any) -> Parts:
    """The parts of an object that is compared by state: the tuple of its sorted attribute names, then the values in that
    order."""
    held, cls = state(value), type(value)
    names = sorted(held)
    is_frozen = dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return Parts(
        [tuple(names), *(held[n] for n in names)], lambda new: with_state(cls, dict(zip(names, new[1:]))), not is_frozen
    )
