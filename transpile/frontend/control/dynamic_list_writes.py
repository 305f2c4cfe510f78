"""Lists that a loop appends to, written and made shorter."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.frontend.control import carries, dynamic_list_reads, dynamic_lists
from transpile.frontend.control.dynamic_list_reads import Grown
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory
from transpile.frontend.values.values import Items, Ref, Scalar, SliceOf


def set_item(lx: Lifter, owner: Ref, index: Any, value: Any, node: Any) -> None:
    """``owner[index] = value``."""
    state: Items = lx.state.cells[owner.cell]
    if state.kind == "counted" or isinstance(index, SliceOf):
        what = "a slice of it" if isinstance(index, SliceOf) else "an element of it"
        where = "in a 'while' loop" if state.kind == "counted" else "in a loop"
        raise lx.error("T123", f"a list grows {where}, and {what} is written", node, "append to it only")
    dynamic_lists.see_to_type(lx, owner.cell, value, node)
    state = lx.state.cells[owner.cell]
    grown: Grown = state.cls
    dynamic_lists.freeze(lx, value, node)
    dynamic_list_reads.check_change(lx, owner.cell)
    known, k = dynamic_list_reads.place(lx, state, dynamic_list_reads.integer(lx, index, node))
    for cell, op in zip(grown.cells, carries.leaves(lx, value)):
        path, args = dynamic_list_reads.path_to(
            len(memory.type_of(lx, cell).dims), known, dynamic_list_reads.count(state), k
        )
        memory.write_place(lx, cell, path, args, op)


def _to_shrink(lx: Lifter, owner: Ref, node: Any) -> Items:
    """What a list holds that is about to become shorter, where it may."""
    state: Items = lx.state.cells[owner.cell]
    if state.kind == "counted":
        raise lx.error("T119", "a list becomes longer and shorter in the same 'while' loop", node,
                       hint="use an array of known size, and count its elements")  # fmt: skip
    dynamic_lists.shrinks(lx, owner.cell)
    dynamic_list_reads.check_change(lx, owner.cell)
    return state


def pop(lx: Lifter, owner: Ref, node: Any) -> Any:
    """``owner.pop()``."""
    state = _to_shrink(lx, owner, node)
    dynamic_list_reads.raise_if_empty(lx, state, "pop from empty list")
    less = lx.b.expr(dynamic_list_reads.count(state)) - 1
    found = dynamic_list_reads.read(lx, state, less, True)
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
    dynamic_list_reads.check_change(lx, owner.cell)
    found = lx.known_call(
        "numpy.sort", [lx.value(dynamic_list_reads.filled_part(lx, cell, dynamic_list_reads.count(state)))], {}, node
    )
    memory.write_place(
        lx, cell, (ir.Index((ir.Slice(None, 0, None),)),), (dynamic_list_reads.count(state),), lx.operand(found)
    )
