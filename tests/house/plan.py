"""The layers of the compiler: read from the table of `ARCHITECTURE.md`, with the place of each file that is not there yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from house.imports import ROOT

PAGE = ROOT / "ARCHITECTURE.md"

# Where files belong that still stand elsewhere: the longest prefix counts. The table ends empty.
MOVING = {
    "transpile.api": "face", "transpile.check": "face", "transpile.cli": "face", "transpile.command": "face",
    "transpile.beside": "face", "transpile.__main__": "face", "transpile": "face",
    "transpile.lax": "vocabulary", "transpile.random": "vocabulary", "transpile.at": "vocabulary",
    "transpile.tree": "vocabulary", "transpile.in_range": "vocabulary", "transpile.elsewhere": "vocabulary",
    "transpile.arguments": "driver", "transpile.backend": "driver", "transpile.cache": "driver", "transpile.captured": "driver",
    "transpile.compiled": "driver", "transpile.machine_code": "driver",
    "transpile.conditions": "driver", "transpile.describe": "driver", "transpile.failing": "driver", "transpile.floating": "driver",
    "transpile.frames": "driver", "transpile.interpreted": "driver", "transpile.lanes": "driver", "transpile.levels": "driver",
    "transpile.lifts": "driver", "transpile.nested": "driver", "transpile.pipeline": "driver", "transpile.program": "driver",
    "transpile.repeated": "driver", "transpile.request": "driver", "transpile.results": "driver", "transpile.run": "driver",
    "transpile.sharing": "driver", "transpile.signature": "driver", "transpile.specialize": "driver",
    "transpile.aggregates": "base", "transpile.axes": "base", "transpile.axis_names": "base", "transpile.custom": "base",
    "transpile.errors": "base", "transpile.foreign": "base", "transpile.loader": "base", "transpile.making": "base",
    "transpile.treedef": "base", "transpile.core.loc": "base",
    "transpile.rules": "ops", "transpile.rules.api": "numpy_api", "transpile.rules.library": "numpy_api",
    "transpile.rules.arguments": "numpy_api", "transpile.rules.updates": "numpy_api",
    "transpile.memory": "report", "transpile.render": "codegen", "transpile.native": "codegen",
    "transpile.core.peephole": "simplify", "transpile.transform.dce": "simplify", "transpile.transform.tidy": "simplify",
    "transpile.frontend.prune": "simplify", "transpile.loops.dead": "simplify", "transpile.loops.simplify": "simplify",
}  # fmt: skip
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
