"""Squares of roots and norms, which are smooth at 0 where the roots and norms are not.

    y = norm(x)                  y = norm(x)
    z = y ** 2          ->       s = sum(x * x)
                                 z = sloped(y ** 2, s)         the value of the first, the derivative of the second

The second derivative of ``z`` at 0 is then that of ``s``; that of ``y`` would be NaN.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.peephole import is_const
from transpile.core.rebuild import with_blocks
from transpile.core.walk import statements
from transpile.ops.language import sloped
from transpile.ops.tables import prims, record_of


def with_smooth_squares(fn: ir.Function) -> ir.Function:
    """``fn``, about to be differentiated, in which each square of a root or norm has the value as before but the derivative of
    the square computed without the root; ``fn`` itself if there is none."""
    lets = [s for s in statements(fn.body) if isinstance(s, ir.Let)]
    roots = {s.var: s for s in lets if record_of(s).square is not None and s.var.type.is_float}
    if not roots:
        return fn
    done = {s.args[0] for s in lets if _is_sloped(s)}
    squares = {s.var: root for s in lets if s.var not in done and (root := _root(s)) in roots}
    if not squares:
        return fn
    return _Squares(fn, set(squares.values()), squares).function()


def _is_sloped(let: ir.Let) -> bool:
    """Whether the statement has the value of its first operand and the derivative of its second one (``sloped``)."""
    constant = record_of(let).constant
    return constant is not None and constant(let.params) is None


def _root(let: ir.Let) -> ir.Operand | None:
    """The operand that a statement squares, by ``x * x``, a square or ``x ** 2``; None if it squares nothing."""
    record = record_of(let)
    if record.multiplies and let.args[0] is let.args[1] or record.squares:
        return let.args[0]
    return let.args[0] if record.is_power and is_const(let.args[1], 2) else None


class _Squares:
    """Rewrites a function: ``squares`` maps each square to the root or norm that it squares, ``roots`` are these."""

    def __init__(self, fn: ir.Function, roots: set[ir.Var], squares: dict[ir.Var, ir.Var]) -> None:
        self.fn, self.roots, self.squares = fn, roots, squares
        self.b = Builder(prims(), dict(fn.symbols), fn)
        self.slopes: dict[ir.Var, ir.Operand] = {}

    def function(self) -> ir.Function:
        return replace(self.fn, body=self.block(self.fn.body), symbols=self.b.symbols)

    def block(self, block: ir.Block) -> ir.Block:
        with self.b.into(ir.Block(block.params, [], block.yields, block.stop)) as out:
            for stmt in block.stmts:
                with self.b.at(stmt.loc):
                    self.stmt(stmt)
        return out

    def stmt(self, stmt: ir.Stmt) -> None:
        """Emits the statement; a square becomes ``sloped(square, slope)``, and for a root the square without the root is
        emitted after it, and noted in ``slopes``."""
        b = self.b
        if not isinstance(stmt, ir.Let):
            b.emit(with_blocks(stmt, self.block))
            return
        slope = self.slopes.get(self.squares[stmt.var]) if stmt.var in self.squares else None
        if slope is not None and slope.type.dims == stmt.var.type.dims and slope.type.dtype == stmt.var.type.dtype:
            value = ir.Var(ir.SYNTHETIC, stmt.var.type)
            b.emit(replace(stmt, var=value))
            with b.into(ir.Block()) as made:
                sloped(b.expr(value), b.expr(slope))
            *casts, last = made.stmts  # of a slope that is Python's and a value that is NumPy's
            assert isinstance(last, ir.Let)
            for cast in casts:
                b.emit(cast)
            b.emit(replace(last, var=stmt.var))
            return
        b.emit(stmt)
        if stmt.var in self.roots:
            self.slopes[stmt.var] = record_of(stmt).square(stmt.params, *map(b.expr, stmt.args)).op
