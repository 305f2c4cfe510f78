"""Which array a name stands for is not always known: after a branch or in a loop it may be one of several.

Such an array is a value of its own (a join). As long as none of the arrays that it may be is written, nobody can tell; a
write, through it or to one of them while the other is still read, is refused.
"""

from __future__ import annotations

from typing import Any

from transpile.frontend.lifting import Lifting
from transpile.frontend.sources.name_liveness import loads
from transpile.frontend.values import changes
from transpile.frontend.values.parts import parts
from transpile.frontend.values.values import Array, Cell, Derived, Items, Iteration, Maybe, Ref, Scalar, View


def may_be(lx: Lifting, joined: Cell, others: tuple[Cell, ...]) -> None:
    """Notes that ``joined`` may share memory with the others, and with what they may share memory with."""
    mine = lx.aliases.setdefault(joined, {})
    for other in others:
        for one in (other, *lx.aliases.get(other, ())):
            if one is not joined:
                mine[one] = None
                lx.aliases.setdefault(one, {})[joined] = None


def apart(lx: Lifting, a: Cell, b: Cell) -> None:
    """Takes back that two cells may share memory."""
    lx.aliases.get(a, {}).pop(b, None)
    lx.aliases.get(b, {}).pop(a, None)


def is_related(lx: Lifting, a: Cell, b: Cell) -> bool:
    """Whether two cells that are no views are one memory, or may be."""
    return a is b or b in lx.aliases.get(a, ())


def root_in(state: Any, cell: Cell) -> Cell:
    """The cell whose memory it is, in a state."""
    while isinstance(held := state.cells.get(cell), (View, Derived)):
        cell = held.base if isinstance(held, View) else held.source
    return cell


def is_in_list(lx: Lifting, base: Cell) -> bool:
    """Whether the memory stands, or may stand, in a list that a loop grows: such a list holds copies."""
    return base.appended or any(c.appended for c in lx.aliases.get(base, ()))


def note_change(lx: Lifting, base: Cell) -> None:
    """Notes that a cell is written, and what it may be."""
    changes.note(lx.given.get(cell) for cell in (base, *lx.aliases.get(base, ())))


def check_write(lx: Lifting, base: Cell) -> None:
    """Refuses a write to memory that another name, still read, may stand for."""
    lx.writes[base] = lx.writes.get(base, 0) + 1
    note_change(lx, base)
    for loop in lx.loops:
        loop.written[base] = None
    if is_in_list(lx, base):
        message = "this writes into an array that is in a list that grew in a loop"
        raise lx.error(
            "T123", message, hint="append x.copy() to the list, and write into a .copy() of what you read from it"
        )
    others = lx.aliases.get(base)
    if not others:
        return
    for cell, name in _read_later(lx):
        root = root_in(lx.state, cell)
        if root in others and root is not base:
            message = f"this writes into an array that {name!r} may share, depending on the data"
            raise lx.error("T123", message, hint="set one of the two to a .copy()")


def refuse_mixed(lx: Lifting, cell: Cell) -> None:
    """Refuses an operator in place on what is a number (and is rebound) or an array of rank 0 (and is written), if that shows."""
    names = {name for one, name in _read_later(lx) if root_in(lx.state, one) is cell}
    if cell.mixed and len(names) > 1:
        shown = " and ".join(map(repr, sorted(names)))
        message = f"this writes into a number or an array of rank 0, depending on the data, which {shown} share"
        raise lx.error("T123", message, hint="set one of the two to a .copy(), or to float(...) of it")


def _read_later(lx: Lifting) -> list[tuple[Cell, str]]:
    """The arrays that names reach that may be read after the statement that runs, with the names. What an early *return* gave is
    not among them: no statement runs in its function once it has a value."""
    found: list[tuple[Cell, str]] = []
    for (frame, name), value in lx.state.vars.items():
        if frame.code is not None and frame.code.desugared is not None and name == frame.code.desugared.result:
            continue
        if frame.live is None or name in frame.live or (frame is not lx.frame and name in loads(frame.stmt)):
            for cell in cells_of(lx, value):
                found.append((cell, name))
    return found


def cells_of(lx: Lifting, value: Any) -> list[Cell]:
    """The cells of the arrays and containers that a value reaches."""
    return cells_of_in(lx.state, value)


def cells_of_in(state: Any, value: Any, numbers: bool = False) -> list[Any]:
    """`cells_of` in another state; with ``numbers`` there is a None for each number."""
    match value:
        case Scalar() if numbers:
            return [None]
        case Array():
            return [value.cell]
        case Ref():
            held = state.cells.get(value.cell)
            inner = held.items if isinstance(held, Items) else ()
            return [value.cell, *(c for part in inner for c in cells_of_in(state, part, numbers))]
        case Maybe():
            inner = (value.value,)
        case Iteration():
            inner = value.parts
        case _:
            inner = parts(value)
    return [c for part in inner for c in cells_of_in(state, part, numbers)]
