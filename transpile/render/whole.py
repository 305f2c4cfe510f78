"""Python's integers that an array records are recorded as they are: NumPy's would wrap at 64 bits when they are computed with.

    k_tape = np.empty(n, dtype=object)
    for i in range(n):
        k_tape[i] = k
        k = k * 5 + i

It is a tape that only single integers of Python's are written into and read from.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core.nodes import (
    Alloc,
    Block,
    Const,
    For,
    Function,
    If,
    Index,
    Let,
    Operand,
    Path,
    Point,
    Stmt,
    Store,
    Var,
    While,
)
from transpile.core.walk import blocks, leaves, reads, statements, written

OBJECT = "object"


def keep_integers(fn: Function) -> Function:
    """The function with arrays of Python's integers where it records them."""
    tapes: dict[Operand, None] = {
        s.var: None
        for s in statements(fn.body)
        if isinstance(s, Alloc) and s.prim == "empty" and s.var.note and s.var.type.dtype == "int64" and s.var.type.dims
    }
    for op in leaves(fn.body):
        tapes.pop(op, None)
    for stmt in statements(fn.body) if tapes else ():
        own = _element(stmt)
        for used in (written(stmt), *reads(stmt), *(o for b in blocks(stmt) for o in leaves(b))):
            if used is not own and isinstance(used, Var):
                tapes.pop(used, None)
    return replace(fn, body=_block(fn.body, set(tapes))) if tapes else fn


def _element(stmt: Stmt) -> Var | None:
    """The array of which the statement writes or reads one element that is an integer of Python's."""
    match stmt:
        case Store(path=path, value=(Var() | Const()) as value) if _is_point(path) and value.type.weak:
            return stmt.buf
        case Let(prim="index") if _is_point(stmt.params["path"]) and not stmt.var.type.dims:
            return stmt.args[0] if isinstance(stmt.args[0], Var) else None
    return None


def _is_point(path: Path) -> bool:
    return len(path) == 1 and isinstance(path[0], Index) and all(isinstance(i, Point) for i in path[0].items)


def _block(block: Block, tapes: set[Operand]) -> Block:
    return replace(block, stmts=[_stmt(s, tapes) for s in block.stmts])


def _stmt(stmt: Stmt, tapes: set[Operand]) -> Stmt:
    match stmt:
        case Alloc() if stmt.var in tapes:
            return replace(stmt, params={**stmt.params, "dtype": OBJECT})
        case If():
            return replace(stmt, then=_block(stmt.then, tapes), orelse=_block(stmt.orelse, tapes))
        case For():
            return replace(stmt, body=_block(stmt.body, tapes))
        case While():
            return replace(stmt, test=_block(stmt.test, tapes), body=_block(stmt.body, tapes))
    return stmt
