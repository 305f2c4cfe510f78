"""Import statements as nodes and as lines."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence


def imported(module: str, name: str | None = None) -> ast.stmt:
    """The node of ``import module``, or of ``import module as name``."""
    return ast.Import([ast.alias(module, name)])


def imported_from(module: str, *names: str) -> ast.stmt:
    """The node of ``from module import ...`` with these names."""
    return ast.ImportFrom(module, [ast.alias(n) for n in names], 0)


def import_lines(groups: Iterable[Sequence[ast.stmt]]) -> list[str]:
    """The lines of the import statements, with an empty line between groups; empty groups are left out."""
    parts = ["\n".join(map(ast.unparse, group)) for group in groups if group]
    return "\n\n".join(parts).split("\n") if parts else []
