"""Paths as index maps: from the index of an element in a place to its index in the source, with every subscript checked.

    x[i, ::-1][mask]      ->      element (k, j) of the place is element (i, ...) of x

A point is checked at the statement itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT
from transpile.lower.gathers import gathered, masked
from transpile.lower.index_bounds import checked, span, stretch
from transpile.lower.indices import regroup
from transpile.lower.lowering import Lowering
from transpile.lower.mapped_places import Place
from transpile.lower.memory_views import NEW, At, Range


def place_of(lw: Lowering, path: ir.Path, args: Sequence[ir.Operand], sizes: Sequence[ir.Operand]) -> Place:
    """The place that a path selects in a source of ``sizes``; ``args`` are the path's operands. Checks of points are
    emitted."""
    rank = len(sizes)
    place = Place(tuple(sizes), list, unit=rank - 1 if rank else None, identity=True)
    for step in path:
        place = _STEPS[type(step)](lw, place, step, list(args))
    return place


def _permute(lw: Lowering, place: Place, step: ir.Permute, args: list[ir.Operand]) -> Place:
    """The place with its axes in the order of the step, still a view if ``place`` is one."""
    axes = step.axes

    def inner(idx: Sequence[Expr]) -> list[Expr]:
        out: list[Any] = [None] * len(axes)
        for k, a in enumerate(axes):
            out[a] = idx[k]
        return out

    unit = None if place.unit is None else axes.index(place.unit)
    found = place.then([place.sizes[a] for a in axes], inner, unit)
    found.moves = None if place.moves is None else (*place.moves, lambda view: view.permuted(axes))
    return found


def _diagonal(lw: Lowering, place: Place, step: ir.Diagonal, args: list[ir.Operand]) -> Place:
    b = lw.b
    *rest, m, n = place.sizes
    size = b.elementwise("minimum", b.expr(m), b.expr(n), py=True).op if m != n else m
    return place.then((*rest, size), lambda idx: [*idx, idx[-1]])


def _reshape(lw: Lowering, place: Place, step: ir.Reshape, args: list[ir.Operand]) -> Place:
    sizes = tuple(lw.place(args[a]).op for a in step.args)
    found = regroup(lw, place.sizes, sizes)
    return place.then(sizes, found, len(sizes) - 1 if sizes else None, cheap=False)


def _index(lw: Lowering, place: Place, step: ir.Index, args: list[ir.Operand]) -> Place:
    """The place that a subscript selects in ``place``; its masks and integer arrays make it no view."""
    if any(isinstance(i, ir.Mask) for i in step.items):
        return masked(lw, place, step, args)
    if not step.is_basic:
        return gathered(lw, place, step, args)
    sizes: list[ir.Operand] = []
    parts: list[Any] = []  # for each axis of the source: the map from the place's index to its index
    unit = None
    axis = 0
    identity = place.identity
    taken: list[Any] = []  # the same, as items of a view
    for item in step.items:
        match item:
            case ir.NewAxis():
                sizes.append(ir.Const(1, INT))
                taken.append(NEW)
                identity = False
                continue
            case ir.Point():
                at = checked(lw, args[item.arg], place.sizes[axis])
                parts.append(lambda idx, at=at: at)
                taken.append(At(at.op))
                identity = False
            case ir.Slice():
                k = len(sizes)
                start, count, stride = span(lw, item, args, place.sizes[axis])
                sizes.append(count)
                parts.append(lambda idx, k=k, start=start, stride=stride: stretch(idx[k], start, stride))
                taken.append(None if item.is_full else Range(None if start is None else start.op, count))
                if stride is not None:
                    place = replace(place, moves=None)
                if place.unit == axis and stride is None:
                    unit = k
                identity = identity and item.is_full
        axis += 1
    found = place.then(sizes, lambda idx: [p(idx) for p in parts], unit)
    found.identity = identity
    found.moves = None if place.moves is None else (*place.moves, lambda view: view.indexed(lw.b, taken))
    return found


_STEPS: dict[type, Any] = {ir.Permute: _permute, ir.Diagonal: _diagonal, ir.Reshape: _reshape, ir.Index: _index}
