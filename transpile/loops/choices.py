"""Choices between a value and 0.0: ``s = a if test else 0.0``, and results of branches that are 0.0 on one side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transpile.core import nodes as ir
from transpile.ops.tables import record_of
from transpile.ops.traits import EQUAL, NOT_EQUAL

Test = tuple[ir.Var, bool]
"""A boolean variable and the truth value it should have."""


@dataclass(frozen=True)
class Choice:
    """``var`` is ``value`` if one of the tests has its truth value, and 0.0 otherwise."""

    var: ir.Var
    tests: tuple[Test, ...]
    value: ir.Operand


def choices(block: ir.Block) -> list[Choice]:
    """Choices between a value and 0.0 that the statements of a block make.

    A choice between a value and another choice counts with all their tests: ``a if less else b if equal else 0.0``, as in the
    derivative of a minimum.
    """
    found: dict[ir.Operand, Choice] = {}
    for stmt in block.stmts:
        for var, test, a, b in _sides(stmt):
            if var.type.is_float and not var.type.dims and isinstance(test, ir.Var):
                choice = _choice(var, test, a, b, isinstance(stmt, ir.Let)) or _chain(var, test, a, b, found)
                if choice is not None:
                    found[var] = choice
    return list(found.values())


def _sides(stmt: ir.Stmt) -> Iterator[tuple[ir.Var, ir.Operand, ir.Operand, ir.Operand]]:
    """For each value that a statement chooses: the variable, the test, and the operands if it is true and if it is false. A
    ``where`` chooses one value, a branch each of its results; other statements none."""
    match stmt:
        case ir.Let(prim="where"):
            test, a, b = stmt.args
            yield stmt.var, test, a, b
        case ir.If():
            for var, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                yield var, stmt.test, a, b


def _choice(var: ir.Var, test: ir.Var, a: ir.Operand, b: ir.Operand, is_select: bool) -> Choice | None:
    """A choice between a value and 0.0; None if neither side or both are 0.0. With ``is_select`` the value is the operand of
    ``where``; after a branch it is ``var`` itself, the only name known outside."""
    taken = ir.is_literal(b, 0.0)
    if taken == ir.is_literal(a, 0.0):
        return None
    value = (a if taken else b) if is_select else var
    return Choice(var, ((test, taken),), value) if value.type.dtype == var.type.dtype else None


def _chain(
    var: ir.Var, test: ir.Var, a: ir.Operand, b: ir.Operand, found: Mapping[ir.Operand, Choice]
) -> Choice | None:
    """A choice between a value and one of the choices ``found``, with the tests of both; None if neither side is one, or both
    are. Its value is ``var`` itself."""
    for value, other, taken in ((a, b, True), (b, a, False)):
        if other in found and value not in found:
            return Choice(var, ((test, taken), *found[other].tests), var)
    return None


def is_guard(choice: Choice, block: ir.Block) -> bool:
    """Whether a choice is 0.0 for a single value of the tested operand, as in a guarded quotient: almost all iterations take
    the other side."""
    made = {s.var: s for s in block.stmts if isinstance(s, ir.Let)}
    return any(test in made and _is_all_but_one(made[test], taken) for test, taken in choice.tests)


def _is_all_but_one(test: ir.Let, taken: bool) -> bool:
    """Whether the test has the truth value ``taken`` for all values except one constant."""
    wanted = NOT_EQUAL if taken else EQUAL
    return record_of(test).relation is wanted and any(isinstance(a, ir.Const) for a in test.args)
