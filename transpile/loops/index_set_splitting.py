"""Splits a loop whose subscripts wrap around the ends of a row, so that most iterations read neighbours without wrapping.

    for j in range(n):                              for j in range(min(n, 1)):
        t = x[wrap(j + 1, n)]                           y[j] = x[wrap(j + 1, n)] - x[wrap(j - 1, n)]
        y[j] = t - x[wrap(j - 1, n)]      ->        for j in range(1, n - 1):
                                                        y[j] = x[j + 1] - x[j - 1]
                                                    for j in range(max(n - 1, 1), n):
                                                        y[j] = x[wrap(j + 1, n)] - x[wrap(j - 1, n)]

If all subscripts have the same variable distance, there are two parts: one adds the size to the subscripts, the other does not.

The iterations and their order stay the same, so no dependence analysis is needed. LLVM vectorises the parts that do not wrap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from transpile.analysis.affine import Forms, Linear
from transpile.analysis.value_ranges import is_integer
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import INT
from transpile.core.walk import Cloner, blocks, map_operands
from transpile.loops.loop_shape import is_serial
from transpile.ops.tables import record_of

FAR = 8  # iterations at an end that may stay scalar
SIZE = 120  # statements of a loop that is tripled
Part = tuple[ir.For, ir.Operand, ir.Operand]  # a loop, and start and end of its index


def split_wrapped(fn: ir.Function) -> ir.Function:
    """The function with innermost loops whose subscripts wrap around split into two or three loops."""
    return with_body(fn, _Search(Forms(fn.body)).block(fn.body))


class _Search:
    def __init__(self, forms: Forms) -> None:
        self.forms = forms

    def block(self, block: ir.Block) -> ir.Block:
        return with_stmts(block, [new for s in block.stmts for new in self.stmt(s)])

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that replace one: an innermost loop whose subscripts wrap becomes two or three loops; else one
        statement."""
        if not blocks(stmt):
            return [stmt]
        if not isinstance(stmt, ir.For) or any(isinstance(s, (ir.For, ir.While)) for s in stmt.body.stmts):
            return [with_blocks(stmt, self.block)]
        wraps = self.wraps(stmt)
        if not wraps or is_serial(stmt):
            return [stmt]
        parts = _Parts(stmt, {s.var: s.args[0] for s, _ in wraps})
        far = {form for _, form in wraps}
        if all(not f.terms and abs(f.const) <= FAR for f in far):
            return parts.three(max(0, *(-f.const for f in far)), max(0, *(f.const for f in far)))
        turn = self.turn(next(iter(far)), stmt.bound) if len(far) == 1 else None
        return [stmt] if turn is None else parts.two(turn)

    def wraps(self, loop: ir.For) -> list[tuple[ir.Let, Linear]]:
        """The remainders ``(index + distance) % size`` in a loop over ``range(size)``, each with its distance; empty for other
        loops."""
        if loop.backwards or loop.trips is not None or loop.body.stop is not None or len(loop.body.stmts) > SIZE:
            return []
        if not (ir.is_literal(loop.start, 0) and ir.is_literal(loop.step, 1)):
            return []
        index = self.forms.of(loop.index)
        inside = {s.var for s in loop.body.stmts if isinstance(s, ir.Let)}
        found = []
        for s in loop.body.stmts:
            if isinstance(s, ir.Let) and _is_wrap(s) and self.are_equal(s.args[1], loop.bound):
                far = self.forms.of(s.args[0]).plus(index, -1)
                if not far.atoms & inside and not far.coefficient(loop.index):
                    found.append((s, far))
        return found

    def turn(self, far: Linear, size: ir.Operand) -> ir.Var | None:
        """The variable ``turn`` if the distance ``far`` is ``-turn`` and ``turn`` is a remainder by ``size``, or by the maximum
        of it and 1; else None."""
        if far.const or len(far.terms) != 1:
            return None
        ((var, coef),) = far.terms
        made = self.forms.lets.get(var)
        if coef != -1 or made is None or not _is_wrap(made):
            return None
        by = made.args[1]
        most = self.forms.lets.get(by) if isinstance(by, ir.Var) else None
        if most is not None and record_of(most).extreme > 0 and ir.is_literal(most.args[1], 1):
            by = most.args[0]
        return var if self.are_equal(by, size) else None

    def are_equal(self, a: ir.Operand, b: ir.Operand) -> bool:
        return self.forms.of(a) == self.forms.of(b)


