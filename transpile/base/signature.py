"""The key under which a call is cached.

The key holds the structure of the arguments, for each leaf its dtype and rank (or, if some size is 1, which sizes are), and the
static values. It is built on every call, so it consists of existing objects: dtypes, types, small ints.

>>> leaves, key = [], []
>>> collect((np.ones((2, 1)), 1.5, {"n": 3}), leaves, key)
>>> key
[dtype('float64'), (False, True), <class 'float'>, ('dict', 1, ('n',), None), <class 'int'>]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from transpile.aggregates import Content, Meta, Static, exact_keys, open_node
from transpile.base.foreign_arrays import Foreign, is_foreign
from transpile.errors import error

ndarray = np.ndarray


def collect(values: Iterable[Any], leaves: list[Any], key: list[Any]) -> None:
    """Appends the leaves of ``values`` to ``leaves`` and their part of the key to ``key``; raises `Foreign` for an array of
    another library."""
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
    """As `collect`, for one value ``v`` of type ``t`` that is neither exactly an ndarray, nor a float or an int."""
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
        key.append(Content(v.value) if t is Meta else Static(v))
        return
    kind, children, names, cls = found
    children = list(children)
    key.append((kind, len(children), exact_keys(names), cls))
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
    """An instance of a subclass of ndarray as a plain array, ``v`` itself if it is one; T409 if its class redefines
    operators."""
    if type(v) is ndarray:
        return v
    if any(getattr(type(v), name) is not getattr(ndarray, name) for name in _MEANING):
        hint = "convert it with np.asarray(...)"
        message = f"an argument is of type {type(v).__name__}, whose operators differ from those of NumPy's arrays"
        raise error("T409", message, hint=hint)
    return np.asarray(v)
