"""Short innermost loops whose iterations are the lanes of one vector: rows of small matrices that are added and multiplied.

    for j in range(4):                              one load, one multiplication and one
        c[k, j] = x * a[i, j] + b[i, j]     ->      addition, one store

Such a loop is not unrolled. LLVM is asked to vectorise it (`transpile.codegen.llvm`); it does not vectorise the unrolled
statements.
"""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.loops.unroll_and_jam_legality import AT_ONCE
from transpile.ops.tables import record_of

LANES = 4
_REALS = ("float64", "float32")


def lanes_of(loop: ir.For) -> int | None:
    """Number of iterations that make one vector, as a request to LLVM: 1 forbids vectors, None leaves the choice to LLVM."""
    if loop.width is not None:
        return loop.width
    if loop.kind == "vector":
        if not isinstance(loop.bound, ir.Const):
            return None
        return 1 if _calls(loop.body) else AT_ONCE if _is_of_vectors(loop.body, False) else None
    return LANES if has_lanes(loop) else None


def _is_of_vectors(block: ir.Block, is_side: bool) -> bool:
    """Whether LLVM can vectorise all statements, which excludes primitives without a vector form. ``is_side``: the block is a
    side of a branch, which must not read elements."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.If) and not all(_is_of_vectors(b, True) for b in blocks(stmt)):
            return False
        if isinstance(stmt, ir.Let) and not (_is_of_lanes(stmt) or "vector" in stmt.params):
            if stmt.prim != "index" or is_side:
                return False
    return True


def _is_of_lanes(let: ir.Let) -> bool:
    """Whether a primitive has a vector form."""
    record = record_of(let)
    return record.is_instruction or let.prim == "cast" or record.vector is not None and record.vector.alone


def _calls(block: ir.Block) -> bool:
    """Whether an iteration has an expensive floating-point function in its scalar form: sixteen copies of a call are not faster
    and dominate LLVM's compile time."""
    return any(
        isinstance(s, ir.Let) and "vector" not in s.params and s.var.type.is_float and record_of(s).is_dear
        for s in statements(block)
    )


def has_lanes(loop: ir.For) -> bool:
    """Whether the loop runs over ``range(LANES)``, each iteration computes one element of a row by arithmetic only, and none
    depends on another."""
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
    """Whether the index occurs in reads only as the last subscript, so that consecutive iterations read neighbouring elements;
    the stride of a column is known only at run time."""
    reads = (s.args for s in loop.body.stmts if isinstance(s, ir.Let) and s.prim == "index")
    return all(loop.index not in args[1:-1] for args in reads)


def _is_short(loop: ir.For) -> bool:
    """Whether a loop carries nothing and runs over ``range(LANES)``."""
    ends = (loop.start, loop.bound, loop.step)
    if loop.inits or loop.trips is not None or loop.backwards or loop.body.stop is not None:
        return False
    return [e.value for e in ends if isinstance(e, ir.Const)] == [0, LANES, 1]


def _is_real(var: ir.Var) -> bool:
    return var.type.dtype in _REALS
