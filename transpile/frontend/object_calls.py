"""Builtins about types and attributes, ``print``, and what stands in ``functools``, ``operator`` and ``dataclasses``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.frontend import attributes, calls, containers, formatting, overloads, statics
from transpile.frontend.bindings import Known, StaticClass
from transpile.frontend.convert import describe
from transpile.frontend.lifter import Frame, Lifter
from transpile.frontend.number_calls import items_of
from transpile.frontend.operators import binary
from transpile.frontend.values import Array, Bound, Cell, Closure, Items, Method, Ref, Scalar, Static, Super, Tuple

Args = list[Any]
Kwargs = dict[str, Any]


def _print(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return formatting.print_call(lx, args, kwargs, node)


def _isinstance(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value, wanted = args
    classes = _flat(lx, wanted, node)
    return lx.const(any(_is_instance(lx, value, c) for c in classes))


def _flat(lx: Lifter, wanted: Any, node: Any) -> list[Any]:
    if isinstance(wanted, Tuple):
        return [c for w in wanted.items for c in _flat(lx, w, node)]
    held = statics.known(lx, wanted) if isinstance(wanted, Static) else None
    if not isinstance(held, type) and getattr(held, "__args__", None):  # int | float
        return list(getattr(held, "__args__", ()))
    if held is None:
        raise lx.error("T120", "isinstance of what is not a class", node)
    return [held]


def _is_instance(lx: Lifter, value: Any, cls: Any) -> bool:
    found = class_of(lx, value)
    if isinstance(cls, (Known, StaticClass)) or isinstance(found, (Known, StaticClass)):
        name = cls.name.rpartition(".")[2] if isinstance(cls, Known) else None
        return found is cls or (
            name is not None and isinstance(found, type) and any(c.__name__ == name for c in found.__mro__)
        )
    return isinstance(found, type) and isinstance(cls, type) and issubclass(found, cls)


def class_of(lx: Lifter, value: Any) -> Any:
    """The class of a value of the program."""
    match value:
        case Scalar():
            if value.op.type.weak:
                return {"float64": float, "int64": int, "bool": bool}[value.op.type.dtype]
            return np.dtype(value.op.type.dtype).type
        case Array() if value.cell.mixed:
            raise lx.error("T118", "this is a number or an array of rank 0, depending on the data: it has no one class")
        case Array():
            return np.ndarray
        case Tuple():
            return value.cls or tuple
        case Ref():
            state = containers.items(lx, value)
            return {"list": list, "grown": list, "counted": list, "dict": dict}.get(state.kind, state.cls)
        case Closure() | Bound() | Method():
            return type(lambda: None)
        case Static():
            return type(statics.known(lx, value))
    return object


def _type(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Static(class_of(lx, args[0]))


def _getattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    name = lx.static(args[1], "the name of an attribute", node)
    if len(args) > 2 and not _has(lx, args[0], name, node):
        return args[2]
    return attributes.read(lx, args[0], name, node)


def _hasattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return lx.const(_has(lx, args[0], lx.static(args[1], "the name of an attribute", node), node))


def _has(lx: Lifter, value: Any, name: str, node: Any) -> bool:
    from transpile.errors import TranspileError

    if isinstance(value, (Array, Scalar)):
        return hasattr(class_of(lx, value), name)
    try:
        attributes.read(lx, value, name, node)
    except TranspileError:
        return False
    return True


def _setattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    attributes.write(lx, args[0], lx.static(args[1], "the name of an attribute", node), args[2], node)
    return Static(None)


def _callable(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value = args[0]
    if isinstance(value, Static):
        held = statics.known(lx, value)
        return lx.const(callable(held) or isinstance(held, Known))
    return lx.const(isinstance(value, (Closure, Bound, Method)))


def _str(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not args:
        return Static("")
    if statics.is_known(lx, args[0]):
        return Static(str(statics.known(lx, args[0])))
    parts: list[Any] = []
    ops: list[Any] = []
    formatting.add(lx, parts, ops, args[0], "s", "", node)
    return Static(formatting.Text(parts, ops))


def _abs(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    own = overloads.call(lx, args[0], "__abs__", [], node)
    return NotImplemented if own is None else own


def _super(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Super:
    if len(args) == 1:
        raise lx.error("T131", "super() takes no arguments here, or a class and an object", node)
    if args:
        return Super(lx.static(args[0], "the class of super()", node), args[1])
    frame: Frame | None = lx.frame
    while frame is not None and (frame.parent is not None or not frame.code.args.args):
        frame = frame.parent
    if frame is None:
        raise lx.error("T130", "super() outside a method", node)
    held = frame.code.lookup("__class__", lx.loc(node))
    return Super(held.value, lx.state.vars[frame, frame.code.args.args[0].id])


def _slice(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend.values import SliceOf

    given = [None if isinstance(a, Static) and a.value is None else a for a in args]
    given = [None, *given] if len(given) == 1 else given
    return SliceOf(*given, *[None] * (3 - len(given)))


# --------------------------------------------------------------------------------------------- functools, dataclasses


def _partial(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Bound:
    return Bound(args[0], tuple(args[1:]), tuple(kwargs.items()))


def _reduce(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    items = items_of(lx, args[1], node)
    if items is None:
        from transpile.frontend import folds

        start = args[2] if len(args) > 2 else None
        return folds.fold(lx, args[1], start, lambda a, b: calls.apply(lx, args[0], [a, b], {}, node), node)
    if len(args) > 2:
        items = [args[2], *items]
    if not items:
        raise lx.error("T131", "reduce of nothing", node)
    total = items[0]
    for item in items[1:]:
        total = calls.apply(lx, args[0], [total, item], {}, node)
    return total


def _replace(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``dataclasses.replace``."""
    state = containers.items(lx, args[0], node) if isinstance(args[0], Ref) else None
    if state is None or state.kind != "instance":
        raise lx.error("T131", f"dataclasses.replace of {describe(lx, args[0])}", node)
    held = {**dict(zip(state.keys or (), state.items)), **kwargs}
    cell = Cell("instance")
    lx.state.cells[cell] = Items("instance", tuple(held.values()), tuple(held), state.cls)
    return Ref(cell)


def _wraps(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Static(_Identity())


class _Identity:
    """A decorator that changes nothing."""

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        return args[0]


_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "matmul": "matmul", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip


def _operator(prim: str) -> Callable[..., Any]:
    return lambda lx, args, kwargs, node: binary(lx, prim, args[0], args[1], node)


def _getitem(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend import subscripts

    return subscripts.read(lx, args[0], args[1], node)


TABLE: dict[str, Any] = {
    **{
        f"builtins.{name}": rule
        for name, rule in {
            "print": _print, "isinstance": _isinstance, "type": _type, "getattr": _getattr, "hasattr": _hasattr,
            "setattr": _setattr, "callable": _callable, "str": _str, "slice": _slice,
            "super": _super, "abs": _abs,
        }.items()
    },
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _wraps,
    "dataclasses.replace": _replace,
    "operator.getitem": _getitem,
    **{f"operator.{name}": _operator(prim) for name, prim in _OPERATORS.items()},
}  # fmt: skip
