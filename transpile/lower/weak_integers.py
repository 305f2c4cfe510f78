"""Python integers in a function that is lowered: constants that do not fit in 64 bits, integers that are read only as
floats."""

from __future__ import annotations

import numpy as np

from transpile.base.loc import Loc
from transpile.core import nodes as ir
from transpile.core.types import FLOAT, Type
from transpile.core.walk import blocks, leaves, reads, statements
from transpile.errors import error
from transpile.ops.tables import record_of

LEAST, MOST = -(2**63), 2**63 - 1


def is_weak(type_: Type) -> bool:
    """Whether the type is that of a Python integer."""
    return type_.weak and type_.dtype == "int64" and not type_.dims


def check_constant(op: ir.Operand, loc: Loc) -> None:
    """Raises T502 for an integer constant that does not fit in its dtype, a Python integer in int64; nothing for other
    operands."""
    if isinstance(op, ir.Const) and "int" in op.type.dtype and op.type.dtype != "int64" and not op.type.dims:
        ends = np.iinfo(op.type.dtype)
        if not ends.min <= op.value <= ends.max:
            hint = f"use np.{np.min_scalar_type(op.value).name}(...), or correct the number"
            raise error("T502", f"Python integer {op.value} out of bounds for {op.type.dtype}", loc, hint=hint)
    if isinstance(op, ir.Const) and is_weak(op.type) and not LEAST <= op.value <= MOST:
        shown = str(op.value) if abs(op.value) < 10**40 else f"of {op.value.bit_length()} bits"
        is_unsigned = 0 <= op.value < 2**64
        hint = f"{'use np.uint64(...)' if is_unsigned else 'write it as a float'}, or run the function without jit"
        end = "exceeds the largest int64" if op.value > 0 else "is below the smallest int64"
        raise error("T502", f"the integer {shown} {end}", loc, hint=hint)


def only_floats(fn: ir.Function) -> dict[ir.Var, ir.Let]:
    """The factorials and other integers of kind "counted" that are read only by casts to float scalars, each with the statement
    that computes it."""
    found = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let) and record_of(s).fits == "counted"}
    if not found:
        return {}
    others: set[ir.Operand] = set(leaves(fn.body))
    for stmt in statements(fn.body):
        if not (isinstance(stmt, ir.Let) and stmt.prim == "cast" and stmt.var.type.is_float and not stmt.var.type.dims):
            others.update(reads(stmt))
        for block in blocks(stmt):
            others.update(leaves(block))
    return {var: let for var, let in found.items() if var not in others}


def integers_as_floats(fn: ir.Function) -> dict[ir.Var, ir.Let]:
    """The casts of Python integers to Python floats, as statements, by the variable that they define."""
    return {
        s.var: s
        for s in statements(fn.body)
        if isinstance(s, ir.Let) and s.prim == "cast" and s.var.type == FLOAT and is_weak(s.args[0].type)
    }
