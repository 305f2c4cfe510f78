"""Loop-invariant code motion in printed code: a computation that is the same in each iteration moves before the loop.

    for _ in range(steps):                    t = 2.0 * dx
        t = 2.0 * dx                          new = np.empty_like(x)
        new = np.empty_like(x)        ->      for _ in range(steps):
        ...                                       ...

A loop may have no iteration, so only computations that can neither raise nor warn move: Python numbers, and memory that is no
larger than an existing array and that no iteration passes on. This is done last, on the printable form: a number written inside
an expression stays there, and derivatives, batching and compiled code see arrays where they belong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import prod

from transpile.codegen.numpy.expression_trees import Trees
from transpile.codegen.numpy.memory_sharing import is_view
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import Type
from transpile.core.walk import blocks, defined, defines, leaves, reads, statements
from transpile.ops.tables import record_of

Arrays = Sequence[ir.Var]
Leaving = Callable[[ir.Block, set[ir.Var], Arrays], set[ir.Var]]
"""Gives the variables that leave a loop, from its body, the variables that the loop defines, and the arrays that exist before
it.
"""

SMALL = 4096  # number of elements that may always be allocated


def numbers_before_loops(fn: ir.Function, trees: Trees) -> ir.Function:
    """The function with invariant numbers before the outermost loop they can leave; ``trees``: the nested expressions.

    Only numbers that statements compute move, no parts of expressions.
    """

    def leaving(body: ir.Block, own: set[ir.Var], arrays: Arrays) -> set[ir.Var]:
        found: set[ir.Var] = set()
        for stmt in body.stmts:
            if isinstance(stmt, ir.Let) and _is_steady(stmt, trees, own - found):
                found.add(stmt.var)
        return found

    return with_body(fn, _block(fn.body, leaving, fn.params))


def memory_before_loops(fn: ir.Function) -> ir.Function:
    """The function with uninitialised arrays (``np.empty``) allocated before the outermost loop they can leave.

    They are temporary in an iteration: none passes such an array on. It must be small, or no larger than one that exists there.
    """

    def leaving(body: ir.Block, own: set[ir.Var], arrays: Arrays) -> set[ir.Var]:
        empty = [s for s in body.stmts if isinstance(s, ir.Alloc) and s.prim == "empty" and own.isdisjoint(s.args)]
        return {s.var for s in empty if _has_room(s.var.type, arrays) and not _is_handed_on(s.var, body)}

    return with_body(fn, _block(fn.body, leaving, fn.params))


def _block(block: ir.Block, leaving: Leaving, arrays: Iterable[ir.Var]) -> ir.Block:
    """The block in which, innermost loops first, the statements whose variables ``leaving`` selects stand before their loop.

    ``arrays`` are the arrays that exist before the block.
    """
    stmts: list[ir.Stmt] = []
    there = [*arrays, *(p for p in block.params if p.type.dims)]
    for stmt in block.stmts:
        stmt = with_blocks(stmt, partial(_block, leaving=leaving, arrays=there))
        if isinstance(stmt, (ir.For, ir.While)):
            own = {v for b in blocks(stmt) for v in defined(b)}
            moved = leaving(stmt.body, own | {stmt.index} if isinstance(stmt, ir.For) else own, there)
            stmts += [s for s in stmt.body.stmts if not moved.isdisjoint(defines(s))]
            kept = [s for s in stmt.body.stmts if moved.isdisjoint(defines(s))]
            stmt = replace(stmt, body=replace(stmt.body, stmts=kept)) if moved else stmt
        stmts.append(stmt)
        there += [v for v in defines(stmt) if v.type.dims and v.type.kind == "array"]
    return with_stmts(block, stmts)


# ------------------------------------------------------------------------------------------------------ numbers


def _is_steady(value: ir.Let | ir.Operand, trees: Trees, own: set[ir.Var]) -> bool:
    """Whether a value is a number that is the same in all iterations and may be computed even if there is none.

    ``own``: the variables that an iteration defines, which an operand must not be. A *let*, also one nested in an operand, must
    be harmless and have steady operands.
    """
    if isinstance(value, ir.Let):
        return _is_harmless(value) and all(_is_steady(a, trees, own) for a in value.args)
    if not isinstance(value, ir.Var):
        return isinstance(value, ir.Const)
    tree = trees.get(value)
    if tree is not None:
        return isinstance(tree, ir.Let) and _is_steady(tree, trees, own)
    return value not in own and value.type.kind == "array"


def _is_harmless(let: ir.Let) -> bool:
    """Whether a *let* can neither raise nor warn: NumPy's scalars warn on overflow, Python's numbers do not."""
    if let.prim == "dim":
        return True
    if not let.var.type.weak or not all(a.type.weak for a in let.args):
        return False
    record = record_of(let)
    if record.python and not let.params.get("py"):
        return False
    return record.total([a.type for a in let.args], [getattr(a, "value", None) for a in let.args])


# ------------------------------------------------------------------------------------------------------- memory


def _has_room(type_: Type, arrays: Arrays) -> bool:
    """Whether an array of the type is provably small, or no larger than one of ``arrays`` of its rank, with no negative
    size."""
    if all(d.is_const for d in type_.dims):
        return 0 <= prod(d.const for d in type_.dims) <= SMALL
    alike = [a.type.dims for a in arrays if a.type.rank == type_.rank]
    return any(all(map(_is_at_most, type_.dims, dims)) for dims in alike)


def _is_at_most(a: Dim, b: Dim) -> bool:
    """Whether ``a`` is never negative and never larger than ``b``."""
    return a.is_size and b.is_size and (b - a.unclipped).is_size


def _is_handed_on(buf: ir.Var, body: ir.Block) -> bool:
    """Whether the memory of ``buf`` gets a name in a loop's ``body`` that another iteration, or code after the loop, may
    use."""
    names: set[ir.Operand] = {buf}
    for stmt in statements(body):
        if isinstance(stmt, ir.Let):
            if (
                not names.isdisjoint(stmt.args)
                and (stmt.var.type.dims or stmt.var.type.kind != "array")
                and is_view(stmt)
            ):
                names.add(stmt.var)
        elif isinstance(stmt, (ir.Store, ir.Add)):
            if stmt.buf is not buf and stmt.buf in names:
                return True
        elif not isinstance(stmt, ir.Call) and not names.isdisjoint(reads(stmt)):
            return True  # results of a call have memory of their own
        if not all(names.isdisjoint(leaves(b)) for b in blocks(stmt)):
            return True
    return not names.isdisjoint(leaves(body))
