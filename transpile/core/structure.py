"""Core as plain data, from which keys are computed: two functions have the same structure if their names, parameters, bodies
and source locations agree.

A variable is numbered in order of first appearance, where its name, type and kind are listed once. Locations in the user's
source are included because messages name them.

>>> from transpile.core.types import FLOAT, INT
>>> def double(type): x, y = ir.Var("x", type), ir.Var("y", type); return ir.Function(
...     "double", (x,), ir.Block((), [ir.Let(y, "mul", (ir.Const(2, INT), x))], (y,)), {})
>>> digest(double(FLOAT)) == digest(double(FLOAT)), digest(double(FLOAT)) == digest(double(INT))
(True, False)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from transpile.base.loc import Loc
from transpile.core import nodes as ir
from transpile.core.types import Type

SAID = ir.Var.__slots__
PLAIN = frozenset((str, int, float, bool, complex, bytes, type(None)))


def digest(*values: object) -> str:
    """A hash of the `structure` of the values, as hexadecimal text that is equal in every process. TypeError for a value that
    has none."""
    return hashlib.sha256(repr(structure(*values)).encode()).hexdigest()


def structure(*values: object) -> tuple[Any, ...]:
    """Functions, statements, types and containers of them as tuples of plain values. They are equal for equal names, types,
    params and source locations; variables are numbered. Raises TypeError for a value of another kind."""
    reader = _Reader()
    return tuple([reader.of(v) for v in values])


class _Reader:
    def __init__(self) -> None:
        self.vars: dict[ir.Var, int] = {}
        self.shared: dict[Any, int] = {}  # locations and types, which many nodes share

    def of(self, value: Any) -> Any:
        """The structure of one value; a variable, location or type that was seen before is only its number."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is tuple or kind is list:
            return tuple([self.of(v) for v in value])
        if kind is ir.Var:
            return self.var(value)
        if kind is Loc or kind is Type:
            return self.once(value)
        if kind is ir.Function:
            return ("Function", value.name, self.of(value.params), self.of(value.body), self.of(value.loc))
        return self.other(value)

    def var(self, var: ir.Var) -> Any:
        number = self.vars.get(var)
        if number is not None:
            return ("v", number)
        number = self.vars[var] = len(self.vars)
        return ("v", number, *[self.of(getattr(var, name)) for name in SAID])

    def once(self, value: Any) -> Any:
        number = self.shared.get(value)
        if number is not None:
            return ("s", number)
        number = self.shared[value] = len(self.shared)
        return ("s", number, self.other(value))

    def other(self, value: Any) -> Any:
        """A node, container or NumPy scalar as a tuple that begins with its kind; TypeError for anything else."""
        names = _names(value.__class__)
        if names is not None:
            return (type(value).__name__, *[self.of(getattr(value, name)) for name in names])
        if isinstance(value, Mapping):
            return ("dict", *[(key, self.of(value[key])) for key in sorted(value)])
        if isinstance(value, (set, frozenset)):
            return ("set", *sorted(map(repr, map(self.of, value))))
        if isinstance(value, tuple):
            return (type(value).__name__, *[self.of(v) for v in value])
        if isinstance(value, (np.generic, np.dtype)):
            return (str(value.dtype), repr(value)) if isinstance(value, np.generic) else ("dtype", value.str)
        raise TypeError(f"{type(value).__name__} has no structure")


@lru_cache(maxsize=256)
def _names(kind: type) -> tuple[str, ...] | None:
    return tuple([f.name for f in fields(kind)]) if is_dataclass(kind) else None
