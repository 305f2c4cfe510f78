"""Places in the user's source: what statements and messages carry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """Where in the user's source a statement comes from; ``caller`` is the call it was inlined at."""

    file: str
    line: int
    col: int = 0
    end_line: int = 0
    end_col: int = 0
    function: str = ""
    caller: Loc | None = None


NOWHERE = Loc("", 0)
