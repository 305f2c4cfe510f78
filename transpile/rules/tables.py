"""The table of all primitives: those of the modules together; a name that stands in two of them is an error."""

from __future__ import annotations

from functools import cache

from transpile.rules import (
    arithmetic,
    collectives,
    creation,
    cumulative,
    elementary,
    factorisations,
    join,
    linalg,
    products,
    random,
    reduction,
    routines,
    shape,
    sorting,
    special,
    structure,
)
from transpile.rules.prim import Prim

MODULES = (
    structure,
    arithmetic,
    elementary,
    special,
    reduction,
    cumulative,
    sorting,
    shape,
    join,
    creation,
    products,
    linalg,
    factorisations,
    random,
    routines,
    collectives,
)


@cache
def prims() -> dict[str, Prim]:
    """All primitives by name."""
    merged: dict[str, Prim] = {}
    for module in MODULES:
        for prim in module.TABLE:
            if prim.name in merged:
                raise ValueError(f"primitive {prim.name!r} stands in two tables")
            merged[prim.name] = prim
    return merged
