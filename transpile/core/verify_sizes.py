"""Sizes that are surely unequal, and sizes that a function has checked to be 1."""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.places import FormOf
from transpile.core.record_protocol import Record, Records
from transpile.core.walk import statements


def found_to_be_one(fn: ir.Function, prims: Records, form_of: FormOf) -> set[Dim]:
    """The sizes that the function has checked to be 1, or that are 1 in the example arguments.

    Only composite forms are listed: ``max(n - m, 0)`` may be 1 then, and so may the size of a result for which the type rule
    gives this form. A form with a single symbol is solved for it instead, and the number replaces the symbol.
    """
    found = {d for one, other, equal in fn.taken.pairs if equal for d in (one, other) if Dim(1) in (one, other)}
    tests: dict[ir.Operand, ir.Operand] = {}
    for stmt in statements(fn.body):
        match stmt:
            case ir.Let(args=(size, ir.Const(value=1)) | (ir.Const(value=1), size)) if _is_unequal(
                prims.get(stmt.prim)
            ):
                tests[stmt.var] = size
            case ir.If(test=test, then=ir.Block(stmts=[*_, ir.Raise()])) if test in tests:
                found.add(form_of(tests[test]) or Dim(1))
    return {d for d in found if len(d.terms) > 1 or d.terms and d.terms[0][0].kind not in ("symbol", "int")}


def _is_unequal(record: Record | None) -> bool:
    return record is not None and record.relation is not None and record.relation.cases == (True, False, True)


def is_apart(a: Dim, b: Dim) -> bool:
    """Whether two dims are unequal for all sizes: their difference is a nonzero constant. The frontend may know more, for
    example that ``x[:1]`` has size 1, not min(1, n)."""
    return (a - b).is_const and a != b
