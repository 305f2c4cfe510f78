"""The key that a call is cached under, and the core types of its leaves.

The key holds the structure of the arguments, per leaf its dtype and rank (or, where a size is 1, which sizes are), and static
values. It is made on every call, so it is made of objects that are at hand: dtypes, types, small ints.

>>> leaves, key = [], []
>>> collect((np.ones((2, 1)), 1.5, {"n": 3}), leaves, key)
>>> key
[dtype('float64'), (False, True), <class 'float'>, ('dict', 1, ('n',), None), <class 'int'>]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from transpile.aggregates import Static, open_node
from transpile.foreign import Foreign, is_foreign

ndarray = np.ndarray


def collect(values: Iterable[Any], leaves: list[Any], key: list[Any]) -> None:
    """Appends the leaves of ``values`` and the parts of the key."""
    for v in values:
        t = type(v)
        if t is ndarray:
            shape = v.shape
            leaves.append(v)
            key.append(v.dtype)
            key.append(tuple([n == 1 for n in shape]) if 1 in shape else len(shape))
        elif t is float or t is int:
            leaves.append(v)
            key.append(t)
        else:
            _collect_other(v, t, leaves, key)


def _collect_other(v: Any, t: type, leaves: list[Any], key: list[Any]) -> None:
    if isinstance(v, np.generic) or t is complex:
        leaves.append(v)
        key.append(t)
        return
    if isinstance(v, ndarray):
        collect((plain_array(v),), leaves, key)
        return
    found = open_node(v)
    if found is None:
        if is_foreign(t):
            raise Foreign
        key.append(Static(v))
        return
    kind, children, names, cls = found
    children = list(children)
    key.append((kind, len(children), names, cls))
    collect(children, leaves, key)


_MEANING = (
    "__array_ufunc__",
    "__array_function__",
    "__add__",
    "__sub__",
    "__mul__",
    "__truediv__",
    "__pow__",
    "__matmul__",
)


def plain_array(v: Any) -> np.ndarray:
    """An instance of a subclass of ndarray as a plain one; those that mean something else by ``*`` are refused."""
    from transpile.errors import error

    if type(v) is ndarray:
        return v
    if any(getattr(type(v), name) is not getattr(ndarray, name) for name in _MEANING):
        hint = "pass np.asarray(...) of it"
        raise error(
            "T409", f"an argument is of type {type(v).__name__}, whose operators are not those of arrays", hint=hint
        )
    return np.asarray(v)


def leaf_type(value: Any, number: int, what: Callable[[], str] = lambda: "an argument") -> Any:
    """The core type of a leaf; each size that is not 1 is a symbol of its own. ``what`` says what it is called in a message."""
    from transpile.core.dims import Dim
    from transpile.core.types import FLOAT, INT, Type
    from transpile.errors import error

    if type(value) is float:
        return FLOAT
    if type(value) is int:
        return INT
    if isinstance(value, ndarray):
        value = plain_array(value)
    dtype = np.dtype(complex) if type(value) is complex else value.dtype
    found = unsupported(dtype)
    if found is not None:
        code, message, hint = found
        raise error(code, f"{what()} is {message}", hint=hint)
    dims = (Dim(1) if n == 1 else Dim.symbol(f"?{number}_{axis}") for axis, n in enumerate(value.shape))
    return Type(dtype.name, tuple(dims))


def unsupported(dtype: Any) -> tuple[str, str, str] | None:
    """The code, the text and the hint of a diagnostic for a dtype that the core does not have; None for one that it has."""
    from transpile.core.types import DTYPES
    from transpile.errors import NO_COMPLEX

    if dtype.kind == "c":
        return "T311", f"complex ({dtype.name})", NO_COMPLEX
    if dtype.name in DTYPES and dtype.isnative:
        return None
    shown = dtype.name if dtype.isnative else f"{dtype.name} in foreign byte order"
    return "T409", f"of dtype {shown}, which is not supported", "convert it with .astype(...)"
