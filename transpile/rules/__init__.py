"""What is known of each primitive, as tables.

In: names. Out: `PRIMS`, the table of all primitives. Tables are plain dictionaries built by the modules of this package and
merged here; nothing registers itself.
"""

from __future__ import annotations

from functools import cache

from transpile.rules.prim import Prim


@cache
def prims() -> dict[str, Prim]:
    """All primitives by name."""
    from transpile.rules import tables

    return tables.merge()
