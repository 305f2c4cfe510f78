"""Which arrays the names that a loop carries may share memory with: what came in, or what an earlier trip left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transpile.frontend import aliases, memory
from transpile.frontend.slots import Again, Slot, state_around
from transpile.frontend.values import Cell

if TYPE_CHECKING:
    from transpile.frontend.carrying import Carrying


def note(loop: Carrying, slots: list[Slot]) -> None:
    """What the arrays of the body may share memory with: what came in, or what an earlier trip left."""
    lx = loop.lx
    for slot in slots:
        for old, new in slot.pairs:
            aliases.may_be(
                lx, new, (*([memory.root(lx, old)] if old in lx.state.cells else []), *loop.also.get(slot.key, ()))
            )
    for k, slot in enumerate(slots):
        for other in slots[:k]:
            for old, new in slot.pairs:
                for other_old, other_new in other.pairs:
                    if (slot.key, other.key) in loop.same:
                        aliases.may_be(lx, new, (other_new,))
                    elif old is not other_old:
                        aliases.apart(lx, new, other_new)


def at_end(loop: Carrying, slots: list[Slot]) -> None:
    """Notes what names stand for at the end of a trip, where that matters: for arrays that are read elsewhere."""
    lx, before = loop.lx, state_around(loop.lx)
    carried = {s.key for s in slots}
    outside = {
        memory.root_in(before, c)
        for key, value in before.vars.items() if key not in carried
        for c in aliases.cells_of_in(before, value) if c in before.cells
    }  # fmt: skip
    owner = {new: (slot, old) for slot in slots for old, new in slot.pairs}
    ends: list[tuple[Slot, Cell]] = []
    learnt = False
    for slot in slots:
        end = lx.state.vars.get(slot.key) if not isinstance(slot.key, Cell) else None
        for cell in aliases.cells_of(lx, end):
            base = memory.root(lx, cell)
            for other, other_base in ends:
                shared = other_base is base or other_base in lx.aliases.get(base, ())
                if shared and other is not slot and (slot.key, other.key) not in loop.same:
                    loop.same[slot.key, other.key] = None
                    learnt = True
            ends.append((slot, base))
            found = owner[base][1] if base in owner else base
            found = memory.root_in(before, found) if found in before.cells else found
            own = [memory.root_in(before, old) for old, _ in slot.pairs if old in before.cells]
            if found in outside and found not in own and found not in loop.also.setdefault(slot.key, {}):
                loop.also[slot.key][found] = None
                learnt = True
    if learnt:
        raise Again
