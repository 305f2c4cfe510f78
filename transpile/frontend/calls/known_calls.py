"""Calls of what NumPy, SciPy, math and Python provide: special ones here, all others by the tables of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.frontend.calls import (
    arity,
    array_calls,
    collective_calls,
    floating_errors,
    implicit_calls,
    inner_transforms,
    iterator_calls,
    lax_calls,
    lax_slices,
    library_calls,
    number_calls,
    object_calls,
    table_calls,
    tree_calls,
    ufuncs,
    ways_out,
)
from transpile.frontend.control import iteration, iterators
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.resolve.known import known_value
from transpile.frontend.values import instances
from transpile.frontend.values.convert import shown
from transpile.frontend.values.values import Static
from transpile.numpy_api.entries import entries

Special = Callable[[Lifter, list[Any], dict[str, Any], Any], Any]


def call(lx: Lifter, name: str | Known, args: list[Any], kwargs: dict[str, Any], node: Any = None) -> Any:
    """The result of calling what the dotted name means."""
    found = Known(name) if isinstance(name, str) else name
    if found.name not in SPECIAL and (own := library_calls.own_text(found.name)) is not None:
        return lx.user_call(own, args, kwargs, node)
    arity.check(lx, found.name, args, kwargs, node)
    if found.name in iterators.OF_ITERABLES:
        args = [iteration.opened(lx, value, node) for value in args]
    if found.name not in iterators.LAZY and not _is_lifted(found):
        for value in args:
            iterators.use(lx, value, node)
    for known in found.names:
        special = SPECIAL.get(known)
        if special is not None:
            result = special(lx, args, kwargs, node)
            if result is not NotImplemented:
                return result
    for known in found.names:
        if known in entries():
            return table_calls.call(lx, known, args, kwargs, node)
    ufunc = _ufunc_method(found.name)
    if ufunc is not None:
        return ufuncs.method(lx, Static(Known(ufunc[0], (ufunc[0],))), ufunc[1], args, kwargs, node)
    obj = known_value(found)
    if isinstance(obj, type) and issubclass(obj, (np.generic, int, float, bool)):
        return array_calls.scalar_type(lx, obj, args, node)
    if found.name.startswith("transpile."):
        return inner_transforms.transform(lx, found.name, obj, args, kwargs, node)
    folded = _folded(lx, found, obj, args, kwargs)
    if folded is not None:
        return folded
    raise lx.error("T130", f"{shown(found.name)} is not supported", node, ways_out.of_call(found.name))


def _is_lifted(found: Known) -> bool:
    """Whether it is written in Python itself, which takes the items of its arguments."""
    tables = entries()
    return any(known in tables and bool(tables[known].source) and known not in SPECIAL for known in found.names)


def _ufunc_method(name: str) -> tuple[str, str] | None:
    head, _, last = name.rpartition(".")
    return (head, last) if last in ("outer", "reduce", "accumulate", "reduceat", "at") and head in entries() else None


_PURE = frozenset(
    "abs ascii bin bool bytes callable chr complex dict divmod float format frozenset hex int isinstance issubclass len "
    "list max min oct ord pow range repr reversed round set slice sorted str sum tuple type zip".split()
)


_EFFECTS = frozenset(
    "fromfile genfromtxt get_printoptions getbufsize geterrcall load loadtxt memmap save savetxt savez savez_compressed "
    "set_printoptions setbufsize seterrcall".split()
)  # NumPy's functions that read or change what is outside


def _folded(lx: Lifter, found: Known, obj: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function without effect whose arguments are all known now."""
    if found.name.partition(".")[0] not in ("numpy", "math", "operator", "builtins") or not callable(obj):
        return None
    root, _, name = found.name.partition(".")
    is_pure = name in _PURE if root == "builtins" else root != "numpy" or name not in _EFFECTS
    if found.name.startswith("numpy.random") or not is_pure:
        return None
    if not all(statics.is_known(lx, v) for v in (*args, *kwargs.values())):
        return None
    try:
        result = obj(*(statics.known(lx, v) for v in args), **{k: statics.known(lx, v) for k, v in kwargs.items()})
    except Exception:
        return None
    return lx.const(result) if not isinstance(result, np.ndarray) else None


SPECIAL: dict[str, Special] = {
    **iterator_calls.TABLE, **number_calls.TABLE, **object_calls.TABLE, **instances.TABLE, **array_calls.TABLE,
    **tree_calls.TABLE, **lax_calls.TABLE, **lax_slices.TABLE,
    **implicit_calls.TABLE, **collective_calls.TABLE, **floating_errors.TABLE,
}  # fmt: skip
