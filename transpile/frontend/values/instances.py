"""What Python's classes say of a value: ``type``, ``isinstance``, ``issubclass``, ``hasattr``, ``getattr``, ``callable``."""

from __future__ import annotations

import abc
import sys
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import Type, promote
from transpile.errors import TranspileError
from transpile.frontend.calls.building import dtype_name
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import known, reads, statics
from transpile.frontend.resolve.bindings import Known, Module, StaticClass, User
from transpile.frontend.resolve.static_file import StaticFunction
from transpile.frontend.values import contents, derived_containers, overloads
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import (
    Array,
    Bound,
    Closure,
    Generator,
    Iteration,
    Method,
    RangeOf,
    Ref,
    Scalar,
    SliceOf,
    Static,
    Super,
    Text,
    Tuple,
)

Args = list[Any]
Kwargs = dict[str, Any]


# ------------------------------------------------------------------------------------------------------- classes


def class_of(lx: Lifter, value: Any, node: Any = None) -> Any:
    """The class of a value of the program."""
    rule = _CLASSES.get(type(value))
    found = rule(lx, value) if rule is not None else None
    if found is None:
        raise _no_class(lx, value, node)
    return found


def _no_class(lx: Lifter, value: Any, node: Any) -> TranspileError:
    message = f"the class of {describe(lx, value)} is not known"
    return lx.error("T120", message, node, "test it outside of the function, and pass the answer as an argument")


def _of_scalar(lx: Lifter, value: Scalar) -> Any:
    found, *others = _classes_of_number(lx, value)
    if others:
        raise _of_several(lx, value)
    return found


_OF_PYTHON = {"f": float, "i": int, "u": int, "b": bool}


def _classes_of_number(lx: Lifter, value: Scalar) -> list[type]:
    """The classes that a number has, on one path or another."""
    of, classes = value.op.type, dict[type, None]()
    for dtype in map(np.dtype, (of.dtype, *sorted(lx.b.others.get(value.op, ())))):
        if not of.weak:
            classes[dtype.type] = None
        if of.weak or value.op in lx.b.either or value.op in lx.b.others:
            classes[_OF_PYTHON[dtype.kind]] = None
    return list(classes)


def _of_number(lx: Lifter, value: Scalar, is_so: Callable[[Any], bool], node: Any) -> bool:
    """Whether it is so of a number's class, whichever it has."""
    first, *others = {is_so(found) for found in _classes_of_number(lx, value)}
    if others:
        raise _of_several(lx, value, node)
    return first


def _of_several(lx: Lifter, value: Scalar, node: Any = None) -> TranspileError:
    names = [c.__name__ if c.__module__ == "builtins" else f"np.{c.__name__}" for c in _classes_of_number(lx, value)]
    text = f"the class of this number is {' or '.join(names)}, depending on the data"
    return lx.error("T205", text, node, hint="convert it on both paths: int(...), float(...), bool(...)")


def _of_array(lx: Lifter, value: Array) -> Any:
    if value.cell.mixed:
        message = "the class of this value depends on the data: it is a number or an array of rank 0"
        raise lx.error("T118", message, hint="convert it on both paths: float(...)")
    return np.ndarray


def _of_ref(lx: Lifter, value: Ref) -> Any:
    state = contents.items(lx, value)
    if derived_containers.base_of(state.cls) is not None:
        return state.cls
    return {"list": list, "grown": list, "counted": list, "dict": dict}.get(state.kind, state.cls)


def _of_static(lx: Lifter, value: Static) -> Any:
    held = statics.known(lx, value)
    reads.note_class(held)
    return types.ModuleType if isinstance(held, Module) else type if isinstance(held, StaticClass) else type(held)


_ITERATORS: dict[str, Any] = {
    "zip": zip, "map": map, "enumerate": enumerate, "dict_keys": type({}.keys()), "dict_values": type({}.values()),
    "dict_items": type({}.items()),
}  # fmt: skip

_CLASSES: dict[type, Callable[[Lifter, Any], Any]] = {
    Scalar: _of_scalar,
    Array: _of_array,
    Tuple: lambda lx, value: value.cls or tuple,
    Ref: _of_ref,
    Closure: lambda lx, value: types.FunctionType,
    Static: _of_static,
    RangeOf: lambda lx, value: range,
    SliceOf: lambda lx, value: slice,
    Text: lambda lx, value: str,
    Generator: lambda lx, value: types.GeneratorType,
    Iteration: lambda lx, value: _ITERATORS.get(value.kind),
    Super: lambda lx, value: super,
}


