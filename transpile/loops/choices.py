"""Choices between a value and 0.0: ``s = a if test else 0.0``, and what a branch gives that is 0.0 on one side."""

from __future__ import annotations

from dataclasses import dataclass

from transpile.core import nodes as ir
from transpile.ops.tables import record_of
from transpile.ops.traits import EQUAL, NOT_EQUAL


@dataclass(frozen=True)
class Choice:
    """``var`` is ``value`` where the test is ``taken``, and 0.0 elsewhere."""

    var: ir.Var
    test: ir.Var
    taken: bool
    value: ir.Operand


def choices(stmt: ir.Stmt) -> list[Choice]:
    """The choices between a value and 0.0 that a statement makes."""
    sides: list[tuple[ir.Var, ir.Operand, ir.Operand]] = []
    test: ir.Operand
    match stmt:
        case ir.Let(prim="where"):
            test, a, b = stmt.args
            sides.append((stmt.var, a, b))
        case ir.If():
            test = stmt.test
            sides += zip(stmt.results, stmt.then.yields, stmt.orelse.yields)
        case _:
            return []
    found: list[Choice] = []
    for var, a, b in sides:
        taken = ir.is_literal(b, 0.0)
        if var.type.is_float and not var.type.dims and isinstance(test, ir.Var) and taken != ir.is_literal(a, 0.0):
            value = (a if taken else b) if isinstance(stmt, ir.Let) else var
            if value.type.dtype == var.type.dtype:
                found.append(Choice(var, test, taken, value))
    return found


def is_guard(choice: Choice, block: ir.Block) -> bool:
    """Whether a choice is 0.0 for one value only, as that of a quotient is: almost all trips take the other side."""
    test = next((s for s in block.stmts if isinstance(s, ir.Let) and s.var is choice.test), None)
    one_value = NOT_EQUAL if choice.taken else EQUAL
    return (
        test is not None and record_of(test).relation is one_value and any(isinstance(a, ir.Const) for a in test.args)
    )
