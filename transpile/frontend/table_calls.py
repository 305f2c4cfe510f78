"""Calls by the tables of the rules: arguments are bound to the entry's signature and converted, ``out=`` and ``where=`` served."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from transpile.core.builder import Expr, NotANumber
from transpile.errors import NO_COMPLEX, RuleError
from transpile.frontend import aliases, grids, memory, ways_out
from transpile.frontend.bindings import Known
from transpile.frontend.convert import exprs, from_rule, shown
from transpile.frontend.lifter import Lifter
from transpile.frontend.operators import check_cast
from transpile.frontend.values import Array, Ref, Scalar, Static, Tuple
from transpile.rules.api import OUT_AT, Entry
from transpile.rules.api_tables import entries


def call(lx: Lifter, name: str, args: list[Any], kwargs: dict[str, Any], node: Any = None) -> Any:
    """The result of the entry ``name``."""
    entry = entries().get(name)
    if entry is None:
        raise lx.error("T130", f"{shown(name)} is not supported", node, ways_out.of_call(name))
    kwargs = dict(kwargs)
    if name in ("numpy.insert", "numpy.delete"):
        args = grids.places(lx, name, args, kwargs, node)
    at = OUT_AT.get(name)
    if at is not None and len(args) > at and "out" not in kwargs:
        args, kwargs["out"] = [*args[:at], *args[at + 1 :]], args[at]
    with lx.rules(node):
        if isinstance(kwargs.get("where"), (Array, Scalar, Ref, Tuple)):
            _check_mask(lx, kwargs["where"])
        if entry.source:
            out = kwargs.pop("out", Static(None)) if at is not None else Static(None)
            made = library(lx, entry.source, args, kwargs, node)
            made = made if entry.memory in _ARRAYS else as_numbers(lx, made)
            return made if isinstance(out, Static) and out.value is None else store_out(lx, out, made, node)
        if entry.elementwise or any(k in kwargs for k in ("out", "where", "dtype", "casting")):
            from transpile.frontend import ufuncs

            handled = ufuncs.with_options(lx, name, entry, args, kwargs, node)
            if handled is not None:
                return handled
        return _made(lx, name, entry, args, kwargs, node)


def _check_mask(lx: Lifter, where: Any) -> None:
    """NumPy casts no numbers to the truth values of ``where=``."""
    given = lx.array(where).type
    if not given.is_bool:
        raise RuleError(f"where= takes truth values, not {given}", "T201")


_NEW = frozenset(("new", "array", "C", "like"))
_ARRAYS = frozenset(("array", "C", "like", "same", "read-only"))  # what these give is an array even of rank 0


def _made(lx: Lifter, name: str, entry: Entry, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """What the entry gives: memory of its own, or a part of what an argument has."""
    shares = entry.memory if isinstance(entry.memory, str) else ""
    shares = shares or entry.shares(_bound(lx, name, entry, args, kwargs, node))
    of_array = any(isinstance(a, Array) for a in (*args, *kwargs.values()))
    if shares == "part":
        shares = "read-only" if of_array else "place"
    if shares not in _NEW and of_array:
        from transpile.frontend import view_calls

        return view_calls.call(lx, shares, args, kwargs, lambda a, k: build(lx, name, entry, a, k, node))
    result = build(lx, name, entry, args, kwargs, node)
    in_order = shares == "C" or (shares == "like" and _are_in_order(lx, args))
    of_python = (
        shares not in _NEW and shares != "place" and any(isinstance(a, Scalar) and a.type.weak for a in args[:1])
    )
    return from_rule(lx, result, shares in _ARRAYS or of_python, contiguous=in_order)


def _are_in_order(lx: Lifter, args: list[Any]) -> bool:
    """Whether all arrays that are given are in C order."""
    return all(c.contiguous for a in args for c in aliases.cells_of(lx, a) if not isinstance(a, Ref) or c is not a.cell)


def as_numbers(lx: Lifter, value: Any) -> Any:
    """Of what NumPy computes: arrays of rank 0 as numbers."""
    if isinstance(value, Tuple):
        return Tuple(tuple(as_numbers(lx, v) for v in value.items), value.cls)
    is_number = isinstance(value, Array) and not memory.type_of(lx, value.cell).dims
    return lx.value(memory.read(lx, value.cell)) if is_number else value


def library(lx: Lifter, source: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A function that is written in NumPy itself: lifted like the user's, its lines are those of the call."""
    from transpile.frontend import calls, library_calls

    function = library_calls.function(source)
    pinned, lx.pinned = lx.pinned, lx.pinned or lx.b.loc
    try:
        return calls.user(lx, function, args, kwargs, node)
    finally:
        lx.pinned = pinned


