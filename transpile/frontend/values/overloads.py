"""Operators that a class of the user's gives a meaning: ``__add__``, ``__getitem__``, ``__len__`` and their like."""

from __future__ import annotations

import dataclasses
from typing import Any

from transpile.base import making
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import reads
from transpile.frontend.resolve.bindings import StaticClass
from transpile.frontend.resolve.reads import is_written
from transpile.frontend.values.values import Bound, Items, Ref, Static, Tuple
from transpile.ops.tables import operator_of


def method(lx: Lifter, value: Any, name: str) -> Bound | None:
    """The special method of an object, bound to it, if its class has one that is written in Python."""
    own = class_of(lx, value)
    if isinstance(own, StaticClass):
        return Bound(Static(own.methods[name]), (value,)) if name in own.methods else None
    reads.note_member(own, name)
    for cls in getattr(own, "__mro__", ()):
        if name in vars(cls):
            found = vars(cls)[name]
            if is_made_by_dataclass(cls, name):
                return None
            return Bound(Static(found), (value,)) if is_written(cls) and callable(found) else None
    return None


def is_made_by_dataclass(cls: Any, name: str) -> bool:
    """Whether a class has the method from ``dataclass``: it has no source."""
    return isinstance(cls, type) and dataclasses.is_dataclass(cls) and making.is_generated(cls, name)


def class_of(lx: Lifter, value: Any) -> Any:
    """The class of an object of the user's; None of everything else."""
    match value:
        case Tuple():
            return value.cls
        case Ref():
            state = lx.state.cells[value.cell]
            return state.cls if isinstance(state, Items) and state.kind == "instance" else None
        case Static():
            cls = type(value.value)
            reads.note_class(value.value)
            return cls if is_written(cls) and not cls.__module__.startswith(("transpile.", "typing")) else None
    return None


def call(lx: Lifter, value: Any, name: str, args: list[Any], node: Any) -> Any:
    """What the special method gives; None if there is none."""
    found = method(lx, value, name)
    return None if found is None else lx.apply(found, args, {}, node)


def binary(lx: Lifter, prim: str, left: Any, right: Any, node: Any) -> Any:
    """``left op right`` by a method of one of them; None if they have none."""
    name = operator_of(prim).method
    found = call(lx, left, f"__{name}__", [right], node)
    return call(lx, right, f"__r{name}__", [left], node) if found is None else found
