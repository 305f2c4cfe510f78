"""``print`` and ``raise`` statements, with their messages as f-strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from transpile.codegen.expression_nodes import LOAD, call, dotted
from transpile.core import nodes as ir

Parts = tuple["str | ast.expr", ...]


def effect_lines(stmt: ir.Print | ir.Raise, args: Sequence[ast.expr]) -> Iterator[Parts]:
    """Yields the one line of a ``print``, ``raise`` or breakpoint, as its parts; ``args`` are the nodes of the operands."""
    if isinstance(stmt, ir.Raise):
        module, _, name = stmt.exception.partition(".")
        error = dotted(f"np.{name}" if module == "numpy" else stmt.exception)
        yield ("raise ", call(error, text(stmt.parts, args)) if stmt.parts else error)
        return
    if isinstance(stmt, ir.Breakpoint):
        yield (call(ast.Name("breakpoint", LOAD)),)
        return
    given = (("sep", stmt.sep, " "), ("end", stmt.end, "\n"))
    keywords = {name: ast.Constant(value) for name, value, default in given if value != default}
    yield (call(ast.Name("print", LOAD), *(printed(p, args) for p in stmt.parts), **keywords),)


def printed(parts: Sequence[Any], args: Sequence[ast.expr]) -> ast.expr:
    """The node of one argument of ``print`` from its parts: the value itself if the message has no text."""
    if len(parts) == 1 and isinstance(parts[0], int):
        return args[parts[0]]
    return text(parts, args)


def text(parts: Sequence[Any], args: Sequence[ast.expr]) -> ast.expr:
    """The node of a message from its parts: a string, or an f-string if something in it is computed at run time.

    A part is text, a number of ``args``, or a triple of that, a conversion and a format.
    """
    if all(isinstance(p, str) for p in parts):
        return ast.Constant("".join(parts))
    pieces: list[ast.expr] = []
    for part in parts:
        piece = _piece(part, args)
        if isinstance(piece, ast.Constant) and pieces and isinstance(pieces[-1], ast.Constant):
            piece = ast.Constant(pieces.pop().value + piece.value)  # type: ignore[attr-defined]
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 and isinstance(pieces[0], ast.Constant) else ast.JoinedStr(pieces)


def _piece(part: Any, args: Sequence[ast.expr]) -> ast.expr:
    """The node of one part of a message: a constant, also for an int known now, or a field of an f-string."""
    if isinstance(part, str):
        return ast.Constant(part)
    slot, conversion, form = part if isinstance(part, tuple) else (part, "", "")
    if isinstance(args[slot], ast.Constant) and type(args[slot].value) is int and not form:  # type: ignore[attr-defined]
        return ast.Constant(str(args[slot].value))  # type: ignore[attr-defined]
    spec = ast.JoinedStr([ast.Constant(form)]) if form else None
    return ast.FormattedValue(args[slot], ord(conversion) if conversion else -1, spec)
