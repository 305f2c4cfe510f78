"""What ends the lifting of a part before its end: exceptions, each with what whoever catches it needs to begin again."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.errors import TranspileError
from transpile.frontend.values.values import Cell


class Dead(Exception):
    """What follows is never reached: the user's program raised."""


class NeedStatic(Exception):
    """A value must be known when the function is transformed; ``leaf`` is the parameter leaf that it is computed from."""

    def __init__(self, leaf: int, why: TranspileError | None = None) -> None:
        super().__init__(leaf)
        self.leaf = leaf
        self.why = why


class NeedValue(Exception):
    """A value must be known now; ``sources`` are the variables that it is computed from."""

    def __init__(self, sources: tuple[ir.Var, ...], why: TranspileError) -> None:
        super().__init__(sources)
        self.sources = sources
        self.why = why


class NeedBuffer(Exception):
    """A cell from outside a region is written inside it: it must be a buffer before the region begins."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.cell = cell


class Restart(Exception):
    """Lift the whole function again: something was learnt that changes types from the start. ``symbols`` are those of the function,
    if that is not the one that is lifted."""

    def __init__(self, why: str = "", symbols: object = None) -> None:
        super().__init__(why)
        self.symbols = symbols


class NeedRoutine(Exception):
    """A function is nested too deeply in itself: it must be kept."""

    def __init__(self, code: Any) -> None:
        super().__init__(code.name)
        self.code = code
