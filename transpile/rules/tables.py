"""Merges the tables of the package; a name that stands in two tables is an error."""

from __future__ import annotations

from importlib import import_module

from transpile.rules.prim import Prim

MODULES = (
    "structure",
    "arithmetic",
    "elementary",
    "special",
    "reduction",
    "cumulative",
    "sorting",
    "shape",
    "join",
    "creation",
    "products",
    "linalg",
    "factorisations",
    "random",
    "routines",
    "collectives",
)


def merge() -> dict[str, Prim]:
    merged: dict[str, Prim] = {}
    for module in MODULES:
        table = import_module(f"transpile.rules.{module}").TABLE
        for prim in table:
            if prim.name in merged:
                raise ValueError(f"primitive {prim.name!r} stands in two tables")
            merged[prim.name] = prim
    return merged
