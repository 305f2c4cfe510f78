"""The vocabulary of functional updates (`transpile.at`): methods, options, and the dtype in which a part is computed."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

MODES = ("promise_in_bounds", "clip", "drop", "fill")
UFUNCS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "mul": np.multiply, "divide": np.divide,
    "power": np.power, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
METHODS = ("set", *UFUNCS, "apply", "get")
ASSIGNED = "{}[index] cannot be assigned to"
ASSIGNED_HINT = "write x = {}[index].set(value), which returns a new array"


@cache
def signature(name: str) -> inspect.Signature:
    """The parameters of the method ``name`` of an indexed part, without the object."""
    return inspect.signature(_GIVEN.get(name, _values))


def _values(values, *, indices_are_sorted=False, unique_indices=False, mode=None, wrap_negative_indices=True):  # type: ignore[no-untyped-def]
    pass


def _func(func, *, indices_are_sorted=False, unique_indices=False, mode=None, wrap_negative_indices=True):  # type: ignore[no-untyped-def]
    pass


def _get(  # type: ignore[no-untyped-def]
    *, indices_are_sorted=False, unique_indices=False, mode=None, fill_value=None, wrap_negative_indices=True
):
    pass


_GIVEN: dict[str, Callable[..., None]] = {"apply": _func, "get": _get}


def is_dropping(mode: str | None, reading: bool) -> bool:
    """True if indices out of range are ignored rather than clipped. Without ``mode``, as with "promise_in_bounds", they are
    ignored in writes and clipped when ``reading``."""
    return mode in ("drop", "fill") or (mode in (None, "promise_in_bounds") and not reading)


def unknown_mode(mode: Any) -> str:
    return f"mode={mode!r} is not one of {', '.join(map(repr, MODES))}"


MODE_HINT = "x[index] raises if the index is out of range; to wrap around, write index % n"
FILL_HINT = "pass one number: the value of each element that is out of range"


def no_number(fill: str) -> str:
    return f"fill_value must be a number, not {fill}"


def computed_in(of: np.dtype[Any], values: Sequence[Any], divides: bool = False) -> np.dtype[Any]:
    """The dtype in which an array is updated: its own, unless it holds integers and the result is a float.

    ``values`` are dtypes, arrays and numbers of Python's, which give way to NumPy's. ``divides``: the update is a division.

    >>> computed_in(np.dtype("int8"), [1]).name, computed_in(np.dtype("int64"), [0.5]).name
    ('int8', 'float64')
    """
    if divides and of.kind in "biu":
        of = np.dtype(np.float64)
    wide = np.result_type(of, *values)
    return of if np.can_cast(wide, of, "same_kind") else wide


def default_fill(of: np.dtype[Any]) -> Any:
    """The value read at an index out of range, by dtype: NaN, the least signed integer, the largest unsigned one, or True."""
    if of.kind in "iu":
        return int(np.iinfo(of).min if of.kind == "i" else np.iinfo(of).max)
    return True if of.kind == "b" else float("nan")


def near(name: str) -> str:
    """The hint for an unknown method: the closest known one, or a list of all."""
    found = [_OTHERS[name]] if name in _OTHERS else difflib.get_close_matches(name, METHODS, 1, 0.6)
    return f"did you mean {found[0]!r}?" if found else f"the methods are {', '.join(METHODS)}"


_OTHERS = {
    "sub": "subtract", "div": "divide", "pow": "power", "minimum": "min", "maximum": "max", "replace": "set",
    "update": "set", "scatter": "set", "read": "get",
}  # fmt: skip


def without_index(owner: str, name: str) -> str:
    """The hint for ``at(x).set(...)``, which lacks an index; ``owner`` and ``name`` are what stands before and after the dot."""
    return f"write {owner}[index].{name if name in METHODS else 'set'}(...)"
