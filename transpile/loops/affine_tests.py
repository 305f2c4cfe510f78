"""Whether an integer test holds in some iteration of a loop, tested before the loop: operands linear in the index, at both
ends.

    for i in range(n):                                  check not (0 < n and overflows_mul(4, n - 1))
        check not overflows_mul(4, i)       ->          for i in range(n):
        y[i] = x[4 * i]                                     y[i] = x[4 * i]

A sum that fits at both ends of the range fits in between. Its operands are checked before it, so they have not wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT
from transpile.ops.tables import record_of
from transpile.ops.traits import EQUAL

Emit = Callable[[ir.Let], ir.Var]


class Ends:
    """Tests of one loop. ``fixed``: whether an operand is loop-invariant; ``copy``: gives an invariant operand before the
    loop."""

    def __init__(
        self,
        loop: ir.For,
        lets: Mapping[ir.Var, ir.Let],
        fixed: Callable[[ir.Operand], bool],
        copy: Callable[[ir.Operand], ir.Operand],
        emit: Emit,
    ) -> None:
        self.loop, self.lets, self.fixed, self.copy, self.emit = loop, lets, fixed, copy, emit
        self.made: tuple[dict[ir.Var, ir.Operand], dict[ir.Var, ir.Operand]] = ({}, {})

    def anywhere(self, test: ir.Operand) -> ir.Operand | None:
        """A boolean operand before the loop: whether ``test`` holds in some iteration, given that there is one; None if there
        is no exact one."""
        if self.fixed(test):
            return self.copy(test)
        let = self.lets.get(test) if isinstance(test, ir.Var) else None
        if let is None:
            return None
        record = record_of(let)
        if record.is_conjunction:
            for one, other in (let.args, let.args[::-1]):
                found = self.anywhere(other) if self.fixed(one) else None
                if found is not None:
                    return self.join("logical_and", self.copy(one), found, let)
            return None
        if record.is_disjunction:
            either = [e for a in let.args if (e := self.anywhere(a)) is not None]
            return self.join("logical_or", either[0], either[1], let) if len(either) == 2 else None
        if not self.is_decided(let):
            return None
        return self.join("logical_or", self.at(test, 0), self.at(test, 1), let)

    def is_decided(self, let: ir.Let) -> bool:
        """Whether the test, if it holds in some iteration, holds in the first or the last."""
        degrees = [self.degree(a) for a in let.args]
        if any(d is None for d in degrees):
            return False
        asked = record_of(let).asks
        if asked:
            record = record_of(asked)
            square = record.multiplies and let.args[0] is let.args[1]
            return record.is_polynomial and (square or record.degree([d or 0 for d in degrees]) <= 1)
        relation = record_of(let).relation
        if relation is EQUAL:  # comparison with the least integer
            return isinstance(let.args[1], ir.Const) and let.args[1].value == -(2**63)
        return relation is not None and relation.less != relation.greater

    def degree(self, op: ir.Operand) -> int | None:
        """Degree of an operand as a polynomial in the index, 0 or 1; None if it is not known to be one."""
        if op is self.loop.index:
            return 1
        if self.fixed(op):
            return 0
        let = self.lets.get(op) if isinstance(op, ir.Var) else None
        if let is None or not let.var.type.weak or not record_of(let).is_polynomial:
            return None
        degrees = [self.degree(a) for a in let.args]
        if any(d is None for d in degrees):
            return None
        found = [d for d in degrees if d is not None]
        most = record_of(let).degree(found)
        return most if most <= 1 else None

    def at(self, op: ir.Operand, end: int) -> ir.Operand:
        """The operand at the start of the range (``end`` 0) or in the last iteration (``end`` 1)."""
        made = self.made[end]
        if op is self.loop.index:
            if op not in made:
                made[self.loop.index] = self.last() if end else self.loop.start
            return made[self.loop.index]
        if self.fixed(op):
            return self.copy(op)
        assert isinstance(op, ir.Var)
        if op not in made:
            let = self.lets[op]
            args = tuple(self.at(a, end) for a in let.args)
            made[op] = self.emit(replace(let, var=ir.Var(op.name, op.type), args=args))
        return made[op]

    def last(self) -> ir.Operand:
        """The bound minus the step, the last index of a range with step 1 or -1, as an operand computed before the loop."""
        loop = self.loop
        return self.emit(ir.Let(ir.Var(ir.SYNTHETIC, INT), "sub", (loop.bound, loop.step), {}, loop.loc))

    def join(self, prim: str, a: ir.Operand, b: ir.Operand, let: ir.Let) -> ir.Var:
        """The boolean variable ``prim(a, b)``, computed before the loop."""
        return self.emit(ir.Let(ir.Var(ir.SYNTHETIC, BOOL), prim, (a, b), {}, let.loc))
