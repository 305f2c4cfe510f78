"""Instances of registered classes that derive from list or dict and leave to it what they hold: containers with a class."""

from __future__ import annotations

from typing import Any

from transpile.aggregates import READING, REGISTERED
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import contents
from transpile.frontend.values.values import Cell, Items, Ref

_MAKING = ("__new__", "__init__", "__setattr__", "__getattribute__", "__getattr__")


def base_of(cls: Any) -> type | None:
    """List or dict, if a registered class is one whose instances hold what that holds, and nothing else decides what is read."""
    base = next((c for c in (list, dict) if isinstance(cls, type) and issubclass(cls, c) and cls is not c), None)
    if base is None or cls not in REGISTERED:
        return None
    own = [c for c in cls.__mro__ if c not in base.__mro__]
    odd = any(name in vars(c) for c in own for name in (*READING, *_MAKING))
    return None if odd or not all(c.__base__ in (*own, base, object) for c in own) else base


def made(lx: Lifter, cls: type, whole: Ref) -> Ref:
    """The instance of the class with what a list or dict holds."""
    state = contents.items(lx, whole)
    cell = Cell(cls.__name__)
    lx.state.cells[cell] = Items(state.kind, state.items, state.keys, cls)
    return Ref(cell)
