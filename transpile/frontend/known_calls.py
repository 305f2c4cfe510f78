"""Calls of what NumPy, SciPy, math and Python provide: special ones here, all others by the tables of the rules."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.frontend import array_calls, iterator_calls, number_calls, object_calls, statics, table_calls
from transpile.frontend.bindings import Known
from transpile.frontend.convert import shown
from transpile.frontend.lifter import Lifter
from transpile.rules.api import entries

Special = Callable[[Lifter, list[Any], dict[str, Any], Any], Any]


def call(lx: Lifter, name: str | Known, args: list[Any], kwargs: dict[str, Any], node: Any = None) -> Any:
    """The result of calling what the dotted name means."""
    found = Known(name) if isinstance(name, str) else name
    _check_arity(lx, found, args, kwargs, node)
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
        from transpile.frontend import ufuncs

        return ufuncs.method(lx, *ufunc, args, kwargs, node)
    obj = statics.known_value(found)
    if isinstance(obj, type) and issubclass(obj, (np.generic, int, float, bool)):
        return array_calls.scalar_type(lx, obj, args, node)
    if found.name.startswith("transpile."):
        from transpile.frontend import nested

        return nested.transform(lx, found.name, obj, args, kwargs, node)
    folded = _folded(lx, found, obj, args, kwargs)
    if folded is not None:
        return folded
    raise lx.error("T130", f"{shown(found.name)} is not supported", node)


def _check_arity(lx: Lifter, found: Known, args: list[Any], kwargs: dict[str, Any], node: Any) -> None:
    """Refuses arguments that the function itself would not take."""
    signature = _signature(found.name)
    if signature is not None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as e:
            raise lx.error("T132", f"{shown(found.name)}: {e}", node) from None


@functools.lru_cache(maxsize=1024)
def _signature(name: str) -> inspect.Signature | None:
    """The signature of a function that is called by special rules; None where it is not known."""
    if name in _UNSAID:
        return inspect.signature(_UNSAID[name])
    if name.partition(".")[0] not in ("builtins", "math", "operator", "numpy", "functools", "itertools"):
        return None  # nothing else is imported for this
    try:
        return inspect.signature(statics.known_value(Known(name)))
    except (TypeError, ValueError):
        return None


_UNSAID: dict[str, Any] = {
    f"builtins.{name}": like
    for name, like in {
        "max": lambda first, /, *more, key=None, default=None: 0,
        "min": lambda first, /, *more, key=None, default=None: 0,
        "range": lambda a, b=0, c=0, /: 0,
        "map": lambda function, first, /, *more: 0,
        "filter": lambda function, items, /: 0,
        "dict": lambda items=(), /, **more: 0,
        "bool": lambda x=0, /: 0,
        "int": lambda x=0, /, base=10: 0,
        "getattr": lambda obj, name, default=None, /: 0,
        "type": lambda obj, /: 0,
        "zip": lambda *items, strict=False: 0,
    }.items()
}
_UNSAID["functools.partial"] = lambda function, /, *args, **kwargs: 0
_UNSAID["itertools.product"] = lambda *items, repeat=1: 0
_UNSAID["functools.reduce"] = lambda function, items, initial=None, /: 0


def _ufunc_method(name: str) -> tuple[str, str] | None:
    head, _, last = name.rpartition(".")
    return (head, last) if last in ("outer", "reduce", "accumulate", "at") and head in entries() else None


def _folded(lx: Lifter, found: Known, obj: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function without effect whose arguments are all known now."""
    if found.name.partition(".")[0] not in ("numpy", "math", "operator", "builtins") or not callable(obj):
        return None
    if found.name.startswith(("numpy.random", "builtins.open", "builtins.exec", "builtins.eval", "builtins.input")):
        return None
    if not all(statics.is_known(lx, v) for v in (*args, *kwargs.values())):
        return None
    try:
        result = obj(*(statics.known(lx, v) for v in args), **{k: statics.known(lx, v) for k, v in kwargs.items()})
    except Exception:
        return None
    return lx.const(result) if not isinstance(result, np.ndarray) else None


SPECIAL: dict[str, Special] = {**iterator_calls.TABLE, **number_calls.TABLE, **object_calls.TABLE, **array_calls.TABLE}
