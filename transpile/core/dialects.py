"""Which primitives are legal in which dialect. In loop core every value is a number, a packet or memory: operations on whole arrays
have become loops and calls."""

from __future__ import annotations

from typing import Literal

from transpile.core.record_protocol import Record

Dialect = Literal["array", "loops"]

OF_ARRAYS = frozenset("fold scan map product rows matrix library draw collective".split())
OF_NUMBERS = frozenset("scalar number".split())
CALLED = frozenset(["entry"])  # by a `Call`, in loop core
STRUCTURAL_OF_LOOPS = frozenset("cast dim identity index item".split())
"""The primitives of kind "structural" that remain in loop core."""


def is_legal(record: Record, dialect: Dialect) -> bool:
    """Whether a *let* of the dialect may compute the primitive."""
    if record.kind in CALLED:
        return False
    if dialect == "array":
        return record.kind not in OF_NUMBERS
    if record.kind == "structural":
        return record.name in STRUCTURAL_OF_LOOPS
    return record.kind not in OF_ARRAYS
