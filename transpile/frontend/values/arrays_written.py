"""Arrays that a function which is lifted by itself writes into: they are results beside its own, and are
written back where it is called."""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.rebuild import own_arguments
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import aliases, memory
from transpile.frontend.values.values import Cell, Held


def with_ends(fn: ir.Function) -> ir.Function:
    """The function without writes into its arguments: what it leaves in them are results, behind its own."""
    buffers = [p for p in fn.params if p.buffer]
    if not buffers:
        return fn
    ends = [ir.Var(p.name, p.type) for p in buffers]
    fn = own_arguments(fn)
    reads = [ir.Let(end, "index", (p,), {"path": ()}, fn.loc) for p, end in zip(buffers, ends)]
    return replace(fn, body=ir.Block((), [*fn.body.stmts, *reads], (*fn.body.yields, *ends)))


def write_back(lx: Lifter, cell: Cell, value: Expr) -> None:
    """The array holds what a function left in it; one that nothing has written into is that value from here on."""
    state = lx.state.cells[cell]
    is_own = isinstance(state, Held) and cell.param < 0 and not cell.readonly
    if is_own and not (lx.regions and cell in lx.regions[-1]):
        aliases.check_write(lx, cell)
        lx.state.cells[cell] = Held(lx.b.broadcast(value, state.type.dims).op)
    else:
        memory.write(lx, cell, (), (), value)
