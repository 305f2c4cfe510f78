"""Integer operands as linear forms over variables, by which subscripts are compared.

The forms follow the definitions, so that they stay right when a pass replaces one variable by another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from transpile.core import nodes as ir
from transpile.core.forms import Form, of_operation
from transpile.core.types import INT
from transpile.core.walk import blocks
from transpile.ops.tables import record_of


@dataclass(frozen=True, slots=True, eq=False)
class Linear(Form[ir.Var, int]):
    """A linear form over integer variables."""

    const: int = 0
    terms: tuple[tuple[ir.Var, int], ...] = ()


def form_of(op: ir.Operand) -> Linear:
    """The form that is the operand itself: a constant or a single variable."""
    return Linear(int(op.value)) if isinstance(op, ir.Const) else Linear.atom(op)


def computed(form: Linear, number: Callable[[str, ir.Operand, ir.Operand], ir.Operand]) -> ir.Operand:
    """An operand with the value of the form: a constant, one of its variables, or what ``number(prim, a, b)`` returns, which is
    called for each sum, difference and product. Positive terms come first."""
    found: ir.Operand | None = None
    for var, coef in sorted(form.terms, key=lambda t: (t[1] < 0, t[0].label)):
        term: ir.Operand = var if abs(coef) == 1 else number("mul", ir.Const(abs(coef), INT), var)
        if found is None:
            found = term if coef > 0 else number("sub", ir.Const(0, INT), term)
        else:
            found = number("add" if coef > 0 else "sub", found, term)
    if found is None:
        return ir.Const(form.const, INT)
    if form.const:
        found = number("add" if form.const > 0 else "sub", found, ir.Const(abs(form.const), INT))
    return found


class Forms:
    """The linear forms of the operands of one function."""

    def __init__(self, body: ir.Block) -> None:
        self.lets: dict[ir.Var, ir.Let] = {s.var: s for s in _lets(body)}
        self.known: dict[ir.Var, Linear] = {}
        self.same: dict[ir.Var, ir.Operand] = {}

    def learn(self, let: ir.Let) -> None:
        """Adds a *let* that a pass has created."""
        self.lets[let.var] = let

    def alias(self, var: ir.Var, other: ir.Operand) -> None:
        """Makes ``var`` equal to ``other`` from here on: its form is then that of ``other``."""
        self.same[var] = other
        self.known.clear()

    def as_alias(self, a: ir.Operand, b: ir.Operand) -> tuple[ir.Var, ir.Operand] | None:
        """A pair of the two equal integers: the one that can be replaced, a variable, and the one to replace it by, which is
        not computed from it. None if neither can be replaced."""
        if isinstance(a, ir.Var) and not self.comes_from(b, a):
            return a, b
        return (b, a) if isinstance(b, ir.Var) and not self.comes_from(a, b) else None

    def comes_from(self, op: ir.Operand, var: ir.Var) -> bool:
        """Whether ``op`` is computed from ``var``, or is ``var``."""
        work: list[ir.Operand] = [op]
        seen: set[ir.Operand] = set()
        while work:
            found = work.pop()
            if found is var:
                return True
            if isinstance(found, ir.Var) and found not in seen:
                seen.add(found)
                let = self.lets.get(found)
                work += () if let is None else let.args
                work += [self.same[found]] if found in self.same else []
        return False

    def of(self, op: ir.Operand) -> Linear:
        """The linear form of an integer; the variable itself if its definition is not linear."""
        if isinstance(op, ir.Const):
            return Linear(int(op.value))
        assert isinstance(op, ir.Var)
        if op not in self.known:
            self.known[op] = self._found(op)
        return self.known[op]

    def _found(self, var: ir.Var) -> Linear:
        """The form of a variable, from its alias or its definition; the variable itself if the definition is not linear in
        int64."""
        if var in self.same:
            return self.of(self.same[var])
        alone = Linear.atom(var)
        let = self.lets.get(var)
        if let is None or not _is_index(var) or not all(_is_index(a) for a in let.args):
            return alone
        found = of_operation(record_of(let), [self.of(a) for a in let.args])
        return alone if found is None else found


def _is_index(op: ir.Operand) -> bool:
    """Whether the operand is an int64 scalar or integer constant: sums of narrow integers may wrap."""
    if isinstance(op, ir.Const):
        return isinstance(op.value, int) and not isinstance(op.value, bool)
    return op.type.dtype == "int64" and not op.type.dims


def _lets(block: ir.Block) -> Iterator[ir.Let]:
    """All *lets* of a block, nested blocks included."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.Let):
            yield stmt
        for inner in blocks(stmt):
            yield from _lets(inner)
