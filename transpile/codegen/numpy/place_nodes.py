"""Places as nodes: the subscripts, transposes and diagonals of a path."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from transpile.codegen.expression_nodes import dotted, number
from transpile.core import nodes as ir

Operands = Callable[[int], ast.expr]  # slot of a path's operand -> its node


def place(base: ast.expr, path: ir.Path, operand: Operands) -> ast.expr:
    """The node of ``base`` with all steps of ``path``; ``operand(k)`` is the node of the path's operand ``k``."""
    for step in merged(path):
        match step:
            case ir.Permute():
                base = transposed(base, step.axes)
            case ir.Reshape():
                base = ast.Call(ast.Attribute(base, "reshape", ast.Load()), [operand(a) for a in step.args], [])
            case ir.Diagonal():
                base = ast.Call(dotted("np.einsum"), [ast.Constant("...ii->...i"), base], [])
            case ir.Index():
                base = ast.Subscript(base, subscript(step.items, operand), ast.Load())
    return base


def is_subscript(path: ir.Path) -> bool:
    """Whether the path ends in a subscript, so that the place can be assigned to; False for an empty path."""
    return bool(path) and isinstance(path[-1], ir.Index)


def merged(path: ir.Path) -> list[object]:
    """The steps of the path, with two subscripts that follow each other as one, ``x[i, j]``, where that means the same."""
    steps: list[object] = []
    for step in path:
        last = steps[-1] if steps else None
        if (
            isinstance(step, ir.Index)
            and isinstance(last, ir.Index)
            and (both := _merge(last.items, step.items)) is not None
        ):
            steps[-1] = ir.Index(both)
        else:
            steps.append(step)
    return steps


def _merge(first: Sequence[ir.Item], second: Sequence[ir.Item]) -> tuple[ir.Item, ...] | None:
    """The items of one subscript that means the same as ``first`` and then ``second``; None if there is none."""
    if not all(isinstance(i, ir.Point) or (isinstance(i, ir.Slice) and i.is_full) for i in first):
        return None
    if any(isinstance(i, ir.Mask) for i in second) or (
        any(isinstance(i, ir.Gather) for i in second) and any(isinstance(i, ir.Point) for i in first)
    ):
        return None
    rest = list(second)
    out: list[ir.Item] = []
    for item in first:
        if isinstance(item, ir.Point):
            out.append(item)
            continue
        while rest and isinstance(rest[0], ir.NewAxis):
            out.append(rest.pop(0))
        if not rest:
            return None
        out.append(rest.pop(0))
    return (*out, *rest)


def subscript(items: Sequence[ir.Item], operand: Operands) -> ast.expr:
    """The node between the brackets; trailing full slices are left out, except beside a new axis."""
    kept = list(items)
    if not any(isinstance(i, ir.NewAxis) for i in kept):
        while len(kept) > 1 and isinstance(kept[-1], ir.Slice) and kept[-1].is_full:
            kept.pop()
    nodes = [_item(i, operand) for i in kept]
    return nodes[0] if len(nodes) == 1 else ast.Tuple(nodes, ast.Load())


def _item(item: ir.Item, operand: Operands) -> ast.expr:
    """The node of one item of a subscript; the start 0 of a slice upwards is left out if it has an end or a step."""
    match item:
        case ir.Point() | ir.Gather() | ir.Mask():
            return operand(item.arg)
        case ir.NewAxis():
            return ast.Constant(None)
        case ir.Slice():
            lower, upper, step = (None if k is None else operand(k) for k in (item.start, item.stop, item.step))
            # 0 is the default start of a slice with a positive step
            upwards = step is None or (
                isinstance(step, ast.Constant) and isinstance(step.value, int) and step.value > 0
            )
            if (
                upwards
                and isinstance(lower, ast.Constant)
                and lower.value == 0
                and (upper is not None or step is not None)
            ):
                lower = None
            return ast.Slice(lower, upper, step)
    raise TypeError(item)


def transposed(base: ast.expr, axes: Sequence[int]) -> ast.expr:
    """The node of the transpose whose axis ``k`` is axis ``axes[k]`` of ``base``.

    It is ``.T`` for reversed axes, ``.swapaxes`` if only two axes are swapped, else ``.transpose``.
    """
    axes = tuple(axes)
    if axes == tuple(reversed(range(len(axes)))):
        return ast.Attribute(base, "T", ast.Load())
    moved = [k for k, a in enumerate(axes) if k != a]
    name, args = ("swapaxes", moved) if len(moved) == 2 else ("transpose", list(axes))
    if name == "swapaxes" and moved == [len(axes) - 2, len(axes) - 1]:
        args = [-2, -1]
    return ast.Call(ast.Attribute(base, name, ast.Load()), [number(a) for a in args], [])
