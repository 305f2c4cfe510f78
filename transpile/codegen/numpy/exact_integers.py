"""Records Python integers in arrays of dtype object: NumPy's integers would wrap at 64 bits in later arithmetic.

    k_tape = np.empty(n, dtype=object)
    for i in range(n):
        k_tape[i] = k
        k = k * 5 + i

This applies to tapes that are only written and read by single Python integers. A tape keeps its dtype if it is read only for
subscripts and comparisons and all its integers are counts: they begin at a small constant or a size and go up or down by 1, as
loop indices do. No program runs long enough for these to leave 64 bits.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.walk import blocks, leaves, reads, statements, written
from transpile.ops.tables import record_of

OBJECT = "object"


def keep_integers(fn: ir.Function) -> ir.Function:
    """The function whose tapes of Python integers have dtype object where the integers may leave 64 bits; ``fn`` itself if none
    has."""
    tapes: dict[ir.Operand, None] = {
        s.var: None
        for s in statements(fn.body)
        if isinstance(s, ir.Alloc)
        and s.prim == "empty"
        and s.reason
        and s.var.type.dtype == "int64"
        and s.var.type.dims
    }
    for op in leaves(fn.body):
        tapes.pop(op, None)
    for stmt in statements(fn.body) if tapes else ():
        own = _element(stmt)
        for used in (written(stmt), *reads(stmt), *(o for b in blocks(stmt) for o in leaves(b))):
            if used is not own and isinstance(used, ir.Var):
                tapes.pop(used, None)
    if tapes:
        small = _counts(fn.body)
        recorded = [s for s in statements(fn.body) if isinstance(s, ir.Store) and s.buf in tapes]
        others: set[ir.Operand] = {s.buf for s in recorded if s.value not in small and not _is_small(s.value)}
        others |= _computed_with(fn.body, tapes)
        tapes = {tape: None for tape in tapes if tape in others}
    return replace(fn, body=_block(fn.body, set(tapes))) if tapes else fn


def _computed_with(body: ir.Block, tapes: dict[ir.Operand, None]) -> set[ir.Operand]:
    """Those of ``tapes`` whose elements are used for more than subscripts and comparisons."""
    of = {s.var: s.args[0] for s in statements(body) if isinstance(s, ir.Let) and _element(s) in tapes}
    found: set[ir.Operand] = {of[op] for op in leaves(body) if op in of}
    for stmt in statements(body):
        used = [*reads(stmt), *(o for b in blocks(stmt) for o in leaves(b))]
        match stmt:
            case ir.Let(prim="index"):
                used = [stmt.args[0]]
            case ir.Store() | ir.Add():
                used = [stmt.buf, stmt.value]
            case ir.Let() if record_of(stmt).relation is not None:
                continue
        found |= {of[op] for op in used if op in of}
    return found


def _counts(body: ir.Block) -> set[ir.Operand]:
    """The int variables that provably begin at small constants or sizes and go up or down by 1."""
    made: dict[ir.Operand, tuple[ir.Operand, ...]] = {}  # variable -> the operands it takes its value from
    for stmt in statements(body):
        match stmt:
            case ir.Let(args=(x, ir.Const(value=1 | -1))) if record_of(stmt).is_sum:
                made[stmt.var] = (x,)
            case ir.Let(args=(ir.Const(value=1 | -1), x)) if record_of(stmt).signs == (1, 1):
                made[stmt.var] = (x,)
            case ir.Let(prim="dim"):
                made[stmt.var] = ()
            case ir.If():
                made |= zip(stmt.results, zip(stmt.then.yields, stmt.orelse.yields))
            case ir.For() | ir.While():
                if isinstance(stmt, ir.For) and isinstance(stmt.step, ir.Const) and abs(stmt.step.value) == 1:
                    made[stmt.index] = (stmt.start,)
                for k, param in enumerate(stmt.body.params):
                    made[param] = (stmt.inits[k], stmt.body.yields[k])
                    if k < len(stmt.results):
                        made[stmt.results[k]] = made[param]
    found = {var for var in made if isinstance(var, ir.Var) and var.type.weak and var.type.is_int and not var.type.dims}
    while wrong := [v for v in found if not all(o in found or _is_small(o) for o in made[v])]:
        found.difference_update(wrong)
    return set(found)


def _is_small(op: ir.Operand) -> bool:
    """Whether the operand is a constant int less than 2**31 in magnitude."""
    return isinstance(op, ir.Const) and isinstance(op.value, int) and abs(op.value) < 2**31


def _element(stmt: ir.Stmt) -> ir.Var | None:
    """The array into which the statement stores a Python scalar, or from which it reads a single element; else None.

    The dtype is not checked: the caller looks only for tapes of dtype int64.
    """
    match stmt:
        case ir.Store(path=path, value=(ir.Var() | ir.Const()) as value) if _is_point(path) and value.type.weak:
            return stmt.buf
        case ir.Let(prim="index") if _is_point(stmt.params["path"]) and not stmt.var.type.dims:
            return stmt.args[0] if isinstance(stmt.args[0], ir.Var) else None
    return None


def _is_point(path: ir.Path) -> bool:
    """Whether the path is one subscript that selects a single element."""
    return len(path) == 1 and isinstance(path[0], ir.Index) and all(isinstance(i, ir.Point) for i in path[0].items)


def _block(block: ir.Block, tapes: set[ir.Operand]) -> ir.Block:
    return replace(block, stmts=[_stmt(s, tapes) for s in block.stmts])


def _stmt(stmt: ir.Stmt, tapes: set[ir.Operand]) -> ir.Stmt:
    """The statement with allocations of ``tapes`` of dtype object, also in its blocks."""
    match stmt:
        case ir.Alloc() if stmt.var in tapes:
            return replace(stmt, params={**stmt.params, "dtype": OBJECT})
        case ir.If():
            return replace(stmt, then=_block(stmt.then, tapes), orelse=_block(stmt.orelse, tapes))
        case ir.For():
            return replace(stmt, body=_block(stmt.body, tapes))
        case ir.While():
            return replace(stmt, test=_block(stmt.test, tapes), body=_block(stmt.body, tapes))
    return stmt
