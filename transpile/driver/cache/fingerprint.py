"""The meaning of an object as plain data, which is equal in another process exactly if the object means the same there.

>>> likeness(2.5), likeness("relu")
(('float', '2.5'), ('str', "'relu'"))
>>> likeness(lambda x: x + 1) == likeness(lambda x: x + 2)
False
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.aggregates import Content, Leaf, Node, Static, Tree
from transpile.base.content import parts
from transpile.base.levels import level_of
from transpile.base.treedef import TreeDef
from transpile.base.unravel import Unravel
from transpile.custom import Custom

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented), range)
_NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, np.ufunc)
_PUBLIC = ("builtins", "numpy", "numpy.linalg", "math", "operator", "scipy.special", "scipy.linalg")


class Unlike(Exception):
    """The meaning of an object cannot be described in plain data."""


def likeness(value: Any) -> Any:
    """The meaning of a value as plain data, of arrays only class, dtype and which sizes are 1; raises `Unlike` if it cannot be
    described."""
    return Likeness().of(value)


def likeness_of_content(value: Any) -> Any:
    """The meaning of a value as plain data, with a hash of the elements of arrays and the content of objects compared by
    content; raises `Unlike` if it cannot be described."""
    return Likeness(whole=True).of(value)


class Likeness:
    """A description of one or more objects, in which an object that occurs again is represented by its number.

    So two descriptions are equal only if the objects alias in the same way: two layers that share weights differ from two that
    do not.

    >>> one, other = object, [1]
    >>> like = Likeness()
    >>> like.of(other) == like.of(other)
    False
    """

    def __init__(self, whole: bool = False) -> None:
        self.whole = whole
        self.met: dict[int, int] = {}
        self.held: list[Any] = []

    def number(self, value: Any) -> int:
        """The number of the object, from 0 in order of first occurrence; a new object is kept alive, so that its id stays
        taken."""
        if id(value) not in self.met:
            self.met[id(value)] = len(self.met)
            self.held.append(value)  # its id stays taken
        return self.met[id(value)]

    def of(self, value: Any) -> Any:
        """The description of a value as plain data: of an object met before only its number; raises `Unlike` if there is
        none."""
        cls = type(value)
        if cls in PLAIN:
            return (cls.__name__, repr(value))
        if id(value) in self.met:
            return ("again", self.met[id(value)])
        self.number(value)
        rule = _RULES.get(cls)
        if rule is not None:
            return (cls.__name__, rule(self, value))
        return self.other(value)

    def other(self, value: Any) -> Any:
        """The description of a value whose type has no rule in `_RULES`; any object of the user's is described by its class."""
        if isinstance(value, type):
            return ("class", self.type_(value))
        if isinstance(value, _NATIVE):
            return ("native", _dotted(value))
        if isinstance(value, np.dtype):
            return ("dtype", value.str, repr(value))
        if self.whole and isinstance(value, np.ndarray) and not value.dtype.hasobject:
            entries = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return ("array", self.of(type(value)), value.dtype.str, value.shape, entries)
        held = parts(value) if self.whole else None
        if held is not None:
            return ("content", self.of(type(value)), [self.of(v) for v in held.items])
        if isinstance(value, np.ndarray):
            return ("array", self.of(type(value)), value.dtype.str, [n == 1 for n in value.shape])
        if isinstance(value, np.generic):
            return ("scalar", value.dtype.str, repr(value.item()))
        if isinstance(value, enum.Enum):
            return ("member", self.of(type(value)), value.name)
        inside = _inside(value)
        if inside is not None:
            return (f"{type(value).__module__}.{type(value).__qualname__}", [self.of(v) for v in inside])
        if type(value).__module__.partition(".")[0] in ("builtins", "numpy", "numba"):
            raise Unlike(repr(type(value)))
        # an object by its class: what lifting reads from it is listed separately
        return ("object", self.of(type(value)))

    # ---- functions and classes

    def function(self, value: types.FunctionType) -> Any:
        """The description of a function: module, name, code, defaults, and the numbers of its cells, whose content is not
        described."""
        defaults = (value.__defaults__, value.__kwdefaults__)
        cells = [self.number(c) for c in value.__closure__ or ()]  # their content is listed where it is read
        return (value.__module__, value.__qualname__, code(value.__code__), [self.of(d) for d in defaults], cells)

    def type_(self, cls: type) -> Any:
        """The description of a class: one entry for it and one for each base class except ``object``."""
        return [self.one(c) for c in cls.__mro__ if c is not object]

    def one(self, cls: type) -> Any:
        """The description of one class without its bases: its dotted name if it belongs to Python or NumPy, else module, name,
        members and dataclass fields."""
        if _is_public(cls):
            return _dotted(cls)
        members = [(name, self.member(vars(cls)[name])) for name in sorted(vars(cls)) if name not in _UNREAD]
        fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
        made = [(f.name, f.init, self.member(f.default), self.member(f.default_factory)) for f in fields]
        return (cls.__module__, cls.__qualname__, members, made)

    def member(self, value: Any) -> Any:
        """The description of a member of a class; only its type if it cannot be described, because reads of it are listed
        separately."""
        try:
            return self.of(value)
        except Unlike:
            return ("some", type(value).__module__, type(value).__qualname__)

    # ---- containers

    def items(self, value: Any) -> Any:
        return [self.of(v) for v in value]

    def mapping(self, value: Any) -> Any:
        return [(self.of(k), self.of(v)) for k, v in value.items()]

    def members(self, value: Any) -> Any:
        return sorted(repr(self.of(v)) for v in value)


