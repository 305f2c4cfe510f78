"""Value numbering, for both dialects: a computation is dropped if an earlier one, visible from it, has the same value.

    a = sin(x)                      a = sin(x)
    b = sin(x)              ->      c = a * a
    c = a * b

Equal values have equal numbers, built from the primitive, the numbers of its operands, its type and its parameters. Each
dialect defines the number of an operand that may change (memory) or of which more is known (an index):
`transpile.simplify.tidy` for array core, `transpile.loops.store_forwarding` for loop core.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import ClassVar

from transpile.core import nodes as ir

Number = tuple[Hashable, ...]


class Numbering:
    """The facts at a point of the rewriting: ``equal`` maps variables to equal operands; ``computed`` maps numbers to variables
    computed in this block or in an enclosing one, each with its depth."""

    scoped: ClassVar[tuple[str, ...]] = ("computed",)
    """The facts that hold only in the block where they were found."""

    def __init__(self) -> None:
        self.equal: dict[ir.Var, ir.Operand] = {}
        self.computed: dict[Number, tuple[ir.Var, int]] = {}
        self.depth = 0

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A context for rewriting a nested block: facts in the attributes ``scoped`` that are learnt in it are dropped
        afterwards."""
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
        """The operand that replaces this one, by ``equal``, followed to its end; the operand itself if there is none."""
        while isinstance(operand, ir.Var) and operand in self.equal:
            operand = self.equal[operand]
        return operand

    def number(self, stmt: ir.Let | ir.Call) -> Number:
        """The number of the value that the statement computes, a tuple to compare: equal for computations of the same value."""
        forms = [self.form(a) for a in stmt.args]
        if isinstance(stmt, ir.Call):
            return (stmt.function, *forms, stmt.var.type)
        params = repr(sorted(stmt.params.items(), key=itemgetter(0))) if stmt.params else ""
        return (stmt.prim, *forms, stmt.var.type, params)

    def form(self, operand: ir.Operand) -> Hashable:
        """The number of an operand, to compare: that of a variable is what `form_of_variable` gives, that of a constant its
        value and type."""
        if isinstance(operand, ir.Var):
            return self.form_of_variable(operand)
        return repr(getattr(operand, "value", None)), operand.type

    def form_of_variable(self, var: ir.Var) -> Hashable:
        raise NotImplementedError

    def earlier(self, stmt: ir.Let | ir.Call) -> tuple[ir.Var, int] | None:
        """The variable computed before that has the value of this statement, with the depth of its definition; None if there is
        none, and then this statement's own variable is noted in ``computed``."""
        found = self.computed.setdefault(self.number(stmt), (stmt.var, self.depth))
        return None if found[0] is stmt.var else found