# --------------------------------------------------------------------------------------------------- is a value of


def _isinstance(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value, wanted = args
    held = statics.known(lx, value) if isinstance(value, Static) else None
    if isinstance(value, Static) and not isinstance(held, (Known, Module, StaticClass, StaticFunction)):
        return lx.const(any(_is_instance(lx, held, cls, node) for cls in _several(lx, wanted, node)))
    several = list(_several(lx, wanted, node))

    def is_one(found: Any) -> bool:
        return any(_is_of(lx, found, cls, node) for cls in several)

    return lx.const(
        _of_number(lx, value, is_one, node) if isinstance(value, Scalar) else is_one(class_of(lx, value, node))
    )


def _issubclass(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    found = statics.python(lx, args[0], "a class", node)
    return lx.const(any(_is_of(lx, found, cls, node) for cls in _several(lx, args[1], node)))


def _several(lx: Lifter, wanted: Any, node: Any) -> Iterator[Any]:
    """The classes of a tuple, or of a union."""
    if isinstance(wanted, Tuple):
        for item in wanted.items:
            yield from _several(lx, item, node)
        return
    held = statics.python(lx, wanted, "a class", node)
    if isinstance(held, (types.UnionType, tuple)) or typing.get_origin(held) is typing.Union:
        parts = held if isinstance(held, tuple) else typing.get_args(held)
        for part in parts:
            yield from _several(lx, Static(part), node)
        return
    if isinstance(held, Known):
        held = _UNNAMED.get(held.name, held)
    yield type(None) if held is None else held


_UNNAMED = {f"builtins.{t.__name__}": t for t in vars(types).values() if isinstance(t, type)}
"""Python's own types that have no name among the builtins."""


def _is_instance(lx: Lifter, held: Any, cls: Any, node: Any) -> bool:
    """Whether an object that is known now is of a class."""
    reads.note_class(held)
    if isinstance(cls, (Known, StaticClass)) or _has_opinion(cls):
        return _is_of(lx, type(held), cls, node)
    try:
        return isinstance(held, cls)
    except TypeError as e:
        raise lx.error("T120", str(e), node, "pass a class, or a tuple of classes") from None


def _is_of(lx: Lifter, found: Any, cls: Any, node: Any) -> bool:
    """Whether values of a class are of another one."""
    if isinstance(found, StaticClass) or isinstance(cls, StaticClass):
        is_one = _is_of_written(found, cls) if isinstance(found, StaticClass) else False
    elif isinstance(cls, Known):  # of a package that is not imported: no value that we hold is of its classes
        is_one = False if cls.name.partition(".")[0] not in sys.modules else None
    else:
        is_one = _is_subclass(found, cls)
    if is_one is None:
        message = f"whether this is an instance of {getattr(cls, '__name__', cls)!r} is not known"
        raise lx.error("T120", message, node, "test it outside of the function, and pass the answer as an argument")
    return is_one


def _is_of_written(found: StaticClass, cls: Any) -> bool | None:
    """The same of a class of a module that is not executed; None if a base of it is not known."""
    if found is cls or cls is object or found.kind == "namedtuple" and cls is tuple:
        return True
    answers = [None if base is None else _is_of_written(base, cls) for base in found.bases]
    return True if True in answers else None if None in answers else False


_PLAIN = (type.__instancecheck__, abc.ABCMeta.__instancecheck__, type(typing.Protocol).__instancecheck__)


def _has_opinion(cls: Any) -> bool:
    return isinstance(cls, type) and type(cls).__instancecheck__ not in _PLAIN


def _is_subclass(found: Any, cls: Any) -> bool | None:
    """None for what is no class, or for a class that has an opinion of its own of what is of it."""
    if _has_opinion(cls):
        return None
    try:
        return issubclass(found, cls)
    except TypeError:
        return None


# ---------------------------------------------------------------------------------------------------- attributes


def _getattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    name = lx.static(args[1], "the name of an attribute", node)
    if len(args) > 2 and not _has(lx, args[0], name, node):
        return args[2]
    return lx.attribute(args[0], name, node)


def _hasattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return lx.const(_has(lx, args[0], lx.static(args[1], "the name of an attribute", node), node))


_WITH_THEIR_OWN = (types.FunctionType, types.ModuleType, type)
"""Builtin classes whose objects have attributes that the class has not."""


def _has(lx: Lifter, value: Any, name: str, node: Any) -> bool:
    """Whether Python finds the attribute: also one that cannot be transformed."""
    if isinstance(value, Static) and isinstance(value.value, Known):
        return hasattr(known.known_value(value.value), name)
    if isinstance(value, (Bound, Method)):
        raise _no_class(lx, value, node)
    if isinstance(value, Scalar):
        return _of_number(lx, value, lambda cls: _finds(cls, name), node)
    cls = class_of(lx, value, node)
    holders = list(_outside(lx, value, cls))
    for holder in holders:
        reads.note("has", holder, name, hasattr(holder, name))
    if isinstance(cls, type) and cls.__module__ in ("builtins", "numpy") and not issubclass(cls, _WITH_THEIR_OWN):
        return _finds(cls, name)
    try:
        lx.attribute(value, name, node)
    except TranspileError:
        if _finds(cls, name) or any(hasattr(holder, name) for holder in holders):
            raise
        return False
    return True


def _outside(lx: Lifter, value: Any, cls: Any) -> Iterator[Any]:
    """The objects outside the function whose attributes decide which ones a value has."""
    if overloads.is_written(cls):
        yield cls
    if isinstance(value, Ref):
        yield from (
            at.example
            for at, found in lx.captured_values.items()
            if isinstance(found, Ref) and found.cell is value.cell
        )
    held = value.value if isinstance(value, Static) else None
    if isinstance(held, Module):
        held = sys.modules.get(held.dotted)
    held = held.target if isinstance(held, User) else held
    if held is not None and not isinstance(held, (Known, StaticClass, StaticFunction, Closure, str, bytes, np.dtype)):
        yield held


def _finds(cls: Any, name: str) -> bool:
    """Whether objects of a class find the name in it (not in the class of the class)."""
    if isinstance(cls, StaticClass):
        return (
            name in cls.methods
            or cls.constant(name) is not None
            or any(base is None or _finds(base, name) for base in cls.bases)
        )
    return any(name in vars(one) for one in cls.__mro__)


def _isscalar(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.isscalar``: numbers and strings, and no array, of rank 0 either."""
    (value,) = (*args, *kwargs.values())
    held = value.value if isinstance(value, Static) else None
    return lx.const(isinstance(value, Scalar) or isinstance(held, (bool, str, bytes)))


def _result_type(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.result_type``: the dtype that arithmetic on these values, or dtypes, has."""
    found: list[Type] = []
    for value in args:
        is_dtype = isinstance(value, Static) and not isinstance(value.value, (bool, int, float))
        found.append(Type(dtype_name(lx, statics.known(lx, value), node)) if is_dtype else lx.operand(value, node).type)
    return Static(np.dtype(promote(*found).dtype))


def _limits(cls: type) -> Any:
    def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        """``np.finfo(x)`` of a number, of which the dtype decides."""
        if kwargs or len(args) != 1 or not isinstance(args[0], Scalar) or isinstance(args[0].op, ir.Const):
            return NotImplemented
        type_ = lx.operand(args[0], node).type
        if type_.is_float != (cls is np.finfo) or type_.is_bool:
            other = "np.iinfo" if cls is np.finfo else "np.finfo"
            hint = "convert it first: .astype(int)" if type_.is_bool else f"use {other}"
            raise lx.error("T201", f"np.{cls.__name__} does not take {type_}", node, hint)
        return Static(cls(type_.dtype))

    return call


def _callable(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (value,) = args
    if isinstance(value, (Bound, Method)):
        return lx.const(True)
    if isinstance(value, Static):
        held = statics.known(lx, value)
        return lx.const(callable(held) or isinstance(held, (Known, StaticClass)))
    if isinstance(value, Scalar):
        return lx.const(False)
    return lx.const(_finds(class_of(lx, value, node), "__call__"))


TABLE: dict[str, Any] = {
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _issubclass,
    "builtins.type": lambda lx, args, kwargs, node: Static(class_of(lx, args[0], node)),
    "builtins.getattr": _getattr,
    "builtins.hasattr": _hasattr,
    "builtins.callable": _callable,
    "numpy.isscalar": _isscalar,
    "numpy.result_type": _result_type,
    "numpy.finfo": _limits(np.finfo),
    "numpy.iinfo": _limits(np.iinfo),
}
