"""A statement with its nested blocks replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transpile.core.nodes import Block, For, If, Stmt, While


def with_blocks(stmt: Stmt, f: Callable[[Block], Block]) -> Stmt:
    match stmt:
        case If():
            return replace(stmt, then=f(stmt.then), orelse=f(stmt.orelse))
        case For():
            return replace(stmt, body=f(stmt.body))
        case While():
            return replace(stmt, test=f(stmt.test), body=f(stmt.body))
    return stmt
