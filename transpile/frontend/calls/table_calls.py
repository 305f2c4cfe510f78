"""Calls by the tables of the rules: arguments are bound to the entry's signature and converted, ``out=`` and ``where=`` served."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from transpile.errors import RuleError
from transpile.frontend.calls import building, call_arguments, grids, library_calls, ufuncs, view_calls, ways_out
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import aliases
from transpile.frontend.values.convert import from_rule, shown
from transpile.frontend.values.values import Array, Generator, Ref, Scalar, Static, Tuple
from transpile.numpy_api.entries import entries
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.signatures import defaults, stretches


def call(lx: Lifter, name: str, args: list[Any], kwargs: dict[str, Any], node: Any = None) -> Any:
    """The result of the entry ``name``."""
    entry = entries().get(name)
    if entry is None:
        raise lx.error("T130", f"{shown(name)} is not supported", node, ways_out.of_call(name))
    if entry.via == "math":  # math.fsum(v * v for v in x)
        args = [lx.known_call("builtins.list", [a], {}, node) if isinstance(a, Generator) else a for a in args]
    with lx.rules(node):
        given = call_arguments.passed(lx, name, entry, _takes(entry), args, kwargs, node)
        for where in (given.kwargs.get("where"), given.options.get("where")):
            if isinstance(where, Static) and where.value is None:
                raise lx.error("T131", f"{shown(name)}: where=None is not supported", node, "leave where out")
            if isinstance(where, (Array, Scalar, Ref, Tuple)):
                _check_mask(lx, where)
        args, kwargs = building.settled(lx, entry, given.args, given.kwargs, node)
        given = replace(given, args=args, kwargs=kwargs)
        if entry.source:
            made = library_calls.call(lx, entry.source, given.args, given.kwargs, node)
            made = made if entry.memory in _ARRAYS else building.as_numbers(lx, made)
            return building.stored(lx, given.options.get("out"), made, node, stretched=stretches(name))
        if name in ("numpy.insert", "numpy.delete"):
            given = replace(given, args=grids.places(lx, name, given.args, given.kwargs, node))
        if given.options:
            handled = ufuncs.with_options(lx, name, entry, given, node)
            if handled is not None:
                return handled
        return _made(lx, name, entry, given, node)


def _takes(entry: Entry) -> inspect.Signature:
    """What the function takes that stands for NumPy's."""
    return inspect.signature(library_calls.function(entry.source)) if entry.source else entry.takes


def _check_mask(lx: Lifter, where: Any) -> None:
    """NumPy casts no numbers to the truth values of ``where=``."""
    given = lx.array(where).type
    if not given.is_bool:
        raise RuleError(f"where= takes truth values, not {given}", "T201", "write a comparison, as in where=mask != 0")


_NEW = frozenset(("new", "array", "C", "like"))
_ARRAYS = frozenset(("array", "C", "like", "same", "read-only"))  # what these give is an array even of rank 0


def _made(lx: Lifter, name: str, entry: Entry, given: call_arguments.Passed, node: Any) -> Any:
    """What the entry gives: memory of its own, or a part of what an argument has."""
    args, kwargs = given.args, given.kwargs
    shares = entry.memory if isinstance(entry.memory, str) else ""
    if not shares:
        bound = building.bound_arguments(lx, name, entry, args, kwargs, node)
        shares = entry.shares({**defaults(name), **bound, **given.idle})
    of_array = any(isinstance(a, Array) for a in (*args, *kwargs.values()))
    if shares == "part":
        shares = "read-only" if of_array else "place"
    if shares not in _NEW and of_array:
        return view_calls.call(lx, shares, args, kwargs, lambda a, k: building.build(lx, name, entry, a, k, node))
    result = building.build(lx, name, entry, args, kwargs, node)
    in_order = shares == "C" or (shares == "like" and _are_in_order(lx, args))
    of_python = (
        shares not in _NEW and shares != "place" and any(isinstance(a, Scalar) and a.type.weak for a in args[:1])
    )
    return from_rule(lx, result, shares in _ARRAYS or of_python, contiguous=in_order)


def _are_in_order(lx: Lifter, args: list[Any]) -> bool:
    """Whether all arrays that are given are in C order."""
    return all(c.contiguous for a in args for c in aliases.cells_of(lx, a) if not isinstance(a, Ref) or c is not a.cell)
