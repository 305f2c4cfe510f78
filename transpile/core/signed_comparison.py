"""Comparisons of int64 with uint64, which no integer type contains. NumPy compares them exactly, although arithmetic on them
gives a float.

a < u     ->     (a < 0) | (max(a, 0) < u)          of int64 and uint64
a == u    ->     (a >= 0) & (max(a, 0) == u)
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from transpile.core import nodes as ir
from transpile.core.record_protocol import Records


class Building(Protocol):
    """The methods of `transpile.core.builder.Builder` that build the comparison."""

    @property
    def prims(self) -> Records: ...
    def elementwise(self, prim: str, *args: Any) -> Any: ...
    def cast(self, value: Any, to: str) -> Any: ...


def of_two_signs(b: Building, prim: str, operands: list[ir.Operand]) -> Any:
    """The comparison by ``prim`` as an `Expr`, emitted, if one operand is uint64 and the other a signed integer that may be
    negative; None in all other cases."""
    if sum(o.type.dtype == "uint64" for o in operands) != 1:
        return None
    k = int(operands[0].type.dtype == "uint64")
    signed = operands[k]
    if np.dtype(signed.type.dtype).kind != "i" or (isinstance(signed, ir.Const) and signed.value >= 0):
        return None
    sides: list[Any] = [*operands]
    relation = b.prims[prim].relation
    assert relation is not None
    less, _, greater = relation.cases
    holds = greater if k else less  # the answer where the signed operand is negative
    if isinstance(signed, ir.Const):
        return b.elementwise("greater_equal" if holds else "less", operands[1 - k], 0)
    sides[k] = b.cast(b.elementwise("maximum", signed, 0), "uint64")
    if holds:
        return b.elementwise("logical_or", b.elementwise("less", signed, 0), b.elementwise(prim, *sides))
    return b.elementwise("logical_and", b.elementwise("greater_equal", signed, 0), b.elementwise(prim, *sides))
