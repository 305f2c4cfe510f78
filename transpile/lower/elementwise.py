"""Elementwise primitives as element functions: one scalar operation computes an element of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transpile.core.builder import Expr
from transpile.core.types import Type
from transpile.lower.element_functions import Elements
from transpile.lower.lowering import Lowering
from transpile.lower.memory_layout import made_by
from transpile.lower.sums import peek

DEEPEST = 100  # nested operations in one loop: more are no faster, and emitting them recurses


def elementwise(lw: Lowering, stmt: Any) -> Elements:
    """The result of an elementwise primitive: one scalar operation computes an element where it is read. Operands have equal
    dims or are scalars."""
    operands = [lw.elements(a) for a in stmt.args]
    operands = [lw.in_memory(e, "part") if e.depth >= DEEPEST and e.rank else e for e in operands]
    shaped = max(operands, key=lambda e: e.rank)
    result = Type(stmt.var.type.dtype)
    # array operands have the sizes of the result: one with axes of size 1 beside larger ones was broadcast before

    def at(idx: Sequence[Expr]) -> Expr:
        args = [e.at(idx) if e.rank else e.at(()) for e in operands]
        return lw.compute(stmt.prim, args, result, stmt.params)

    made = made_by(lw, stmt.prim, operands)
    depth = 1 + max(e.depth for e in operands)
    found = Elements(shaped.sizes, result.dtype, at, cheap=False, unit=_unit(operands), made=made, depth=depth)
    return replace(found.also(*operands), cheap=False)


def _unit(operands: Sequence[Elements]) -> int | None:
    """The axis that is contiguous in most operands that know theirs, the last of several; None if none does."""
    units = [e.unit for e in operands if e.rank and e.unit is not None]
    return max(set(units), key=lambda u: (units.count(u), u)) if units else None


def cast(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``x.astype(dtype)``: each element is converted where it is read."""
    x = lw.elements(stmt.args[0])
    result = Type(stmt.var.type.dtype)
    return replace(
        x, dtype=result.dtype, root=None, made=None, at=lambda idx: lw.compute("cast", [x.at(idx)], result, {})
    )


def same(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The operand itself; a pending sum of products that nothing else reads stays pending."""
    return peek(lw, stmt.args[0]) or lw.elements(stmt.args[0])
