"""Reverse-order reads become a forward read and a flip, so that a place that is read in both directions is read, and recorded,
once.

t = y[:k]                               t = y[:k]
y[:k] = t + alpha * y[:k][::-1]    ->   y[:k] = t + alpha * t[::-1]
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.places import compact
from transpile.core.rebuild import with_blocks, with_body, with_stmts


def read_forwards(fn: ir.Function) -> ir.Function:
    """The function in which each slice with step -1 over a whole axis is a forward read followed by ``flip``, unless the block
    also stores to that very place."""
    return with_body(fn, _block(fn.body))


def _block(block: ir.Block) -> ir.Block:
    places = {(s.buf, s.path, s.args) for s in block.stmts if isinstance(s, ir.Store)}
    stmts = [new for stmt in block.stmts for new in _stmt(stmt, places)]
    return with_stmts(block, stmts)


def _stmt(stmt: ir.Stmt, places: Container[object]) -> tuple[ir.Stmt, ...]:
    match stmt:
        case ir.Let(prim="index") if (stmt.args[0], stmt.params["path"], stmt.args[1:]) not in places:
            return _read(stmt)
    return (with_blocks(stmt, _block),)


def _read(stmt: ir.Let) -> tuple[ir.Stmt, ...]:
    """The statements in place of a read: a forward read and a ``flip``, only the ``flip`` of a whole value, or the read itself
    if it reads no axis backwards."""
    path = stmt.params["path"]
    last = path[-1] if path else None
    if not isinstance(last, ir.Index) or not last.is_basic:
        return (stmt,)
    source, args = stmt.args[0], stmt.args[1:]
    axes = _turned(last.items, args)
    if not axes:
        return (stmt,)
    items = tuple(ir.Slice() if _is_turned(i, args) else i for i in last.items)
    is_whole = all(isinstance(i, ir.Slice) and i.is_full for i in items)
    path, args = compact(path[:-1] if is_whole else (*path[:-1], ir.Index(items)), args)
    turned = {"axes": axes}
    if not path and isinstance(source, ir.Var) and not source.buffer:
        return (ir.Let(stmt.var, "flip", (source,), turned, stmt.loc, stmt.reason),)
    there = ir.Var(ir.SYNTHETIC, stmt.var.type)
    read = replace(stmt, var=there, args=(source, *args), params={**stmt.params, "path": path})
    return read, ir.Let(stmt.var, "flip", (there,), turned, stmt.loc, stmt.reason)


def _turned(items: Sequence[ir.Item], args: Sequence[ir.Operand]) -> tuple[int, ...]:
    """The axes of the result that a read with these items reads backwards."""
    left = [i for i in items if isinstance(i, (ir.Slice, ir.NewAxis))]
    return tuple(k for k, i in enumerate(left) if _is_turned(i, args))


def _is_turned(item: ir.Item, args: Sequence[ir.Operand]) -> bool:
    """Whether the item is a slice of a whole axis with the constant step -1."""
    if not isinstance(item, ir.Slice) or item.step is None or (item.start, item.stop) != (None, None):
        return False
    step = args[item.step]
    return isinstance(step, ir.Const) and step.value == -1
