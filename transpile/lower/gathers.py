"""Places selected by integer arrays and masks.

Entries of an index array are checked where they are read. The positions of a mask that selects alone are found by walking it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT
from transpile.errors import error
from transpile.lower.element_functions import Elements, is_one
from transpile.lower.index_bounds import check_shape, check_sizes, checked, guarded, named, span, stretch
from transpile.lower.indices import broadcast_index, unravel
from transpile.lower.lowering import Lowering
from transpile.lower.mapped_places import Place
from transpile.lower.runtime_calls import call, flat


def gathered(lw: Lowering, place: Place, step: ir.Index, args: list[ir.Operand]) -> Place:
    """The place selected from ``place`` by integer arrays, with points and masks beside them, which broadcast together as in
    NumPy."""
    arrays: dict[int, list[Elements]] = {}  # for each item its index arrays: one, or for a mask one per axis
    axis = 0
    for k, item in enumerate(step.items):
        if isinstance(item, ir.Gather):
            arrays[k] = [lw.steady(lw.elements(args[item.arg]), "index")]
        elif isinstance(item, ir.Mask):
            arrays[k] = _positions(lw, lw.elements(args[item.arg]), place.sizes[axis:])
        axis += len(arrays[k]) if k in arrays else not isinstance(item, ir.NewAxis)
    points = [k for k, item in enumerate(step.items) if isinstance(item, (ir.Gather, ir.Mask, ir.Point))]
    together = points[-1] - points[0] == len(points) - 1
    shape = _broadcast(lw, arrays)
    sizes: list[ir.Operand] = []
    parts: list[Any] = []
    at: int | None = None
    axis = 0
    for k, item in enumerate(step.items):
        if k in points and at is None:
            at = len(sizes)
            if together:
                sizes += shape
        match item:
            case ir.NewAxis():
                sizes.append(ir.Const(1, INT))
                continue
            case ir.Slice():
                start, count, stride = span(lw, item, args, place.sizes[axis])
                parts.append((len(sizes), start, stride))
                sizes.append(count)
            case ir.Point():
                parts.append(checked(lw, args[item.arg], place.sizes[axis]))
            case ir.Gather():
                parts.append((arrays[k][0], place.sizes[axis]))
            case ir.Mask():
                parts += [(a, None) for a in arrays[k]]
                axis += len(arrays[k]) - 1
        axis += 1
    if not together:
        parts = [(p[0] + len(shape), *p[1:]) if isinstance(p, tuple) and isinstance(p[0], int) else p for p in parts]
        sizes, at = [*shape, *sizes], 0
    here = at or 0
    width = len(shape)

    def inner(idx: Sequence[Expr]) -> list[Expr]:
        common = list(idx[here : here + width])
        out = []
        for part in parts:
            if isinstance(part, Expr):
                out.append(part)
            elif isinstance(part[0], int):
                out.append(stretch(idx[part[0]], part[1], part[2]))
            else:
                out.append(_entry(lw, part[0], part[1], common))
        return out

    deps = place.deps.union(*(a.deps for found in arrays.values() for a in found))
    return place.then(sizes, inner, None, deps=deps)


def _positions(lw: Lowering, mask: Elements, sizes: Sequence[ir.Operand]) -> list[Elements]:
    """The indices at which a mask is true, one array per axis; emits a check that the mask has these sizes."""
    mask = lw.rooted(mask, "mask")
    check_shape(lw, mask.sizes, sizes)
    found = call(lw, "arrays.nonzero", "int64", 1, flat(lw, mask), name="places")
    if mask.rank == 1:
        return [found]

    def along(k: int) -> Elements:
        return replace(found, root=None, at=lambda idx: unravel(lw, found.at(idx), mask.sizes)[k])

    return [along(k) for k in range(mask.rank)]


def _broadcast(lw: Lowering, arrays: dict[int, list[Elements]]) -> list[ir.Operand]:
    """The sizes that the index arrays broadcast to; ``arrays`` is changed in place where the sizes are known only at run time.

    The number of true entries of a mask is such a size: 1 broadcasts, other numbers are checked.
    """
    every = [a for found in arrays.values() for a in found]
    rank = max(a.rank for a in every)
    sizes: list[ir.Operand] = [ir.Const(1, INT)] * rank
    for k in range(rank):
        along = [a.sizes[k - rank] for a in every if a.rank >= rank - k and not is_one(a.sizes[k - rank])]
        apart = [s for j, s in enumerate(along) if not any(lw.are_equal(s, t) for t in along[:j])]
        if apart:
            sizes[k] = _common(lw, apart)
        if len(apart) > 1:
            for item, found in arrays.items():
                arrays[item] = [_stretched(lw, a, k - rank, sizes[k]) for a in found]
    return sizes


def _common(lw: Lowering, sizes: Sequence[ir.Operand]) -> ir.Operand:
    """The largest of several sizes, each of which must be equal to the largest or 1; emits a check of this."""
    b = lw.b
    known = [s for s in sizes if isinstance(s, ir.Const)]
    found: ir.Operand = known[0] if known else sizes[0]
    if not known:
        for s in sizes[1:]:
            found = named(lw, b.elementwise("where", b.expr(found).eq(1), s, found), "size").op
    for s in sizes:
        if s is not found:
            check_sizes(lw, s, found)
    return found


def _stretched(lw: Lowering, array: Elements, axis: int, size: ir.Operand) -> Elements:
    """The array as if it had ``size`` entries on ``axis`` (negative), on which it may have one; unchanged if it lacks this
    axis."""
    if array.rank < -axis or is_one(array.sizes[axis]) or array.sizes[axis] == size:
        return array
    b, k = lw.b, array.rank + axis
    last = b.expr(array.sizes[k]) - 1

    def at(idx: Sequence[Expr]) -> Expr:
        return array.at([b.elementwise("minimum", i, last, py=True) if j == k else i for j, i in enumerate(idx)])

    return replace(array, sizes=(*array.sizes[:k], size, *array.sizes[k + 1 :]), root=None, made=None, at=at)


def _entry(lw: Lowering, array: Elements, size: ir.Operand | None, idx: Sequence[Expr]) -> Expr:
    """The entry of an index array at ``idx``, as an int64; if ``size`` is the size of the axis that it indexes, counted from
    the end where negative, and checked."""
    b = lw.b
    x = array.at(broadcast_index(lw, array, idx))
    x = lw.compute("cast", [x], INT, {}) if x.dtype != "int64" else x
    if size is None:  # a position of a mask
        return x
    n = b.expr(size)
    at = named(lw, b.elementwise("where", x < 0, x + n, x), "at")
    return guarded(lw, at, x, n)


def masked(lw: Lowering, place: Place, step: ir.Index, args: list[ir.Operand]) -> Place:
    """The place selected from ``place`` by one mask with full slices on the other axes, found by walking the mask; other cases
    become gathers."""
    assert place.mask is None  # a mask selection is no view
    masks = [k for k, i in enumerate(step.items) if isinstance(i, ir.Mask)]
    others = [i for i in step.items if not isinstance(i, ir.Mask)]
    if len(masks) > 1 or not all(isinstance(i, ir.Slice) and i.is_full for i in others):
        return gathered(lw, place, step, args)
    lead = masks[0]
    mask = lw.rooted(lw.elements(args[step.items[lead].arg]), "mask")  # type: ignore[union-attr]
    if mask.rank + len(others) != len(place.sizes):
        raise error("T207", "a mask that does not fit the array", lw.b.loc)
    check_shape(lw, mask.sizes, place.sizes[lead : lead + mask.rank])
    count = count_true(lw, mask)
    sizes = (*place.sizes[:lead], count.op, *place.sizes[lead + mask.rank :])
    return replace(place, sizes=sizes, mask=mask, lead=lead, unit=None, identity=False, moves=None,
                   deps=place.deps | mask.deps)  # fmt: skip


def count_true(lw: Lowering, mask: Elements) -> Expr:
    """The number of true entries of a mask, counted by loops that are emitted here."""
    b = lw.b

    def body(idx: list[Expr], values: list[Expr]) -> list[Expr]:
        return [values[0] + lw.compute("cast", [mask.at(idx)], INT, {})]

    return lw.fold(mask.sizes, [b.expr(0)], body, ("count",))[0]
