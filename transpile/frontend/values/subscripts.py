"""Subscripts: ``x[...]`` read and written, of arrays, tuples, lists, dicts and strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.places import consumed, is_basic
from transpile.core.types import INT
from transpile.frontend.calls import at_index, grids
from transpile.frontend.control import dynamic_list_reads, dynamic_lists, range_items
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.restarts import Restart
from transpile.frontend.values import containers, contents, memory, operators, overloads, subscript_items
from transpile.frontend.values.convert import describe, new_list
from transpile.frontend.values.subscript_items import is_ellipsis
from transpile.frontend.values.values import Array, RangeOf, Ref, Scalar, SliceOf, Static, Tuple, Updates


def load(lx: Lifter, node: gast.Subscript) -> Any:
    """``value[index]``."""
    value = lx.expr(node.value)
    grid = grids.name_of(value)
    if grid is not None:
        return grids.read(lx, grid, node.slice, node)
    index = lx.expr(node.slice)
    found = read(lx, value, index, node)
    if isinstance(value, Ref) and value.cell in lx.looks:
        lx.looks[value.cell].at(_key(index))
    return found


def _key(index: Any) -> Any:
    """The key or position that an index is, if it is known and counts from the beginning; else None."""
    held = index.value if isinstance(index, Static) else None
    if isinstance(index, Scalar) and isinstance(index.op, ir.Const) and index.op.type.is_int:
        held = int(index.op.value)
    return held if type(held) is str or type(held) is int and held >= 0 else None


def read(lx: Lifter, value: Any, index: Any, node: Any = None) -> Any:
    """A part of a value."""
    if isinstance(value, Array):
        return read_array(lx, value, index, node)
    if isinstance(value, Scalar) and not value.op.type.weak:
        return _of_number(lx, value, index, node)
    if isinstance(value, RangeOf):
        return range_items.item(lx, value, index, node)
    if dynamic_list_reads.is_grown(lx, value):
        return dynamic_list_reads.item(lx, value, index, node)
    own = overloads.call(lx, value, "__getitem__", [index], node)
    if own is not None:
        return own
    rule = _CONTAINERS.get(type(value))
    if rule is None:
        raise lx.error("T120", f"{describe(lx, value)} cannot be indexed", node, NO_ITEMS)
    return rule(lx, value, index, node)


NO_ITEMS = "index an array, a list, a tuple or a dict"


def _of_number(lx: Lifter, value: Scalar, index: Any, node: Any) -> Any:
    """Of a number of NumPy's: as of an array of rank 0, in memory of its own."""
    if isinstance(index, (SliceOf, Ref)) or isinstance(index, Scalar) and not index.op.type.is_bool:
        hint = "a number has no elements; to make an array of it, write np.atleast_1d(x)"
        raise lx.error("T120", f"{describe(lx, value)} cannot be indexed", node, hint)
    return read_array(lx, memory.new_array(lx, value.op), index, node)


# ------------------------------------------------------------------------------------------------- of containers


def _of_tuple(lx: Lifter, value: Tuple, index: Any, node: Any) -> Any:
    k = lx.static(index, "the index of a tuple", node)
    if isinstance(k, slice):
        return Tuple(value.items[k])
    return _item(lx, value.items, k, "a tuple", node)


def _item(lx: Lifter, items: tuple[Any, ...], k: Any, what: str, node: Any) -> Any:
    if isinstance(k, (bool, int, np.integer)) and -len(items) <= k < len(items):
        return items[int(k)]
    if not isinstance(k, (int, np.integer)):
        message = f"the index of {what} must be an integer or a slice, not {k!r}"
        raise lx.error("T207", message, node, "convert it with int(...)")
    hint = "if this path does not run for all arguments, index an array: np.array(...)"
    hint = hint if lx.facts else "correct the index, or test the length first"
    raise lx.error("T207", f"index {k} is out of range for {what} of length {len(items)}", node, hint)


def _of_ref(lx: Lifter, value: Ref, index: Any, node: Any) -> Any:
    state = contents.items(lx, value, node)
    if state.kind == "list":
        if lx.loops and not statics.is_known(lx, index):
            dynamic_lists.read_inside(lx, value.cell, node)
        k = lx.static(index, "the index of a list", node)
        if isinstance(k, slice):
            return new_list(lx, list(state.items[k]))
        if isinstance(k, (int, np.integer)) and not -len(state.items) <= k < len(state.items):
            dynamic_lists.beyond(lx, value.cell, "list index out of range", node)
        return _item(lx, state.items, k, "a list", node)
    if state.kind == "dict":
        key = containers.key_of(lx, index, node)
        if key not in (state.keys or ()):
            raise containers.without_key(lx, key, state.keys or (), node)
        return state.items[(state.keys or ()).index(key)]
    raise lx.error("T120", f"{describe(lx, value)} cannot be indexed", node, NO_ITEMS)


def _of_static(lx: Lifter, value: Static, index: Any, node: Any) -> Any:
    held = statics.known(lx, value)
    try:
        return lx.const(held[lx.static(index, "an index", node)])
    except (TypeError, KeyError, IndexError):
        message = f"{describe(lx, value)} does not have this index or key"
        raise lx.error("T120", message, node, "correct the index or the key") from None


