"""The dims of a place: the shape that remains after a path of subscripts, permutations and reshapes.

A dimension that is known only at run time (a slice with computed bounds, a mask) is None here; the builder gives it a symbol of
its own, whose value is the size of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.dims import Dim

MaybeDims = list[Dim | None]
Least = Callable[[Dim], Dim]
FormOf = Callable[[ir.Operand], Dim | None]


def _itself(dim: Dim) -> Dim:
    return dim


def place_dims(
    dims: Sequence[Dim],
    path: ir.Path,
    args: Sequence[ir.Operand],
    form_of: FormOf,
    least: Least = _itself,
) -> MaybeDims:
    """The dims of ``source[path]`` for a source of shape ``dims``, None for a size that is known only at run time.

    ``args`` are the operands of the path; ``form_of`` gives the linear forms of integers; ``least(form)`` is a lower bound of a
    form, from the ranges of loop indices (``n - i - 1`` is at least 0).
    """
    current: MaybeDims = list(dims)
    for step in path:
        match step:
            case ir.Permute():
                current = [current[a] for a in step.axes]
            case ir.Diagonal():
                current = current[:-1]
            case ir.Reshape():
                current = [form_of(args[a]) for a in step.args]
            case ir.Index():
                current = _index_dims(current, step, args, form_of, least)
    return current


def may_repeat(path: ir.Path) -> bool:
    """Whether a place may select one element twice: it has an integer array index, whose entries may repeat."""
    return any(isinstance(i, ir.Gather) for step in path if isinstance(step, ir.Index) for i in step.items)


def is_basic(path: ir.Path) -> bool:
    """Whether NumPy returns a view for the path: it has no mask and no integer array."""
    return all(step.is_basic for step in path if isinstance(step, ir.Index))


def consumed(item: object, args: Sequence[ir.Operand]) -> int:
    """The number of axes of the source that an item of an index covers: 0 for a new axis, the rank of a mask, else 1."""
    if isinstance(item, ir.NewAxis):
        return 0
    return args[item.arg].type.rank if isinstance(item, ir.Mask) else 1


def _index_dims(
    dims: MaybeDims, step: ir.Index, args: Sequence[ir.Operand], form_of: FormOf, least: Least
) -> MaybeDims:
    """The dims that a subscript leaves of ``dims``; None for a size that is known only at run time."""
    advanced: list[Sequence[Dim | None]] = []
    out: list[Dim | None] = []
    where: list[int] = []  # positions of advanced items; beside those, points count as advanced
    first = None
    axis = 0
    has_advanced = not step.is_basic
    for position, item in enumerate(step.items):
        if isinstance(item, (ir.Gather, ir.Mask)) or (has_advanced and isinstance(item, ir.Point)):
            first = len(out) if first is None else first
            where.append(position)
            if isinstance(item, ir.Gather):
                advanced.append(args[item.arg].type.dims)
            elif isinstance(item, ir.Mask):
                advanced.append([None])
        elif isinstance(item, ir.Slice):
            out.append(_slice_dim(dims[axis], item, args, form_of, least))
        elif isinstance(item, ir.NewAxis):
            out.append(Dim(1))
        axis += consumed(item, args)
    if not has_advanced:
        return out
    adjacent = where[-1] - where[0] == len(where) - 1
    at = first if adjacent and first is not None else 0
    return [*out[:at], *_broadcast(advanced), *out[at:]]


def _broadcast(shapes: list[Sequence[Dim | None]]) -> MaybeDims:
    """The dims that index arrays of these shapes broadcast to; None where a mask's number of entries decides."""
    rank = max(len(s) for s in shapes)
    dims: MaybeDims = []
    for k in range(rank):
        here = [s[k - (rank - len(s))] for s in shapes if k >= rank - len(s)]
        wide = [d for d in here if d is None or not d.is_one]
        dims.append(Dim(1) if not wide else None if None in wide else wide[0])  # a mask may select a single element
    return dims


def is_nonnegative(dim: Dim | None) -> bool:
    """Whether a form is known to be nonnegative, as symbols of sizes are; False for None, an unknown form."""
    return dim is not None and dim.const >= 0 and all(c > 0 and a.is_size for a, c in dim.terms)


