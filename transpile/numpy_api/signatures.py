"""The arguments of a callable of NumPy, SciPy or Python: its own signature (`inspect.signature`), or that in `_RETYPED` if it
has none.

A signature is looked up when the callable is first used.

>>> str(signature("numpy.diag")), str(signature("numpy.hypot"))[:9]
('(v, k=0)', '(x1, x2, ')
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from transpile.numpy_api.entry_record import Entry

Parameter = inspect.Parameter
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

NO_VALUE: Any = np._NoValue
"""NumPy's default for arguments for which any value, even None, has a meaning."""


@cache
def signature(name: str) -> inspect.Signature | None:
    """The signature of the callable with a dotted name, NumPy's own or that in `_RETYPED`; None if there is no such callable,
    or if it has neither."""
    method = name.rpartition(".")[2]
    found = _object(name)
    if method in _UFUNC_METHODS and isinstance(_object(name.removesuffix(f".{method}")), np.ufunc):
        return inspect.signature(_UFUNC_METHODS[method])
    if found is None or name in _INCOMPLETE:
        return inspect.signature(_RETYPED[name]) if name in _INCOMPLETE else None
    try:
        return inspect.signature(found)
    except (TypeError, ValueError):
        return _of_ufunc(found) if isinstance(found, np.ufunc) else _retyped(name)


def defaults(name: str) -> dict[str, Any]:
    """The defaults that NumPy gives to the arguments of a callable, by name; arguments without one are left out."""
    found = signature(name)
    named = found.parameters.items() if found is not None else ()
    return {k: p.default for k, p in named if p.default is not p.empty and p.default is not NO_VALUE}


@cache
def stretches(name: str) -> bool:
    """True if a callable broadcasts its result to the shape of ``out``, as ufuncs do; for others ``out`` has the shape of the
    result."""
    return name in _OF_A_UFUNC or isinstance(_object(name), np.ufunc)


def _object(name: str) -> Any:
    """The object with a dotted name, in which ``ndarray`` stands for `np.ndarray`; None if a module lacks it."""
    root, *path = name.split(".")
    found: Any = np.ndarray if root == "ndarray" else import_module(root)
    for part in path:
        found = getattr(found, part, None)
    return found


def _retyped(name: str) -> inspect.Signature | None:
    return inspect.signature(_RETYPED[name]) if name in _RETYPED else None


def _of_ufunc(ufunc: np.ufunc) -> inspect.Signature:
    """The signature of a ufunc (from NumPy 2.4 on ufuncs have their own)."""
    found = elementwise(ufunc.nin, _ufunc if ufunc.signature is None else _generalised)
    out = found.parameters["out"].replace(default=None if ufunc.nout == 1 else (None,) * ufunc.nout)
    return found.replace(parameters=[out if p.name == "out" else p for p in found.parameters.values()])


def elementwise(operands: int, like: Callable[..., Any] | None = None) -> inspect.Signature:
    """The signature of a ufunc with this number of operands; its other parameters are those of ``like``, by default (None) of a
    ufunc of NumPy."""
    found = inspect.signature(like or _ufunc)
    names = ["x"] if operands == 1 else [f"x{k + 1}" for k in range(operands)]
    first = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    return found.replace(parameters=[*first, *found.parameters.values()])


def of_entry(name: str, entry: Entry) -> inspect.Signature | None:
    """The signature of the callable that the entry ``name`` describes; None if it has none. For a ufunc of SciPy this does not
    import SciPy."""
    if entry.elementwise and name.startswith("scipy.") and "scipy.special" not in sys.modules:
        return elementwise(len(entry.takes.parameters))
    return signature(name)


def _ufunc(out=None, *, where=True, casting="same_kind", order="K", dtype=None, subok=True, signature=None):  # type: ignore[no-untyped-def]
    pass


def _generalised(  # type: ignore[no-untyped-def]
    out=None, *, axes=NO_VALUE, axis=NO_VALUE, keepdims=False, casting="same_kind", order="K", dtype=None, subok=True,
    signature=None,
):  # fmt: skip
    pass


# Callables without a signature, or with an incomplete one. NumPy's functions in C have signatures from 2.4 on.

