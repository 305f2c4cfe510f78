"""Arrays that a function which is lifted by itself writes into: they are results beside its own, and are
written back where it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from transpile.core.builder import Expr
from transpile.core.nodes import Block, Function, Let, Var
from transpile.frontend import aliases, changes, memory
from transpile.frontend.inward import Around
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Cell, Held

if TYPE_CHECKING:
    from transpile.frontend.nested import Passed


def with_ends(fn: Function) -> Function:
    """The function without writes into its arguments: what it leaves in them are results, behind its own."""
    from transpile.transform.prepare import own_arguments

    buffers = [p for p in fn.params if p.buffer]
    if not buffers:
        return fn
    ends = [Var(p.name, p.type) for p in buffers]
    fn = own_arguments(fn)
    reads = [Let(end, "index", (p,), {"path": ()}, fn.loc) for p, end in zip(buffers, ends)]
    return replace(fn, body=Block((), [*fn.body.stmts, *reads], (*fn.body.yields, *ends)))


def refuse_related(passed: Passed, written: Sequence[int], fn: Function, node: Any) -> None:
    """Refuses an array that the function writes into and that another argument, or an array it reads outside, is or may be."""
    lx = passed.lx
    roots = [None if c is None else memory.root(lx, c) for c in passed.cells]
    around = [aliases.root_in(lx.state, c.cell) for c in fn.captured if isinstance(c, Around) and c.cell is not None]
    for k in written:
        mine = roots[k]
        others = [*(c for j, c in enumerate(roots) if j != k and c is not None), *around]
        if mine is not None and any(aliases.is_related(lx, mine, other) for other in others):
            raise lx.error("T123", f"the function {changes.SHARED}", node, hint="pass a .copy() of one of them")


def write_back(lx: Lifter, cell: Cell, value: Expr) -> None:
    """The array holds what a function left in it; one that nothing has written into is that value from here on."""
    state = lx.state.cells[cell]
    is_own = isinstance(state, Held) and cell.param < 0 and not cell.readonly
    if is_own and not (lx.regions and cell in lx.regions[-1]):
        aliases.check_write(lx, cell)
        lx.state.cells[cell] = Held(lx.b.broadcast(value, state.type.dims).op)
    else:
        memory.write(lx, cell, None, (), value)
