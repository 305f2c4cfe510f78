"""Truth values as operands: known ones, what the tests on the way here decide, and Python's own."""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.types import BOOL
from transpile.frontend.lifter import Lifter
from transpile.frontend.state import Opposite
from transpile.frontend.values.values import Scalar

TRUE, FALSE = ir.Const(True, BOOL), ir.Const(False, BOOL)


def by_facts(lx: Lifter, op: ir.Operand) -> ir.Operand:
    """A truth value, folded where the tests passed on the way here decide it."""
    for fact in lx.facts:
        if fact is op:
            return TRUE
        if isinstance(fact, Opposite) and fact.test is op:
            return FALSE
    return op


def answer(lx: Lifter, op: ir.Operand) -> Scalar:
    """A truth value that is Python's own: one computes with it as with 0 and 1, which NumPy's do not."""
    return Scalar(op if op.type.weak else lx.b.cast(op, BOOL).op)


def negated(lx: Lifter, op: ir.Operand) -> Scalar:
    if isinstance(op, ir.Const):
        return Scalar(FALSE if op.value else TRUE)
    return Scalar(lx.b.elementwise("logical_not", op).op)
