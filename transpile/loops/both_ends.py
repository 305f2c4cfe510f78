"""Whether a test of integers holds in some trip of a loop, asked before the loop: of what is linear in the index, at both ends.

    for i in range(n):                                  check not (0 < n and overflows_mul(4, n - 1))
        check not overflows_mul(4, i)       ->          for i in range(n):
        y[i] = x[4 * i]                                     y[i] = x[4 * i]

A sum that fits at both ends fits between them. What it is made of was asked before it, so it has not wrapped there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from transpile.core.nodes import SYNTHETIC, Const, Effect, For, Let, Operand, Stmt, Var
from transpile.core.types import BOOL, INT
from transpile.core.walk import blocks, statements

Emit = Callable[[Let], Var]


def is_question(stmt: Stmt) -> bool:
    """Whether it is a check that asks nothing but a test: whether an integer fits (`transpile.lower.overflow`)."""
    return isinstance(stmt, Effect) and bool(stmt.params.get("question"))


def only_asks(stmt: Stmt) -> bool:
    """Whether such checks are all that the statement, or one nested in it, may raise by a check."""
    inner = (s for b in blocks(stmt) for s in statements(b))
    return all(is_question(s) for s in (stmt, *inner) if isinstance(s, Effect) and s.kind == "check")


class Ends:
    """Tests of one loop. ``fixed`` says whether an operand is the same in all trips, ``copy`` gives it before the loop."""

    def __init__(
        self,
        loop: For,
        lets: Mapping[Var, Let],
        fixed: Callable[[Operand], bool],
        copy: Callable[[Operand], Operand],
        emit: Emit,
    ) -> None:
        self.loop, self.lets, self.fixed, self.copy, self.emit = loop, lets, fixed, copy, emit
        self.made: tuple[dict[Var, Operand], dict[Var, Operand]] = ({}, {})

    def anywhere(self, test: Operand) -> Operand | None:
        """The test whether it holds in some trip, before the loop; None if that cannot be said."""
        if self.fixed(test):
            return self.copy(test)
        let = self.lets.get(test) if isinstance(test, Var) else None
        if let is None:
            return None
        if let.prim == "logical_and":
            for one, other in (let.args, let.args[::-1]):
                found = self.anywhere(other) if self.fixed(one) else None
                if found is not None:
                    return self.join("logical_and", self.copy(one), found, let)
            return None
        if let.prim == "logical_or":
            either = [e for a in let.args if (e := self.anywhere(a)) is not None]
            return self.join("logical_or", either[0], either[1], let) if len(either) == 2 else None
        if not self.is_decided(let):
            return None
        return self.join("logical_or", self.at(test, 0), self.at(test, 1), let)

    def is_decided(self, let: Let) -> bool:
        """Whether the test holds in some trip only if it does in the first or in the last."""
        degrees = [self.degree(a) for a in let.args]
        if any(d is None for d in degrees):
            return False
        match let.prim:
            case "overflows_add" | "overflows_sub":
                return True
            case "overflows_mul":
                return degrees[0] + degrees[1] <= 1 or let.args[0] is let.args[1]  # type: ignore[operator]
            case "less" | "greater":
                return True
            case "equal":  # with the least integer
                return isinstance(let.args[1], Const) and let.args[1].value == -(2**63)
        return False

    def degree(self, op: Operand) -> int | None:
        """Of an operand as a polynomial in the index, if it is at most 1."""
        if op is self.loop.index:
            return 1
        if self.fixed(op):
            return 0
        let = self.lets.get(op) if isinstance(op, Var) else None
        if let is None or not let.var.type.weak or let.prim not in ("add", "sub", "mul", "neg"):
            return None
        degrees = [self.degree(a) for a in let.args]
        if any(d is None for d in degrees):
            return None
        found = [d for d in degrees if d is not None]
        most = sum(found) if let.prim == "mul" else max(found)
        return most if most <= 1 else None

    def at(self, op: Operand, end: int) -> Operand:
        """The operand in the first trip of the range, or in the last."""
        made = self.made[end]
        if op is self.loop.index:
            if op not in made:
                made[self.loop.index] = self.last() if end else self.loop.start
            return made[self.loop.index]
        if self.fixed(op):
            return self.copy(op)
        assert isinstance(op, Var)
        if op not in made:
            let = self.lets[op]
            args = tuple(self.at(a, end) for a in let.args)
            made[op] = self.emit(replace(let, var=Var(op.name, op.type), args=args))
        return made[op]

    def last(self) -> Operand:
        loop = self.loop
        return self.emit(Let(Var(SYNTHETIC, INT), "sub", (loop.bound, loop.step), {}, loop.loc))

    def join(self, prim: str, a: Operand, b: Operand, let: Let) -> Var:
        return self.emit(Let(Var(SYNTHETIC, BOOL), prim, (a, b), {}, let.loc))
