"""The table of all primitives: those of the modules together; a name that stands in two of them is an error."""

from __future__ import annotations

from functools import cache

from transpile.ops import (
    arithmetic,
    contraction,
    creation,
    cumulative,
    elementary,
    factorisations,
    function_call,
    join,
    lane_collectives,
    linalg,
    random_bits,
    reduction,
    shape,
    sorting,
    special,
    structural,
)
from transpile.ops.record import Prim

MODULES = (
    structural,
    arithmetic,
    elementary,
    special,
    reduction,
    cumulative,
    sorting,
    shape,
    join,
    creation,
    contraction,
    linalg,
    factorisations,
    random_bits,
    function_call,
    lane_collectives,
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