_UFUNC_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": lambda array, axis=0, dtype=None, out=None, keepdims=False, initial=NO_VALUE, where=True: 0,
    "accumulate": lambda array, axis=0, dtype=None, out=None: 0,
    "reduceat": lambda array, indices, axis=0, dtype=None, out=None: 0,
}
_OF_A_UFUNC = ("numpy.clip", "numpy.fix", "numpy.isneginf", "numpy.isposinf", "numpy.outer")
_INCOMPLETE = ("numpy.arange",)  # its signature lacks ``start=``, which it accepts
_RETYPED: dict[str, Callable[..., Any]] = {
    "builtins.max": lambda first, /, *more, key=None, default=None: 0,
    "builtins.min": lambda first, /, *more, key=None, default=None: 0,
    "builtins.range": lambda a, b=0, c=0, /: 0,
    "builtins.map": lambda function, first, /, *more: 0,
    "builtins.filter": lambda function, items, /: 0,
    "builtins.dict": lambda items=(), /, **more: 0,
    "builtins.bool": lambda x=0, /: 0,
    "builtins.int": lambda x=0, /, base=10: 0,
    "builtins.getattr": lambda obj, name, default=None, /: 0,
    "builtins.type": lambda obj, /: 0,
    "builtins.zip": lambda *items, strict=False: 0,
    "functools.partial": lambda function, /, *args, **kwargs: 0,
    "functools.reduce": lambda function, items, initial=None, /: 0,
    "dataclasses.replace": lambda obj, /, **changes: 0,
    "itertools.product": lambda *items, repeat=1: 0,
    "math.hypot": lambda *coordinates: 0,
    "math.log": lambda x, base=None, /: 0,
    "ndarray.astype": lambda self, /, dtype, order="K", casting="unsafe", subok=True, copy=True: 0,
    "ndarray.compress": lambda self, /, condition, axis=None, out=None: 0,
    "ndarray.conj": lambda self, /: 0,
    "ndarray.conjugate": lambda self, /: 0,
    "ndarray.copy": lambda self, /, order="C": 0,
    "ndarray.fill": lambda self, /, value: 0,
    "ndarray.flatten": lambda self, /, order="C": 0,
    "ndarray.partition": lambda self, kth, /, axis=-1, kind="introselect", order=None: 0,
    "ndarray.ravel": lambda self, /, order="C": 0,
    "ndarray.put": lambda self, indices, values, /, mode="raise": 0,
    "ndarray.reshape": lambda self, /, *shape, order="C", copy=None: 0,
    "ndarray.sort": lambda self, /, axis=-1, kind=None, order=None, *, stable=None: 0,
    "ndarray.tolist": lambda self, /: 0,
    "ndarray.transpose": lambda self, /, *axes: 0,
    "numpy.arange": lambda start=None, stop=None, step=None, dtype=None, *, device=None, like=None: 0,
    "numpy.array": lambda object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None: 0,
    **dict.fromkeys(
        ("numpy.asarray", "numpy.asanyarray"),
        lambda a, dtype=None, order=None, *, device=None, copy=None, like=None: 0,
    ),
    **dict.fromkeys(("numpy.ascontiguousarray", "numpy.asfortranarray"), lambda a, dtype=None, *, like=None: 0),
    "numpy.bincount": lambda x, /, weights=None, minlength=0: 0,
    **dict.fromkeys(
        ("numpy.concatenate", "numpy.concat"),
        lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": 0,
    ),
    "numpy.copyto": lambda dst, src, casting="same_kind", where=True: 0,
    "numpy.dot": lambda a, b, out=None: 0,
    **dict.fromkeys(("numpy.empty", "numpy.zeros"), lambda shape, dtype=None, order="C", *, device=None, like=None: 0),
    "numpy.empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None: 0,
    "numpy.fromiter": lambda iter, dtype, count=-1, *, like=None: 0,
    "numpy.inner": lambda a, b, /: 0,
    "numpy.lexsort": lambda keys, axis=-1: 0,
    "numpy.ndarray": lambda shape, dtype=None, buffer=None, offset=0, strides=None, order=None: 0,
    "numpy.putmask": lambda a, /, mask, values: 0,
    "numpy.ravel_multi_index": lambda multi_index, dims, mode="raise", order="C": 0,
    "numpy.unravel_index": lambda indices, shape, order="C": 0,
    "numpy.vdot": lambda a, b, /: 0,
    "numpy.where": lambda condition, x=None, y=None, /: 0,
}
