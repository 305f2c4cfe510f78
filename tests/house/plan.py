"""The layers of the compiler: each package is a layer; files beside the packages are assigned by a table. Both are read from
`ARCHITECTURE.md`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from house.imports import PACKAGE, ROOT

PAGE = ROOT / "ARCHITECTURE.md"


@cache
def arrows() -> Mapping[str, frozenset[str]]:
    """The layers that each layer may import, from the rows ``| `name` | what it is | `a` `b` |`` of the page."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", PAGE.read_text(), re.MULTILINE)
    return {name: frozenset(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows}


@cache
def beside() -> Mapping[str, str]:
    """The layers of modules beside the packages, from the rows ``| `a` `b` | `layer` |``."""
    rows = re.findall(r"^\| ((?:`[\w.]+` ?)+) \| `(\w+)` \|$", PAGE.read_text(), re.MULTILINE)
    return {name: place for names, place in rows for name in re.findall(r"`([\w.]+)`", names)}


def layer(module: str) -> str:
    """The layer that a module belongs to."""
    if module == PACKAGE:
        return layer(f"{PACKAGE}.__init__")
    parts = module.split(".")[1:]
    for end in range(len(parts), 0, -1):
        found = beside().get(".".join(parts[:end]))
        if found is not None:
            return found
    return parts[0]
