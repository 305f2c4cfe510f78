"""Arrays of other libraries as arguments (PyTorch, JAX, pandas, xarray), converted to NumPy arrays if they are in host memory.

The results are NumPy's.

>>> class Series:
...     dtype, shape = np.dtype(float), (2,)
...     def __array__(self, dtype=None, copy=None):
...         return np.array([1.0, 2.0])
>>> as_arrays({"x": [Series(), 3.0]})
{'x': [array([1., 2.]), 3.0]}
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from transpile.aggregates import Node, close_node, open_node
from transpile.errors import error

ON_THE_HOST = (1, 3, 11)  # DLPack's device types: CPU, and host memory pinned by CUDA or ROCm


class Foreign(Exception):
    """An array of another library is among the arguments."""


def is_foreign(cls: type) -> bool:
    """True if objects of a class, which is none of NumPy's, are arrays: they support DLPack, or have ``__array__``, a dtype and
    a shape."""
    if cls not in _KNOWN:
        numpys = issubclass(cls, (np.ndarray, np.generic))
        protocol = hasattr(cls, "__dlpack__") or all(hasattr(cls, name) for name in ("__array__", "dtype", "shape"))
        _KNOWN[cls] = protocol and not numpys
    return _KNOWN[cls]


_KNOWN: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def as_arrays(value: Any) -> Any:
    """The value with NumPy arrays in place of arrays of other libraries, in containers too; the same object if it has none."""
    opened = open_node(value)
    if opened is not None:
        kind, children, keys, cls = opened
        children = list(children)
        parts = [as_arrays(child) for child in children]
        same = all(a is b for a, b in zip(parts, children))
        return value if same else close_node(Node(kind, tuple(parts), keys, cls), parts)
    return as_array(value) if is_foreign(type(value)) else value


def as_array(value: Any) -> np.ndarray:
    """An array of another library as NumPy's; T409 if it is on another device, or if NumPy cannot convert it."""
    shown = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    device = getattr(value, "__dlpack_device__", lambda: ON_THE_HOST)()
    if device[0] not in ON_THE_HOST:
        text = f"an argument, a {shown}, is on another device"
        raise error("T409", text, hint="copy it to the CPU, and pass np.asarray(x)")
    try:
        return np.asarray(value)
    except Exception as failed:  # whatever the library raises
        text = f"an argument, a {shown}, cannot be converted to an array: {failed}"
        raise error("T409", text, hint="pass its values as a NumPy array") from None
