"""Making instances: named tuples and dataclasses become aggregates of the lifter."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from transpile.frontend import array_calls, calls, overloads
from transpile.frontend.bindings import StaticClass
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Cell, Items, Ref, Static, Tuple

Args = list[Any]
Kwargs = dict[str, Any]


def construct(lx: Lifter, cls: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``cls(*args, **kwargs)``."""
    if isinstance(cls, StaticClass):
        return _static(lx, cls, args, kwargs, node)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        defaults = {k: calls.outside(lx, v) for k, v in cls._field_defaults.items()}
        bound = _bind(lx, cls.__name__, list(cls._fields), defaults, args, kwargs, node)
        return Tuple(tuple(bound[f] for f in cls._fields), cls)
    if dataclasses.is_dataclass(cls):
        return _dataclass(lx, cls, args, kwargs, node)
    if issubclass(cls, np.generic) or cls in (int, float, bool):
        return array_calls.scalar_type(lx, cls, args, node)
    if issubclass(cls, BaseException):
        return Static(cls)
    return _plain(lx, cls, args, kwargs, node)


def _plain(lx: Lifter, cls: Any, args: Args, kwargs: Kwargs, node: Any) -> Ref:
    """An instance of a class whose ``__init__`` sets the attributes."""
    own = [c for c in cls.__mro__ if c is not object]
    odd = next((n for c in own for n in _UNUSUAL if n in vars(c)), None)
    if type(cls) is not type or not all(overloads.is_written(c) for c in own) or odd is not None:
        why = f": it has {odd}" if odd is not None else ""
        raise lx.error("T130", f"an instance of {cls.__name__!r} cannot be made here{why}", node,
                       hint="use a dataclass or a named tuple")  # fmt: skip
    cell = Cell(cls.__name__)
    lx.state.cells[cell] = Items("instance", (), (), cls)
    made = Ref(cell)
    init = next(vars(c)["__init__"] for c in cls.__mro__ if "__init__" in vars(c))
    if init is not object.__init__:
        calls.apply(lx, Static(init), [made, *args], kwargs, node)
    elif args or kwargs:
        raise lx.error("T132", f"{cls.__name__}() takes no arguments", node)
    return made


_UNUSUAL = ("__new__", "__setattr__", "__getattr__", "__getattribute__")


def _bind(lx: Lifter, name: str, fields: list[str], defaults: Kwargs, args: Args, kwargs: Kwargs, node: Any) -> Kwargs:
    if len(args) > len(fields):
        raise lx.error("T132", f"{name}() takes {len(fields)} arguments, {len(args)} were given", node)
    bound = dict(zip(fields, args))
    for key, value in kwargs.items():
        if key not in fields or key in bound:
            raise lx.error("T132", f"{name}() got an unexpected argument {key!r}", node)
        bound[key] = value
    for field in fields:
        if field not in bound:
            if field not in defaults:
                raise lx.error("T132", f"{name}() is missing the argument {field!r}", node)
            bound[field] = defaults[field]
    return bound


def _dataclass(lx: Lifter, cls: Any, args: Args, kwargs: Kwargs, node: Any) -> Ref:
    if "__init__" in vars(cls) and not _generated(cls):
        return _plain(lx, cls, args, kwargs, node)
    fields = [f for f in dataclasses.fields(cls) if f.init]
    defaults: Kwargs = {}
    for f in fields:
        if f.default is not dataclasses.MISSING:
            defaults[f.name] = calls.outside(lx, f.default)
        elif f.default_factory is not dataclasses.MISSING:
            defaults[f.name] = calls.apply(lx, calls.outside(lx, f.default_factory), [], {}, node)
    bound = _bind(lx, cls.__name__, [f.name for f in fields], defaults, args, kwargs, node)
    cell = Cell(cls.__name__)
    keys = tuple(f.name for f in fields)
    lx.state.cells[cell] = Items("instance", tuple(bound[k] for k in keys), keys, cls)
    made = Ref(cell)
    if hasattr(cls, "__post_init__"):
        calls.apply(lx, Static(cls.__post_init__), [made], {}, node)
    return made


def _generated(cls: Any) -> bool:
    """Whether the class's ``__init__`` is the one that ``dataclass`` made: it has no source."""
    return bool(cls.__dataclass_params__.init)


def _static(lx: Lifter, cls: StaticClass, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """A class of a module that is not executed."""
    if cls.kind not in ("namedtuple", "dataclass"):
        raise lx.error("T130", f"an instance of {cls.name!r} cannot be made here", node,
                       hint="use a dataclass or a named tuple")  # fmt: skip
    defaults = {name: lx.const(_literal(cls, default)) for name, _, default in cls.fields if default is not None}
    fields = [name for name, _, _ in cls.fields]
    bound = _bind(lx, cls.name, fields, defaults, args, kwargs, node)
    if cls.kind == "namedtuple":
        return Tuple(tuple(bound[f] for f in fields), cls)
    cell = Cell(cls.name)
    lx.state.cells[cell] = Items("instance", tuple(bound[f] for f in fields), tuple(fields), cls)
    return Ref(cell)


def _literal(cls: StaticClass, node: Any) -> Any:
    from transpile.frontend.literals import evaluate

    return evaluate(node, cls.scope)
