"""Messages of compiled code: what an exception or a print shows, found by a number, the site.

A kernel raises ``errors.IndexError_(site, i, n)``; the class puts the message together when it is raised, so that no string
is compiled. A site's number is a hash of its message, so that texts that say the same are the same.
"""

from __future__ import annotations

import hashlib
from typing import Any

from transpile.core import nodes as ir
from transpile.core.walk import statements

Parts = tuple[Any, ...]


def site(parts: Parts) -> int:
    """The number of a message."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:13], 16)


def place(loc: ir.Loc) -> tuple[Any, ...]:
    """The part of a message that says the user's line; the path is shown relative to where the program runs."""
    return (("at", loc.file, loc.line, loc.col),) if loc.file else ()


def sites(fn: ir.Function) -> dict[int, Any]:
    """All messages of a lowered function: what `transpile_runtime.compiled.errors.SITES` must hold before it runs."""
    return {
        s.params["site"]: s.params["entry"]
        for s in statements(fn.body)
        if isinstance(s, ir.Effect) and s.params["entry"]
    }
