"""Exceptions for contradictions with an assumption about lanes: the function is decided again with the new fact, or refused."""

from __future__ import annotations

from transpile.core import nodes as ir


class Differs(Exception):
    """A value that lanes were assumed to share is defined, or changed, lane by lane: each lane has its own."""

    def __init__(self, var: ir.Var) -> None:
        self.var = var


class Apart(Exception):
    """A collective that lanes reach one by one, though they must reach it together."""

    def __init__(self, stmt: ir.Stmt) -> None:
        self.stmt = stmt


class Escapes(Exception):
    """A result whose size differs between lanes."""

    def __init__(self, var: ir.Var) -> None:
        self.var = var
