"""Messages of compiled code: the text of an exception or a print, found by a number, the site.

A kernel raises ``errors.IndexError_(site, i, n)``, and the exception class formats the message, so that no string is compiled.
The number of a site is a hash of its message, so equal messages share a site.
"""

from __future__ import annotations

import hashlib
from typing import Any

from transpile.core import nodes as ir
from transpile.core.walk import statements

OTHER_SIZES = "OtherSizes"  # stands in place of the name of an exception


def site(parts: ir.Parts) -> int:
    """The number that stands for a message in compiled code: a hash, so equal messages have equal numbers in every process."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:13], 16)


def place(loc: ir.Loc) -> tuple[Any, ...]:
    """The part of a message that names the user's line, as a tuple of one ``("at", file, line, column)``; empty if no file is
    known."""
    return (("at", loc.file, loc.line, loc.col),) if loc.file else ()


def message(stmt: ir.Effect) -> ir.Parts:
    """The message of an effect in loop core: a tuple of the exception (None for a print), the dtypes of the operands (empty for
    checks), and the text and slots. TypeError for other statements."""
    match stmt:
        case ir.Print():
            return (None, stmt.dtypes, *stmt.parts, stmt.sep, stmt.end)
        case ir.Raise():
            return (stmt.exception, stmt.dtypes, *stmt.parts)
        case ir.Check() | ir.BoundsCheck():
            return (stmt.exception, (), *stmt.parts)
    raise TypeError(stmt)


def sites(fn: ir.Function) -> dict[int, Any]:
    """All messages of a lowered function, by number, except the request to compile for other sizes:
    `transpile_runtime.compiled.errors.SITES` must hold them before it runs."""
    found = (message(s) for s in statements(fn.body) if isinstance(s, ir.Effect) and not is_other_sizes(s))
    return {site(m): m for m in found}


def size_checks(fn: ir.Function) -> frozenset[int]:
    """The numbers of the messages which say that sizes disagree."""
    found = (s for s in statements(fn.body) if isinstance(s, ir.Raise) and s.sizes_at is not None)
    return frozenset(site(message(s)) for s in found)


def is_other_sizes(stmt: ir.Stmt) -> bool:
    """Whether the statement leaves the function because the code was compiled for other sizes, which is no error."""
    return isinstance(stmt, ir.Raise) and stmt.exception == OTHER_SIZES
