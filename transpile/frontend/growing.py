"""Lists that a loop appends to, and comprehensions over a length that only the run knows: arrays with a count.

A list that a loop grows becomes, before the loop, one buffer for each leaf of its elements with room for all that will come, and
a number of elements. Where each trip appends equally many, that number follows from the index and is not carried. Where the
number of trips is not known (``while``), the loop is lifted twice: once to count, with only the last element at hand, and once to
fill.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.nodes import SYNTHETIC, Const, Effect, Index, Operand, Point, Slice, Undef, Var
from transpile.core.types import Type, promote
from transpile.core.walk import statements
from transpile.frontend import aliases, carries, memory
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Buffer, Cell, Items, Ref, Scalar, Static, Tuple


@dataclass(eq=False)
class Grown:
    """Where the elements are: one buffer for each leaf; ``like`` is an element, ``types`` are those of its leaves.

    There is room for all that the loop appends that was lifted as one of ``owners``.
    """

    cells: tuple[Cell, ...]
    like: Any
    skeleton: Any
    types: tuple[Type, ...]
    owners: Sequence[Any] = ()


@dataclass(eq=False)
class Counted:
    """A list of which only the number of elements and the last one are known: while it is counted how many there will be."""

    skeleton: Any


@dataclass
class Element:
    """What a loop appends to a list: the structure, and the types of the leaves."""

    like: Any
    skeleton: Any
    types: list[Type] = field(default_factory=list)


class Grows(Exception):
    """A list grows in a loop whose number of trips is not known."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.cell = cell