_UNREAD = {"__dict__", "__weakref__", "__module__", "__doc__", "__dataclass_fields__", "__dataclass_params__", "__match_args__",
           "__annotations__", "__firstlineno__", "__static_attributes__", "__abstractmethods__", "_abc_impl", "__parameters__",
           "__orig_bases__", "__slots__", "__hash__"}  # fmt: skip


def _module(value: types.ModuleType) -> Any:
    if sys.modules.get(value.__name__) is not value:
        raise Unlike(value.__name__)
    return value.__name__


_RULES: dict[type, Callable[[Likeness, Any], Any]] = {
    types.FunctionType: Likeness.function,
    types.CodeType: lambda like, value: code(value),
    types.ModuleType: lambda like, value: _module(value),
    types.MethodType: lambda like, value: [like.of(value.__func__), like.of(value.__self__)],
    functools.partial: lambda like, value: [like.of(v) for v in (value.func, value.args, value.keywords)],
    staticmethod: lambda like, value: like.of(value.__func__),
    classmethod: lambda like, value: like.of(value.__func__),
    property: lambda like, value: [like.of(f) for f in (value.fget, value.fset)],
    functools._lru_cache_wrapper: lambda like, value: like.of(value.__wrapped__),
    tuple: Likeness.items,
    list: Likeness.items,
    dict: Likeness.mapping,
    set: Likeness.members,
    frozenset: Likeness.members,
    slice: lambda like, value: [like.of(v) for v in (value.start, value.stop, value.step)],
}


def _inside(value: Any) -> list[Any] | None:
    """The parts that describe an object of transpile's own (a transformed function, a custom rule, a tree) or a function
    compiled by Numba; None for any other object."""
    level = level_of(value)
    if level is not None:
        return [type(level).__name__, level.options, value.__wrapped__]
    if isinstance(value, Custom):  # a function with a custom rule
        rules = [getattr(value, name, None) for name in ("jvp", "forward", "backward")]
        return [value.nondiff_argnums, value.__wrapped__, *rules]
    if isinstance(value, TreeDef):
        return [value.kind, value.children, value.keys, value.cls, value.order]
    if isinstance(value, Static):
        return [value.value]
    if isinstance(value, Unravel):
        return list(vars(value).values())
    if type(value).__module__.startswith("numba.") and hasattr(value, "py_func"):
        return [value.py_func]
    return None


def _is_public(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("builtins", "numpy", "typing", "abc", "enum", "collections", "types")


def _dotted(value: Any) -> str:
    """The module and name under which Python has this very object now, as ``numpy.sin``; raises `Unlike` if no such name leads
    to it."""
    name = getattr(value, "__qualname__", None) or value.__name__
    for module in (getattr(value, "__module__", None), *_PUBLIC):
        found: Any = sys.modules.get(module) if module else None
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value:
            return f"{module}.{name}"
    raise Unlike(repr(value))


def code(value: types.CodeType) -> Any:
    """The content of a code object as plain data, with its file and lines, which appear in the messages of the compiled
    program."""
    consts = [code(c) if isinstance(c, types.CodeType) else _const(c) for c in value.co_consts]
    names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
    counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
    place = (value.co_filename, value.co_firstlineno, value.co_name, value.co_linetable)
    return (value.co_code, consts, names, counts, place, getattr(value, "co_exceptiontable", b""))


def _const(value: Any) -> Any:
    if isinstance(value, frozenset):
        return ("frozenset", sorted(repr(_const(v)) for v in value))
    if isinstance(value, tuple):
        return ("tuple", [_const(v) for v in value])
    return (type(value).__name__, repr(value))


def structure(tree: Tree, of: Callable[[Any], Any] = likeness) -> Any:
    """The meaning of a structure as plain data: containers, keys, numbers of leaves, and classes and static values, described
    by ``of``."""
    if isinstance(tree, Leaf):
        return ("leaf", tree.k)
    if isinstance(tree, Static):
        return ("static", _of_static(tree, of))
    assert isinstance(tree, Node), tree
    cls = None if tree.cls is None else of(tree.cls)
    keys = [_of_static(k, of) if isinstance(k, Static) else of(k) for k in tree.keys]
    return (tree.kind, keys, cls, [structure(c, of) for c in tree.children])


def _of_static(one: Static, of: Callable[[Any], Any]) -> Any:
    return likeness_of_content(one.value) if isinstance(one, Content) else of(one.value)
