"""Lists that a loop appends to, written and made shorter."""

from __future__ import annotations

from typing import Any

from transpile.core.nodes import Index, Slice
from transpile.frontend import carries, growing, grown_lists, memory
from transpile.frontend.grown_lists import Grown
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Items, Ref, Scalar, SliceOf


def set_item(lx: Lifter, owner: Ref, index: Any, value: Any, node: Any) -> None:
    """``owner[index] = value``."""
    state: Items = lx.state.cells[owner.cell]
    if state.kind == "counted" or isinstance(index, SliceOf):
        what = "a slice of it" if isinstance(index, SliceOf) else "an element of it"
        where = "in a 'while' loop" if state.kind == "counted" else "in a loop"
        raise lx.error("T123", f"a list grows {where}, and {what} is written", node, "append to it only")
    growing.see_to_type(lx, owner.cell, value, node)
    state = lx.state.cells[owner.cell]
    grown: Grown = state.cls
    growing.freeze(lx, value, node)
    grown_lists.check_change(lx, owner.cell)
    known, k = grown_lists.place(lx, state, grown_lists.integer(lx, index, node))
    for cell, op in zip(grown.cells, carries.leaves(lx, value)):
        path, args = grown_lists.path_to(len(memory.type_of(lx, cell).dims), known, grown_lists.count(state), k)
        memory.write_place(lx, cell, path, args, op)


def _to_shrink(lx: Lifter, owner: Ref, node: Any) -> Items:
    """What a list holds that is about to become shorter, where it may."""
    state: Items = lx.state.cells[owner.cell]
    if state.kind == "counted":
        raise lx.error("T119", "a list grows in a 'while' loop and becomes shorter there", node,
                       hint="keep it in an array of known size, with its length")  # fmt: skip
    growing.shrinks(lx, owner.cell)
    grown_lists.check_change(lx, owner.cell)
    return state


def pop(lx: Lifter, owner: Ref, node: Any) -> Any:
    """``owner.pop()``."""
    state = _to_shrink(lx, owner, node)
    grown_lists.raise_if_empty(lx, state, "pop from empty list")
    less = lx.b.expr(grown_lists.count(state)) - 1
    found = grown_lists.read(lx, state, less, True)
    lx.state.cells[owner.cell] = Items("grown", (Scalar(less.op),), None, state.cls)
    return found


def clear(lx: Lifter, owner: Ref, node: Any) -> None:
    """``owner.clear()``."""
    state = _to_shrink(lx, owner, node)
    lx.state.cells[owner.cell] = Items("grown", (lx.const(0),), None, state.cls)


def sort(lx: Lifter, owner: Ref, node: Any) -> None:
    """``owner.sort()`` of numbers."""
    state: Items = lx.state.cells[owner.cell]
    (cell,) = state.cls.cells
    grown_lists.check_change(lx, owner.cell)
    found = lx.known_call(
        "numpy.sort", [lx.value(grown_lists.filled_part(lx, cell, grown_lists.count(state)))], {}, node
    )
    memory.write_place(lx, cell, (Index((Slice(None, 0, None),)),), (grown_lists.count(state),), lx.operand(found))
