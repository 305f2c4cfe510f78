"""Python's integers that an array records are recorded as they are: NumPy's would wrap at 64 bits when they are computed with.

    k_tape = np.empty(n, dtype=object)
    for i in range(n):
        k_tape[i] = k
        k = k * 5 + i

It is a tape that only single integers of Python's are written into and read from. Where all of them are counts, which begin at a
small constant and go up or down by 1, and what is read is an index, no program runs long enough to leave the 64 bits.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core.nodes import (
    Add,
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
    if tapes:
        small = _counts(fn.body)
        recorded = [s for s in statements(fn.body) if isinstance(s, Store) and s.buf in tapes]
        others: set[Operand] = {s.buf for s in recorded if s.value not in small and not _is_small(s.value)}
        others |= _computed_with(fn.body, tapes)
        tapes = {tape: None for tape in tapes if tape in others}
    return replace(fn, body=_block(fn.body, set(tapes))) if tapes else fn


def _computed_with(body: Block, tapes: dict[Operand, None]) -> set[Operand]:
    """The tapes of which something that is read is more than an index."""
    of = {s.var: s.args[0] for s in statements(body) if isinstance(s, Let) and _element(s) in tapes}
    found: set[Operand] = {of[op] for op in leaves(body) if op in of}
    for stmt in statements(body):
        used = [*reads(stmt), *(o for b in blocks(stmt) for o in leaves(b))]
        match stmt:
            case Let(prim="index"):
                used = [stmt.args[0]]
            case Store() | Add():
                used = [stmt.buf, stmt.value]
            case Let(prim="less" | "less_equal" | "greater" | "greater_equal" | "equal" | "not_equal"):
                continue
        found |= {of[op] for op in used if op in of}
    return found


def _counts(body: Block) -> set[Operand]:
    """The integers that begin at small constants and go up or down by 1: all that cannot be shown not to be are left out."""
    made: dict[Operand, tuple[Operand, ...]] = {}  # what each takes its value from
    for stmt in statements(body):
        match stmt:
            case (
                Let(prim="add" | "sub", args=(x, Const(value=1 | -1))) | Let(prim="add", args=(Const(value=1 | -1), x))
            ):
                made[stmt.var] = (x,)
            case If():
                made |= zip(stmt.results, zip(stmt.then.yields, stmt.orelse.yields))
            case For() | While():
                for k, param in enumerate(stmt.body.params):
                    made[param] = (stmt.inits[k], stmt.body.yields[k])
                    if k < len(stmt.results):
                        made[stmt.results[k]] = made[param]
    found = {var for var in made if isinstance(var, Var) and var.type.weak and var.type.is_int and not var.type.dims}
    while wrong := [v for v in found if not all(o in found or _is_small(o) for o in made[v])]:
        found.difference_update(wrong)
    return set(found)


def _is_small(op: Operand) -> bool:
    return isinstance(op, Const) and isinstance(op.value, int) and abs(op.value) < 2**31


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