def build(lx: Lifter, name: str, entry: Entry, args: list[Any], kwargs: dict[str, Any], node: Any = None) -> Any:
    """What the entry's ``build`` gives for these arguments."""
    ready = _bound(lx, name, entry, args, kwargs, node)
    signature = entry.signature
    assert signature is not None and entry.build is not None
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for k, parameter in signature.parameters.items():
        if k not in ready:
            continue
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                positional += ready[k]
            case inspect.Parameter.VAR_KEYWORD:
                keywords.update(ready[k])
            case inspect.Parameter.KEYWORD_ONLY:
                keywords[k] = ready[k]
            case _ if len(positional) == list(signature.parameters).index(k):
                positional.append(ready[k])
            case _:
                keywords[k] = ready[k]
    try:
        return _of_type(lx, name, entry.build(lx.b, *positional, **keywords), ready.get("dtype"))
    except NotANumber:
        raise
    except (TypeError, IndexError, ValueError, AttributeError, ZeroDivisionError) as e:
        # a rule reads what NumPy would take; what it stumbles over is an argument of another kind
        raise lx.error("T131", f"{shown(name)} does not take these arguments ({e})", node) from e


def _of_type(lx: Lifter, name: str, made: Any, dtype: Any) -> Any:
    """What was made, which has the type that was asked for: what a rule gives otherwise (a sum of truths, a mean of integers) is
    no answer."""
    first = made[0] if isinstance(made, tuple) and made else made
    if dtype is not None and isinstance(first, Expr) and first.dtype != np.dtype(dtype).name:
        raise RuleError(f"{shown(name)} with dtype={np.dtype(dtype).name} is not supported", "T131")
    return lx.b.surely_of_dtype(first) if dtype is not None and first is made and isinstance(first, Expr) else made


def _bound(
    lx: Lifter, name: str, entry: Entry, args: list[Any], kwargs: dict[str, Any], node: Any = None
) -> dict[str, Any]:
    """The arguments by the names of the entry's parameters, as its ``build`` takes them."""
    signature = entry.signature
    assert signature is not None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as e:
        raise lx.error("T132", f"{shown(name)}: {e}", node) from None
    return {k: _argument(lx, entry, signature.parameters[k], k, v, node) for k, v in bound.arguments.items()}


def _argument(lx: Lifter, entry: Entry, parameter: inspect.Parameter, name: str, value: Any, node: Any) -> Any:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        one = static_argument if name in entry.static else exprs
        return [one(lx, v, node) if one is exprs else static_argument(lx, name, v, node) for v in value]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return {k: exprs(lx, v, node) for k, v in value.items()}
    if name in entry.static:
        return static_argument(lx, name, value, node)
    if name in ("arrays", "tup") and isinstance(value, Array):  # one array for a sequence of its rows
        from transpile.frontend import iteration

        return [exprs(lx, v, node) for v in iteration.unrolled(lx, value, node)]
    return exprs(lx, value, node)


def static_argument(lx: Lifter, name: str, value: Any, node: Any = None) -> Any:
    """An argument that must be known now; a dtype as its name."""
    known = lx.static(value, f"the argument {name!r}", node)
    if name == "dtype" and known is not None:
        return dtype_name(lx, known, node)
    if known is not None and name in _NAMED and known not in _NAMED[name]:
        allowed = ", ".join(map(repr, _NAMED[name]))
        raise lx.error("T131", f"{name}={known!r} is not one of {allowed}", node)
    return known


_NAMED = {
    "casting": ("no", "equiv", "safe", "same_kind", "unsafe"),
    "device": ("cpu",),
    "order": ("C", "F", "A", "K", "c", "f", "a", "k"),
}
"""What NumPy allows for the options that change no value, beside None."""


def dtype_name(lx: Lifter, known: Any, node: Any = None) -> str:
    """The name of a dtype, however it is given."""
    try:
        given = np.dtype(known.name.rpartition(".")[2] if isinstance(known, Known) else known)
    except TypeError:
        raise lx.error("T209", f"{known!r} is not a dtype", node) from None
    if not given.isnative:
        raise lx.error("T209", f"the dtype {known!r} has the bytes of another machine", node)
    found = given.name
    from transpile.core.types import DTYPES

    if found.startswith("complex"):
        raise lx.error("T311", f"the dtype {found} is complex", node, NO_COMPLEX)
    if found not in DTYPES:
        raise lx.error("T209", f"the dtype {found} is not supported", node)
    return found


def store_out(lx: Lifter, out: Any, result: Any, node: Any) -> Any:
    """``out=``: the result goes into an array that is there."""
    if isinstance(out, Tuple) and len(out.items) == 1:
        out = out.items[0]
    if not isinstance(out, Array):
        raise lx.error("T131", "out= must be an array", node)
    x = lx.operand(result, node)
    check_cast(lx, x, memory.read(lx, out.cell), "out=", node)
    memory.write(lx, out.cell, None, (), x)
    return out