_CONTAINERS: dict[type, Callable[[Lifter, Any, Any, Any], Any]] = {
    Tuple: _of_tuple, Ref: _of_ref, Static: _of_static, Updates: at_index.part,
}  # fmt: skip


# ----------------------------------------------------------------------------------------------------- of arrays


def read_array(lx: Lifter, value: Array, index: Any, node: Any = None) -> Any:
    """A view for a basic subscript, a new array for an advanced one."""
    path, args = parse(lx, memory.type_of(lx, value.cell).dims, index, node)
    parts = index.items if isinstance(index, Tuple) else (index,)
    copied = value.cell.flat or any(isinstance(p, Array) for p in parts)  # an array of rank 0 is an array of indices
    if is_basic(path) and not copied:
        return memory.part(lx, value.cell, path, args, zero_dim=any(map(is_ellipsis, parts)))
    return lx.value(memory.read_place(lx, *memory.place(lx, value.cell, path, args)))


@dataclass
class _Parser:
    lx: Lifter
    dims: tuple[Dim, ...]
    node: Any
    items: list[ir.Item] = field(default_factory=list)
    args: list[ir.Operand] = field(default_factory=list)
    axis: int = 0
    is_apart: bool = False

    def slot(self, op: Any) -> int:
        self.args.append(self.lx.b.operand(op))
        return len(self.args) - 1


def parse(lx: Lifter, dims: tuple[Dim, ...], index: Any, node: Any = None) -> tuple[ir.Path, tuple[ir.Operand, ...]]:
    """The subscript as a path, whose last step has an item for every axis, and its operands."""
    found = subscript_items.expanded(lx, dims, index, node)
    parser = _Parser(lx, found.dims, node)
    for part in found.parts:
        _ITEMS[subscript_items.kind(part)](parser, part)
    _broadcast_gathers(parser)
    steps = _arrays_in_front(parser) if parser.is_apart else (ir.Index(tuple(parser.items)),)
    return (*found.lead, *steps), tuple(parser.args)


def _broadcast_gathers(p: _Parser) -> None:
    """Index arrays that may have one entry when the function runs get the size that they are broadcast to."""
    slots = [item.arg for item in p.items if isinstance(item, ir.Gather)]
    if len(slots) > 1:
        with p.lx.rules(p.node):
            dims = p.lx.b.broadcast_dims([p.args[k].type.dims for k in slots])
        for k in slots:
            p.args[k] = p.lx.b.stretched(p.lx.b.expr(p.args[k]), dims).op


def _arrays_in_front(p: _Parser) -> ir.Path:
    """Index arrays that an ellipsis keeps apart: NumPy puts their axes in front, as it does where they are the first items.

    ``x[:, i, ..., j]`` is ``x.transpose(1, 2, 0)[i, j]``."""
    front: list[tuple[ir.Item, range]] = []
    behind: list[tuple[ir.Item, range]] = []
    axis = 0
    for item in p.items:
        axes = range(axis, axis + consumed(item, p.args))
        (behind if isinstance(item, (ir.Slice, ir.NewAxis)) else front).append((item, axes))
        axis += len(axes)
    order = tuple(k for _, axes in (*front, *behind) for k in axes)
    step = ir.Index(tuple(item for item, _ in (*front, *behind)))
    return (step,) if order == tuple(range(axis)) else (ir.Permute(order), step)


def _point(p: _Parser, op: ir.Operand) -> None:
    n = p.dims[p.axis]
    if isinstance(op, ir.Const) and n.is_const and not -n.const <= op.value < n.const:
        message = f"index {op.value} is out of bounds for axis {p.axis} with size {n.const}"
        raise p.lx.error("T207", message, p.node, "correct the index, or test the size first")
    p.items.append(ir.Point(p.slot(_whole_number(p.lx, op))))
    p.axis += 1


def _whole_number(lx: Lifter, op: ir.Operand) -> ir.Operand:
    """An integer, as Python's ``__index__`` gives it: of what only uint64 holds there is none."""
    return lx.b.cast(op, INT).op if op.type.dtype == "uint64" else op


def _slice(p: _Parser, part: SliceOf) -> None:
    slots: list[int | None] = []
    for bound in (part.start, part.stop, part.step):
        if bound is None:
            slots.append(None)
            continue
        op = p.lx.operand(bound, p.node)
        if op.type.dims or op.type.is_float:
            raise p.lx.error(
                "T207", f"a slice's bound must be an integer, not {op.type}", p.node, "use //, or int(...)"
            )
        slots.append(p.slot(_whole_number(p.lx, op)))
    if slots[2] is not None and isinstance(p.args[slots[2]], ir.Const) and p.args[slots[2]].value == 1:  # type: ignore[union-attr]
        slots[2] = None
    if slots[1] is not None and slots[2] is None:
        _within_by_example(p.lx, p.dims[p.axis], None if slots[0] is None else p.args[slots[0]], p.args[slots[1]])
    p.items.append(ir.Slice(*slots))
    p.axis += 1


