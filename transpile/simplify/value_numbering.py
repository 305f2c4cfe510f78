"""Value numbering: what is computed twice in sight of each other is computed once, in both dialects.

    a = sin(x)                      a = sin(x)
    b = sin(x)              ->      c = a * a
    c = a * b

Equal values have equal numbers: the primitive, the numbers of its operands, its type and parameters. What a number is of an operand
that may change, memory, or that is known better, an index, each dialect says: array code is `transpile.simplify.tidy`, loops are
`transpile.loops.store_forwarding`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import ClassVar

from transpile.core import nodes as ir

Number = tuple[Hashable, ...]


class Numbering:
    """What is known where a block is rewritten: that operands are ``equal``, and what has been ``computed`` in it or around it,
    each with how deep that was."""

    scoped: ClassVar[tuple[str, ...]] = ("computed",)
    """What holds in a block holds there alone."""

    def __init__(self) -> None:
        self.equal: dict[ir.Var, ir.Operand] = {}
        self.computed: dict[Number, tuple[ir.Var, int]] = {}
        self.depth = 0

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A block is rewritten."""
        saved = [(name, getattr(self, name)) for name in self.scoped]
        for name, value in saved:
            setattr(self, name, value.copy())
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            for name, value in saved:
                setattr(self, name, value)

    def operand(self, operand: ir.Operand) -> ir.Operand:
        """What stands for the operand."""
        while isinstance(operand, ir.Var) and operand in self.equal:
            operand = self.equal[operand]
        return operand

    def number(self, stmt: ir.Let | ir.Call) -> Number:
        """What computations of one value have in common."""
        forms = [self.form(a) for a in stmt.args]
        if isinstance(stmt, ir.Call):
            return (stmt.function, *forms, stmt.var.type)
        params = repr(sorted(stmt.params.items(), key=itemgetter(0))) if stmt.params else ""
        return (stmt.prim, *forms, stmt.var.type, params)

    def form(self, operand: ir.Operand) -> Hashable:
        """What equal operands have in common."""
        if isinstance(operand, ir.Var):
            return self.form_of_variable(operand)
        return repr(getattr(operand, "value", None)), operand.type

    def form_of_variable(self, var: ir.Var) -> Hashable:
        raise NotImplementedError

    def earlier(self, stmt: ir.Let | ir.Call) -> tuple[ir.Var, int] | None:
        """The variable that has the value already, and how deep it was computed; from now on this one has it if none does."""
        found = self.computed.setdefault(self.number(stmt), (stmt.var, self.depth))
        return None if found[0] is stmt.var else found
