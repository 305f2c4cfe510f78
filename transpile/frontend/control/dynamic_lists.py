"""Lists that a loop appends to, and comprehensions over a length that only the run knows: arrays with a count.

A list that a loop grows becomes, before the loop, one buffer for each leaf of its elements with room for all that will come, and
a number of elements. Where each trip appends equally many, that number follows from the index and is not carried. Where the
number of trips is not known (``while``), the loop is lifted twice: once to count, with only the last element at hand, and once to
fill.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative
from transpile.core.types import Type
from transpile.errors import TranspileError
from transpile.frontend.control import carries, dynamic_list_reads
from transpile.frontend.control.dynamic_list_reads import Grown, count, wider
from transpile.frontend.control.slots import StructureChanges
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import Dead, Restart
from transpile.frontend.values import aliases, memory
from transpile.frontend.values.values import Buffer, Cell, Items, Ref, Scalar, Static


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


class NeedWider(Exception):
    """The arrays of a list get an element that they cannot hold: they must be wider before the loop."""

    def __init__(self, cell: Cell, loop: Any) -> None:
        super().__init__(cell)
        self.cell, self.loop = cell, loop


class NeedArray(Exception):
    """A list that an open loop appends to is read there by an index that only the run knows."""

    def __init__(self, cell: Cell, loop: Any) -> None:
        super().__init__(cell)
        self.cell, self.loop = cell, loop


# ------------------------------------------------------------------------------------------------------- in loops


def read_inside(lx: Lifter, cell: Cell, node: Any) -> None:
    """Asks for arrays in the place of a list if the innermost loop that knows the list appends to it."""
    held: Items = lx.state.cells[cell]
    for loop in reversed(lx.loops):
        before = loop.entered.cells.get(cell)
        if before is not None and before.kind == "list" and _append_calls(loop.body):
            if not held.items:
                beyond(lx, cell, "list index out of range", node)
            for item in held.items:
                note_any(lx, cell, item)
            raise NeedArray(cell, loop)


def beyond(lx: Lifter, cell: Cell, message: str, node: Any) -> None:
    """An index that no element of a known list has: where a loop or branch comes there only now and then, and may have appended
    by then, that is an error of the run; what follows is dead."""
    if any(cell in region for region in lx.regions):
        lx.b.emit(ir.Raise((), "IndexError", (message,), loc=lx.b.loc))
        raise Dead


def use_inside(lx: Lifter, cell: Cell, state: Items) -> None:
    """Asks for arrays in the place of a list that has more or fewer items by now, depending on the data: before the loop that
    changes it, or before the branch."""
    for loop in reversed(lx.loops):
        before = loop.entered.cells.get(cell)
        if before is not None and before.kind == "list" and cell in lx.appended:
            if loop.length is None:
                raise Grows(cell)
            raise NeedArray(cell, loop)
    if state.cls is not None and state.cls not in lx.memo:
        lx.memo[state.cls] = True
        raise Restart(f"a list is an array from {state.cls[1]} on")


def at_branch(node: Any, lx: Lifter) -> Any:
    """What the memory of the lifter has for a branch whose lists must be arrays before it."""
    return ("lists of a branch", lx.loc(node))


def meet_as_arrays(lx: Lifter, node: Any, states: Sequence[Any]) -> bool:
    """Whether a list of before a branch that its sides leave with more or fewer items became arrays now, before the branch."""
    if at_branch(node, lx) not in lx.memo:
        return False
    found = False
    for cell, held in list(lx.state.cells.items()):
        if not isinstance(held, Items) or held.kind != "list":
            continue
        ends = [state.cells[cell] for state in states]
        if all(e.kind == "list" and len(e.items) == len(ends[0].items) for e in ends):
            continue
        for item in held.items:
            note_any(lx, cell, item)
        if cell in lx.appended:
            most = max([len(e.items) for e in ends if e.kind == "list"], default=0)
            convert(lx, cell, lx.appended[cell], Dim(max(most, len(held.items))), lx.b.symbols, node)
            found = True
    return found


def as_array(loop: Any, cell: Cell) -> None:
    """The list becomes arrays when its loop is lifted again."""
    lx: Lifter = loop.lx
    known = loop.length is not None
    loop.grow[cell] = (lx.appended[cell], _appends(lx, loop, cell) if known else Dim(0))


def as_wider(loop: Any, cell: Cell) -> None:
    """The arrays of a list get other types when its loop is lifted again."""
    lx: Lifter = loop.lx
    if loop.length is None and any(loop is owner for owner in getattr(lx.state.cells[cell].cls, "owners", ())):
        message = "a list that grows in a 'while' loop gets elements of different types"
        raise lx.error("T119", message, loop.node, hint="make all elements floats")
    loop.grow[cell] = (lx.appended[cell], loop.reserved.get(cell, Dim(0)))


def _append_calls(body: list[Any]) -> int:
    """How many ``append`` stand in statements."""
    nodes = (n for stmt in body for n in gast.walk(stmt))
    return sum(isinstance(n, gast.Attribute) and n.attr == "append" for n in nodes)


def changes_length(lx: Lifter, cell: Cell, old: tuple[Any, ...], new: tuple[Any, ...]) -> None:
    """Notes that a known list becomes longer or shorter, and by what."""
    before = {id(item) for item in old}
    added = [item for item in new if id(item) not in before]
    for item in added:
        note(lx, cell, item)
    for _ in range(max(len(added), len(new) - len(old))):
        tally(lx, cell)
    if len(new) < len(old):
        shrinks(lx, cell)


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
    known.types = [wider(a, b) for a, b in zip(known.types, types)]


def restructured(carrying: Any, cell: Cell, held: Items, now: Items) -> None:
    """A container whose structure a trip changes: a list that grows becomes arrays before the loop."""
    lx: Lifter = carrying.lx
    for item in held.items if held.kind == "list" else ():
        note_any(lx, cell, item)
    element = lx.appended.get(cell)
    if held.kind not in ("list", "grown") or element is None or now.kind not in ("list", "grown", "conflict"):
        raise StructureChanges(carrying.structure_changes(cell.name, held, now))
    if not _grows(carrying, cell):
        carrying.grow[cell] = (element, Dim(0))
        return
    if carrying.length is None and held.kind == "grown":
        message = "a list that grew in an earlier loop grows again in a loop whose number of iterations is not known"
        raise lx.error("T119", message, carrying.node, hint="append to a new list, and join the two")
    if carrying.length is None:
        raise Grows(cell)
    per_trip: Dim | None = None
    if now.kind == "list":
        per_trip = Dim(len(now.items) - len(held.items))
    elif now.kind == "grown":
        start = lx.b.form(count(held)) if held.kind == "grown" else Dim(len(held.items))
        per_trip = lx.symbols.resolve(lx.b.form(count(now)) - start)
    fits = per_trip is not None and lx.symbols.is_size(per_trip) and cell not in carrying.shrinks
    carrying.grow[cell] = (element, per_trip if fits else _appends(lx, carrying, cell))


def _grows(carrying: Any, cell: Cell) -> bool:
    """Whether the body appends to a list at all: if not, it only becomes shorter, or is an array for its indices."""
    return cell in carrying.tally or cell in carrying.deep


def _appends(lx: Lifter, carrying: Any, cell: Cell) -> Dim:
    """How often a trip may append at most: each ``append`` that was lifted counts once."""
    if cell in carrying.deep:
        raise lx.error("T119", "a list grows in nested loops by a number that depends on the data", carrying.node,
                       hint="fill an array of known size instead")  # fmt: skip
    return Dim(max(carrying.tally.get(cell, 0), _append_calls(carrying.body)))


def tally(lx: Lifter, cell: Cell) -> None:
    """Counts an ``append`` for the loops around."""
    inside = [loop for loop in lx.loops if cell in loop.entered.cells]
    for loop in inside:
        if loop is inside[-1]:
            loop.tally[cell] = loop.tally.get(cell, 0) + 1
        else:
            loop.deep[cell] = None


def shrinks(lx: Lifter, cell: Cell) -> None:
    """Notes that a list becomes shorter: what it has after a trip is not the most that it had."""
    for loop in lx.loops:
        loop.shrinks[cell] = None


def is_full(lx: Lifter, carrying: Any, cell: Cell, start: Items, now: Items) -> bool:
    """Whether a trip may append more to a list than there is room for; then more is asked for. ``start`` and ``now`` are what
    it was when the trip began and when it ended."""
    most: Dim | None = carrying.reserved.get(cell)
    if most is None or not _grows(carrying, cell):
        return False
    need = Dim(carrying.tally.get(cell, 0))
    if cell in carrying.deep:
        gap = None
        if cell not in carrying.shrinks and now.kind == "grown":
            first = carrying.counts[cell] if cell in carrying.even else count(start)
            gap = lx.symbols.resolve(lx.b.form(count(now)) - lx.b.form(first))
        need = gap if gap is not None and lx.symbols.is_size(gap) else _appends(lx, carrying, cell)
    if is_nonnegative(lx.symbols.resolve(most - need)):
        return False
    if carrying.length is None:
        message = "a list that grows in this loop is read by an index that is only known at run time"
        raise lx.error("T119", message, carrying.node, hint="append to a new list, and join the two")
    carrying.grow[cell] = (lx.appended[cell], need)
    return True


def _unlike(lx: Lifter, item: Any, node: Any = None) -> TranspileError:
    """The diagnostic of an element that is not like the others."""
    if isinstance(item, Ref) and lx.state.cells[item.cell].kind == "grown":
        text = "a list that grows in a loop holds lists whose lengths depend on the data"
        return lx.error(
            "T119", text, node, hint="make an array of the final shape, np.zeros((rows, columns)), and fill it"
        )
    text = "the elements of a list that grows in a loop have different structures"
    return lx.error("T119", text, node, hint="append elements of the same structure")


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
        message = "the arrays in a list that grows in this loop may have different sizes in each iteration"
        raise lx.error("T206", message, node, hint="append arrays of one shape")
    prefix = [carries.leaves(lx, item) for item in held.items]
    for item, leaves in zip(held.items, prefix):
        if carries.skeleton(lx, item) != element.skeleton:
            raise _unlike(lx, item)
        _check_sizes(lx, types, leaves, node)
        types = [wider(t, o.type) for t, o in zip(types, leaves)]
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
        freeze(lx, item)
    grown = Grown(tuple(cells), element.like, element.skeleton, tuple(types), owners)
    lx.state.cells[cell] = Items("grown", (lx.const(len(held.items)),), None, grown)


def _enlarge(lx: Lifter, cell: Cell, capacity: Dim, types: list[Type], owners: Any = ()) -> None:
    """Moves what a list has so far to larger arrays; later elements may be of other dtypes."""
    state: Items = lx.state.cells[cell]
    grown: Grown = state.cls
    cells: list[Cell] = []
    common = [wider(a, b) for a, b in zip(grown.types, types)]
    if _has_room(lx, grown, common, capacity):
        lx.state.cells[cell] = Items("grown", state.items, None, replace(grown, types=tuple(common), owners=owners))
        return
    for old, type_, is_new in zip(grown.cells, common, grown.types):
        dims = (capacity, *is_new.dims)
        var = lx.b.alloc(old.name, Type(type_.dtype, dims), "empty", dims=dims, dtype=type_.dtype)
        made = Cell(old.name, contiguous=True)
        lx.state.cells[made] = Buffer(var)
        cells.append(made)
        place = ir.Index((ir.Slice(None, 0, None), *[ir.Slice()] * len(is_new.dims)))
        if lx.b.form(count(state)) == Dim(0):
            continue
        have = dynamic_list_reads.filled_part(lx, old, count(state))
        memory.write(lx, made, (place,), (count(state),), lx.b.cast(have, type_.dtype).op)
    moved = Grown(tuple(cells), grown.like, grown.skeleton, tuple(common), owners)
    lx.state.cells[cell] = Items("grown", state.items, None, moved)


def _has_room(lx: Lifter, grown: Grown, types: Sequence[Type], capacity: Dim) -> bool:
    """Whether the arrays hold so many elements of these types as they are."""
    held = [memory.type_of(lx, c) for c in grown.cells]
    room = [lx.symbols.resolve(t.dims[0] - capacity) for t in held]
    return all(a.dtype == b.dtype and is_nonnegative(lx.symbols.least(r)) for a, b, r in zip(held, types, room))


def make_room(lx: Lifter, cell: Cell) -> None:
    """One more place at the end of a list that has grown than are known to be there."""
    more = max(_spare(lx, lx.state.cells[cell]), 0) + 1
    _enlarge(lx, cell, count_dim(lx, cell) + more, list(lx.appended[cell].types))


def _spare(lx: Lifter, state: Items) -> int:
    """How many elements there is surely room for."""
    if not state.cls.cells:
        return 1  # elements without numbers: None, a string
    found = lx.symbols.resolve(memory.type_of(lx, state.cls.cells[0]).dims[0] - lx.b.form(count(state)))
    least = lx.symbols.least(found)
    return least.const if is_nonnegative(least) else 0


def count_dim(lx: Lifter, cell: Cell) -> Dim:
    """How many elements a list has, as a size."""
    state: Items = lx.state.cells[cell]
    return dynamic_list_reads.count_dim(lx, count(state)) if state.kind == "grown" else Dim(len(state.items))


def _see_to_room(lx: Lifter, cell: Cell, state: Items) -> None:
    """A place for one more element: the loop has made it, or it is made here, or before the branch around."""
    grown: Grown = state.cls
    if any(loop is owner for loop in lx.loops for owner in grown.owners):
        return
    for loop in reversed(lx.loops):
        if cell in loop.entered.cells:
            loop.short[cell] = None  # it is lifted again, with room for what each trip appends
            return
    if _spare(lx, state) > 0:
        return
    if any(cell in region for region in lx.regions):
        raise NeedRoom(cell)
    make_room(lx, cell)


def see_to_type(lx: Lifter, cell: Cell, item: Any, node: Any) -> None:
    """Makes sure that an element is like the others, and that the arrays can hold it."""
    state: Items = lx.state.cells[cell]
    _check_like(lx, state.cls.skeleton, item, node)
    if state.kind == "grown":
        _check_sizes(lx, state.cls.types, carries.leaves(lx, item), node)
    note_any(lx, cell, item)
    wanted = lx.appended[cell].types
    if state.kind == "counted" or all(wider(a, b) == a for a, b in zip(state.cls.types, wanted)):
        return
    for loop in reversed(lx.loops):
        if cell in loop.entered.cells:
            raise NeedWider(cell, loop)
    if any(cell in region for region in lx.regions):
        raise NeedRoom(cell)
    _enlarge(lx, cell, memory.type_of(lx, state.cls.cells[0]).dims[0], list(wanted))


def _put(lx: Lifter, cell: Cell, k: Expr, value: ir.Operand) -> None:
    rank = len(memory.type_of(lx, cell).dims)
    memory.write(lx, cell, (ir.Index((ir.Point(0), *[ir.Slice()] * (rank - 1))),), (k.op,), value)
    buffer = memory.to_buffer(lx, cell)
    memory.note_dtypes(lx, buffer, buffer, value)  # NumPy makes an array of the elements, whose dtypes it then knows


# ------------------------------------------------------------------------------------------------------ operations


def append(lx: Lifter, owner: Ref, item: Any, node: Any) -> Any:
    """``owner.append(item)``."""
    tally(lx, owner.cell)
    see_to_type(lx, owner.cell, item, node)
    state: Items = lx.state.cells[owner.cell]
    more = lx.b.expr(count(state)) + 1
    if state.kind == "counted":
        lx.state.cells[owner.cell] = Items("counted", (item, Scalar(more.op)), None, state.cls)
        return Static(None)
    _see_to_room(lx, owner.cell, state)
    state = lx.state.cells[owner.cell]
    grown: Grown = state.cls
    freeze(lx, item, node)
    dynamic_list_reads.check_change(lx, owner.cell)
    for cell, op in zip(grown.cells, carries.leaves(lx, item)):
        _put(lx, cell, lx.b.expr(count(state)), op)
    lx.state.cells[owner.cell] = Items("grown", (Scalar(more.op),), None, grown)
    return Static(None)


_SHARED = "this array is in a list that grows in a loop, and a later iteration may write into it"


def freeze(lx: Lifter, item: Any, node: Any = None) -> None:
    """What is appended is kept as it is now; Python's list would show later writes to it, so those are refused, and so are
    those that a loop around has already done: they come again in its next trip."""
    for cell in dict.fromkeys(memory.root(lx, c) for c in aliases.cells_of(lx, item)):
        if any(cell in loop.written and cell in loop.entered.cells for loop in lx.loops):
            raise lx.error("T123", _SHARED, node, hint="append(x.copy())")
        cell.appended = True


def _check_like(lx: Lifter, skeleton: Any, item: Any, node: Any) -> None:
    if skeleton != carries.skeleton(lx, item):
        raise _unlike(lx, item, node)


def _check_sizes(lx: Lifter, types: Sequence[Type], leaves: Sequence[ir.Operand], node: Any) -> None:
    """The arrays of a list are of one shape: one of another size is no row of theirs."""
    for type_, op in zip(types, leaves):
        if not all(lx.b.same(p, q) for p, q in zip(type_.dims, op.type.dims)):
            message = f"a list that grows in a loop holds arrays of different shapes: {type_} and {op.type}"
            raise lx.error("T206", message, node, hint="append arrays of one shape")
