"""Lays out lines of text: indentation, wrapping, and the user's line as an aligned comment.

A `Line` has a depth and parts, which are text or expression nodes. Only nodes are wrapped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transpile.base.raised import Raised
from transpile.codegen.printer import flat
from transpile.codegen.wrapping import broken
from transpile.core import nodes as ir
from transpile.errors import error, short_path

WIDTH = 100
COLUMN = 60  # comments are aligned at most here
DEEPEST = 99  # levels of indentation: Python reads no more


@dataclass(frozen=True)
class Line:
    """A statement before layout, which may become several physical lines.

    ``depth``: its indentation in levels of 4; ``parts``: text and expression nodes, printed one after the other; ``loc``: the
    user's line, printed if ``comment``; ``raised``: the error it raises.
    """

    depth: int
    parts: tuple[str | ast.expr, ...]
    loc: ir.Loc = ir.NOWHERE
    comment: bool = True
    raised: Raised | None = None

    @property
    def text(self) -> str:
        """The statement on one line, not indented."""
        return "".join(p if isinstance(p, str) else flat(p) for p in self.parts)


def lay_out(lines: Sequence[Line], comments: bool = True, width: int = WIDTH) -> Iterator[tuple[str, Line]]:
    """Yields the physical lines, indented and wrapped, each with the `Line` it belongs to.

    With ``comments`` the user's line is a comment beside, or for want of room above, each statement that has one and asks for
    it. T135 if a line is indented too deeply for Python.
    """
    deep = next((line for line in lines if line.depth > DEEPEST), None)
    if deep is not None:
        message = f"the generated code has more than {DEEPEST} levels of indentation here, which Python does not read"
        hint = "use a table (np.interp, np.select) instead of so many branches, or call it under jit"
        raise error("T135", message, deep.loc, hint)
    physical = [(wrap(line, width), line, comments and line.comment and bool(line.loc.line)) for line in lines]
    column = _column([text for text, _, has_comment in physical if has_comment])
    for text, of, has_comment in physical:
        note = f"# {_place(of.loc)}" if has_comment else ""
        at = _commented(text, note, column) if note else None
        if note and at is None and text[0].strip():
            yield " " * _indent(text[0]) + note, of
        for k, line in enumerate(text):
            yield (line.ljust(max(column, len(line) + 2)) + note if note and k == at else line), of


def _place(loc: ir.Loc) -> str:
    """The user's line as ``file:line``, with a short path."""
    return f"{short_path(loc.file)}:{loc.line}"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _column(texts: Sequence[Sequence[str]]) -> int:
    """The column of comments: two behind the longest last physical line that leaves room for one.

    ``texts`` has the physical lines of each statement with a comment.
    """
    lengths = [len(text[-1]) for text in texts if len(text[-1]) + 2 <= COLUMN]
    return max(lengths, default=0) + 2


def _commented(text: Sequence[str], note: str, column: int) -> int | None:
    """The index in ``text`` of the physical line that takes the comment ``note``: the last one, else the first; None if neither
    has room for it at ``column`` or behind its own text."""
    for k in (len(text) - 1, 0):
        if max(column, len(text[k]) + 2) + len(note) <= WIDTH:
            return k
    return None


def wrap(line: Line, width: int = WIDTH) -> list[str]:
    """The physical lines of a statement, indented; none is longer than ``width`` if its expressions can be broken.

    Text without a node is never wrapped. Of several nodes only the longest is broken; a list ``a, b`` at the end gets
    parentheses.
    """
    pad = " " * (4 * line.depth)
    text = pad + line.text if line.parts else ""
    nodes = [k for k, p in enumerate(line.parts) if not isinstance(p, str)]
    if not nodes:
        return text.split("\n")
    if len(text) <= width:
        return [text]
    first, last = nodes[0], nodes[-1]
    if last > first and last == len(line.parts) - 1 and all(p == ", " for p in line.parts[first + 1 : last : 2]):
        # parentheses allow line breaks
        whole = ast.Tuple([p for p in line.parts if not isinstance(p, str)], ast.Load())
        return wrap(Line(line.depth, (*line.parts[:first], whole), line.loc, line.comment), width)
    longest = max(nodes, key=lambda k: len(flat(line.parts[k])))  # type: ignore[arg-type]
    head = pad + "".join(p if isinstance(p, str) else flat(p) for p in line.parts[:longest])
    tail = "".join(p if isinstance(p, str) else flat(p) for p in line.parts[longest + 1 :])
    lines = broken(line.parts[longest], len(head), len(pad), width - len(tail))
    return [head + lines[0], *lines[1:-1], lines[-1] + tail] if len(lines) > 1 else [head + lines[0] + tail]
