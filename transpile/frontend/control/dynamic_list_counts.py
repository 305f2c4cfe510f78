"""Lists that a ``while`` loop appends to: how many elements they have at its end, before there are arrays for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.core.walk import defines, map_operands, statements
from transpile.core.walk import written as written_by
from transpile.frontend.control import carries
from transpile.frontend.control.dynamic_list_reads import count, wider
from transpile.frontend.control.dynamic_lists import Counted, Element, Grows
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.values import Cell, Items


def how_many(lx: Lifter, cells: list[Cell], run: Callable[[], None], node: Any) -> dict[Cell, Dim]:
    """Lifts a *while* loop with only the last elements of its lists at hand; how many they have at its end."""
    before = lx.state.fork()
    at_first = len(lx.b.block.stmts)
    for cell in cells:
        held: Items = before.cells[cell]
        element = lx.appended[cell]
        last = held.items[-1] if held.items else undefined(lx, element)
        last = _cast_leaves(lx, last, element)
        lx.state.cells[cell] = Items("counted", (last, lx.const(len(held.items))), None, Counted(element.skeleton))
    try:
        run()
    except Grows:  # another list does, too
        lx.state.vars, lx.state.cells = before.vars, before.cells
        raise
    found: dict[Cell, Dim] = {}
    for cell in cells:
        op = count(lx.state.cells[cell])
        assert isinstance(op, ir.Var)
        name = lx.symbols.unique(lx, cell.name if cell.name not in ("", "list") else "items")
        found[cell] = Dim.symbol(name)
        lx.b.bind_symbol(found[cell], op)
    _write_into_copies(lx, at_first)
    for stmt in lx.b.block.stmts[at_first:]:
        if any(isinstance(s, ir.Print) for s in statements(ir.Block(stmts=[stmt]))):
            raise lx.error(
                "T119",
                "a list grows in a 'while' loop that prints",
                node,
                hint="fill an array of known size instead",
            )
    lx.state.vars, lx.state.cells = before.vars, before.cells
    return found


def _write_into_copies(lx: Lifter, at_first: int) -> None:
    """The run that counts writes into copies of the arrays that were there before it."""
    run = lx.b.block.stmts[at_first:]
    own = {v for s in statements(ir.Block(stmts=run)) for v in defines(s)}
    written = dict.fromkeys(
        v for s in statements(ir.Block(stmts=run)) if (v := written_by(s)) is not None and v not in own
    )
    copies = {v: ir.Var(v.name, v.type, buffer=True) for v in written}

    def copied(operand: ir.Operand) -> ir.Operand:
        return copies.get(operand, operand) if isinstance(operand, ir.Var) else operand

    lx.b.block.stmts[at_first:] = [
        *(ir.Alloc(copy, "copy", (v,), {}, lx.b.loc) for v, copy in copies.items()),
        *(map_operands(s, copied, lambda v: copies.get(v, v)) for s in run),
    ]


def undefined(lx: Lifter, element: Element) -> Any:
    """In the place of an element of which there is none yet: nobody reads it, or an IndexError comes first."""
    ops = iter([_nothing(lx, t) for t in element.types])
    return carries.rebuilt(lx, element.like, ops, "last")


def _nothing(lx: Lifter, type_: Type) -> ir.Operand:
    if not type_.dims:
        return lx.b.cast(lx.b.operand(0), type_).op
    return lx.b.let("full", 0, dims=type_.dims, dtype=type_.dtype).op


def _cast_leaves(lx: Lifter, value: Any, element: Element) -> Any:
    types = [wider(t, o.type) for t, o in zip(element.types, carries.leaves(lx, value))]
    element.types = types
    ops = iter([lx.b.cast(o, t).op for o, t in zip(carries.leaves(lx, value), types)])
    return carries.rebuilt(lx, element.like, ops, "last")