def _within_by_example(lx: Lifter, n: Dim, start: ir.Operand | None, stop: ir.Operand) -> None:
    """``x[:, k : k + 1]`` or ``x[:k]`` in a loop over another axis that is as long: the axes are taken to be equal, so that the
    part has one entry, or ``k``, in every trip."""
    first = Dim(0) if start is None else lx.b.form_of(start) if isinstance(start, ir.Var) else None
    last = lx.b.form_of(stop) if isinstance(stop, ir.Var) else None
    if first is None or last is None or start is not None and (not (last - first).is_const or (last - first).const < 1):
        return
    beyond = lx.symbols.least(lx.symbols.resolve(n) - last)
    rest = beyond - beyond.const
    if lx.symbols.agree(lx, (n, n - rest)):  # already taken to be, which the bounds of the index do not show
        return
    if not beyond.is_const and beyond.const >= 0 and lx.stretching.is_given(rest) and lx.symbols.value(rest) == 0:
        if lx.b.unify(n, n - rest) is not None:
            raise Restart(f"{n} is {n - rest}", lx.symbols)


def _newaxis(p: _Parser, part: Any) -> None:
    p.items.append(ir.NewAxis())


def _gather(p: _Parser, op: ir.Operand) -> None:
    p.items.append(ir.Gather(p.slot(op)))
    p.axis += 1


def _mask(p: _Parser, op: ir.Operand) -> None:
    for k, d in enumerate(op.type.dims):
        if not p.lx.b.same(d, p.dims[p.axis + k]):
            message = f"a mask of size {d} does not fit an axis of size {p.dims[p.axis + k]}"
            raise p.lx.error("T207", message, p.node, "make the mask from the array that it indexes")
    p.items.append(ir.Mask(p.slot(op)))
    p.axis += len(op.type.dims)


def _dots(p: _Parser, part: Any) -> None:
    p.is_apart = True


def _other(p: _Parser, part: Any) -> None:
    hint = "use an integer, a slice, None, ..., or an array of integers or truth values"
    raise p.lx.error("T207", "this cannot be an index", p.node, hint)


_ITEMS: dict[str, Callable[[_Parser, Any], None]] = {
    "point": _point, "slice": _slice, "newaxis": _newaxis, "gather": _gather, "mask": _mask, "dots": _dots,
    "other": _other,
}  # fmt: skip


# -------------------------------------------------------------------------------------------------------- writes


def store(lx: Lifter, target: gast.Subscript, value: Any) -> None:
    """``owner[index] = value``."""
    owner = lx.expr(target.value)
    index = lx.expr(target.slice)
    write(lx, owner, index, value, target)


def write(lx: Lifter, owner: Any, index: Any, value: Any, node: Any) -> None:
    if isinstance(owner, Array):
        path, args = parse(lx, memory.type_of(lx, owner.cell).dims, index, node)
        memory.write(lx, owner.cell, path, args, lx.operand(value, node))
    elif isinstance(owner, Ref):
        containers.set_item(lx, owner, index, value, node)
    elif isinstance(owner, Updates):
        at_index.refuse_write(lx, node)
    else:
        raise lx.error("T123", f"{describe(lx, owner)} does not support item assignment", node, containers.NO_ITEMS)


def augmented(lx: Lifter, target: gast.Subscript, prim: str, value: gast.expr, node: Any) -> None:
    """``owner[index] op= value``."""
    owner = lx.expr(target.value)
    index = lx.expr(target.slice)
    if isinstance(owner, Array):
        path, args = parse(lx, memory.type_of(lx, owner.cell).dims, index, target)
        given = lx.expr(value) if _is_view(owner, path, index) else lambda: lx.expr(value)
        operators.write_operator(lx, owner.cell, path, args, prim, given, node)
        return
    if isinstance(owner, Updates):
        at_index.refuse_write(lx, node)
    old = read(lx, owner, index, target)
    new = operators.in_place(lx, prim, old, lx.expr(value), node)
    if new is not None:
        write(lx, owner, index, new, target)
    elif not _still_holds(lx, owner, index, old, target):
        write(lx, owner, index, old, target)


def _is_view(owner: Array, path: ir.Path, index: Any) -> bool:
    """Whether NumPy reads a view, which shows what is written before it is used; entries and gathers are copies."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    points = all(isinstance(i, ir.Point) for step in path if isinstance(step, ir.Index) for i in step.items)
    is_part = any(map(is_ellipsis, parts)) or not points
    return is_basic(path) and is_part and not owner.cell.flat and not any(isinstance(p, Array) for p in parts)


def _still_holds(lx: Lifter, owner: Any, index: Any, old: Any, node: Any) -> bool:
    """Whether what was changed in place is still where it was read: Python puts it back, which changes nothing then. A tuple
    takes nothing back, and an object of the user's decides what it does with it."""
    if not isinstance(owner, Ref) or overloads.class_of(lx, owner) is not None:
        return False
    return lx.state.cells[owner.cell].kind not in ("list", "dict") or bool(read(lx, owner, index, node) == old)
