"""What is read backwards is read forwards and turned: a place that is read in both directions is read, and recorded, once.

t = y[:k]                               t = y[:k]
y[:k] = t + alpha * y[:k][::-1]    ->   y[:k] = t + alpha * t[::-1]
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from transpile.core.nodes import (
    SYNTHETIC,
    Block,
    Const,
    Function,
    Index,
    Item,
    Let,
    NewAxis,
    Operand,
    Slice,
    Stmt,
    Store,
    Var,
)
from transpile.core.places import compact
from transpile.core.rebuild import with_blocks, with_body, with_stmts


def forwards(fn: Function) -> Function:
    """The function with such reads apart."""
    return with_body(fn, _block(fn.body))


def _block(block: Block) -> Block:
    places = {(s.buf, s.path, s.args) for s in block.stmts if isinstance(s, Store)}
    stmts = [new for stmt in block.stmts for new in _stmt(stmt, places)]
    return with_stmts(block, stmts)


def _stmt(stmt: Stmt, places: Container[object]) -> tuple[Stmt, ...]:
    match stmt:
        case Let(prim="index") if (stmt.args[0], stmt.params["path"], stmt.args[1:]) not in places:
            return _read(stmt)
    return (with_blocks(stmt, _block),)


def _read(stmt: Let) -> tuple[Stmt, ...]:
    path = stmt.params["path"]
    last = path[-1] if path else None
    if not isinstance(last, Index) or not last.is_basic:
        return (stmt,)
    source, args = stmt.args[0], stmt.args[1:]
    axes = _turned(last.items, args)
    if not axes:
        return (stmt,)
    items = tuple(Slice() if _is_turned(i, args) else i for i in last.items)
    is_whole = all(isinstance(i, Slice) and i.is_full for i in items)
    path, args = compact(path[:-1] if is_whole else (*path[:-1], Index(items)), args)
    turned = {"axes": axes}
    if not path and isinstance(source, Var) and not source.buffer:
        return (Let(stmt.var, "flip", (source,), turned, stmt.loc),)
    there = Var(SYNTHETIC, stmt.var.type)
    read = replace(stmt, var=there, args=(source, *args), params={**stmt.params, "path": path})
    return read, Let(stmt.var, "flip", (there,), turned, stmt.loc)


def _turned(items: Sequence[Item], args: Sequence[Operand]) -> tuple[int, ...]:
    """The axes of what is read that run backwards."""
    left = [i for i in items if isinstance(i, (Slice, NewAxis))]
    return tuple(k for k, i in enumerate(left) if _is_turned(i, args))


def _is_turned(item: Item, args: Sequence[Operand]) -> bool:
    if not isinstance(item, Slice) or item.step is None or (item.start, item.stop) != (None, None):
        return False
    step = args[item.step]
    return isinstance(step, Const) and step.value == -1
