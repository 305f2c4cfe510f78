"""Paths as index maps: which element of the source an element of a place is, with every index checked.

    x[i, ::-1][mask]      ->      element (k, j) of the place is element (i, ...) of x

A point is checked where the statement stands, the entries of an index array where they are read; a range is clipped as
Python clips it. What the forms of the operands prove (a loop index below the size) is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.nodes import (
    SYNTHETIC,
    Add,
    Block,
    Const,
    Diagonal,
    Gather,
    If,
    Index,
    Mask,
    NewAxis,
    Operand,
    Path,
    Permute,
    Point,
    Reshape,
    Slice,
    Store,
    Var,
)
from transpile.core.places import is_nonnegative
from transpile.core.types import BOOL, INT, Type
from transpile.errors import error
from transpile.lower.effects import in_range, mismatch, wrong_mask
from transpile.lower.elements import Elements, is_one, loop_order, write
from transpile.lower.indices import Map, broadcast_index, regroup, unravel
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import call, flat
from transpile.lower.views import NEW, At, Range, View

Move = Callable[[View], View]


@dataclass
class Place:
    """``sizes`` of the place and ``at``: from its index to the index in the source.

    A mask has no such map: ``mask`` is its elements, the axes of the source that it covers begin at ``lead``, and its axis
    in the place is number ``lead`` too (`each` then walks the mask).
    """

    sizes: tuple[Operand, ...]
    at: Map
    cheap: bool = True
    unit: int | None = None
    deps: frozenset[Var] = frozenset()
    mask: Elements | None = None
    lead: int = 0
    identity: bool = field(default=False)
    moves: tuple[Move, ...] | None = ()  # how it lies in the source, if it is as memory lies

    @staticmethod
    def of(lw: Lowering, path: Path, args: Sequence[Operand], sizes: Sequence[Operand]) -> Place:
        """The place of a path in a source of ``sizes``."""
        rank = len(sizes)
        place = Place(tuple(sizes), list, unit=rank - 1 if rank else None, identity=True)
        for step in path:
            place = _STEPS[type(step)](lw, place, step, list(args))
        return place

    def then(self, sizes: Sequence[Operand], inner: Map, unit: int | None = None, **more: Any) -> Place:
        outer = self.at
        return replace(
            self, sizes=tuple(sizes), at=lambda idx: outer(inner(idx)), unit=unit, identity=False, moves=None, **more
        )

    def view(self, lw: Lowering, source: View | None, name: Any = None) -> View | None:
        """How the place lies, if it is part of how the source lies."""
        if source is None or self.moves is None:
            return None
        for move in self.moves:
            source = move(source)
        return replace(source, source=name)

    def each(self, lw: Lowering, body: Callable[[list[Expr]], None], order: Sequence[int] | None = None) -> None:
        """Runs ``body`` with each index of the place."""
        if self.mask is None:
            lw.nest(self.sizes, body, order)
        else:
            walk_mask(lw, self, body)


def put(lw: Lowering, stmt: Store | Add, place: Place, value: Elements) -> None:
    """Writes elements that do not read what is written before them."""
    var = lw.buffers[stmt.buf]
    adds = isinstance(stmt, Add)

    def one(idx: Sequence[Expr]) -> None:
        write(lw.b, var, place.at(idx), value.at(idx) if value.rank else value.at(()), adds)

    place.each(lw, one, order=loop_order(value) if value.rank else None)


# ------------------------------------------------------------------------------------------------------- steps


def _permute(lw: Lowering, place: Place, step: Permute, args: list[Operand]) -> Place:
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


def _diagonal(lw: Lowering, place: Place, step: Diagonal, args: list[Operand]) -> Place:
    b = lw.b
    *rest, m, n = place.sizes
    size = b.elementwise("minimum", b.expr(m), b.expr(n), py=True).op if m != n else m
    return place.then((*rest, size), lambda idx: [*idx, idx[-1]])


def _reshape(lw: Lowering, place: Place, step: Reshape, args: list[Operand]) -> Place:
    sizes = tuple(lw.place(args[a]).op for a in step.args)
    found = regroup(lw, place.sizes, sizes)
    return place.then(sizes, found, len(sizes) - 1 if sizes else None, cheap=False)


# ------------------------------------------------------------------------------------------------------- index


def _index(lw: Lowering, place: Place, step: Index, args: list[Operand]) -> Place:
    if any(isinstance(i, Mask) for i in step.items):
        return _masked(lw, place, step, args)
    if not step.is_basic:
        return _gathered(lw, place, step, args)
    sizes: list[Operand] = []
    parts: list[Any] = []  # for each axis of the source: how its index comes from the place's
    unit = None
    axis = 0
    identity = place.identity
    taken: list[Any] = []  # the same as items of a view
    for item in step.items:
        match item:
            case NewAxis():
                sizes.append(Const(1, INT))
                taken.append(NEW)
                identity = False
                continue
            case Point():
                at = checked(lw, args[item.arg], place.sizes[axis])
                parts.append(lambda idx, at=at: at)
                taken.append(At(at.op))
                identity = False
            case Slice():
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


def stretch(k: Expr, start: Expr | None, stride: Expr | None) -> Expr:
    at = k if stride is None else k * stride
    return at if start is None else at + start if stride is not None else start + k


def span(lw: Lowering, item: Slice, args: list[Operand], size: Operand) -> tuple[Expr | None, Operand, Expr | None]:
    """Start, count and stride of a range on an axis: None where they are 0, and 1."""
    b = lw.b
    if item.is_full:
        return None, size, None
    given = [None if k is None else lw.place(args[k]) for k in (item.start, item.stop, item.step)]
    start, stop, step = given
    n = b.expr(size)
    stride = None if step is None or (isinstance(step.op, Const) and step.op.value == 1) else step
    if stride is None:  # only what has elements is read: a start beyond the end need not be clipped
        low = None if start is None else start if is_not_negative(lw, start) else clip(lw, start, n)
        if low is None or (isinstance(low.op, Const) and low.op.value == 0):
            return None, (n if stop is None else clip(lw, stop, n)).op, None
        ends_before = stop is not None and isinstance(stop.op, Const) and stop.op.value < 0
        high = n if stop is None else n + stop.op.value if ends_before else clip(lw, stop, n)  # type: ignore[union-attr]
        return low, at_least_zero(lw, high - low).op, None
    if isinstance(stride.op, Const) and stride.op.value == -1 and start is None and stop is None:
        return n - 1, size, stride
    ends = [b.expr(0) if e is None else e for e in (start, stop)]
    flags = [b.expr(Const(e is not None, BOOL)) for e in (start, stop)]
    call = b.bind("span", Type("int64", (), kind="tuple"), "call",
                  (n.op, *(e.op for e in ends), *(f.op for f in flags), stride.op), {"fn": "arrays.span"})  # fmt: skip
    low, count = (Expr(b, b.bind(w, INT, "item", (call,), {"k": k})) for k, w in enumerate(("start", "count")))
    return low, count.op, stride


def clip(lw: Lowering, x: Expr, n: Expr) -> Expr:
    """A bound of a range, counted from the end if negative, within 0 and ``n``."""
    b = lw.b
    form, size = _form(x), _form(n)
    if form is not None and size is not None and within(lw, form, size + 1):
        return x
    if isinstance(x.op, Const):
        k = x.op.value
        if k >= 0:
            return Expr(b, b.bind(SYNTHETIC, INT, "call", (n.op, x.op), {"fn": "min"})) if k else x
        return at_least_zero(lw, n - (-k))
    return Expr(b, b.bind(SYNTHETIC, INT, "call", (x.op, n.op), {"fn": "arrays.bound"}))


def is_not_negative(lw: Lowering, x: Expr) -> bool:
    form = _form(x)
    return form is not None and is_nonnegative(lw.least(form))


def at_least_zero(lw: Lowering, x: Expr) -> Expr:
    if isinstance(x.op, Const):
        return lw.b.expr(max(x.op.value, 0))
    if is_not_negative(lw, x):
        return x
    return Expr(lw.b, lw.b.bind(SYNTHETIC, INT, "call", (x.op, Const(0, INT)), {"fn": "max"}))


def _form(x: Expr) -> Dim | None:
    if isinstance(x.op, Const):
        return Dim(int(x.op.value))
    return x.op.form if isinstance(x.op, Var) else None


def within(lw: Lowering, form: Dim, size: Dim) -> bool:
    """Whether ``0 <= form < size`` is known."""
    return is_nonnegative(lw.least(form)) and is_nonnegative(lw.least(size - form - 1))


def checked(lw: Lowering, op: Operand, size: Operand) -> Expr:
    """A point on an axis: counted from the end if negative, and an IndexError if it is not there."""
    x, n = lw.place(op), lw.b.expr(size)
    form, bound = _form(x), _form(n)
    if form is not None and bound is not None:
        if within(lw, form, bound):
            return x
        if form.is_const and form.const < 0:
            if is_nonnegative(lw.least(bound + form)):
                return n + form.const
            x = n + form.const
            return guarded(lw, x, x - n, n)
        if is_nonnegative(lw.least(form)):
            return guarded(lw, x, x, n, low=False)
    at = lw.b.elementwise("where", x < 0, x + n, x)
    at = named(lw, at, "at")
    return guarded(lw, at, x, n)


def named(lw: Lowering, x: Expr, name: str) -> Expr:
    if isinstance(x.op, Var) and x.op.name == SYNTHETIC:
        x.op.name = name
    return x


def guarded(lw: Lowering, at: Expr, given: Expr, n: Expr, low: bool = True) -> Expr:
    """``at``, after a check that it lies in ``range(n)``; the error names what was given."""
    lw.b.emit(in_range(lw.b.loc, at, n, given, low))
    return at


# ------------------------------------------------------------------------------------------------------ gather


def _gathered(lw: Lowering, place: Place, step: Index, args: list[Operand]) -> Place:
    """Integer arrays, and points and masks beside them, which broadcast together as NumPy lets them."""
    arrays: dict[int, list[Elements]] = {}  # for each item its entries, of a mask one array an axis
    axis = 0
    for k, item in enumerate(step.items):
        if isinstance(item, Gather):
            arrays[k] = [lw.steady(lw.elements(args[item.arg]), "index")]
        elif isinstance(item, Mask):
            arrays[k] = _positions(lw, lw.elements(args[item.arg]), place.sizes[axis:])
        axis += len(arrays[k]) if k in arrays else not isinstance(item, NewAxis)
    points = [k for k, item in enumerate(step.items) if isinstance(item, (Gather, Mask, Point))]
    together = points[-1] - points[0] == len(points) - 1
    shape = _common(lw, [a for found in arrays.values() for a in found])
    sizes: list[Operand] = []
    parts: list[Any] = []
    at: int | None = None
    axis = 0
    for k, item in enumerate(step.items):
        if k in points and at is None:
            at = len(sizes)
            if together:
                sizes += shape
        match item:
            case NewAxis():
                sizes.append(Const(1, INT))
                continue
            case Slice():
                start, count, stride = span(lw, item, args, place.sizes[axis])
                parts.append((len(sizes), start, stride))
                sizes.append(count)
            case Point():
                parts.append(checked(lw, args[item.arg], place.sizes[axis]))
            case Gather():
                parts.append((arrays[k][0], place.sizes[axis]))
            case Mask():
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


def _positions(lw: Lowering, mask: Elements, sizes: Sequence[Operand]) -> list[Elements]:
    """Where a mask holds, one array of indices an axis."""
    mask = lw.rooted(mask, "mask")
    check_shape(lw, mask.sizes, sizes)
    found = call(lw, "arrays.nonzero", "int64", 1, flat(lw, mask), name="places")
    if mask.rank == 1:
        return [found]

    def along(k: int) -> Elements:
        return replace(found, root=None, at=lambda idx: unravel(lw, found.at(idx), mask.sizes)[k])

    return [along(k) for k in range(mask.rank)]


def _common(lw: Lowering, arrays: Sequence[Elements]) -> list[Operand]:
    """The sizes that the index arrays broadcast to; those of masks are checked, as only the run knows them."""
    rank = max(a.rank for a in arrays)
    sizes: list[Operand] = [Const(1, INT)] * rank
    for a in arrays:
        for k, s in enumerate(a.sizes, rank - a.rank):
            if is_one(s):
                continue
            if not is_one(sizes[k]) and not _are_equal(sizes[k], s):
                check_sizes(lw, s, sizes[k])
            sizes[k] = s
    return sizes


def _are_equal(a: Operand, b: Operand) -> bool:
    """Whether two sizes are known to be the same."""
    if a == b:
        return True
    return isinstance(a, Var) and isinstance(b, Var) and a.form is not None and a.form == b.form


def _entry(lw: Lowering, array: Elements, size: Operand | None, idx: Sequence[Expr]) -> Expr:
    """An entry of an index array, checked if ``size`` is that of an axis."""
    b = lw.b
    x = array.at(broadcast_index(lw, array, idx))
    x = lw.compute("cast", [x], INT, {}) if x.dtype != "int64" else x
    if size is None:  # a position of a mask
        return x
    n = b.expr(size)
    at = named(lw, b.elementwise("where", x < 0, x + n, x), "at")
    return guarded(lw, at, x, n)


# -------------------------------------------------------------------------------------------------------- mask


def _masked(lw: Lowering, place: Place, step: Index, args: list[Operand]) -> Place:
    """One boolean array, ranges full on the other axes: positions are found by walking the mask; else by gathers."""
    assert place.mask is None  # what a mask selects is no view
    masks = [k for k, i in enumerate(step.items) if isinstance(i, Mask)]
    others = [i for i in step.items if not isinstance(i, Mask)]
    if len(masks) > 1 or not all(isinstance(i, Slice) and i.is_full for i in others):
        return _gathered(lw, place, step, args)
    lead = masks[0]
    mask = lw.rooted(lw.elements(args[step.items[lead].arg]), "mask")  # type: ignore[union-attr]
    if mask.rank + len(others) != len(place.sizes):
        raise error("T207", "a mask that does not fit the array", lw.b.loc)
    check_shape(lw, mask.sizes, place.sizes[lead : lead + mask.rank])
    count = count_true(lw, mask)
    sizes = (*place.sizes[:lead], count.op, *place.sizes[lead + mask.rank :])
    return replace(place, sizes=sizes, mask=mask, lead=lead, unit=None, identity=False, moves=None,
                   deps=place.deps | mask.deps)  # fmt: skip


def check_shape(lw: Lowering, given: Sequence[Operand], wanted: Sequence[Operand]) -> None:
    b = lw.b
    for g, w in zip(given, wanted):
        if g == w:
            continue
        with b.into(Block()) as raises:
            b.emit(wrong_mask(b.loc, b.expr(g), b.expr(w)))
        b.emit(If(b.expr(g).ne(w).op, raises, Block(), (), b.loc))


def check_sizes(lw: Lowering, given: Operand, wanted: Operand) -> None:
    """An IndexError where index arrays do not have the same size."""
    b = lw.b
    with b.into(Block()) as raises:
        b.emit(mismatch(b.loc, b.expr(given), b.expr(wanted)))
    b.emit(If(b.expr(given).ne(wanted).op, raises, Block(), (), b.loc))


def count_true(lw: Lowering, mask: Elements) -> Expr:
    """How many entries hold."""
    b = lw.b

    def body(idx: list[Expr], values: list[Expr]) -> list[Expr]:
        return [values[0] + lw.compute("cast", [mask.at(idx)], INT, {})]

    return lw.fold(mask.sizes, [b.expr(0)], body, ("count",))[0]


def walk_mask(lw: Lowering, place: Place, body: Callable[[list[Expr]], None]) -> None:
    """Runs ``body`` with each index of a masked place: the entries of the mask in order, counted where it holds.

    The map of the place is set for the entry at hand: the place's index on the mask's axis stands for it.
    """
    assert place.mask is not None
    b, mask, lead = lw.b, place.mask, place.lead
    source_at = place.at

    def visit(idx: list[Expr], values: list[Expr]) -> list[Expr]:
        (count,) = values
        hit = Block()
        with b.into(hit):

            def inner(rest: list[Expr]) -> None:
                here = [*rest[:lead], count, *rest[lead:]]
                place.at = lambda k: source_at([*k[:lead], *idx, *k[lead + 1 :]])
                body(here)

            lw.nest((*place.sizes[:lead], *place.sizes[lead + 1 :]), inner)
            more = count + 1
            hit.yields = (more.op,)
        result = Var("count", INT)
        b.emit(If(mask.at(idx).op, hit, Block((), [], (count.op,)), (result,), b.loc))
        return [b.expr(result)]

    lw.fold(mask.sizes, [b.expr(0)], visit, ("count",))
    place.at = source_at


_STEPS: dict[type, Any] = {Permute: _permute, Diagonal: _diagonal, Reshape: _reshape, Index: _index}
