"""The result structures of functions that a plain run does not call: the branches of a `cond` that are not taken.

The compiler is a layer above the callers, so `transpile.api` sets `inspect`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

inspect: Callable[..., Any] | None = None
"""``inspect(f, args, make)``: the structure of the result of ``f(*args)``, with ``make(shape, dtype, is_weak)`` for each leaf;
a size is None if it is known at run time only. ``f`` does not run."""

Side = tuple[Any, Sequence[Any]]  # a function and its arguments
_MANY = 4096
_passed: set[Any] = set()


def structures(sides: Sequence[Side], make: Any) -> list[Any]:
    """Pairs of the number of a function in ``sides`` and the structure of its result, with ``make(shape, dtype, is_weak)`` for
    each leaf. Empty if functions and arguments of these kinds have `passed` before; functions that the compiler cannot read are
    left out."""
    key = _key(sides)
    if inspect is None or key is None or key in _passed:
        return []
    _passed.add(key)  # the same question inside these functions is not asked again
    found = []
    for k, (f, args) in enumerate(sides):
        try:
            found.append((k, inspect(_called(f), args, make)))
        except Exception:  # the run reports the error, if it calls this function
            continue
    _passed.discard(key)
    return found


def _called(f: Any) -> Any:
    """A plain function that calls ``f``, which may be a class, an object or a method."""
    return lambda *args: f(*args)


def passed(sides: Sequence[Side]) -> None:
    """Records that the results of these functions, for arguments of these kinds, have the same structure."""
    key = _key(sides)
    if key is not None:
        if len(_passed) >= _MANY:
            _passed.clear()
        _passed.add(key)


def _key(sides: Sequence[Side]) -> Any:
    key = tuple((_kind(f), *map(_kind, args)) for f, args in sides)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _kind(value: Any) -> Any:
    """A value equal for those functions or arguments with which a result has the same structure and types."""
    kind = type(value)
    if kind in _NUMBERS:
        return kind
    if isinstance(value, (tuple, list)):
        return kind, *map(_kind, value)
    if kind is dict:
        return kind, *value, *map(_kind, value.values())
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype, value.shape
    if kind is types.FunctionType:
        return value.__code__, _kind(value.__defaults__), *(_kind_of_cell(cell) for cell in value.__closure__ or ())
    if kind is str:
        return value
    return value if callable(value) else kind


_NUMBERS = frozenset((bool, int, float, complex, type(None)))


def _kind_of_cell(cell: Any) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:  # the cell is empty
        return None
    return value.__code__ if isinstance(value, types.FunctionType) else _kind(value)
