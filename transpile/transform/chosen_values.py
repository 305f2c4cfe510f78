"""Constants for the values that derivatives have by convention at points without a derivative
(`transpile.ops.language.chosen`).

    x_bar = where(y == 0, chosen(y, value=0.0), 0.5 / y)     ->     x_bar = where(y == 0, 0.0, 0.5 / y)

They become constants only after the last derivative: a further derivative of such a value is NaN.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.rebuild import with_blocks
from transpile.core.walk import statements
from transpile.ops.tables import prims, record_of


def settle_chosen(fn: ir.Function) -> ir.Function:
    """``fn`` with constants in place of chosen and undefined values; ``sloped(x, s)``, there only for its derivative, becomes
    ``x``. The same object if there are none."""
    if not any(_is_chosen(s) for s in statements(fn.body)):
        return fn
    b = Builder(prims(), dict(fn.symbols), fn)
    return replace(fn, body=_block(b, fn.body), symbols=b.symbols)


def _is_chosen(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, (ir.Let, ir.Alloc)) and record_of(stmt).constant is not None


def _block(b: Builder, block: ir.Block) -> ir.Block:
    """The block with constants in place of chosen values, also in nested blocks."""
    with b.into(ir.Block(block.params, [], block.yields, block.stop)) as out:
        for stmt in block.stmts:
            if isinstance(stmt, (ir.Let, ir.Alloc)) and _is_chosen(stmt):
                number = record_of(stmt).constant(stmt.params)
                if number is None:
                    b.emit(replace(stmt, prim="copy" if isinstance(stmt, ir.Alloc) else "identity", args=stmt.args[:1]))
                    continue
                value = ir.Const(number, replace(stmt.var.type, dims=()))
                if isinstance(stmt, ir.Alloc) or stmt.var.type.dims:
                    b.emit(replace(stmt, prim="broadcast", args=(value,), params={"dims": stmt.var.type.dims}))
                else:
                    b.emit(ir.Let(stmt.var, "identity", (value,), {}, stmt.loc))
            else:
                b.emit(with_blocks(stmt, lambda inner: _block(b, inner)))
    return out
