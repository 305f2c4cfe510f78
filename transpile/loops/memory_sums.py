"""Turns sums in memory that a loop reads and writes into additions to memory, which may be done in another order.

h[j] = h[j] + e        ->      h[j] += e
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from transpile.analysis.accesses import Roots, accesses
from transpile.analysis.affine import Forms
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_stmts
from transpile.core.types import Type
from transpile.core.walk import blocks, statements, uses
from transpile.ops.tables import record_of

SUMS = ("float64", "float32", "int64")


def as_additions(loop: ir.For, forms: Forms, roots: Roots) -> ir.For:
    """The loop with sums ``h[j] = h[j] + e``, nested blocks included, as `Add` statements; the same object if it has none."""
    counts = Counter(o for o in uses(loop.body) if isinstance(o, ir.Var))

    def rewritten(block: ir.Block) -> ir.Block:
        stmts = [with_blocks(s, rewritten) if blocks(s) else s for s in block.stmts]
        for store in [s for s in stmts if isinstance(s, ir.Store)]:
            found = _sum_of(store, stmts, counts, forms, roots)
            if found is not None:
                stmts = _replaced(stmts, store, *found)
        return with_stmts(block, stmts)

    body = rewritten(loop.body)
    return loop if body is loop.body else replace(loop, body=body)


def _sum_of(
    store: ir.Store, stmts: list[ir.Stmt], counts: Counter[ir.Var], forms: Forms, roots: Roots
) -> tuple[ir.Let, ir.Let] | None:
    """A pair of the read and the addition or subtraction whose result ``store`` writes back to the element read; None if there
    are none. ``counts``: how often the loop uses each variable."""
    if store.buf.type.dtype not in SUMS:
        return None
    end = _place(stmts, lambda s: s is store)
    made = _let(stmts[:end], store.value, counts)
    if made is None or not record_of(made).is_sum:
        return None
    for op in made.args[:1] if record_of(made).is_difference else made.args:
        read = _let(stmts[:end], op, counts)
        if read is None or read.prim != "index" or read.args[0] is not store.buf:
            continue
        if [forms.of(i) for i in read.args[1:]] != [forms.of(i) for i in store.args]:
            continue
        between = stmts[_place(stmts, lambda s, read=read: s is read) + 1 : end]  # type: ignore[misc]
        root = roots.of(store.buf)
        touched = (a.var for s in statements(ir.Block((), between)) for a in accesses(s))
        return None if any(roots.of(v) is root for v in touched) else (read, made)
    return None


def _let(stmts: list[ir.Stmt], op: object, counts: Counter[ir.Var]) -> ir.Let | None:
    """The *let* of ``op`` among the statements, if the loop uses ``op`` exactly once by ``counts``; else None."""
    return next((s for s in stmts if isinstance(s, ir.Let) and s.var is op and counts[s.var] == 1), None)


def _place(stmts: list[ir.Stmt], test: Callable[[ir.Stmt], bool]) -> int:
    """Position of the first statement that meets the test."""
    return next(k for k, s in enumerate(stmts) if test(s))


def _replaced(stmts: list[ir.Stmt], store: ir.Store, read: ir.Let, made: ir.Let) -> list[ir.Stmt]:
    """The statements without the read, with the store as an `Add`, and with the sum ``made`` gone; a difference becomes a
    negation."""
    out: list[ir.Stmt] = []
    for stmt in stmts:
        if stmt is made:
            value = next(a for a in made.args if a is not read.var)
            if record_of(made).is_difference:
                out.append(
                    replace(made, var=ir.Var(ir.SYNTHETIC, Type(store.buf.type.dtype)), prim="neg", args=(value,))
                )
                value = out[-1].var  # type: ignore[union-attr]
        elif stmt is store:
            out.append(ir.Add(store.buf, store.path, store.args, value, store.loc))
        elif stmt is not read:
            out.append(stmt)
    return out
