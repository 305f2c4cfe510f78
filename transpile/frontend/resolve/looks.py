"""What lifting looked at of a dict or list outside: some of its parts, by key or position, or all of it.

Of a table of which one record is read, a call need not ask for the others.
"""

from __future__ import annotations

from typing import Any

from transpile.frontend.resolve import reads

Step = tuple[str, Any]


class Looks:
    """The parts of a container that were read, and how often it was the value of an expression of which no part was read.

    An expression counts where it has its value; where a part of this is taken, it counts no longer.
    """

    def __init__(self, place: tuple[Any, ...]) -> None:
        self.place = place
        self.parts: dict[Step, None] = {}
        self.others = 0

    def at(self, key: Any) -> None:
        """A part of an expression's value was read; with None not by a key that is known."""
        if key is not None:
            self.parts["item", key] = None
            self.others -= 1

    def note(self) -> None:
        """Remembers it beside what was read (`transpile.frontend.resolve.reads`)."""
        reads.note_parts(self.place, None if self.others else tuple(self.parts))
