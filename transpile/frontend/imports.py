"""``import`` inside a function: of modules that are loaded already, or known by name."""

from __future__ import annotations

import sys
from typing import Any

import gast

from transpile.frontend import assignment, names, resolve
from transpile.frontend.lifter import Lifter


def statement(lx: Lifter, node: Any) -> None:
    """Binds what an import inside a function binds."""
    for alias in node.names:
        if isinstance(node, gast.Import):
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            found: Any = _module(lx, dotted, node)
            assignment.bind(lx, alias.asname or dotted, names.from_binding(lx, found, node), node)
        else:
            if node.level or alias.name == "*":
                raise lx.error(
                    "T110", "this import cannot be followed", node, hint="import it at the top of the module"
                )
            found = _module(lx, node.module, node).attr(alias.name, lx.loc(node))
            assignment.bind(lx, alias.asname or alias.name, names.from_binding(lx, found, node), node)


def _module(lx: Lifter, dotted: str, node: Any) -> Any:
    module = sys.modules.get(dotted)
    if module is None:
        raise lx.error("T110", f"the module {dotted!r} is not loaded", node, hint="import it at the top of the module")
    return resolve.live_module(module)
