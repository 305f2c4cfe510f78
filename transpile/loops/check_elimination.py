"""Removes checks whose outcome follows from integer ranges: that sums of sizes and of loop indices fit into 64 bits.

    for i in range(n):                    for i in range(n):
        check not overflows_mul(2, i) ->      y = x[2 * i]
        y = x[2 * i]

Exact conversions of integers to floats, and exact comparisons with floats, become plain machine operations if the integers fit.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import FLOAT
from transpile.core.walk import blocks, statements
from transpile.loops.interval_analysis import Ranges, interval_of
from transpile.ops.interval_arithmetic import Interval, is_inside
from transpile.ops.tables import record_of

EXACT = 2**53
EXACTLY = (-EXACT, EXACT)


def eliminate_checks(fn: ir.Function) -> ir.Function:
    """The function without checks that always pass, and with exact operations on floats where the integers fit."""
    if not any(_is_asked(s) for s in statements(fn.body)):
        return fn
    found = _Fits(fn)
    return with_body(fn, _Kept(found).block(fn.body))


def _is_asked(stmt: ir.Stmt) -> bool:
    """Whether a statement is a check or an exact operation."""
    return isinstance(stmt, ir.Check) or isinstance(stmt, ir.Let) and _is_exact(stmt)


def _is_exact(let: ir.Let) -> bool:
    """Whether an operation converts or compares integers exactly and has a plain floating-point form."""
    return bool(record_of(let).in_floats)


class _Fits(Ranges):
    """Finds the checks that always pass, and exact operations whose integers floats represent exactly."""

    def __init__(self, fn: ir.Function) -> None:
        self.passed: dict[int, bool] = {}
        super().__init__(fn)

    def visit(self, stmt: ir.Stmt) -> None:
        """Notes in ``passed`` whether a check always passes, or whether the integers of an exact operation fit into 53 bits."""
        if isinstance(stmt, ir.Check):
            self.passed[id(stmt)] = self.is_false(stmt.test)
        elif isinstance(stmt, ir.Let) and _is_exact(stmt):
            whole = [a for a in stmt.args if not a.type.is_float]
            self.passed[id(stmt)] = all(is_inside(self.counted(a), EXACTLY) for a in whole)

    def is_false(self, test: ir.Operand) -> bool:
        """Whether a test surely never holds."""
        let = self.lets.get(test) if isinstance(test, ir.Var) else None
        if let is None:
            return isinstance(test, ir.Const) and not test.value
        if record_of(let).asks:
            found = self.raw(replace(let, prim=record_of(let).asks, params={}))
            return found is not None and is_inside(found)
        implied = record_of(let).implies
        if implied is not None:
            return any(truth and self.is_false(let.args[k]) for k, truth in implied(True))
        if len(let.args) != 2 or not all(a.type.is_int and not a.type.dims for a in let.args):
            return False
        a, b = (self.of(x) for x in let.args)
        relation = record_of(let).relation
        if relation is None:
            return False
        may = (a[0] < b[1], a[0] <= b[1] and b[0] <= a[1], a[1] > b[0])
        return not any(case and possible for case, possible in zip(relation.cases, may))

    def counted(self, op: ir.Operand) -> Interval:
        """The interval of an operand. Loop indices, also as operands of a sum or product, count as at most 2**51 in magnitude:
        no loop runs that long."""
        found = self.of(op)
        if not isinstance(op, ir.Var) or is_inside(found, EXACTLY):
            return found
        if op in self.indices:
            return max(found[0], -EXACT // 4), min(found[1], EXACT // 4)
        let = self.lets.get(op)
        if let is not None and record_of(let).is_polynomial and op in self.exact:
            args = [self.counted(a) if isinstance(a, ir.Const) or a in self.indices else self.of(a) for a in let.args]
            return interval_of(let.prim, args) or found
        return found


class _Kept:
    """Rewrites blocks without the checks that pass."""

    def __init__(self, found: _Fits) -> None:
        self.found = found

    def block(self, block: ir.Block) -> ir.Block:
        """The block without the checks that pass, and with exact operations on floats; nested blocks included."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if not self.found.passed.get(id(stmt), False):
                stmts.append(with_blocks(stmt, self.block) if blocks(stmt) else stmt)
            elif isinstance(stmt, ir.Let):
                stmts += in_floats(stmt)
        return with_stmts(block, stmts)


def in_floats(let: ir.Let) -> list[ir.Stmt]:
    """The statements that replace an exact operation: casts of its integer operands to float64, then the operation on
    floats."""
    casts: list[ir.Stmt] = []
    args: list[ir.Operand] = []
    for a in let.args:
        if a.type.is_float:
            args.append(a)
        elif isinstance(a, ir.Const):
            args.append(ir.Const(float(a.value), FLOAT))
        else:
            casts.append(ir.Let(ir.Var(ir.SYNTHETIC, FLOAT), "cast", (a,), {"dtype": "float64", "weak": True}, let.loc))
            args.append(casts[-1].var)  # type: ignore[union-attr]
    return [*casts, replace(let, prim=record_of(let).in_floats, args=tuple(args), params={})]
