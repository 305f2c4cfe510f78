"""What is not yet as the plan has it: arrows that point up, circles, late imports. The lists only shrink.

``python tests/house/today.py --write`` writes `today.json` anew; the test says what is in it without need, and what is missing.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent)]

from house.imports import circles, edges, imports  # noqa: E402
from house.plan import arrows, layer  # noqa: E402

FILE = HERE / "today.json"


@cache
def found() -> dict[str, list[str]]:
    """The state of the tree: ``up`` (arrows that the table lacks), ``circles`` and ``late`` imports of our own modules."""
    graph = edges()
    up = [f"{a} -> {b}" for a in sorted(graph) for b in sorted(graph[a]) if not is_allowed(a, b)]
    late = [
        f"{name} -> {i.module}"
        for name, all_ in imports().items()
        for i in all_
        if i.where != "top" and i.module in graph
    ]
    return {"up": up, "circles": [" ".join(c) for c in circles(graph)], "late": sorted(set(late))}


def is_allowed(importer: str, imported: str) -> bool:
    first, second = layer(importer), layer(imported)
    return first == second or second in arrows()[first]


def listed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(FILE.read_text())
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(json.dumps(found(), indent=1) + "\n")
    for kind, entries in found().items():
        sizes = f" of {', '.join(str(len(c.split())) for c in entries)} files" if kind == "circles" else ""
        print(f"{kind}: {len(entries)}{sizes}")
