"""The layers of the compiler: read from the table of `ARCHITECTURE.md`, with the place of each file that is not there yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from house.imports import ROOT

PAGE = ROOT / "ARCHITECTURE.md"

# Where files belong that still stand elsewhere: the longest prefix counts. The table ends empty.
MOVING: Mapping[str, str] = {
    f"transpile.{name}".rstrip("."): place
    for place, names in {
        "face": ". __main__ api check cli command",
        "vocabulary": "lax random at in_range",
        "base": "aggregates axes axis_names beside captured core.loc custom elsewhere errors foreign held intrinsics lax.checks "
        "levels loader making matching options signature tree treedef unravel",
        "ops": "rules",
        "numpy_api": "rules.api rules.arguments rules.library rules.updates",
        "report": "memory",
        "codegen": "render native transform.guards",
        "simplify": "frontend.prune loops.dead loops.simplify transform.dce transform.placeholders transform.tidy",
        "core": "transform.reasons",
        "driver": "arguments backend cache compiled conditions describe failing floating frames interpreted lanes lifts "
        "machine_code nested pipeline program repeated reporting request results run sharing specialize watches",
    }.items()
    for name in names.split()
}
PREFIXES = ("transpile.rules.api_", "transpile.rules.library_")


@cache
def arrows() -> Mapping[str, frozenset[str]]:
    """The layers that each layer may import, from the table of the page: ``| `name` | what it is | `a` `b` |``."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", PAGE.read_text(), re.MULTILINE)
    return {name: frozenset(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows}


def layer(module: str) -> str:
    """The layer that a module belongs to."""
    if module.startswith(PREFIXES):
        return "numpy_api"
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        found = MOVING.get(".".join(parts[:end]))
        if found is not None and (end > 1 or len(parts) == 1):
            return found
    return parts[1]
