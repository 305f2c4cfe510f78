"""The texts that a transformed function takes along where it is pickled: those of the functions in it that cannot be imported.

Such functions are carried by value (cloudpickle, and so joblib and dask), as their code alone.
"""

from __future__ import annotations

import functools
import linecache
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from transpile.frontend.sources.locate import written_in

Texts = tuple[tuple[str, str], ...]  # the name of a file or cell, and what stands in it

_MOST = 10_000  # objects that are looked through


def texts_of(fn: Any) -> Texts:
    """The texts of a function and of all that it reads which cannot be imported."""
    found: dict[str, str] = {}
    for one in _functions(fn):
        file = written_in(one)
        if file is not None:
            found[file] = "".join(linecache.getlines(file, one.__globals__))
    return tuple(found.items())


def is_imported(held: Any) -> bool:
    """Whether another process finds a function or class under its name in a module, which ``__main__`` is not."""
    module = getattr(held, "__module__", None)
    found: Any = sys.modules.get(module) if isinstance(module, str) and module != "__main__" else None
    for part in getattr(held, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is not None and (found is held or getattr(found, "__wrapped__", None) is held)


def _functions(start: Any) -> Iterator[types.FunctionType]:
    """The Python functions that are reached from an object and cannot be imported."""
    seen: dict[int, Any] = {}
    waiting = deque([start])
    while waiting and len(seen) < _MOST:
        held = waiting.popleft()
        if id(held) in seen or isinstance(held, (str, int, float, types.ModuleType)):
            continue
        seen[id(held)] = held
        if isinstance(held, (type, types.FunctionType)) and is_imported(held):
            continue
        if isinstance(held, types.FunctionType):
            yield held
        waiting += _PARTS.get(type(held), _of_object)(held)


def _of_function(fn: types.FunctionType) -> Iterator[Any]:
    yield from (fn.__globals__[name] for name in _names(fn.__code__) if name in fn.__globals__)
    yield from (cell.cell_contents for cell in fn.__closure__ or () if _is_filled(cell))
    yield from (fn.__defaults__, fn.__kwdefaults__, fn.__dict__)


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _names(const)


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _of_object(held: Any) -> Iterator[Any]:
    """The class of an object, or the bases of a class, and the attributes."""
    yield from held.__bases__ if isinstance(held, type) else (type(held),)
    yield from list(getattr(held, "__dict__", {}).values())


_PARTS: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: _of_function,
    types.MethodType: lambda held: (held.__func__, held.__self__),
    functools.partial: lambda held: (held.func, held.args, held.keywords),
    staticmethod: lambda held: (held.__func__,),
    classmethod: lambda held: (held.__func__,),
    property: lambda held: (held.fget, held.fset),
    functools._lru_cache_wrapper: lambda held: (held.__wrapped__,),
    tuple: list,
    list: list,
    dict: lambda held: list(held.values()),
}
"""What an object of a class holds, where that is not in its attributes."""
