"""Adjoints that the rules write as formulas, and that have a faster way: found by their definitions, before a function is lowered.

The adjoint of ``low = cholesky(a)`` is, with Murray's Phi (the lower triangle with half the diagonal),

    s = low^-T Phi(low^T low_bar) low^-1            a_bar = Phi(s + s^T)

which is a product and two solutions, fourteen times the factorisation's work. `compiled.adjoints` of the runtime takes twice that.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, statements
from transpile.lower.repeated_factors import Matrices

NAME = "cholesky_adjoint"


def known_adjoints(fn: ir.Function) -> ir.Function:
    """The function with such formulas as one primitive each, of the transposed factor and the adjoint of the factor; what only
    the formulas needed is still there."""
    if not any(isinstance(s, ir.Let) and s.prim == "cholesky" for s in statements(fn.body)):
        return fn
    return with_body(fn, _Search(fn).block(fn.body))


class _Search:
    def __init__(self, fn: ir.Function) -> None:
        self.matrices = Matrices(fn)
        self.lets = self.matrices.lets

    def block(self, block: ir.Block) -> ir.Block:
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            found = self.formula(stmt) if isinstance(stmt, ir.Let) else None
            if found is not None:
                assert isinstance(stmt, ir.Let)
                stmts.append(replace(stmt, prim=NAME, args=found, params={}))
            else:
                stmts.append(with_blocks(stmt, self.block) if blocks(stmt) else stmt)
        return with_stmts(block, stmts)

    def let(self, op: ir.Operand | None, prim: str, **params: object) -> ir.Let | None:
        """What defines a value, if it is by this primitive."""
        let = self.lets.get(op) if isinstance(op, ir.Var) else None
        if let is None or let.prim != prim or any(let.params.get(k) != v for k, v in params.items()):
            return None
        return let

    def formula(self, let: ir.Let) -> tuple[ir.Operand, ir.Operand] | None:
        """The transposed factor and the adjoint of the factor, if ``let`` is the adjoint of the matrix."""
        whole = self.let(self.phi(let), "add")
        if whole is None:
            return None
        for s, other in (whole.args, whole.args[::-1]):
            if self.turned(other) is not s:
                continue
            second = self.let(s, "solve")
            first = None if second is None else self.let(self.turned(second.args[1]), "solve")
            inner = None if first is None else self.lets.get(first.args[1])  # type: ignore[arg-type]
            product = None if inner is None else self.let(self.phi(inner), "matmul")
            if second is None or first is None or product is None:
                continue
            factors = {second.args[0], first.args[0], product.args[0]}
            if len(factors) == 1 and self.is_upper(second.args[0]):
                return second.args[0], product.args[1]
        return None

    def phi(self, let: ir.Let) -> ir.Operand | None:
        """Of what a value is the lower triangle with half the diagonal."""
        if let.prim != "sub" or let.var.type.rank != 2:
            return None
        lower, half = self.let(let.args[0], "tril", k=0), self.let(let.args[1], "mul")
        if lower is None or half is None or not isinstance(half.args[0], ir.Const) or half.args[0].value != 0.5:
            return None
        matrix = self.let(half.args[1], "diag", offset=0)
        return lower.args[0] if matrix is not None and self.diagonal(matrix.args[0]) is lower.args[0] else None

    def diagonal(self, op: ir.Operand) -> ir.Operand | None:
        """Of what a value is the diagonal: as the rules write it, or as a place that a program reads."""
        let = self.let(op, "diagonal", offset=0) or self.let(op, "index", path=(ir.Diagonal(),))
        return None if let is None else let.args[0]

    def turned(self, op: ir.Operand) -> ir.Operand | None:
        let = self.let(op, "transpose", axes=(1, 0))
        return None if let is None else let.args[0]

    def is_upper(self, op: ir.Operand) -> bool:
        """Whether it is a Cholesky factor that lies as an upper triangle."""
        base, _ = self.matrices.base(op)
        return self.let(base, "cholesky") is not None and self.matrices.triangle(op) is False
