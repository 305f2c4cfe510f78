"""What Numba made of functions: the loops of ``@vectorize`` call a function for each element, in the types that they were given.

In: a call of such an object. Out: calls of the Python function behind it, lifted like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.frontend.calls import library_calls
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.values import Array, Scalar

Args = list[Any]
Kwargs = dict[str, Any]


def vectorized(lx: Lifter, held: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``cut(x)`` of ``@vectorize def cut(x)``: numbers give a number, arrays an array."""
    name = held.__name__
    if kwargs:
        raise lx.error(
            "T131",
            f"the argument {next(iter(kwargs))!r} of {name}, a ufunc of Numba's, is not supported",
            node,
            "write a loop",
        )
    if len(args) != held.nin:
        message = f"{name}() takes {held.nin} positional argument{'s' * (held.nin != 1)} but {len(args)} were given"
        raise lx.error("T132", message, node, f"pass {held.nin}")
    function = lx.outside(held._dispatcher.py_func)
    types = _types(lx, held, args, node)
    if types is not None:
        args = [_cast(lx, a, dtype, node) for a, dtype in zip(args, types)]
    out = None if types is None else np.dtype(types[-1])
    if any(isinstance(a, Array) and lx.operand(a).type.dims for a in args):
        dtypes = lx.const(None if out is None else (out,))
        return library_calls.call(lx, "library_numpy:vectorized", [function, dtypes, *args], {}, node)
    value = lx.apply(function, args, {}, node)
    return value if out is None else _cast(lx, value, out.char, node)


def _types(lx: Lifter, held: Any, args: Args, node: Any) -> str | None:
    """The types of the loop that NumPy takes, as in ``"dd->d"``: the first to which all arguments may be cast; None where each call
    has one of its own."""
    if not held._frozen:
        return None
    given = [lx.operand(a, node).type for a in args]
    strong = [t for t in given if not t.weak] or given
    for types in held.types:
        pairs = zip(given, types.partition("->")[0])
        if all(_fits(np.dtype(t.dtype), np.dtype(to), t.weak and strong is not given) for t, to in pairs):
            return types.replace("->", "")
    kinds = ", ".join(t.dtype for t in given)
    message = f"{held.__name__}: none of its signatures ({', '.join(held.types)}) takes {kinds}"
    raise lx.error("T201", message, node, "convert the arguments with .astype(...)")


def _fits(dtype: np.dtype[Any], to: np.dtype[Any], weak: bool) -> bool:
    return np.can_cast(dtype, to, "same_kind" if weak else "safe")


def _cast(lx: Lifter, value: Any, char: str, node: Any) -> Any:
    dtype = np.dtype(char)
    if isinstance(value, (Scalar, Array)) and lx.operand(value).type.dims:
        return lx.known_call("numpy.asarray", [value, lx.const(dtype)], {}, node)
    return lx.known_call(f"numpy.{dtype.name if dtype.kind != 'b' else 'bool_'}", [value], {}, node)
