"""Writes out products of matrices that are known to be tiny, because a call costs more than they do.

blas.gemm(1.0, a[k], b, 0.0, c)     ->     for i in range(2):
                                               t = a[k, i, 0]
                                               u = a[k, i, 1]
                                               c[i, 0] = t * b[0, 0] + u * b[1, 0]
                                               c[i, 1] = t * b[0, 1] + u * b[1, 1]

If the columns fill one vector, the loop runs over the columns (`transpile.loops.short_vectors`) and its body has all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.analysis.affine import Linear, form_of
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT, Type
from transpile.core.walk import blocks, statements
from transpile.loops.array_contraction import points
from transpile.loops.product_calls import Maker
from transpile.loops.product_statements import Lying, lying
from transpile.loops.short_vectors import LANES
from transpile.loops.size_assumptions import SMALL
from transpile.loops.terms import Code, Read


def unroll_small_products(fn: ir.Function) -> ir.Function:
    """The function with calls for small products written out as loops."""
    if not any(map(_is_product, statements(fn.body))):
        return fn
    code = Code(fn)
    return replace(fn, body=_block(code, fn.body))


def _is_product(stmt: ir.Stmt) -> bool:
    """Whether a statement is a call of ``gemm`` or ``gemv``."""
    return isinstance(stmt, ir.Call) and stmt.library in ("blas.gemm", "blas.gemv")


def _block(code: Code, block: ir.Block) -> ir.Block:
    """The block with calls for small products written out as loops, nested blocks included."""
    stmts: list[ir.Stmt] = []
    for stmt in block.stmts:
        made = _written_out(code, stmt) if isinstance(stmt, ir.Call) and _is_product(stmt) else None
        if made is not None:
            stmts += made
        else:
            stmts.append(with_blocks(stmt, lambda b: _block(code, b)) if blocks(stmt) else stmt)
    return replace(block, stmts=stmts)


def _written_out(code: Code, let: ir.Call) -> list[ir.Stmt] | None:
    """The loops that replace a call; None if its sizes are not known to be small."""
    views = [lying(code, let.args[k]) for k in (1, 2, 4)]
    if any(v is None for v in views):
        return None
    a, b, c = (v for v in views if v is not None)
    sizes = [[_known(n) for n in v.sizes()] for v in (a, b, c)]
    rows, summed = (sizes[0][k] or sizes[j][i] for k, (j, i) in enumerate(((2, 0), (1, 0))))
    is_vector = let.library == "blas.gemv"
    if summed is not None and rows is None:
        return _of_many_rows(code, let, a, b, c, summed, None if is_vector else sizes[1][1] or sizes[2][1])
    if rows is None or summed is None:
        return None
    columns = None if is_vector else sizes[1][1] or sizes[2][1]
    if columns and not _has_rows(c):
        a, b, c = (replace(v, order=v.order[::-1]) for v in (b, a, c))
        rows, columns = columns, rows
    if columns == LANES and rows > 1 and _has_rows(c):
        return _lanes(code, let, a, b, c, rows, summed)
    return _rows(code, let, a, b, c, rows, summed, columns) if is_vector or columns else None


def _of_many_rows(
    code: Code, let: ir.Call, a: Lying, b: Lying, c: Lying, summed: int, columns: int | None
) -> list[ir.Stmt] | None:
    """A loop over the rows of a matrix of unknown height with few columns: per row, BLAS overhead exceeds the work, and BLAS
    results go through memory. None for ``gemv``, or if columns or heights are not known."""
    rows = a.sizes()[0]
    if let.library == "blas.gemv" or not columns or rows is None or rows != c.sizes()[0] or not _has_rows(c):
        return None
    return _rows(code, let, a, b, c, rows, summed, columns)


def _known(size: Linear | None) -> int | None:
    """The size if it is known to be small and positive; else None."""
    return size.const if size is not None and not size.terms and 0 < size.const <= SMALL else None


def _has_rows(c: Lying) -> bool:
    """Whether the last axis of the operand ``c`` is the last axis of the array."""
    return c.order[-1] == c.var.type.rank - 1


def _rows(
    code: Code, let: ir.Call, a: Lying, b: Lying, c: Lying, rows: int | Linear, summed: int, columns: int | None
) -> list[ir.Stmt]:
    """A loop over rows whose body computes one row of ``c = a @ b``: ``columns`` sums of ``summed`` products each. ``columns``
    None: ``b`` and ``c`` are vectors."""
    make = Maker(code, let.loc)
    index = ir.Var("i", INT)
    i = form_of(index)
    left = [make.element(a.at(i, Linear(k))) for k in range(summed)]
    out: list[tuple[Read, ir.Operand]] = []
    for j in range(columns or 1):
        right = (b.at(Linear(k)) if columns is None else b.at(Linear(k), Linear(j)) for k in range(summed))
        target = c.at(i) if columns is None else c.at(i, Linear(j))
        out.append((target, _sum(make, let, target, [(x, make.element(y)) for x, y in zip(left, right)])))
    return _loop(make, index, rows, out)


def _lanes(code: Code, let: ir.Call, a: Lying, b: Lying, c: Lying, rows: int, summed: int) -> list[ir.Stmt]:
    """A loop over `LANES` columns whose body computes one column of ``c = a @ b``: ``rows`` sums of ``summed`` products
    each."""
    make = Maker(code, let.loc)
    index = ir.Var("j", INT)
    j = form_of(index)
    right = [make.element(b.at(Linear(k), j)) for k in range(summed)]
    out: list[tuple[Read, ir.Operand]] = []
    for i in range(rows):
        left = [make.element(a.at(Linear(i), Linear(k))) for k in range(summed)]
        target = c.at(Linear(i), j)
        out.append((target, _sum(make, let, target, list(zip(left, right)))))
    return _loop(make, index, LANES, out)


def _sum(make: Maker, let: ir.Call, target: Read, pairs: Sequence[tuple[ir.Operand, ir.Operand]]) -> ir.Operand:
    """The value that the call gives the element ``target``: ``alpha`` times the sum of the products of the pairs, plus ``beta``
    times the old value. What computes it is appended to ``make``."""
    alpha, beta = let.args[0], let.args[3]
    kind = Type(target.var.type.dtype)
    pieces = [make.let("mul", pair, kind) for pair in pairs]
    total: ir.Operand = pieces[0]
    for piece in pieces[1:]:
        total = make.let("add", (total, piece), kind)
    if not (isinstance(alpha, ir.Const) and alpha.value == 1.0):
        total = make.let("mul", (alpha, total), kind)
    if isinstance(beta, ir.Const) and beta.value == 0.0:
        return total
    held: ir.Operand = make.element(target)
    if not (isinstance(beta, ir.Const) and beta.value == 1.0):
        held = make.let("mul", (beta, held), kind)
    return make.let("add", (held, total), kind)


def _loop(make: Maker, index: ir.Var, trips: int | Linear, out: Sequence[tuple[Read, ir.Operand]]) -> list[ir.Stmt]:
    """A loop over ``trips`` iterations whose body is what ``make`` has collected, and a store of each value in ``out`` at its
    place; statements that compute the bound come before it."""
    for target, value in out:
        at = tuple(make.form(f) for f in target.at)
        make.stmts.append(ir.Store(target.var, points(len(at)), at, value, make.loc))
    zero, one, body = ir.Const(0, INT), ir.Const(1, INT), make.stmts
    make.stmts = []
    bound = ir.Const(trips, INT) if isinstance(trips, int) else make.form(trips)
    return [*make.stmts, ir.For(index, zero, bound, one, (), ir.Block((), body), (), None, False, make.loc)]
