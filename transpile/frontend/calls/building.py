"""What an entry of the rules' tables gives: arguments are bound and converted, results put where ``out=`` says."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import Any

import numpy as np

from transpile.core.builder import Expr, NotANumber
from transpile.core.types import DTYPES
from transpile.errors import NO_COMPLEX, RuleError, TranspileError
from transpile.frontend.calls import arity, library_calls
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.values import memory
from transpile.frontend.values.convert import exprs, shown
from transpile.frontend.values.operators import check_cast
from transpile.frontend.values.values import Array, Ref, Scalar, Static, Tuple
from transpile.numpy_api.api_arguments import must_agree
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.signatures import POSITIONAL


def as_numbers(lx: Lifter, value: Any) -> Any:
    """Of what NumPy computes: arrays of rank 0 as numbers."""
    if isinstance(value, Tuple):
        return Tuple(tuple(as_numbers(lx, v) for v in value.items), value.cls)
    is_number = isinstance(value, Array) and not memory.type_of(lx, value.cell).dims
    return lx.value(memory.read(lx, value.cell)) if is_number else value


def settled(
    lx: Lifter, entry: Entry, args: list[Any], kwargs: dict[str, Any], node: Any
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments, with what must be known in the place of arrays of numbers from outside, and of shapes their sizes."""
    takes = entry.takes if entry.build else inspect.signature(library_calls.function(entry.source))
    by_position = [p for p in takes.parameters.values() if p.kind in POSITIONAL]
    star = next((p.name for p in takes.parameters.values() if p.kind is inspect.Parameter.VAR_POSITIONAL), "")
    names = [p.name for p in by_position] + [star] * (len(args) - len(by_position))

    def one(name: str, value: Any) -> Any:
        if name in entry.static and (isinstance(value, (Array, Scalar)) or entry.source):
            found = static_argument(lx, name, value, node)
            if isinstance(found, (int, np.integer)) and not isinstance(found, bool):
                return lx.const(int(found))
            return Static(found) if entry.build else value
        return _sizes(lx, value, name in _SHAPES, node) if name in _SHAPES or name in _SEQUENCES else value

    return [one(k, v) for k, v in zip(names, args)], {k: one(k, v) for k, v in kwargs.items()}


def _sizes(lx: Lifter, value: Any, is_shape: bool, node: Any) -> Any:
    """A shape, or another sequence of integers, however it is given. Sizes that are negative are known."""
    if isinstance(value, Array) and memory.type_of(lx, value.cell).dims:
        return Tuple(tuple(_sizes(lx, v, is_shape, node) for v in lx.unrolled(value, node)))
    if isinstance(value, Tuple):
        return Tuple(tuple(_sizes(lx, v, is_shape, node) for v in value.items), value.cls)
    if isinstance(value, Ref) and lx.state.cells[value.cell].kind == "list":
        return Tuple(tuple(_sizes(lx, v, is_shape, node) for v in lx.state.cells[value.cell].items))
    if is_shape and isinstance(value, (Scalar, Array)) and statics.is_negative(lx, value):
        return lx.const(lx.static(value, "a negative size", node))
    return value


def build(lx: Lifter, name: str, entry: Entry, args: list[Any], kwargs: dict[str, Any], node: Any = None) -> Any:
    """What the entry's ``build`` gives for these arguments."""
    ready = bound_arguments(lx, name, entry, args, kwargs, node)
    assert entry.build is not None
    given = inspect.BoundArguments(entry.takes, OrderedDict(ready))
    try:
        return _of_type(lx, name, entry.build(lx.b, *given.args, **given.kwargs), ready.get("dtype"))
    except (NotANumber, TranspileError):
        raise
    except (TypeError, IndexError, ValueError, AttributeError, ZeroDivisionError) as e:
        # a rule reads what NumPy would take; what it stumbles over is an argument of another kind
        why = "" if "Expr" in str(e) else f" ({e})"
        hint = "check the arguments: NumPy may expect another kind of number, array or tuple"
        raise lx.error("T131", f"{shown(name)} does not take these arguments{why}", node, hint) from e


def _of_type(lx: Lifter, name: str, made: Any, dtype: Any) -> Any:
    """What was made, which has the type that was asked for: what a rule gives otherwise (a sum of truths, a mean of integers) is
    no answer."""
    first = made[0] if isinstance(made, tuple) and made else made
    if dtype is not None and isinstance(first, Expr) and first.dtype != np.dtype(dtype).name:
        hint = "leave dtype out, and convert the result with .astype(...)"
        raise RuleError(f"{shown(name)} with dtype={np.dtype(dtype).name} is not supported", "T131", hint)
    return lx.b.surely_of_dtype(first) if dtype is not None and first is made and isinstance(first, Expr) else made


