"""Expands powers with a small constant exponent into products: ``x**3`` is ``x * x * x``, ``x**0.5`` the square root, as in
NumPy.

A negative exponent becomes a power of the reciprocal, so that nothing overflows that the power itself does not. Half-integer
exponents use a root too: ``r**-1.5`` is a quotient, a root and a product. At minus infinity and minus zero, where roots differ
from powers, the result is that of the power.
"""

from __future__ import annotations

import math
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, Type
from transpile.core.walk import blocks, statements
from transpile.ops.tables import record_of

MOST = 16  # larger products lose more digits than a power
MOST_ROOT = 4.5


def expand_powers(fn: ir.Function) -> ir.Function:
    """The function with powers of small constant exponents as products and square roots."""
    return with_body(fn, _Expansion(fn).block(fn.body))


class _Expansion:
    def __init__(self, fn: ir.Function) -> None:
        self.lets = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let)}
        self.known: dict[ir.Var, bool] = {}

    def block(self, block: ir.Block) -> ir.Block:
        """The block with powers expanded, nested blocks included."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            p = exponent(stmt)
            if p is not None:
                assert isinstance(stmt, ir.Let)
                _Product(stmt, stmts, self.is_positive(stmt.args[0])).power(p)
            else:
                stmts.append(with_blocks(stmt, self.block) if blocks(stmt) else stmt)
        return with_stmts(block, stmts)

    def is_positive(self, op: ir.Operand) -> bool:
        """Whether an operand surely has no minus sign, not even as minus zero: a square, a sum of squares, the result of a
        nonnegative function."""
        if not isinstance(op, ir.Var):
            return isinstance(op, ir.Const) and math.copysign(1.0, op.value) > 0
        if op not in self.known:
            self.known[op] = self._comes_positive(self.lets.get(op))
        return self.known[op]

    def _comes_positive(self, let: ir.Let | None) -> bool:
        """Whether the definition of a variable shows that it has no minus sign; False for None."""
        if let is None:
            return False
        if record_of(let).is_power:
            return isinstance(let.args[1], ir.Const) and let.args[1].value in (2, 4)
        record = record_of(let)
        if record.positive or record.multiplies and let.args[0] is let.args[1]:
            return True
        return record.is_arithmetic and -1 not in record.signs and all(self.is_positive(a) for a in let.args)


def exponent(stmt: ir.Stmt) -> float | None:
    """The exponent if the statement is a power that `expand_powers` expands; else None."""
    if not isinstance(stmt, ir.Let) or not record_of(stmt).is_power or not isinstance(stmt.args[1], ir.Const):
        return None
    base, p = stmt.args[0], stmt.args[1].value
    if base.type.dtype not in ("float64", "float32") or stmt.var.type.dtype != base.type.dtype:
        return None
    if isinstance(p, bool) or not abs(p) <= MOST or p == 0:
        return None
    if p == int(p):
        return float(p)
    is_root = 2 * p == int(2 * p) and abs(p) <= MOST_ROOT
    return float(p) if is_root else None


class _Product:
    """Statements that replace one power."""

    def __init__(self, let: ir.Let, stmts: list[ir.Stmt], positive: bool) -> None:
        self.let, self.stmts, self.positive = let, stmts, positive
        self.type = Type(let.var.type.dtype)

    def power(self, p: float) -> None:
        """Appends the statements that compute the power with the exponent ``p``."""
        x = self.let.args[0]
        if p == 0.5 and (self.positive or not self.let.var.type.weak):
            self.last("sqrt", x)
        elif p == int(p):
            self.whole(self.inverse(x) if p < 0 else x, int(abs(p)))
        else:
            self.with_root(x, p)

    def whole(self, base: ir.Operand, n: int) -> None:
        """Appends the statements that compute ``base**n`` for ``n`` of at least 1 and define the variable of the power."""
        if n == 1:
            self.last("identity", base)
        else:
            self.last("mul", *self.halves(base, n))

    def with_root(self, x: ir.Operand, p: float) -> None:
        """Appends the statements that compute ``x**p`` for a half-integer ``p`` by a square root, with the values of a power at
        minus zero and minus infinity."""
        base = x if self.positive else self.emit("add", x, ir.Const(0.0, self.type))  # no minus zero
        if abs(p) < 1:
            root = self.emit("sqrt", base)
            found = self.inverse(root) if p < 0 else root
        else:
            base = self.inverse(base) if p < 0 else base
            found = self.emit("mul", self.product(base, int(abs(p))), self.emit("sqrt", base))
        if self.positive:
            self.last("identity", found)
            return
        is_lowest = self.emit("equal", x, ir.Const(-math.inf, self.type), type_=BOOL)
        self.last("where", is_lowest, ir.Const(0.0 if p < 0 else math.inf, self.type), found)

    def inverse(self, x: ir.Operand) -> ir.Var:
        """The variable ``1 / x``, whose *let* is appended."""
        return self.emit("div", ir.Const(1.0, self.type), x)

    def product(self, base: ir.Operand, n: int) -> ir.Operand:
        """The operand ``base**n``; what computes it is appended."""
        return base if n == 1 else self.emit("mul", *self.halves(base, n))

    def halves(self, base: ir.Operand, n: int) -> tuple[ir.Operand, ir.Operand]:
        """Two factors whose product is ``base**n``: equal ones, or, for odd ``n``, ``base**(n - 1)`` and ``base``. What
        computes them is appended."""
        half = self.product(base, n // 2)
        return (half, half) if n % 2 == 0 else (self.product(base, n - 1), base)

    def emit(self, prim: str, *args: ir.Operand, type_: Type | None = None) -> ir.Var:
        """The new variable of a *let*, which is appended."""
        var = ir.Var(ir.SYNTHETIC, type_ or self.type)
        self.stmts.append(ir.Let(var, prim, args, {}, self.let.loc))
        return var

    def last(self, prim: str, *args: ir.Operand) -> None:
        """Appends the statement that defines the variable of the power."""
        self.stmts.append(replace(self.let, prim=prim, args=args, params={}))
