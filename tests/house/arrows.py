"""Violations of the layers: imports that point up, cycles, late imports. ``python tests/house/arrows.py`` lists them."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1])]

from house.imports import circles, edges, imports  # noqa: E402
from house.plan import arrows, layer  # noqa: E402


def up() -> list[str]:
    """The imports between layers that the table does not allow."""
    graph = edges()
    return [f"{a} -> {b}" for a in sorted(graph) for b in sorted(graph[a]) if not is_allowed(a, b)]


def late() -> list[str]:
    """The imports of our own modules inside functions or under ``TYPE_CHECKING``."""
    known = edges()
    found = {
        f"{name} -> {i.module}"
        for name, all_ in imports().items()
        for i in all_
        if i.where != "top" and i.module in known
    }
    return sorted(found)


def is_allowed(importer: str, imported: str) -> bool:
    first, second = layer(importer), layer(imported)
    return first == second or second in arrows()[first]


if __name__ == "__main__":
    for kind, entries in (("up", up()), ("circles", [" ".join(c) for c in circles(edges())]), ("late", late())):
        print(f"{kind}: {len(entries)}", *entries, sep="\n  ")
