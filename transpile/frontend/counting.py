"""Lists that a ``while`` loop appends to: how many elements they have at its end, before there are arrays for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core.dims import Dim
from transpile.core.nodes import Add, Block, Effect, Operand, Store, Var
from transpile.core.types import Type
from transpile.core.walk import statements
from transpile.frontend import carries
from transpile.frontend.growing import Counted, Element, Grows
from transpile.frontend.grown_lists import count, wider
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Buffer, Cell, Items


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
        assert isinstance(op, Var)
        name = lx.symbols.unique(lx, cell.name if cell.name not in ("", "list") else "items")
        op.form = found[cell] = Dim.symbol(name)
        lx.b.symbols[name] = op
    written = {s.buf for s in statements(Block(stmts=lx.b.block.stmts[at_first:])) if isinstance(s, (Store, Add))}
    if any(isinstance(state, Buffer) and state.var in written for state in before.cells.values()):
        message = "a list grows in a 'while' loop that writes into an array of before the loop"
        raise lx.error("T119", message, node, hint="fill an array of known size instead")
    for stmt in lx.b.block.stmts[at_first:]:
        if any(isinstance(s, Effect) and s.kind == "print" for s in statements(Block(stmts=[stmt]))):
            raise lx.error(
                "T119", "a list grows in a 'while' loop that prints", node, hint="fill an array of known size instead"
            )
    lx.state.vars, lx.state.cells = before.vars, before.cells
    return found


def undefined(lx: Lifter, element: Element) -> Any:
    """In the place of an element of which there is none yet: nobody reads it, or an IndexError comes first."""
    ops = iter([_nothing(lx, t) for t in element.types])
    return carries.rebuilt(lx, element.like, ops, "last")


def _nothing(lx: Lifter, type_: Type) -> Operand:
    if not type_.dims:
        return lx.b.cast(lx.b.operand(0), type_).op
    return lx.b.let("full", 0, dims=type_.dims, dtype=type_.dtype).op


def _cast_leaves(lx: Lifter, value: Any, element: Element) -> Any:
    types = [wider(t, o.type) for t, o in zip(element.types, carries.leaves(lx, value))]
    element.types = types
    ops = iter([lx.b.cast(o, t).op for o, t in zip(carries.leaves(lx, value), types)])
    return carries.rebuilt(lx, element.like, ops, "last")
