"""How control may leave statements: by ``break``, ``continue``, ``return``, ``raise``, or at their end."""

from __future__ import annotations

from collections.abc import Sequence

import gast


def exits(stmts: Sequence[gast.stmt]) -> frozenset[str]:
    """Which of "break", "continue", "return" may leave the statements; a loop's own ``break`` does not leave it."""
    found: set[str] = set()
    for stmt in stmts:
        match stmt:
            case gast.Break():
                found.add("break")
            case gast.Continue():
                found.add("continue")
            case gast.Return():
                found.add("return")
            case gast.If():
                found |= exits(stmt.body) | exits(stmt.orelse)
            case gast.With():
                found |= exits(stmt.body)
            case gast.For() | gast.While():
                found |= (exits(stmt.body) & {"return"}) | exits(stmt.orelse)
    return frozenset(found)


def completes(stmts: Sequence[gast.stmt]) -> bool:
    """Whether control may reach what follows the statements."""
    return all(_stmt_completes(s) for s in stmts)


def _stmt_completes(stmt: gast.stmt) -> bool:
    match stmt:
        case gast.Break() | gast.Continue() | gast.Return() | gast.Raise():
            return False
        case gast.If():
            return completes(stmt.body) or completes(stmt.orelse)
        case gast.With():
            return completes(stmt.body)
        case gast.For() | gast.While():
            if "break" in exits(stmt.body):
                return True
            endless = isinstance(stmt, gast.While) and is_true(stmt.test)
            return not endless and completes(stmt.orelse)
    return True


def is_true(test: gast.expr) -> bool:
    """Whether a test is a true constant: ``while True``, ``while 1``."""
    return isinstance(test, gast.Constant) and bool(test.value)


def leaves(stmts: Sequence[gast.stmt]) -> bool:
    """Whether the statements always exit, and not by ``raise`` alone."""
    return bool(exits(stmts)) and not completes(stmts)
