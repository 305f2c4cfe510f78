"""The lifter, which the modules of this package take as their first argument (``lx``).

Expressions and statements are found in dispatch tables; a missing entry is the refusal.
"""

from __future__ import annotations

from typing import Any, NoReturn

import gast
import numpy as np

from transpile.core.builder import Expr
from transpile.core.nodes import Operand
from transpile.frontend import reads
from transpile.frontend.lifting import Lifting
from transpile.frontend.measured import Measured
from transpile.frontend.stretching import Stretching
from transpile.frontend.values import Conflict, Scalar, Static


class Lifter(Lifting):
    """Lifts one function, with all that it calls, into one core function."""

    outer: Lifter | None
    stretching: Stretching

    def __init__(self, symbols: Any, mutable: bool = False) -> None:
        super().__init__(symbols, mutable)
        self.measured, self.stretching = Measured(self), Stretching(self)
        self.b.meet, self.b.parts, self.b.fits = self.stretching.meet, self.stretching.parts, self.stretching.fits

    # ---- values that must be known now

    def static(self, value: Any, what: str = "this value", node: Any = None) -> Any:
        """The Python object that a value is; refused if it is only known when the function runs."""
        from transpile.frontend import statics

        return statics.python(self, value, what, node)

    def need(self, op: Operand, what: str, node: Any = None) -> NoReturn:
        """Asks for a value that only the run knows: by specialising on an argument, by unrolling a loop, or not at all."""
        from transpile.frontend import statics

        statics.need(self, op, what, node)

    # ---- dispatch

    def expr(self, node: gast.AST) -> Any:
        """The value of an expression."""
        from transpile.frontend.expressions import EXPRESSIONS

        lift = EXPRESSIONS.get(type(node))
        if lift is None:
            raise self.error("T101", f"{type(node).__name__} expressions cannot be transformed", node)
        with self.at(node), self.rules(node):
            value = lift(self, node)
        return self.readable(value, node)

    def readable(self, value: Any, node: gast.AST) -> Any:
        """The value; refused if two paths left what cannot be read."""
        if isinstance(value, Conflict):
            raise self.error(value.code, value.message, node, value.hint)
        return value

    def block(self, stmts: list[gast.stmt]) -> None:
        """Lifts statements one after another."""
        from transpile.frontend.statements import STATEMENTS

        for stmt in stmts:
            lift = STATEMENTS.get(type(stmt))
            if lift is None:
                raise self.error("T101", f"{type(stmt).__name__} statements cannot be transformed", stmt)
            frame = self.frame
            saved = frame.live, frame.stmt
            frame.live, frame.stmt = frame.code.liveness.after(stmt), stmt
            try:
                with self.at(stmt), self.rules(stmt):
                    lift(self, stmt)
            finally:
                frame.live, frame.stmt = saved

    # ---- operands

    def operand(self, value: Any, node: Any = None) -> Operand:
        """The core operand of a number or array; sequences of numbers become arrays."""
        from transpile.frontend import convert

        return convert.operand(self, value, node)

    def array(self, value: Any) -> Expr:
        return Expr(self.b, self.operand(value))

    def value(self, op: Any, **more: Any) -> Any:
        """The abstract value of an operand: a scalar, or a new array."""
        from transpile.frontend import memory

        op = self.b.operand(op)
        return Scalar(op) if not op.type.dims else memory.new_array(self, op, **more)

    def const(self, value: Any) -> Any:
        """The abstract value of a Python object."""
        if isinstance(value, (bool, int, float, complex, np.complexfloating)):
            with self.rules():
                return Scalar(self.b.operand(value))
        reads.note_content(value)
        return Static(value)
