"""The table of all primitives: those of the modules together; a name that stands in two of them is an error."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from transpile.core.types import BOOL
from transpile.ops import (
    arithmetic,
    contraction,
    creation,
    cumulative,
    elementary,
    factorisations,
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
from transpile.ops.record import Op
from transpile.ops.scalars import TABLE as SCALARS
from transpile.ops.traits import Operator

T = TypeVar("T")

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
    lane_collectives,
)


def joined(pairs: Iterable[tuple[str, T]], what: str = "") -> dict[str, T]:
    """One table of several; a name may stand in one of them only."""
    found: dict[str, T] = {}
    for name, entry in pairs:
        if name in found:
            raise ValueError(f"{what}{name!r} stands in two tables")
        found[name] = entry
    return found


@cache
def prims() -> dict[str, Op]:
    """All primitives by name."""
    return joined(((prim.name, prim) for module in MODULES for prim in module.TABLE), "primitive ")


@cache
def records() -> dict[str, Op]:
    """All of both dialects: with the operations on numbers that lowering makes."""
    return {**prims(), **{prim.name: prim for prim in SCALARS}}


def of_dialect(dialect: str) -> dict[str, Op]:
    """The primitives that statements of a dialect may have."""
    return records() if dialect == "loops" else prims()


UNKNOWN = Op("", lambda types, params: BOOL, None, "statement")
"""What is known of a *let* that views or takes: nothing."""


_RECORDS = records()


def record_of(let: Any) -> Op:
    """The record of a statement's primitive, or of a name."""
    return _RECORDS.get(let if isinstance(let, str) else let.prim, UNKNOWN)


@cache
def by_token() -> dict[str, Op]:
    """Those that are operators of Python's, by the names of their classes in `ast`."""
    return {p.operator.token: p for p in prims().values() if p.operator is not None and p.operator.token}


def neutral_of(prim: str, dtype: str) -> Any:
    """What changes nothing if it is folded with by a primitive."""
    neutral = prims()[prim].neutral
    assert neutral is not None, prim
    return neutral(dtype)


def operator_of(prim: str) -> Operator:
    """The operator of Python's that a primitive is."""
    found = prims()[prim].operator
    assert found is not None, prim
    return found