def bound_arguments(
    lx: Lifter, name: str, entry: Entry, args: list[Any], kwargs: dict[str, Any], node: Any = None
) -> dict[str, Any]:
    """The arguments by the names of the entry's parameters, as its ``build`` takes them."""
    try:
        bound = entry.takes.bind(*args, **kwargs).arguments
    except TypeError as e:
        raise lx.error("T132", f"{shown(name)}: {e}", node, arity.parameters(entry.takes)) from None
    return {k: _argument(lx, entry, entry.takes.parameters[k], k, v, node) for k, v in bound.items()}


def _argument(lx: Lifter, entry: Entry, parameter: inspect.Parameter, name: str, value: Any, node: Any) -> Any:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        one = static_argument if name in entry.static else exprs
        return [one(lx, v, node) if one is exprs else static_argument(lx, name, v, node) for v in value]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return {k: exprs(lx, v, node) for k, v in value.items()}
    if name in entry.static:
        found = static_argument(lx, name, value, node)
        if name in _FLAGS_IN_C and not (isinstance(found, (bool, int, np.integer, np.bool_)) and found in (0, 1)):
            raise lx.error("T131", f"{name}={found!r} is not a truth value", node, "write True or False")
        if name in _WHOLE and isinstance(found, (float, np.floating)):
            raise lx.error("T131", f"{name}={found!r} is not an integer", node, hint="convert it with int(...)")
        return found
    if entry.rows and name in ("arrays", "tup") and isinstance(value, Array):  # one array for a sequence of its rows
        return [exprs(lx, v, node) for v in lx.unrolled(value, node)]
    return exprs(lx, value, node)


def static_argument(lx: Lifter, name: str, value: Any, node: Any = None) -> Any:
    """An argument that must be known now; a dtype as its name."""
    known = lx.static(value, f"the argument {name!r}", node)
    if name == "dtype" and known is not None:
        return dtype_name(lx, known, node)
    if known is not None and name in _NAMED and known not in _NAMED[name]:
        allowed = ", ".join(map(repr, _NAMED[name]))
        raise lx.error("T131", f"{name}={known!r} is not one of {allowed}", node, "write one of these")
    return known


_FLAGS_IN_C = frozenset("bias compute_uv full_matrices keepdims lower unit_diagonal".split())
"""Flags of which NumPy or SciPy wants a truth value; of others they take whatever Python takes for one."""
_WHOLE = frozenset("decimals k ndigits offset".split())
"""Options that are integers: of other numbers NumPy raises, or takes what differs from function to function."""
_SHAPES = frozenset("shape newshape new_shape".split())
"""What takes a size or a sequence of sizes, one of which may be -1."""
_SEQUENCES = frozenset("dimensions dims pad_width reps shift".split())
"""What takes a sequence of integers, that may be an array."""
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
        raise lx.error("T209", f"{known!r} is not a dtype", node, DTYPE_HINT) from None
    if not given.isnative:
        message = f"the dtype {known!r} has a foreign byte order, which is not supported"
        raise lx.error("T209", message, node, f"use {given.newbyteorder('=').name}")
    found = given.name
    if found.startswith("complex"):
        raise lx.error("T311", f"the dtype {found} is complex", node, NO_COMPLEX)
    if found not in DTYPES:
        raise lx.error("T209", f"the dtype {found} is not supported", node, DTYPE_HINT)
    return found


DTYPE_HINT = "use bool, or an integer or float dtype of 8 to 64 bits"


def stored(lx: Lifter, out: Any, result: Any, node: Any, *, stretched: bool = False) -> Any:
    """The result; where ``out=`` says so it goes into an array that is there, of its shape, or, if ``stretched``, of more."""
    if out is None or (isinstance(out, Static) and out.value is None):
        return result
    if isinstance(out, Tuple) and len(out.items) == 1:
        out = out.items[0]
    if not isinstance(out, Array) or isinstance(result, Tuple):
        message = "out= must be one array, for a function with one result"
        raise lx.error("T131", message, node, "leave out= away, and assign the result")
    x = lx.operand(result, node)
    check_cast(lx, x, memory.read(lx, out.cell), "out=", node)
    if not stretched:
        must_agree(lx.b, lx.b.expr(x), lx.array(out), "out= does not have the shape of the result")
    memory.write(lx, out.cell, (), (), x)
    return out
