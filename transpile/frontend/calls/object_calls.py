"""Builtins about types and attributes, ``print``, and what stands in ``functools``, ``operator`` and ``dataclasses``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.base import making
from transpile.frontend.calls import formatting, library_calls, ways_out
from transpile.frontend.control import generator_folds, live
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.state import Frame
from transpile.frontend.values import attributes, classes, contents, overloads
from transpile.frontend.values.convert import describe
from transpile.frontend.values.operators import BINARY, binary
from transpile.frontend.values.values import Bound, RangeOf, Ref, SliceOf, Static, Super, Tuple
from transpile.ops.tables import operator_of

Args = list[Any]
Kwargs = dict[str, Any]


def _print(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return formatting.print_call(lx, args, kwargs, node)


def _setattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    attributes.write(lx, args[0], lx.static(args[1], "the name of an attribute", node), args[2], node)
    return Static(None)


def _set_of_object(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``object.__setattr__(self, name, value)``: what a frozen dataclass writes in its ``__post_init__``."""
    if kwargs or len(args) != 3 or not isinstance(args[0], Ref) or contents.items(lx, args[0], node).kind != "instance":
        return NotImplemented
    attributes.initialise(lx, args[0], lx.static(args[1], "the name of an attribute", node), args[2], node)
    return Static(None)


def _str(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not args:
        return Static("")
    if statics.is_known(lx, args[0]):
        return Static(str(statics.known(lx, args[0])))
    parts: list[Any] = []
    ops: list[Any] = []
    formatting.add(lx, parts, ops, args[0], "s", "", node)
    return formatting.made(parts, ops)


def _abs(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    own = overloads.call(lx, args[0], "__abs__", [], node)
    return _of_no_list("abs")(lx, args, kwargs, node) if own is None else own


def _of_no_list(name: str) -> Any:
    """A function of Python's own that takes numbers and arrays, and no list."""

    def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        for value in args:
            if isinstance(value, (Ref, Tuple, RangeOf)) and overloads.class_of(lx, value) is None:
                hint = "make an array of it: np.array(...)"
                raise lx.error("T120", f"{name!r} does not take {describe(lx, value)}", node, hint=hint)
        return NotImplemented

    return call


def _super(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Super:
    if len(args) == 1:
        raise lx.error("T131", "super() takes no arguments, or a class and an object", node, "write super()")
    if args:
        return Super(lx.static(args[0], "the class of super()", node), args[1])
    frame: Frame | None = lx.frame
    while frame is not None and (frame.parent is not None or not frame.code.args.args):
        frame = frame.parent
    if frame is None:
        raise lx.error("T130", "super() outside a method", node, ways_out.SUPER)
    held = frame.code.lookup("__class__", lx.loc(node))
    return Super(held.value, lx.state.vars[frame, frame.code.args.args[0].id])


def _slice(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    given = [None if isinstance(a, Static) and a.value is None else a for a in args]
    given = [None, *given] if len(given) == 1 else given
    return SliceOf(*given, *[None] * (3 - len(given)))


# --------------------------------------------------------------------------------------------- functools, dataclasses


def _partial(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Bound:
    return Bound(args[0], tuple(args[1:]), tuple(kwargs.items()))


def _reduce(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    found = live.known(lx, args[1], node)
    if found is None:
        start = args[2] if len(args) > 2 else None
        return generator_folds.fold(lx, args[1], start, lambda a, b: lx.apply(args[0], [a, b], {}, node), node)
    items = live.each(found)
    total = args[2] if len(args) > 2 else next(items, None)
    if total is None:
        message = "reduce() of an empty iterable without an initial value"
        raise lx.error("T131", message, node, "pass an initial value as the third argument")
    for item in items:
        total = lx.apply(args[0], [total, item], {}, node)
    return total


def _replace(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``dataclasses.replace``."""
    state = contents.items(lx, args[0], node) if isinstance(args[0], Ref) else None
    if state is None or state.kind != "instance" or len(args) > 1:
        message = f"dataclasses.replace takes a dataclass instance, not {describe(lx, args[0])}"
        raise lx.error("T131", message, node, "make a new value instead")
    given = getattr(state.cls, "__dataclass_fields__", None)
    names = state.keys or () if given is None else [
        f.name for f in given.values() if f.init and (making.is_instance_field(f) or making.is_init_variable(f))
    ]  # fmt: skip
    held = {k: kwargs.pop(k) if k in kwargs else lx.attribute(args[0], k, node) for k in names}
    return classes.construct(lx, state.cls, [], held | kwargs, node)  # __init__ runs again, and what it calls


def _wraps(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Static(_Identity())


class _Identity:
    """A decorator that changes nothing."""

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        return args[0]


def _vectorize(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.vectorize(f)``: what is called then is `Vectorized`."""
    given = {"pyfunc": args[0]} if args else {}
    given |= dict(zip(("otypes", "doc", "excluded", "cache", "signature"), args[1:])) | kwargs
    if "pyfunc" not in given:
        raise lx.error("T131", "np.vectorize needs a function", node, "write np.vectorize(f)")
    for name in ("excluded", "signature"):
        if not (isinstance(given.get(name, Static(None)), Static) and given.get(name, Static(None)).value is None):
            raise lx.error("T131", f"np.vectorize with {name} is not supported", node, ways_out.LOOP)
    return vectorized(lx, given["pyfunc"], given.get("otypes", Static(None)), node)


def vectorized(lx: Lifter, function: Any, otypes: Any, node: Any) -> Any:
    types = lx.static(otypes, "otypes of np.vectorize", node)
    dtypes = None if types is None else tuple(np.dtype(t) for t in types)
    return Bound(Static(_Vectorized()), (function, lx.const(dtypes)))


class _Vectorized:
    """A function for each element of arrays."""

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        return library_calls.call(lx, "library_numpy:vectorized", args, kwargs, node)


def _operator(prim: str) -> Callable[..., Any]:
    return lambda lx, args, kwargs, node: binary(lx, prim, args[0], args[1], node)


def _getitem(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return lx.item(args[0], args[1], node)


TABLE: dict[str, Any] = {
    **{
        f"builtins.{name}": rule
        for name, rule in {
            "print": _print, "breakpoint": formatting.breakpoint_call,
            "setattr": _setattr, "str": _str, "slice": _slice, "super": _super, "abs": _abs,
            **{name: _of_no_list(name) for name in ("round", "divmod")},
        }.items()
    },
    "builtins.object.__setattr__": _set_of_object,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "numpy.vectorize": _vectorize,
    "functools.wraps": _wraps,
    "dataclasses.replace": _replace,
    "operator.getitem": _getitem,
    "pdb.set_trace": formatting.breakpoint_call,
    **{f"operator.{operator_of(prim).name}": _operator(prim) for prim in BINARY.values()},
}  # fmt: skip
