"""float16 in compiled code: float32 numbers, rounded to the nearest float16 wherever one is computed.

    y = sqrt(x)     of float16     ->     t = sqrt(x); y = rint(t / ulp(t)) * ulp(t)     of float32

NumPy computes in float32 too, and rounds each result. Results become float16 at the end of the call
(`transpile.driver.result_kinds`), without further rounding.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.constant_casts import cast_constant
from transpile.core.types import Type
from transpile.core.walk import Cloner, blocks, defines, reads, statements
from transpile.errors import error
from transpile.ops.tables import record_of, records

HALF, SINGLE = "float16", "float32"
LEAST, END = 2.0**-24, 65520.0  # the spacing of the smallest numbers; the least number that rounds to infinity


def in_single_precision(fn: ir.Function) -> ir.Function:
    """A copy of the function with float32 in place of float16, each result rounded to float16; the function itself if it has
    none."""
    return _Singles(fn).function(fn) if has_halves(fn) else fn


def has_halves(fn: ir.Function) -> bool:
    """Whether any parameter, result or other operand in the function is float16."""
    if any(o.type.dtype == HALF for o in (*fn.params, *fn.body.yields)):
        return True
    for stmt in statements(fn.body):
        inner = [o for b in blocks(stmt) for o in (*b.params, *b.yields)]
        if any(o.type.dtype == HALF for o in (*defines(stmt), *reads(stmt), *inner)):
            return True
    return False


class _Singles(Cloner):
    """Copies a function with float32 for float16, and rounds each float16 result."""

    def __init__(self, fn: ir.Function) -> None:
        super().__init__()
        self.b = Builder(records())

    def type(self, type_: Type) -> Type:
        items = tuple(self.type(t) for t in type_.items)
        return replace(type_, dtype=SINGLE if type_.dtype == HALF else type_.dtype, items=items)

    def operand(self, operand: ir.Operand) -> ir.Operand:
        found = super().operand(operand)
        if isinstance(found, ir.Var) or found.type.dtype != HALF:
            return found
        return cast_constant(found, SINGLE) if isinstance(found, ir.Const) else ir.Undef(self.type(found.type))

    def params(self, params: Any) -> Any:
        return {**params, "dtype": SINGLE} if params.get("dtype") == HALF else params

    def block(self, block: ir.Block) -> ir.Block:
        """A copy of the block, with float32 in place of float16."""
        params = tuple(self.fresh(v) for v in block.params)
        with self.b.into(ir.Block()) as made:
            for stmt in block.stmts:
                with self.b.at(stmt.loc):
                    self.written(stmt)
        yields = tuple(self.operand(o) for o in block.yields)
        return ir.Block(params, made.stmts, yields, None if block.stop is None else self.operand(block.stop))

    def written(self, stmt: ir.Stmt) -> None:
        """Emits the copy of a statement, and the rounding of its result if that is float16; T502 for ``+=`` into a float16
        array."""
        if isinstance(stmt, ir.Add) and stmt.buf.type.dtype == HALF:
            hint = "write x[i] = x[i] + y, or use float32"
            message = "compiled code does not support '+=' on elements of a float16 array"
            raise error("T502", message, stmt.loc, hint=hint)
        if not isinstance(stmt, (ir.Let, ir.Alloc)) or stmt.var.type.dtype != HALF:
            self.b.emit(self.stmt(stmt))
        elif stmt.prim == "full":
            value = self.rounded(self.b.expr(self.operand(stmt.args[0])), stmt.args[0].type).op
            made = replace(stmt, var=self.fresh(stmt.var), params=self.params(stmt.params))
            self.b.emit(replace(made, args=(value, *map(self.operand, stmt.args[1:]))))
        elif isinstance(stmt, ir.Let) and stmt.prim == "cast":
            (x,) = stmt.args
            self.mapping[stmt.var] = self.rounded(self.b.expr(self.operand(x)), x.type, stmt.var.name).op
        elif isinstance(stmt, ir.Let) and record_of(stmt).kind != "structural":
            self.b.emit(self.stmt(stmt))
            self.mapping[stmt.var] = self.nearest(self.b.expr(self.mapping[stmt.var]), stmt.var.name).op
        else:
            self.b.emit(self.stmt(stmt))

    def rounded(self, x: Expr, was: Type, name: str = "") -> Expr:
        """A number whose type was ``was``, rounded to float16 and held in float32; itself if ``was`` is float16. NumPy integers
        pass through float32."""
        if was.dtype == HALF:
            return x
        if isinstance(x.op, ir.Const):
            return self.b.expr(cast_constant(cast_constant(x.op, HALF), SINGLE))
        if not was.weak and np.can_cast(was.dtype, HALF):
            return self.b.cast(x, SINGLE)  # float16 holds each of them exactly
        x = x if x.type.is_float else self.b.cast(x, "float64" if x.type.weak else SINGLE)
        return self.b.cast(self.nearest(x, name), SINGLE)

    def nearest(self, x: Expr, name: str = "") -> Expr:
        """The nearest float16 of a float of a wider dtype, in the wider dtype; infinity beyond the largest."""
        b, like = self.b, Type(x.dtype)
        digits = 13.0 if x.dtype == SINGLE else 42.0  # bits of the significand that float16 lacks
        size = b.elementwise("absolute", b.cast(x, x.type.strong))
        apart = b.elementwise("spacing", size) * ir.Const(2.0**digits, like)
        apart = b.elementwise("maximum", apart, ir.Const(LEAST, like))
        found = b.elementwise("rint", x / apart) * apart
        beyond = b.elementwise("copysign", ir.Const(float("inf"), like), x)
        rest = b.elementwise("where", size.eq(size), beyond, x)
        return b.elementwise("where", size < ir.Const(END, like), found, rest, name=name)


__all__ = ["HALF", "has_halves", "in_single_precision"]
