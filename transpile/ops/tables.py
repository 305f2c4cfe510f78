"""The table of all primitives, merged from those of the modules; a name that occurs twice is an error."""

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
from transpile.ops.library_entries import entries
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
    """One table from pairs of names and entries; ValueError, which begins with ``what``, if a name occurs twice."""
    found: dict[str, T] = {}
    for name, entry in pairs:
        if name in found:
            raise ValueError(f"{what}{name!r} stands in two tables")
        found[name] = entry
    return found


@cache
def prims() -> dict[str, Op]:
    """All primitives of array core by name; one table, not to be changed."""
    return joined(((prim.name, prim) for module in MODULES for prim in module.TABLE), "primitive ")


@cache
def records() -> dict[str, Op]:
    """All records of both dialects: the primitives and the scalar operations that lowering emits."""
    return {**prims(), **{prim.name: prim for prim in SCALARS}}


def of_dialect(dialect: str) -> dict[str, Op]:
    """The records that statements of a dialect may use, by name: for "loops" all of both dialects and the functions of the
    runtime, else the primitives."""
    return _of_loops() if dialect == "loops" else prims()


@cache
def _of_loops() -> dict[str, Op]:
    return {**records(), **entries()}


UNKNOWN = Op("", lambda types, params: BOOL, None, "statement")
"""The record of a statement whose name is no primitive, such as a view; it claims nothing."""


_RECORDS = records()


def record_of(let: Any) -> Op:
    """The record of a statement's primitive, or of a name; `UNKNOWN` if there is none."""
    return _RECORDS.get(let if isinstance(let, str) else let.prim, UNKNOWN)


@cache
def by_token() -> dict[str, Op]:
    """The primitives that are operators of Python, by the names of their classes in `ast`, such as "Add"."""
    return {p.operator.token: p for p in prims().values() if p.operator is not None and p.operator.token}


def neutral_of(prim: str, dtype: str) -> Any:
    """The neutral element of a fold with a primitive, for a dtype."""
    neutral = prims()[prim].neutral
    assert neutral is not None, prim
    return neutral(dtype)


def operator_of(prim: str) -> Operator:
    """The operator of Python that a primitive is."""
    found = prims()[prim].operator
    assert found is not None, prim
    return found
