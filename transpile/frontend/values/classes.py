"""Making instances: named tuples and dataclasses become aggregates of the lifter."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from transpile.aggregates import REGISTERED
from transpile.base import making
from transpile.frontend.calls import arity, array_calls
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import reads
from transpile.frontend.resolve.bindings import StaticClass, User
from transpile.frontend.resolve.literals import evaluate
from transpile.frontend.values import attributes, derived_containers, overloads
from transpile.frontend.values.values import Cell, Items, Ref, Static, Tuple

Args = list[Any]
Kwargs = dict[str, Any]


def construct(lx: Lifter, cls: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``cls(*args, **kwargs)``."""
    if isinstance(cls, StaticClass):
        return _static(lx, cls, args, kwargs, node)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        _check_usual(lx, cls, node)
        defaults = {k: lx.outside(v) for k, v in cls._field_defaults.items()}
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
    base = derived_containers.base_of(cls)
    if base is not None:
        return derived_containers.made(lx, cls, lx.known_call(f"builtins.{base.__name__}", args, kwargs, node))
    own = [c for c in cls.__mro__ if c is not object]
    odd = next((n for c in own for n in _UNUSUAL if n in vars(c)), None)
    if type(cls) is not type or not all(overloads.is_written(c) for c in own) or odd is not None:
        raise lx.error("T130", _not_made(cls.__name__, odd), node, hint=PLAIN)
    reads.note_member(cls, "__init__")
    init = next(vars(c)["__init__"] for c in cls.__mro__ if "__init__" in vars(c))
    written = None if init is object.__init__ else Static(init)
    return _initialised(lx, cls, cls.__name__, written, args, kwargs, node)


def _initialised(lx: Lifter, cls: Any, name: str, init: Static | None, args: Args, kwargs: Kwargs, node: Any) -> Ref:
    """A new instance, after its class's own ``__init__``, if it has one."""
    cell = Cell(name)
    lx.state.cells[cell] = Items("instance", (), (), cls)
    made = Ref(cell)
    if init is not None:
        lx.apply(init, [made, *args], kwargs, node)
    elif args or kwargs:
        raise lx.error("T132", f"{name}() takes no arguments", node, "leave them out, or define __init__")
    return made


_UNUSUAL = ("__new__", "__setattr__", "__getattr__", "__getattribute__")


def _bind(
    lx: Lifter,
    name: str,
    fields: list[str],
    defaults: Kwargs,
    args: Args,
    kwargs: Kwargs,
    node: Any,
    positional: list[str] | None = None,
) -> Kwargs:
    """The fields by name; ``positional``: those that an argument without a name may be, if not all."""
    positional = fields if positional is None else positional
    if len(args) > len(positional):
        message = f"{name}() takes {len(positional)} positional arguments but {len(args)} were given"
        raise lx.error("T132", message, node, _fields(fields))
    bound = dict(zip(positional, args))
    for key, value in kwargs.items():
        if key not in fields or key in bound:
            raise lx.error("T132", f"{name}() got an unexpected argument {key!r}", node, _fields(fields))
        bound[key] = value
    for field in fields:
        if field not in bound:
            if field not in defaults:
                raise lx.error("T132", f"{name}() is missing the argument {field!r}", node, _fields(fields))
            bound[field] = defaults[field]
    return bound


def _fields(names: list[str]) -> str:
    """The hint for a call that does not fit."""
    return arity.its_arguments(names)


PLAIN = "use a dataclass or a named tuple"


def _not_made(name: str, odd: str | None) -> str:
    """The message for a class whose instances are made by more than ``__init__``."""
    why = f": the class defines {odd}" if odd is not None else ""
    return f"making an instance of {name!r} is not supported{why}"


def _dataclass(lx: Lifter, cls: Any, args: Args, kwargs: Kwargs, node: Any) -> Ref:
    """What the ``__init__`` that ``dataclass`` made does: it binds the arguments, sets the fields, calls ``__post_init__``."""
    for name in ("__init__", "__post_init__"):
        reads.note_member(cls, name)
    made_by = making.owner(cls, "__init__")
    if not making.is_generated(made_by, "__init__"):
        return _plain(lx, cls, args, kwargs, node)
    _check_usual(lx, cls, node)
    known = vars(made_by)["__dataclass_fields__"]
    taken = [f for f in known.values() if f.init and (making.is_instance_field(f) or making.is_init_variable(f))]
    how = REGISTERED.get(cls)
    meta = how.meta if how is not None else ()
    given = {f.name: f.default for f in taken if f.default is not dataclasses.MISSING}
    defaults = {k: lx.structural(v) if k in meta else lx.outside(v) for k, v in given.items()}
    made_later = {f.name: None for f in taken if f.default_factory is not dataclasses.MISSING}
    positional = [f.name for f in taken if not f.kw_only]
    names = [f.name for f in taken]
    bound = _bind(lx, cls.__name__, names, defaults | made_later, args, kwargs, node, positional)
    cell = Cell(cls.__name__)
    lx.state.cells[cell] = Items("instance", (), (), cls)
    made = Ref(cell)
    for f in known.values():
        if making.is_instance_field(f) and (f.name in bound or f.default_factory is not dataclasses.MISSING):
            value = bound.get(f.name)
            if value is None:
                value = lx.apply(lx.outside(f.default_factory), [], {}, node)
            attributes.initialise(lx, made, f.name, value, node)
    if hasattr(made_by, "__post_init__"):
        more = [bound[f.name] for f in known.values() if making.is_init_variable(f) and f.name in bound]
        lx.apply(Static(cls.__post_init__), [made, *more], {}, node)
    return made


def _check_usual(lx: Lifter, cls: Any, node: Any) -> None:
    """Refuses a class whose instances are made by more than their fields."""
    odd = making.unusual(cls)
    if odd is not None:
        raise lx.error("T130", _not_made(cls.__name__, odd), node, hint=PLAIN)


def _static(lx: Lifter, cls: StaticClass, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """A class of a module that is not executed."""
    if cls.kind not in ("namedtuple", "dataclass"):
        return _static_plain(lx, cls, args, kwargs, node)
    defaults = {name: lx.const(_literal(cls, default)) for name, _, default in cls.fields if default is not None}
    fields = [name for name, _, _ in cls.fields]
    bound = _bind(lx, cls.name, fields, defaults, args, kwargs, node)
    if cls.kind == "namedtuple":
        return Tuple(tuple(bound[f] for f in fields), cls)
    cell = Cell(cls.name)
    lx.state.cells[cell] = Items("instance", tuple(bound[f] for f in fields), tuple(fields), cls)
    return Ref(cell)


def _static_plain(lx: Lifter, cls: StaticClass, args: Args, kwargs: Kwargs, node: Any) -> Ref:
    """An instance of a class of such a module whose ``__init__`` sets the attributes."""
    odd = next((n for n in _UNUSUAL if n in cls.methods), None)
    if odd is not None or not _are_known(cls):
        raise lx.error("T130", _not_made(cls.name, odd), node, hint=PLAIN)
    init = Static(User(cls.methods["__init__"])) if "__init__" in cls.methods else None
    return _initialised(lx, cls, cls.name, init, args, kwargs, node)


def _are_known(cls: StaticClass) -> bool:
    """Whether all that the class comes from is a class of the files that are read."""
    return all(base is not None and _are_known(base) for base in cls.bases)


def _literal(cls: StaticClass, node: Any) -> Any:
    return evaluate(node, cls.scope)