@dataclass
class _Parts:
    """The parts of a loop. ``plain``: for each wrapped subscript, its value without wrapping."""

    loop: ir.For
    plain: Mapping[ir.Var, ir.Operand]
    stmts: list[ir.Stmt] = field(default_factory=list)

    def three(self, low: int, high: int) -> list[ir.Stmt]:
        """The loop in up to three parts: the first ``low`` iterations, which read before the beginning; the middle ones,
        without wrapping; the last ``high`` ones, which read past the end."""
        size = self.loop.bound
        middle, end = self.without(), self.number("sub", size, ir.Const(high, INT)) if high else size
        parts: list[Part] = [(middle, ir.Const(low, INT), end)]
        if low:
            parts.insert(0, (self.loop, ir.Const(0, INT), self.number("minimum", size, ir.Const(low, INT))))
        if high:
            parts.append((self.loop, self.number("maximum", end, ir.Const(low, INT)), size))
        return self.one_after_the_other(parts, middle)

    def two(self, turn: ir.Var) -> list[ir.Stmt]:
        """The loop in two parts: the iterations before ``turn``, whose subscripts are larger by the size, and the others, which
        do not wrap."""
        size = self.loop.bound
        first, rest = self.without(size), self.without()
        return self.one_after_the_other([(first, ir.Const(0, INT), turn), (rest, turn, size)])

    def without(self, more: ir.Operand | None = None) -> ir.For:
        """The loop with subscripts that do not wrap; with ``more`` they are larger by that number."""
        subscripts: dict[ir.Var, ir.Operand] = dict(self.plain)
        stmts: list[ir.Stmt] = []

        def operand(op: ir.Operand) -> ir.Operand:
            return subscripts.get(op, op) if isinstance(op, ir.Var) else op

        for s in self.loop.body.stmts:
            if not (isinstance(s, ir.Let) and s.var in self.plain):
                stmts.append(map_operands(s, operand))
            elif more is not None:
                stmts.append(ir.Let(s.var, "add", (self.plain[s.var], more), {}, s.loc))
                del subscripts[s.var]
        body = replace(self.loop.body, stmts=stmts, yields=tuple(map(operand, self.loop.body.yields)))
        return replace(self.loop, body=body)

    def number(self, prim: str, *args: ir.Operand) -> ir.Var:
        params = {"py": True} if record_of(prim).extreme else {}
        let = ir.Let(ir.Var(ir.SYNTHETIC, INT), prim, args, params, self.loop.loc)
        self.stmts.append(let)
        return let.var

    def one_after_the_other(self, parts: Sequence[Part], middle: ir.For | None = None) -> list[ir.Stmt]:
        """All statements so far, then a copy of each loop in ``parts`` with its start and end, carried values passed on; the
        last one has the loop's results. With a ``middle``, the other parts are short and get no vectors."""
        carried = self.loop.inits
        for part, start, bound in parts:
            new = Cloner().stmt(replace(part, start=start, bound=bound, inits=carried))
            assert isinstance(new, ir.For)
            if middle is not None and part is not middle:  # a few iterations: not to be vectorised
                new.width = 1
            self.stmts.append(new)
            carried = new.results
        last = self.stmts.pop()
        assert isinstance(last, ir.For)
        return [*self.stmts, replace(last, results=self.loop.results)]


def _is_wrap(let: ir.Let) -> bool:
    """Whether a *let* is a remainder of int64 scalars."""
    return record_of(let).division == "%" and is_integer(let.var) and all(map(is_integer, let.args))
