"""Places in the user's source, which statements and messages carry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """The place in the user's source that a statement comes from; ``caller`` is the call at which its function was inlined."""

    file: str
    line: int
    col: int = 0
    end_line: int = 0
    end_col: int = 0
    function: str = ""
    caller: Loc | None = None


NOWHERE = Loc("", 0)
