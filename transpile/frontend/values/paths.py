"""Paths of places: putting one subscript behind another, as one subscript where that is the same.

>>> from transpile.core.nodes import Point, Slice
>>> fuse(Index((Point(0), Slice())), Index((Point(1),)))
Index(items=(Point(arg=0), Point(arg=1)))
>>> fuse(Index((Slice(0, None, None),)), Index((Point(1),))) is None
True
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir


def compose(
    path: ir.Path, args: tuple[ir.Operand, ...], step: ir.Step, more: tuple[ir.Operand, ...]
) -> tuple[ir.Path, tuple[ir.Operand, ...]]:
    """The path with another step behind it, and the operands of both."""
    moved = shift(step, len(args))
    if path and isinstance(path[-1], ir.Index) and path[-1].is_basic and isinstance(moved, ir.Index) and moved.is_basic:
        fused = fuse(path[-1], moved)
        if fused is not None:
            return (*path[:-1], fused), (*args, *more)
    return (*path, moved), (*args, *more)


def shift(step: ir.Step, by: int) -> ir.Step:
    """The step with the slots of its operands moved."""
    if by == 0:
        return step
    match step:
        case ir.Index():
            return ir.Index(tuple(_shift_item(i, by) for i in step.items))
        case ir.Reshape():
            return ir.Reshape(tuple(a + by for a in step.args))
    return step


def _shift_item(item: ir.Item, by: int) -> ir.Item:
    if isinstance(item, (ir.Point, ir.Gather, ir.Mask)):
        return replace(item, arg=item.arg + by)
    if isinstance(item, ir.Slice):
        return ir.Slice(*(None if s is None else s + by for s in (item.start, item.stop, item.step)))
    return item


def fuse(first: ir.Index, second: ir.Index) -> ir.Index | None:
    """One basic index that does what two do, if it needs no arithmetic."""
    items: list[ir.Item] = []
    rest = list(second.items)
    for item in first.items:
        if isinstance(item, ir.Point):
            items.append(item)
            continue
        while rest and isinstance(rest[0], ir.NewAxis):
            items.append(rest.pop(0))
        if not rest:
            return None
        then = rest.pop(0)
        if isinstance(item, ir.Slice) and item.is_full:
            items.append(then)
        elif isinstance(then, ir.Slice) and then.is_full:
            items.append(item)
        else:
            return None
    items += rest
    return ir.Index(tuple(items)) if all(isinstance(i, ir.NewAxis) for i in rest) else None
