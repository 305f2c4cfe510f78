"""Paths to objects that lifting read, by which another process finds them again: a root, and steps from there.

Roots are the transformed function, the arguments of its call, and modules. A step is plain data: ``("cell", "scale")`` of a
function, ``("attr", "weights")`` of an object, ``("global", "rate")`` of a namespace.

>>> import functools
>>> double = functools.partial(pow, 2)
>>> trail = Trail({"target": double})
>>> trail.to(double.func)
('target', ('attr', 'func'))
>>> follow(("target", ("attr", "func")), {"target": double}) is pow
True
"""

from __future__ import annotations

import functools
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from transpile.frontend.resolve.reads import MISSING, read_place

Path = tuple[Any, ...]  # the name of a root, then steps
_LIMIT = 20_000  # objects visited at most
_NUMBERS = (int, float, complex, np.generic)
_LEAVES = (str, bytes, *_NUMBERS, type(None), np.ndarray, np.dtype, types.ModuleType)  # not searched


class Lost(Exception):
    """No path to an object was found."""


class Trail:
    """A breadth-first search for paths to objects; the order makes the path the same each time."""

    def __init__(self, roots: Mapping[str, Any]) -> None:
        self.paths: dict[int, Path] = {}
        self.held: list[Any] = []
        self.waiting: deque[Any] = deque()
        for name, value in roots.items():
            self.add(value, (name,))

    def add(self, value: Any, path: Path) -> None:
        """Records ``path`` as that of ``value``, if none is recorded; for a function, also the paths to its parts."""
        if id(value) in self.paths:
            return
        self.paths[id(value)] = path
        self.held.append(value)  # its id stays taken
        if isinstance(value, types.FunctionType):
            for step, found in _near(value):
                self.add(found, (*path, step))
        elif not isinstance(value, _LEAVES):
            self.waiting.append(value)

    def knows(self, value: Any) -> bool:
        """True if `to` needs no search: a path to the object is recorded, or it is a number."""
        return id(value) in self.paths or isinstance(value, _NUMBERS)

    def to(self, value: Any) -> Path:
        """The path to an object, found by searching on from the roots; raises `Lost` if there is none. The path of a number
        contains the number."""
        if isinstance(value, _NUMBERS):
            return ("number", ("number", value))
        while id(value) not in self.paths:
            if not self.waiting or len(self.paths) > _LIMIT:
                return self.in_module(value)
            near = self.waiting.popleft()
            for step, found in _near(near):
                self.add(found, (*self.paths[id(near)], step))
        return self.paths[id(value)]

    def in_module(self, value: Any) -> Path:
        """The path to a module, to its namespace (a dict), or to an object by its module and qualified name; raises `Lost` if
        that does not lead to ``value`` itself."""
        name = value.__name__ if isinstance(value, types.ModuleType) else None
        if type(value) is dict:
            name = value.get("__name__")
            path: Path = ("module", ("module", name), ("attr", "__dict__"))
        elif name is not None:
            path = ("module", ("module", name))
        else:
            name, inner = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
            path = ("module", ("module", name), *(("attr", part) for part in inner.split(".")))
        if isinstance(name, str) and follow(path, {}) is value:
            return path
        raise Lost(repr(value))


def follow(path: Path, roots: Mapping[str, Any]) -> Any:
    """The object to which a path leads now, from ``roots``, objects by name; `MISSING` if there is none."""
    value = roots.get(path[0], MISSING) if path[0] not in ("module", "number") else None
    for kind, key in path[1:]:
        if value is MISSING:
            return MISSING
        try:
            value = _STEPS[kind](value, key)
        except (AttributeError, LookupError, ValueError, TypeError):
            return MISSING
    return value


_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "module": lambda value, key: sys.modules[key],
    "number": lambda value, key: key,
    "attr": lambda value, key: getattr(value, key),
    "item": lambda value, key: value[key],
    "key": lambda value, key: list(value.values())[key],
    "cell": lambda value, key: value.__closure__[value.__code__.co_freevars.index(key)],
    "content": lambda value, key: value.cell_contents,
    "member": lambda value, key: vars(value)[key],
    "class": lambda value, key: type(value),
    "base": lambda value, key: value.__mro__[key],
    "global": lambda value, key: read_place("global", value, key),
}


def _near(value: Any) -> Iterable[tuple[Any, Any]]:
    """``(step, object)`` for each object that is one step away from ``value``; objects that are None are left out."""
    for cls, rule in _NEAR.items():
        if isinstance(value, cls):
            return [(step, found) for step, found in rule(value) if found is not None]
    return _of_object(value)


def _attributes(*names: str) -> Callable[[Any], list[tuple[Any, Any]]]:
    return lambda value: [(("attr", n), getattr(value, n, None)) for n in names]


def _of_function(value: types.FunctionType) -> list[tuple[Any, Any]]:
    """``(step, object)`` for the cells of a function, its defaults, the function that it wraps and its globals."""
    cells = zip(value.__code__.co_freevars, value.__closure__ or ())
    found: list[tuple[Any, Any]] = [(("cell", name), cell) for name, cell in cells]
    return found + _attributes("__defaults__", "__kwdefaults__", "__wrapped__", "__globals__")(value)


def _of_cell(value: types.CellType) -> list[tuple[Any, Any]]:
    try:
        return [(("content", ""), value.cell_contents)]
    except ValueError:
        return []


def _of_class(value: type) -> list[tuple[Any, Any]]:
    if value.__module__ in ("builtins", "numpy"):
        return []
    found: list[tuple[Any, Any]] = [(("member", name), held) for name, held in vars(value).items()]
    return found + [(("base", k), base) for k, base in enumerate(value.__mro__) if k]


def _of_dict(value: dict[Any, Any]) -> list[tuple[Any, Any]]:
    if "__name__" in value and "__builtins__" in value:
        return []  # the namespace of a module: not searched
    return [(("key", k), held) for k, held in enumerate(value.values())]


def _of_object(value: Any) -> list[tuple[Any, Any]]:
    """``(step, object)`` for the class and the stored attributes of an object; no property is evaluated."""
    found: list[tuple[Any, Any]] = [(("class", ""), type(value))]
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict):
        found += [(("attr", name), inner) for name, inner in held.items()]
    for cls in type(value).__mro__:
        slots = [name for name, member in vars(cls).items() if isinstance(member, types.MemberDescriptorType)]
        found += [(("attr", name), getattr(value, name, None)) for name in slots]
    return found


_NEAR: dict[Any, Callable[[Any], list[tuple[Any, Any]]]] = {
    types.FunctionType: _of_function,
    types.CellType: _of_cell,
    types.MethodType: _attributes("__func__", "__self__"),
    functools.partial: _attributes("func", "args", "keywords"),
    staticmethod: _attributes("__func__"),
    classmethod: _attributes("__func__"),
    property: _attributes("fget", "fset"),
    type: _of_class,
    tuple: lambda value: [(("item", k), held) for k, held in enumerate(value)],
    list: lambda value: [(("item", k), held) for k, held in enumerate(value)],
    dict: _of_dict,
}
