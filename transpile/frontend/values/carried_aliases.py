"""Which arrays and containers the names that a loop carries may share memory with: what came in, or what an earlier trip left.

A carried array is a value of its own in the body and after the loop. What it may be besides follows from the ends of the trips:
it is learnt there, and the body is lifted again with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

from transpile.frontend.control.slots import Again, Key, Slot
from transpile.frontend.lifter import Lifter
from transpile.frontend.state import State
from transpile.frontend.values import aliases, memory
from transpile.frontend.values.values import Cell

Part = tuple[Key, int]  # what a carried name or container reaches, by number


@dataclass
class Learnt:
    """What the ends of the trips showed."""

    also: dict[Part, dict[Cell, None]] = field(default_factory=dict)  # arrays of outside that a part may be
    same: dict[tuple[Part, Part], None] = field(default_factory=dict)  # parts that may share memory
    listed: dict[Part, None] = field(default_factory=dict)  # parts that stand in a list that grows


@dataclass
class Carried:
    """A part now, and what it was before the loop; None if it had no value."""

    part: Part
    cell: Cell | None  # None: a number, which may be an array of rank 0 in another trip
    entry: Cell | None


class Loop(Protocol):
    """What is asked of a loop that is being lifted (`transpile.frontend.control.loop_fixpoint`)."""

    lx: Lifter
    entered: State  # before its first trip
    learnt_aliases: Learnt
    parts: list[Carried]


def carried(loop: Loop, slots: list[Slot], state: Any) -> list[Carried]:
    """What the carried names and containers reach in a state."""
    found: list[Carried] = []
    for slot in slots:
        here = _reached(state, slot, state.cells[slot.key] if isinstance(slot.key, Cell) else state.vars.get(slot.key))
        before: list[Cell | None] = [
            aliases.root_in(loop.entered, c) if c is not None and c in loop.entered.cells else None
            for c in _reached(loop.entered, slot, slot.entry)
        ]
        if not isinstance(slot.key, Cell) and slot.key not in state.vars:
            here = [None] * len(before)  # the name was deleted
        if len(before) != len(here):
            before = [None] * len(here)
        found += [Carried((slot.key, k), c, b) for k, (c, b) in enumerate(zip(here, before))]
    return found


def _reached(state: Any, slot: Slot, held: Any) -> list[Cell | None]:
    """The cells of the arrays and containers, with None for numbers: one may be an array of rank 0 in another trip."""
    return [c for v in slot.parts(held) for c in aliases.cells_of_in(state, v, numbers=True)]


def note(
    loop: Loop, slots: list[Slot], ends: Ends | None = None, late: list[list[Cell]] | None = None
) -> list[Carried]:
    """What is carried; notes what these arrays, new in the body, may share memory with. With ``ends`` they are those after the
    loop, and so are the ``late`` ones."""
    lx, learnt = loop.lx, loop.learnt_aliases
    parts = carried(loop, slots, lx.state)
    count = len(parts)
    parts += [Carried(((), k), c, None) for k, c in enumerate(c for cells in late or () for c in cells)]
    for k, p in enumerate(parts):
        if p.cell is None:
            continue
        others: tuple[Cell, ...] = () if p.entry is None else (p.entry,)
        p.cell.appended = p.part in learnt.listed
        if ends is not None:
            others += tuple(ends.origins[k])
            p.cell.appended |= ends.listed[k]
        aliases.may_be(lx, p.cell, (*others, *learnt.also.get(p.part, ())))
    for (i, p), (j, q) in combinations(enumerate(parts), 2):
        if p.cell is None or q.cell is None:
            continue
        at_first = p.entry is not None and q.entry is not None and aliases.is_related(lx, p.entry, q.entry)
        if at_first or (p.part, q.part) in learnt.same or (ends is not None and (i, j) in ends.related):
            aliases.may_be(lx, p.cell, (q.cell,))
        else:
            aliases.apart(lx, p.cell, q.cell)
    return parts[:count]


def at_end(loop: Loop, slots: list[Slot]) -> None:
    """Learns from the end of a trip what the names stand for in the next one."""
    lx, learnt = loop.lx, loop.learnt_aliases
    origins = _Origins(loop, slots)
    count = len(learnt.same) + len(learnt.listed) + sum(map(len, learnt.also.values()))
    parts = [(p, p.cell) for p in carried(loop, slots, lx.state)]
    ends = [(p, memory.root(lx, cell)) for p, cell in parts if cell is not None]
    for p, cell in ends:
        more = [c for c in origins.of(cell) if c is not p.entry and c in origins.outside]
        learnt.also.setdefault(p.part, {}).update(dict.fromkeys(more))
        if aliases.is_in_list(lx, cell):
            learnt.listed[p.part] = None
    for (p, cell), (q, other) in combinations(ends, 2):
        if aliases.is_related(lx, cell, other):
            learnt.same[p.part, q.part] = None
    if len(learnt.same) + len(learnt.listed) + sum(map(len, learnt.also.values())) != count:
        raise Again


class _Origins:
    """What arrays at the end of a trip were before the loop."""

    def __init__(self, loop: Loop, slots: list[Slot]) -> None:
        self.lx, self.before, self.learnt = loop.lx, loop.entered, loop.learnt_aliases
        names = {s.key for s in slots}
        self.outside = {
            aliases.root_in(self.before, c)
            for key, value in self.before.vars.items() if key not in names
            for c in aliases.cells_of_in(self.before, value) if c in self.before.cells
        }  # fmt: skip
        self.inside = {p.cell: p for p in loop.parts if p.cell is not None}

    def of(self, cell: Cell) -> list[Cell]:
        found: dict[Cell, None] = {}
        for one in (cell, *self.lx.aliases.get(cell, ())):
            if one in self.inside:
                p = self.inside[one]
                found.update(dict.fromkeys(() if p.entry is None else (p.entry,)))
                found.update(self.learnt.also.get(p.part, {}))
            elif one in self.before.cells:
                found[aliases.root_in(self.before, one)] = None
        return list(found)


class Ends:
    """The arrays at the end of the last trip, for what they are after the loop: names that the body alone assigns too."""

    def __init__(self, loop: Loop, slots: list[Slot], late: list[list[Cell]]) -> None:
        lx = loop.lx
        origins = _Origins(loop, slots)
        found = [*(p.cell for p in carried(loop, slots, lx.state)), *(c for cells in late for c in cells)]
        roots = [None if c is None else memory.root(lx, c) for c in found]
        self.origins = [[] if c is None else origins.of(c) for c in roots]
        self.listed = [c is not None and aliases.is_in_list(lx, c) for c in roots]
        pairs = combinations([(i, c) for i, c in enumerate(roots) if c is not None], 2)
        self.related = {(i, j): None for (i, a), (j, b) in pairs if aliases.is_related(lx, a, b)}
