"""Short innermost loops whose trips are the lanes of one vector: rows of small matrices that are added and multiplied.

    for j in range(4):                              one load, one multiplication and one
        c[k, j] = x * a[i, j] + b[i, j]     ->      addition, one store

Such a loop is not written out: LLVM is asked to make a vector of it (`transpile.codegen.llvm`), which it does not make of
statements that stand one after the other.
"""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.loops.unroll_and_jam_legality import AT_ONCE
from transpile.ops.tables import record_of

LANES = 4
_REALS = ("float64", "float32")


def lanes_of(loop: ir.For) -> int | None:
    """How many trips are one vector, where that is known before LLVM finds out."""
    if loop.width is not None:
        return loop.width
    if loop.kind == "vector":
        if not isinstance(loop.bound, ir.Const):
            return None
        return 1 if _calls(loop.body) else AT_ONCE if _is_of_vectors(loop.body, False) else None
    return LANES if has_lanes(loop) else None


def _is_of_vectors(block: ir.Block, is_side: bool) -> bool:
    """Whether LLVM can make vectors of all that is done: of a call it cannot. ``is_side``: of a branch."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.If) and not all(_is_of_vectors(b, True) for b in blocks(stmt)):
            return False
        if isinstance(stmt, ir.Let) and not (_is_of_lanes(stmt) or "vector" in stmt.params):
            if stmt.prim != "index" or is_side:
                return False
    return True


def _is_of_lanes(let: ir.Let) -> bool:
    record = record_of(let)
    return record.is_instruction or let.prim == "cast" or record.vector is not None and record.vector.alone


def _calls(block: ir.Block) -> bool:
    """Whether a trip calls the C library: sixteen copies of it are not faster, and take LLVM most of its time."""
    return any(
        isinstance(s, ir.Let) and "vector" not in s.params and s.var.type.is_float and record_of(s).is_dear
        for s in statements(block)
    )


def has_lanes(loop: ir.For) -> bool:
    """Whether each trip computes one element of a row, and no trip needs another."""
    if not _is_short(loop):
        return False
    made = {loop.index} | {s.var for s in loop.body.stmts if isinstance(s, ir.Let)}
    reads: list[tuple[ir.Operand, ...]] = []
    writes: list[ir.Var] = []
    for stmt in loop.body.stmts:
        match stmt:
            case ir.Store() | ir.Add():
                if len(stmt.args) < 2 or stmt.args[-1] is not loop.index or not _is_real(stmt.buf):
                    return False
                if any(a in made for a in stmt.args[:-1]):
                    return False
                writes.append(stmt.buf)
            case ir.Let(prim="index"):
                if not _is_real(stmt.var) or any(a in made and a is not loop.index for a in stmt.args):
                    return False
                reads.append(stmt.args)
            case ir.Let():
                if not record_of(stmt).is_arithmetic or not _is_real(stmt.var) or stmt.var.type.dims:
                    return False
            case _:
                return False
    return bool(writes) and all(r[-1] is loop.index for r in reads if r[0] in writes)


def reads_along_rows(loop: ir.For) -> bool:
    """Whether what a trip reads lies beside what the next one reads: how far apart elements of a column are, only the run knows."""
    reads = (s.args for s in loop.body.stmts if isinstance(s, ir.Let) and s.prim == "index")
    return all(loop.index not in args[1:-1] for args in reads)


def _is_short(loop: ir.For) -> bool:
    ends = (loop.start, loop.bound, loop.step)
    if loop.inits or loop.trips is not None or loop.backwards or loop.body.stop is not None:
        return False
    return [e.value for e in ends if isinstance(e, ir.Const)] == [0, LANES, 1]


def _is_real(var: ir.Var) -> bool:
    return var.type.dtype in _REALS
