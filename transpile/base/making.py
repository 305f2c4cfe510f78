"""How Python builds instances of a dataclass or a named tuple: whether they can be built from the fields alone."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any

MAKING = ("__new__", "__setattr__", "__getattribute__")
"""The special methods that decide what an instance holds and what reading it gives."""


def is_generated(cls: type, name: str) -> bool:
    """Whether ``dataclass`` or ``namedtuple`` generated this member of a class: it has no source."""
    found = vars(cls).get(name)
    code: Any = getattr(getattr(found, "__func__", found), "__code__", None)
    if getattr(code, "co_filename", "") != "<string>":
        return False
    if code.co_name == "<lambda>":  # a named tuple
        return True
    # a dataclass defines them in a function, up to Python 3.12 on its second line; code of `python -c` has the same file name
    if hasattr(code, "co_qualname"):
        return bool(code.co_qualname.startswith("__create_fn__.<locals>."))
    return code.co_firstlineno <= 2 and bool(code.co_flags & inspect.CO_NESTED)


def owner(cls: type, name: str) -> type:
    """The first class in the method resolution order of ``cls`` that defines the member."""
    return next(c for c in cls.__mro__ if name in vars(c))


def unusual(cls: type) -> str | None:
    """The name of a special method in the user's class that keeps instances from being built from their fields, or "a metaclass
    with __call__"; None if there is none."""
    for c in cls.__mro__:
        if c not in (object, tuple):
            for name in (*MAKING, "__init__") if issubclass(cls, tuple) else MAKING:
                if name in vars(c) and not is_generated(c, name):
                    return name
    return None if type(cls).__call__ is type.__call__ else "a metaclass with __call__"


def is_descriptor(cls: Any, name: str) -> bool:
    """True if the class defines ``name`` so that reading it from an instance does not give the stored field: by a property or
    another data descriptor, and in a subclass of tuple by any member. Slots and fields of named tuples do not count."""
    place = next((c for c in getattr(cls, "__mro__", ()) if name in vars(c)), None)
    if place is None or type(vars(place)[name]).__name__ in ("_tuplegetter", "member_descriptor", "getset_descriptor"):
        return False
    # a named tuple holds its fields as a tuple, so any member of a subclass with this name is read instead
    held = type(vars(place)[name])
    return issubclass(cls, tuple) or hasattr(held, "__set__") or hasattr(held, "__delete__")


def is_made_by_keywords(cls: Any, keys: Iterable[str]) -> bool:
    """True if ``cls(**fields)`` gives the instance with exactly the fields ``keys``, and runs no other code; also for a class
    that is not executed."""
    if not isinstance(cls, type):  # a class in a module that is not executed
        return True
    if unusual(cls) is not None or any(is_descriptor(cls, k) for k in keys):
        return False
    if not dataclasses.is_dataclass(cls):
        return issubclass(cls, tuple)
    made_by = owner(cls, "__init__")
    takes = [f.name for f in vars(made_by).get("__dataclass_fields__", {}).values() if f.init and is_instance_field(f)]
    has_more = hasattr(made_by, "__post_init__")
    return is_generated(made_by, "__init__") and not has_more and sorted(takes) == sorted(keys)


def is_instance_field(field: Any) -> bool:
    """True if a field of a dataclass (`dataclasses.Field`) is one of its instances, not a ``ClassVar`` or an ``InitVar``."""
    return field._field_type is dataclasses._FIELD  # type: ignore[attr-defined]


def is_init_variable(field: Any) -> bool:
    """True if a field of a dataclass (`dataclasses.Field`) is an ``InitVar``, which ``__init__`` passes to
    ``__post_init__``."""
    return field._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