def _slice_dim(n: Dim | None, item: ir.Slice, args: Sequence[ir.Operand], form_of: FormOf, least: Least) -> Dim | None:
    """The number of elements of a slice of an axis of size ``n``; None if it is known only at run time."""
    if item.is_full:
        return n
    step = 1 if item.step is None else _const(args[item.step])
    if step == -1 and item.start is None and item.stop is None:
        return n
    if n is None or step is None or step == 0:
        return None
    if step < 0:
        return _backward_dim(n, item, args, form_of, least, -step)
    start = Dim(0) if item.start is None else _lower(form_of(args[item.start]), n, least)
    stop = n if item.stop is None else _upper(form_of(args[item.stop]), n, least)
    if start is None or stop is None:
        return None
    span = stop - start
    last_ones = item.stop is None and item.start is not None and (_const(args[item.start]) or 0) < 0
    if not last_ones and not is_nonnegative(least(span)):  # x[-k:] has min(k, n) elements, never a negative number
        span = span.clip()
    return span if step == 1 else (span + (step - 1)) // step


def _backward_dim(
    n: Dim, item: ir.Slice, args: Sequence[ir.Operand], form_of: FormOf, least: Least, step: int
) -> Dim | None:
    """The number of elements of ``start:stop:-step``, clipped as in Python; None if the sign of an end is not known.

    The slice starts at ``n - 1`` at most and stops before ``stop``, at least -1.
    """
    start = n - 1 if item.start is None else _from_above(form_of(args[item.start]), n, least)
    stop = Dim(-1) if item.stop is None else _down_to(form_of(args[item.stop]), n, least)
    if start is None or stop is None:
        return None
    span = start - stop
    span = span if is_nonnegative(least(span)) else span.clip()
    return span if step == 1 else (span + (step - 1)) // step


def _from_above(bound: Dim | None, n: Dim, least: Least) -> Dim | None:
    """The start of a backward slice of an axis of size ``n``, at most ``n - 1``; None if the sign of the bound is not known.
    ``least`` gives a lower bound of a form."""
    if bound is None or not bound.is_const and not is_nonnegative(least(bound)):
        return None
    if bound.is_const and bound.const < 0:
        return _down_to(bound, n, least)
    return bound if is_nonnegative(least(n - bound - 1)) else n - 1 - (n - 1 - bound).clip()


def _down_to(bound: Dim | None, n: Dim, least: Least) -> Dim | None:
    """The exclusive stop of a backward slice of an axis of size ``n``, at least -1; None if the sign of the bound is not known.
    ``least`` gives a lower bound of a form."""
    if bound is not None and bound.is_const and bound.const < 0:
        return (n + bound + 1).clip() - 1
    return bound if bound is not None and is_nonnegative(least(bound)) else None


def _lower(bound: Dim | None, n: Dim, least: Least) -> Dim | None:
    """The start of a slice, at least 0 (a start beyond ``n`` counts as ``n``); None if the sign of the bound is not known.
    ``least`` gives a lower bound of a form."""
    if bound is None:
        return None
    if bound.is_const and bound.const < 0:
        moved = n + bound
        return moved if is_nonnegative(least(moved)) else moved.clip()
    return bound if is_nonnegative(least(bound)) else None


def _upper(bound: Dim | None, n: Dim, least: Least) -> Dim | None:
    """The stop of a slice, at most ``n`` (a stop below 0 counts as 0); None if the sign of the bound is not known. ``least``
    gives a lower bound of a form."""
    if bound is None:
        return None
    if bound.is_const and bound.const < 0:
        return n + bound
    if not is_nonnegative(least(bound)):
        return None
    if is_nonnegative(least(n - bound)):
        return bound
    if n.is_const and bound.is_const:
        return Dim(min(bound.const, n.const))
    return n - (n - bound).clip()  # min(bound, n)


def _const(operand: ir.Operand) -> int | None:
    return int(operand.value) if isinstance(operand, ir.Const) else None


def compact(path: ir.Path, args: tuple[ir.Operand, ...]) -> tuple[ir.Path, tuple[ir.Operand, ...]]:
    """The path with its slots renumbered 0, 1, ... in order of use, and the operands in that order, without unused ones."""
    used: list[ir.Operand] = []

    def slot(old: int) -> int:
        used.append(args[old])
        return len(used) - 1

    steps: list[ir.Step] = []
    for step in path:
        match step:
            case ir.Index():
                steps.append(ir.Index(tuple(_renumber(i, slot) for i in step.items)))
            case ir.Reshape():
                steps.append(ir.Reshape(tuple(slot(a) for a in step.args)))
            case ir.Permute() | ir.Diagonal():
                steps.append(step)
    return tuple(steps), tuple(used)


def _renumber(item: ir.Item, slot) -> ir.Item:  # type: ignore[no-untyped-def]
    if isinstance(item, (ir.Point, ir.Gather, ir.Mask)):
        return replace(item, arg=slot(item.arg))
    if isinstance(item, ir.Slice):
        return ir.Slice(*(None if s is None else slot(s) for s in (item.start, item.stop, item.step)))
    return item
