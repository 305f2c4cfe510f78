"""The named axis of a `vmap`, in the function of one lane.

The axis is a parameter, an array with one entry per lane; its size is the number of lanes. Batching removes both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.functions import is_custom
from transpile.core.types import INT
from transpile.core.walk import Cloner, blocks, reads, statements
from transpile.errors import error
from transpile.ops.tables import record_of


@dataclass(frozen=True)
class Axis:
    """``var``: the parameter; ``size``: the operand that stands for the number of lanes in the function."""

    var: ir.Var
    size: ir.Operand

    def has(self, stmt: ir.Stmt) -> bool:
        """Whether the statement is a collective over this axis, or another *let* or a call that gets the axis as an operand, so
        that it may contain one."""
        if _is_collective(stmt):
            return stmt.args[-1] is self.var
        return isinstance(stmt, (ir.Let, ir.Call)) and self.var in reads(stmt)

    def is_in(self, stmt: ir.Stmt) -> bool:
        """Whether `has` is true for the statement or for one nested in it."""
        return self.has(stmt) or any(self.has(s) for b in blocks(stmt) for s in statements(b))


def sized(fn: ir.Function, at: int, count: int | None) -> tuple[ir.Function, Axis]:
    """A copy of ``fn`` in which one operand stands for the number of lanes (a constant if ``count`` is not None), and the axis,
    which is parameter ``at``."""
    var = fn.params[at]
    (dim,) = var.type.dims
    renamed = {} if count is None else {name: Dim(count) for name in dim.symbols()}
    size = ir.Var(str(dim), INT) if count is None else ir.Const(count, INT)
    cloner = _Sized(var, size, renamed)
    done = cloner.function(fn)
    symbols = {name: op for name, op in done.symbols.items() if name not in cloner.renamed}
    return replace(done, symbols=symbols), Axis(done.params[at], size)


class _Sized(Cloner):
    """Copies the function: sizes of the axis become one operand, lane numbers inside branches and loops one variable."""

    def __init__(self, var: ir.Var, size: ir.Operand, renamed: dict[str, Dim]) -> None:
        super().__init__({}, renamed.get if renamed else None)
        self.var, self.size, self.renamed = var, size, renamed
        self.number = ir.Var("lane", INT)  # the number of the lane, shared by all uses in branches and loops
        self.is_read, self.depth = False, 0

    def operand(self, operand: ir.Operand) -> ir.Operand:
        """The copy of the operand; 0 or False in place of an undefined scalar, so that a value with a lane axis can exist."""
        if isinstance(operand, ir.Undef) and operand.type.kind == "array" and not operand.type.dims:
            return ir.Const({"b": False, "f": 0.0}.get(np.dtype(operand.type.dtype).kind, 0), operand.type)
        return super().operand(operand)

    def function(self, fn: ir.Function) -> ir.Function:
        """The copy of the function; if branches or loops use the number of the lane, it is computed once at the start."""
        done = super().function(fn)
        axis = self.mapping[self.var]
        if self.is_read:
            assert isinstance(axis, ir.Var)
            done.body.stmts.insert(0, ir.Let(self.number, "axis_index", (axis,), {}, fn.loc))
        done.body.yields = tuple(self.size if y is axis else y for y in done.body.yields)
        return done

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A copy of the statement. If a call with a custom rule returns the axis among its results, for the user's rule, such a
        result is replaced by the axis itself from here on."""
        new = super().stmt(stmt)
        if is_custom(stmt):
            axis = self.mapping[self.var]
            own = {p for p, a in zip(stmt.custom.fn.params, reads(new)) if a is axis}
            self.mapping.update((r, axis) for r, y in zip(stmt.results, stmt.custom.fn.body.yields) if y in own)
        return new

    def block(self, block: ir.Block) -> ir.Block:
        """A copy of the block without the statements that take the size of the axis or, in branches and loops, the number of
        the lane."""
        self.depth += 1
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, ir.Let) and stmt.prim == "dim" and stmt.args[0] is self.var:
                self.mapping[stmt.var] = self.size
            elif self.depth > 1 and _is_collective(stmt) and _is_number(stmt) and stmt.args[-1] is self.var:
                self.mapping[stmt.var], self.is_read = self.number, True
            else:
                stmts.append(stmt)
        done = super().block(replace(block, stmts=stmts))
        self.depth -= 1
        return done


def apart(stmt: ir.Stmt) -> Exception:
    """The error T605 for lanes that reach the collective in ``stmt`` by different paths; returned, not raised."""
    named = next((s for s in (stmt, *(s for b in blocks(stmt) for s in statements(b))) if _is_collective(s)), stmt)
    what = named.prim if _is_collective(named) else "a collective"
    message = f"{what} is in a branch or loop that lanes of the batch take differently"
    hint = "call it outside of the branch or loop, and choose between two values with np.where"
    return error("T605", message, named.loc, hint)


def _is_number(stmt: ir.Let) -> bool:
    return record_of(stmt).collective == "numbered"


def _is_collective(stmt: ir.Stmt) -> TypeGuard[ir.Let]:
    return isinstance(stmt, ir.Let) and bool(record_of(stmt).collective)
