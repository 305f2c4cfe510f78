"""How Python makes the instances of a dataclass or a named tuple: what is ours to make from the fields alone, and what is not."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any

MAKING = ("__new__", "__setattr__", "__getattribute__")
"""The special methods that decide what an instance holds and what is read of it."""


def is_generated(cls: type, name: str) -> bool:
    """Whether what a class has under a name was made by ``dataclass`` or ``namedtuple``: it has no source."""
    found = vars(cls).get(name)
    code: Any = getattr(getattr(found, "__func__", found), "__code__", None)
    if getattr(code, "co_filename", "") != "<string>":
        return False
    if code.co_name == "<lambda>":  # of a named tuple
        return True
    # a dataclass makes them in a function, up to Python 3.12 on its second line; what `python -c` defines has the same file name
    if hasattr(code, "co_qualname"):
        return bool(code.co_qualname.startswith("__create_fn__.<locals>."))
    return code.co_firstlineno <= 2 and bool(code.co_flags & inspect.CO_NESTED)


def owner(cls: type, name: str) -> type:
    """The class whose method it is."""
    return next(c for c in cls.__mro__ if name in vars(c))


def unusual(cls: type) -> str | None:
    """The special method of the user's that makes the instances of a class other than from its fields, if there is one."""
    for c in cls.__mro__:
        if c not in (object, tuple):
            for name in (*MAKING, "__init__") if issubclass(cls, tuple) else MAKING:
                if name in vars(c) and not is_generated(c, name):
                    return name
    return None if type(cls).__call__ is type.__call__ else "a metaclass with __call__"


def is_descriptor(cls: Any, name: str) -> bool:
    """Whether reading the attribute of an instance asks something of its class that is written in Python: a property, say."""
    place = next((c for c in getattr(cls, "__mro__", ()) if name in vars(c)), None)
    if place is None or type(vars(place)[name]).__name__ in ("_tuplegetter", "member_descriptor", "getset_descriptor"):
        return False
    # a named tuple holds its fields as a tuple: whatever a subclass has under the name is what is read
    held = type(vars(place)[name])
    return issubclass(cls, tuple) or hasattr(held, "__set__") or hasattr(held, "__delete__")


def is_made_by_keywords(cls: Any, keys: Iterable[str]) -> bool:
    """Whether ``cls(**fields)`` is the instance that holds these fields: nothing else runs."""
    if not isinstance(cls, type):  # of a module that is not executed
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
    """Whether it is a field, and not a ``ClassVar`` or an ``InitVar``."""
    return field._field_type is dataclasses._FIELD  # type: ignore[attr-defined]


def is_init_variable(field: Any) -> bool:
    """Whether it is an ``InitVar``: ``__init__`` hands it to ``__post_init__``."""
    return field._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
