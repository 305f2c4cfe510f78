"""What contradicts what a function was taken to be for all lanes: with it known, the function is decided anew, or refused."""

from __future__ import annotations

from transpile.core import nodes as ir


class Differs(Exception):
    """What lanes seem to share is made, or changed, where one of them is: each has its own."""

    def __init__(self, var: ir.Var) -> None:
        self.var = var


class Apart(Exception):
    """A statement that lanes come to one by one, and in which they would have to be together."""

    def __init__(self, stmt: ir.Stmt) -> None:
        self.stmt = stmt


class Escapes(Exception):
    """A result whose size differs between lanes."""

    def __init__(self, var: ir.Var) -> None:
        self.var = var