class NeedRoom(Exception):
    """A branch appends to a list that has no room for it: it must have, before the branch begins."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.cell = cell


class NeedArray(Exception):
    """A list that an open loop appends to is read there by an index that only the run knows."""

    def __init__(self, cell: Cell, loop: Any) -> None:
        super().__init__(cell)
        self.cell, self.loop = cell, loop


# ------------------------------------------------------------------------------------------------------- in loops


def read_inside(lx: Lifter, cell: Cell) -> None:
    """Asks for arrays in the place of a list if the innermost loop that knows the list appends to it."""
    held: Items = lx.state.cells[cell]
    for loop in reversed(lx.loops):
        before = loop.entered.cells.get(cell)
        if before is not None and before.kind == "list" and _append_calls(loop.body):
            for item in held.items:
                note_any(lx, cell, item)
            raise NeedArray(cell, loop)


def use_inside(lx: Lifter, cell: Cell) -> None:
    """Asks for arrays in the place of a list that has more or fewer items by now, depending on the data."""
    if cell in lx.appended:
        for loop in reversed(lx.loops):
            before = loop.entered.cells.get(cell)
            if before is not None and before.kind == "list" and loop.length is not None:
                raise NeedArray(cell, loop)


def as_array(loop: Any, cell: Cell) -> None:
    """The list becomes arrays when its loop is lifted again."""
    lx: Lifter = loop.lx
    if cell not in lx.appended or loop.length is None:
        raise lx.error("T119", "a list that grows in this loop is read by an index that only the run knows", loop.node)
    loop.grow[cell] = (lx.appended[cell], Dim(max(_appends(lx, loop, cell), 1)))


def _append_calls(body: list[Any], loops: bool = True) -> int:
    """How many ``append`` stand in statements; with ``loops`` False, not in the loops among them."""
    import gast

    count = 0
    stack = list(body)
    while stack:
        node = stack.pop()
        count += isinstance(node, gast.Attribute) and node.attr == "append"
        if loops or not isinstance(node, (gast.For, gast.While)):
            stack.extend(gast.iter_child_nodes(node))
    return count


def note(lx: Lifter, cell: Cell, item: Any) -> None:
    """Remembers what is appended to a list of outside the loop or branch."""
    if any(cell in region for region in lx.regions):
        note_any(lx, cell, item)


def note_any(lx: Lifter, cell: Cell, item: Any) -> None:
    """Widens what is known of the elements of a list by one of them."""
    types = [o.type for o in carries.leaves(lx, item)]
    known = lx.appended.get(cell)
    skeleton = carries.skeleton(lx, item)
    if known is None or known.skeleton != skeleton:
        lx.appended[cell] = Element(carries.template(lx, item), skeleton, types)
        return
    known.types = [_wider(a, b) for a, b in zip(known.types, types)]


def _wider(a: Type, b: Type) -> Type:
    common = promote(a, b)
    return Type(common.dtype, a.dims, common.weak and not a.dims)


def restructured(carrying: Any, cell: Cell, held: Items, now: Items) -> None:
    """A container whose structure a trip changes: a list that grows becomes arrays before the loop."""
    from transpile.frontend.slots import StructureChanges

    lx: Lifter = carrying.lx
    element = lx.appended.get(cell)
    if held.kind not in ("list", "grown") or element is None or now.kind not in ("list", "grown", "conflict"):
        why = "a list or dict changes its structure from trip to trip of this loop"
        raise StructureChanges(lx.error("T119", why, carrying.node, hint="fill an array of known size instead"))
    if now.kind == "list" and len(now.items) < len(held.items):
        raise StructureChanges(lx.error("T119", "a list becomes shorter in this loop", carrying.node))
    if carrying.length is None and held.kind == "grown":
        message = "a list that grew in an earlier loop grows in one whose number of trips is not known"
        raise lx.error("T119", message, carrying.node, hint="append to a list of its own, and join them")
    if carrying.length is None:
        raise Grows(cell)
    per_trip: Dim | None = None
    if now.kind == "list":
        per_trip = Dim(len(now.items) - len(held.items))
    elif now.kind == "grown":
        start = lx.b.form(_count(held)) if held.kind == "grown" else Dim(len(held.items))
        per_trip = lx.symbols.resolve(lx.b.form(_count(now)) - start)
    most = per_trip if per_trip is not None and lx.symbols.is_size(per_trip) else None
    if most is None:
        most = Dim(max(_appends(lx, carrying, cell), 1))
    carrying.grow[cell] = (element, most)


def _appends(lx: Lifter, carrying: Any, cell: Cell) -> int:
    """How often a trip may append at most: each ``append`` that was lifted counts once."""
    if cell in carrying.deep or _append_calls(carrying.body, loops=False) < _append_calls(carrying.body):
        raise lx.error("T119", "a list grows in loops within loops by a number that depends on the data", carrying.node,
                       hint="fill an array of known size instead")  # fmt: skip
    return max(carrying.tally.get(cell, 0), _append_calls(carrying.body))


def tally(lx: Lifter, cell: Cell) -> None:
    """Counts an ``append`` for the loops around."""
    inside = [loop for loop in lx.loops if cell in loop.entered.cells]
    for loop in inside:
        if loop is inside[-1]:
            loop.tally[cell] = loop.tally.get(cell, 0) + 1
        else:
            loop.deep[cell] = None


def is_full(lx: Lifter, carrying: Any, cell: Cell) -> bool:
    """Whether a trip may append more to a list than there is room for; then more is asked for."""
    most = carrying.reserved.get(cell)
    if most is None or cell in carrying.deep or carrying.tally.get(cell, 0) <= most:
        return False
    carrying.grow[cell] = (lx.appended[cell], Dim(carrying.tally[cell]))
    return True


def varies(lx: Lifter, type_: Type, known: Collection[str]) -> bool:
    """Whether the sizes are not all made of those that are the same in each trip of a loop."""
    return any(s not in known for d in type_.dims for s in lx.symbols.resolve(d).symbols())


def convert(
    lx: Lifter, cell: Cell, element: Element, capacity: Dim, known: Collection[str], node: Any = None, owners: Any = ()
) -> None:
    """Makes arrays of a list: what it has so far, and room up to ``capacity`` elements. ``known`` are the sizes that are the
    same in each trip."""
    held: Items = lx.state.cells[cell]
    types = list(element.types)
    if held.kind == "grown":
        _enlarge(lx, cell, capacity, types, owners)
        return
    if any(varies(lx, t, known) for t in types):
        message = "the arrays of a list that grows in this loop may have other sizes in each trip"
        raise lx.error("T206", message, node, hint="append arrays of one shape")
    prefix = [carries.leaves(lx, item) for item in held.items]
    for leaves in prefix:
        if len(leaves) != len(types):
            raise lx.error("T119", "the elements of a list that grows in a loop have different structures")
        types = [_wider(t, o.type) for t, o in zip(types, leaves)]
    cells: list[Cell] = []
    for j, type_ in enumerate(types):
        dims = (capacity, *type_.dims)
        name = cell.name if cell.name not in ("", "list") else "items"
        var = lx.b.alloc(name, Type(type_.dtype, dims), "empty", dims=dims, dtype=type_.dtype)
        made = Cell(name, contiguous=True)
        lx.state.cells[made] = Buffer(var)
        cells.append(made)
        for k, leaves in enumerate(prefix):
            _put(lx, made, lx.b.expr(k), leaves[j])
    for item in held.items:
        _freeze(lx, item)
    grown = Grown(tuple(cells), element.like, element.skeleton, tuple(types), owners)
    lx.state.cells[cell] = Items("grown", (lx.const(len(held.items)),), None, grown)


def _enlarge(lx: Lifter, cell: Cell, capacity: Dim, types: list[Type], owners: Any = ()) -> None:
    """Moves what a list has so far to larger arrays; later elements may be of other dtypes."""
    state: Items = lx.state.cells[cell]
    grown: Grown = state.cls
    cells: list[Cell] = []
    wider = [_wider(a, b) for a, b in zip(grown.types, types)]
    for old, type_, is_new in zip(grown.cells, wider, grown.types):
        have = _filled_part(lx, old, _count(state))
        dims = (capacity, *is_new.dims)
        var = lx.b.alloc(old.name, Type(type_.dtype, dims), "empty", dims=dims, dtype=type_.dtype)
        made = Cell(old.name, contiguous=True)
        lx.state.cells[made] = Buffer(var)
        cells.append(made)
        place = Index((Slice(None, 0, None), *[Slice()] * len(is_new.dims)))
        memory.write(lx, made, place, (_count(state),), lx.b.cast(have, type_.dtype).op)
    moved = Grown(tuple(cells), grown.like, grown.skeleton, tuple(wider), owners)
    lx.state.cells[cell] = Items("grown", state.items, None, moved)


def make_room(lx: Lifter, cell: Cell) -> None:
    """One more place at the end of a list that has grown than are known to be there."""
    more = max(_spare(lx, lx.state.cells[cell]), 0) + 1
    _enlarge(lx, cell, count_dim(lx, cell) + more, list(lx.appended[cell].types))


def _spare(lx: Lifter, state: Items) -> int:
    """How many elements there is surely room for."""
    found = lx.symbols.resolve(memory.type_of(lx, state.cls.cells[0]).dims[0] - lx.b.form(_count(state)))
    return found.const if found.is_const else 0


def count_dim(lx: Lifter, cell: Cell) -> Dim:
    """How many elements a list has, as a size."""
    state: Items = lx.state.cells[cell]
    return _count_dim(lx, _count(state)) if state.kind == "grown" else Dim(len(state.items))


def _see_to_room(lx: Lifter, cell: Cell, state: Items, item: Any) -> None:
    """A place for one more element: the loop has made it, or it is made here, or before the branch around."""
    grown: Grown = state.cls
    if any(loop is owner for loop in lx.loops for owner in grown.owners):
        return
    note_any(lx, cell, item)
    for loop in reversed(lx.loops):
        if cell in loop.entered.cells:
            loop.short[cell] = None  # it is lifted again, with room for what each trip appends
            return
    if _spare(lx, state) > 0 and _holds(lx, grown, cell):
        return
    if any(cell in region for region in lx.regions):
        raise NeedRoom(cell)
    make_room(lx, cell)


def _holds(lx: Lifter, grown: Grown, cell: Cell) -> bool:
    """Whether the arrays are of dtypes that what is appended fits in."""
    return all(_wider(a, b).dtype == a.dtype for a, b in zip(grown.types, lx.appended[cell].types))


def _put(lx: Lifter, cell: Cell, k: Expr, value: Operand) -> None:
    rank = len(memory.type_of(lx, cell).dims)
    memory.write(lx, cell, Index((Point(0), *[Slice()] * (rank - 1))), (k.op,), value)


def _count(state: Items) -> Operand:
    return state.items[-1].op if state.kind == "counted" else state.items[0].op


# ------------------------------------------------------------------------------------------------------ operations


def append(lx: Lifter, owner: Ref, item: Any, node: Any) -> Any:
    """``owner.append(item)``."""
    state: Items = lx.state.cells[owner.cell]
    more = lx.b.expr(_count(state)) + 1
    if state.kind == "counted":
        _check_like(lx, state.cls.skeleton, item, node)
        lx.state.cells[owner.cell] = Items("counted", (item, Scalar(more.op)), None, state.cls)
        return Static(None)
    _check_like(lx, state.cls.skeleton, item, node)
    _see_to_room(lx, owner.cell, state, item)
    state = lx.state.cells[owner.cell]
    grown: Grown = state.cls
    _freeze(lx, item, node)
    aliases.check_write(lx, owner.cell)
    for cell, op in zip(grown.cells, carries.leaves(lx, item)):
        _put(lx, cell, lx.b.expr(_count(state)), op)
    lx.state.cells[owner.cell] = Items("grown", (Scalar(more.op),), None, grown)
    return Static(None)


_SHARED = "this stands in a list that grows in a loop, where writes to it in a later trip cannot be followed"


def _freeze(lx: Lifter, item: Any, node: Any = None) -> None:
    """What is appended is kept as it is now; Python's list would show later writes to it, so those are refused, and so are
    those that a loop around has already done: they come again in its next trip."""
    for cell in dict.fromkeys(memory.root(lx, c) for c in aliases.cells_of(lx, item)):
        if any(cell in loop.written and cell in loop.entered.cells for loop in lx.loops):
            raise lx.error("T123", _SHARED, node, hint="append(x.copy())")
        cell.appended = True


def _check_like(lx: Lifter, skeleton: Any, item: Any, node: Any) -> None:
    if skeleton != carries.skeleton(lx, item):
        raise lx.error("T119", "the elements of a list that grows in a loop have different structures", node)


def length(lx: Lifter, value: Ref) -> Any:
    """``len(value)``."""
    return Scalar(_count(lx.state.cells[value.cell]))


def item(lx: Lifter, value: Ref, index: Any, node: Any) -> Any:
    """``value[index]``."""
    from transpile.frontend.values import SliceOf

    state: Items = lx.state.cells[value.cell]
    if isinstance(index, SliceOf):
        return _slice(lx, value, index, node)
    k = lx.b.expr(lx.operand(index, node))
    if state.kind == "counted":
        if not (isinstance(k.op, Const) and k.op.value == -1):
            raise lx.error(
                "T119", "of a list that grows in a 'while' loop only the last element can be read there", node
            )
        return state.items[0]
    if isinstance(k.op, Const) and k.op.value < 0:
        k = lx.b.expr(_count(state)) + k.op.value
    return at(lx, value, k)


def at(lx: Lifter, value: Ref, k: Expr) -> Any:
    """The element of a number that is not negative."""
    grown: Grown = lx.state.cells[value.cell].cls
    ops: list[Operand] = []
    for cell, type_ in zip(grown.cells, grown.types):
        rank = len(memory.type_of(lx, cell).dims)
        found = memory.read_place(lx, cell, (Index((Point(0), *[Slice()] * (rank - 1))),), (k.op,))
        ops.append(lx.b.cast(found, type_).op)
    found = carries.rebuilt(lx, grown.like, iter(ops), SYNTHETIC)
    for made in aliases.cells_of(lx, found):  # a copy of what Python's list would give: it must not be written
        made.appended = True
    return found


def _slice(lx: Lifter, value: Ref, index: Any, node: Any) -> Any:
    """A slice with bounds that are known and not negative: a list of known length."""
    from transpile.frontend.convert import new_list

    bounds = [
        0 if b is None else lx.static(b, "the bound of a slice of a list", node) for b in (index.start, index.stop)
    ]
    if index.stop is None or min(bounds) < 0 or index.step is not None:
        raise lx.error(
            "T119", "this slice of a list that a loop appends to is not supported", node, hint="make it an array first"
        )
    return new_list(lx, [at(lx, value, lx.b.expr(k)) for k in range(*bounds)])


def _count_dim(lx: Lifter, op: Operand) -> Dim:
    """The number of elements as a size: it is not negative."""
    form = lx.symbols.resolve(lx.b.form(op))
    name = form.as_symbol
    if name is not None and isinstance(op, Var) and lx.b.symbols.get(name) is op:
        op.form = form = Dim.symbol(name)
    return form


def _filled_part(lx: Lifter, cell: Cell, count: Operand) -> Expr:
    """The elements so far of one of the arrays of a list."""
    type_ = memory.type_of(lx, cell)
    path = (Index((Slice(None, 0, None), *[Slice()] * (len(type_.dims) - 1))),)
    dims = (_count_dim(lx, count), *type_.dims[1:])
    return lx.b.let("index", lx.state.cells[cell].var, count, path=path, dims=dims)


def stacked(lx: Lifter, value: Ref) -> Any:
    """All elements, as what NumPy makes an array of: an Expr, or a nested list of Exprs."""
    state: Items = lx.state.cells[value.cell]
    if state.kind == "counted":
        raise lx.error("T119", "a list that grows in a 'while' loop cannot be read as a whole there")
    grown: Grown = state.cls
    count = _count_dim(lx, _count(state))
    wholes: list[Expr] = []
    for cell in grown.cells:
        type_ = memory.type_of(lx, cell)
        if lx.symbols.resolve(type_.dims[0]) == count:
            wholes.append(lx.b.expr(memory.read(lx, cell)))
            continue
        wholes.append(_filled_part(lx, cell, _count(state)))
    if isinstance(grown.like, (Scalar, carries.ArrayOf)):
        return wholes[0]
    if not isinstance(grown.like, Tuple) or not all(isinstance(v, (Scalar, carries.ArrayOf)) for v in grown.like.items):
        raise lx.error("T119", "a list of such elements cannot become an array", hint="append arrays or numbers")
    common = promote(*(w.type for w in wholes)).strong
    return lx.b.let("stack", *(lx.b.cast(w, common.dtype) for w in wholes), axis=1)


# --------------------------------------------------------------------------------------- loops of unknown length


def counting(lx: Lifter, cells: list[Cell], run: Callable[[], None], node: Any) -> dict[Cell, Dim]:
    """Lifts a *while* loop with only the last elements of its lists at hand; how many they have at its end."""
    before = lx.state.fork()
    at_first = len(lx.b.block.stmts)
    for cell in cells:
        held: Items = before.cells[cell]
        element = lx.appended[cell]
        last = held.items[-1] if held.items else undefined(lx, element)
        last = _cast_leaves(lx, last, element)
        lx.state.cells[cell] = Items("counted", (last, lx.const(len(held.items))), None, Counted(element.skeleton))
    run()
    found: dict[Cell, Dim] = {}
    for cell in cells:
        op = _count(lx.state.cells[cell])
        assert isinstance(op, Var)
        name = lx.symbols.unique(lx, cell.name if cell.name not in ("", "list") else "items")
        op.form = found[cell] = Dim.symbol(name)
        lx.b.symbols[name] = op
    for stmt in lx.b.block.stmts[at_first:]:
        from transpile.core.nodes import Block

        if any(isinstance(s, Effect) and s.kind == "print" for s in statements(Block(stmts=[stmt]))):
            raise lx.error(
                "T119", "a list grows in a 'while' loop that prints", node, hint="fill an array of known size instead"
            )
    lx.state.vars, lx.state.cells = before.vars, before.cells
    return found


def undefined(lx: Lifter, element: Element) -> Any:
    """An element of which there is none yet."""
    ops: Iterator[Operand] = iter([Undef(t) for t in element.types])
    return carries.rebuilt(lx, element.like, ops, "last")


def _cast_leaves(lx: Lifter, value: Any, element: Element) -> Any:
    types = [_wider(t, o.type) for t, o in zip(element.types, carries.leaves(lx, value))]
    element.types = types
    ops = iter([lx.b.cast(o, t).op for o, t in zip(carries.leaves(lx, value), types)])
    return carries.rebuilt(lx, element.like, ops, "last")


# ------------------------------------------------------------------------------------------------ comprehensions


def filled(lx: Lifter, value: Any, node: Any) -> Any:
    """A list comprehension over a length that only the run knows: a loop that appends."""
    from transpile.frontend import containers, folds
    from transpile.frontend.convert import new_list

    made = new_list(lx, [])

    def one(item: Any) -> None:
        containers.METHODS["list", "append"](lx, made, [item], {}, node)

    saved = lx.frame
    outer = folds.frame_of(lx, node)
    lx.frame = outer
    try:
        lx.state.vars[outer, folds.TOTAL] = made
        folds.generated(lx, value, one, node)
        lx.state.vars.pop((outer, folds.TOTAL))
    finally:
        lx.frame = saved
    return made
