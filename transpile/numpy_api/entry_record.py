"""The record of a callable that user code may name: its `Entry`.

Each module of this package holds a ``TABLE: dict[str, Entry]``; `transpile.numpy_api.entries` merges them. A dotted name is
the public name of the callable: ``numpy.tanh``, ``math.tanh``, ``scipy.special.gammaln``, ``numpy.linalg.solve``,
``builtins.abs``. Methods and attributes of arrays are looked up in `METHODS`, which gives the dotted name of the function
that takes the array first; a method whose arguments differ from those of the NumPy function (``x.reshape(2, 3)``) has its
own entry ``ndarray.reshape``.

>>> METHODS["sum"], METHODS["T"], "T" in PROPERTIES
('numpy.sum', 'ndarray.T', True)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Entry:
    """One callable.

    ``build(b, x, axis=None, ...)`` emits it. Its parameters have NumPy's names (`signatures.signature`), or are positional if
    the argument has no name for callers. Other arguments are refused, except ``out``, ``where``, ``dtype`` and ``casting`` of
    ufuncs, which the frontend handles, and those that change no value: `IDLE`, and the entry's own ``idle``. Arguments named in
    ``static`` arrive as plain Python objects (None, int, tuple, str, bool, a dtype's name); all others as `Expr`, as (nested)
    lists or tuples of `Expr`, or as the default. The result is an `Expr`, a tuple of `Expr`, or a static Python object. It may
    raise `RuleError`.

    ``elementwise`` names the primitive if the entry is a plain ufunc, so that ``outer reduce accumulate at``,
    ``out=``, ``where=`` work on it. ``source`` names a plain Python function that is lifted like user code instead of ``build``:
    ``module:name``, or a name of ``numpy_api/library.py``. ``via`` ("math", "builtins") says that the result is a Python scalar,
    printed in that module's spelling.

    ``rows``: an array given for ``arrays`` or ``tup`` counts as the sequence of its rows.

    ``memory`` is the memory of NumPy's result:

    * "new" memory; "array": an array even of rank 0; "C": new memory in C order; "like": in C order if the arguments are;
    * "itself": of several results, those that equal an argument are that argument, the others are new;
    * a "view"; a "read-only" view; "place": the argument or a view of it if there is nothing to compute, else new; "same": as
      "place", and an array even of rank 0; "part": a read-only array for an array, a number for a number;
    * a view or a copy, by the layout of the argument: "either" is a view if the shape allows it for any layout, "ordered"
      only if the argument is in C order, "layout" is unknown.

    If it depends on the arguments, ``memory`` is a function of all arguments of NumPy's signature, with NumPy's defaults.
    """

    build: Callable[..., Any] | None = None
    static: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    elementwise: str = ""
    source: str = ""
    via: str = ""
    doc: str = ""
    rows: bool = True
    memory: str | Callable[[Mapping[str, Any]], str] = "new"

    @cached_property
    def takes(self) -> inspect.Signature:
        """The signature of ``build`` without the builder."""
        assert self.build is not None
        found = inspect.signature(self.build)
        return found.replace(parameters=list(found.parameters.values())[1:])

    def shares(self, bound: Mapping[str, Any]) -> str:
        """The ``memory`` of a call with these arguments, by name."""
        return self.memory if isinstance(self.memory, str) else self.memory(bound)


IDLE = frozenset("device like subok overwrite_a overwrite_b overwrite_x overwrite_input".split())
"""Arguments that change no value in any call."""

MEMORY = frozenset("new array C like view read-only place same part either ordered layout".split())


def copied_unless(kind: str) -> Callable[[Mapping[str, Any]], str]:
    """A ``memory`` function: new memory if the argument ``copy`` is true, else ``kind``."""
    return lambda bound: "array" if bound["copy"] else kind


def in_order(kind: str) -> Callable[[Mapping[str, Any]], str]:
    """A ``memory`` function for new arrays: "C" if the argument ``order`` is C, ``kind`` if it is K, A (the argument's layout)
    or None, else "array"."""
    found = {"C": "C", "K": kind, "A": kind, None: kind}
    return lambda bound: found.get(bound["order"], "array")


_AS_NUMPY = (
    "all any argmax argmin argpartition argsort clip cumprod cumsum diagonal dot max mean min nonzero "
    "prod repeat round searchsorted squeeze std sum swapaxes take trace var choose partition imag real "
    "ndim shape size"
).split()
_OWN = (
    "T mT astype compress conj conjugate copy flatten ravel item reshape transpose sort fill tolist dtype itemsize nbytes"
).split()

PROPERTIES = frozenset("T mT dtype imag itemsize nbytes ndim real shape size".split())
"""The names in `METHODS` that are read without a call."""

METHODS: dict[str, str] = {
    **{name: f"numpy.{name}" for name in _AS_NUMPY if hasattr(np.ndarray, name)},
    **{name: f"ndarray.{name}" for name in _OWN if hasattr(np.ndarray, name)},
    "__abs__": "builtins.abs",
}
"""Array method or property -> dotted name, for those that this NumPy version has. ``sort`` and ``fill`` write in place: the
frontend stores their result."""
