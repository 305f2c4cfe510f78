"""What is said of a container that is something else after a trip of a loop than before it."""

from __future__ import annotations

from typing import Any

from transpile.errors import TranspileError
from transpile.frontend.control import carries
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Items


def diagnostic(lx: Lifter, name: str, held: Items, now: Items, node: Any) -> TranspileError:
    """The diagnostic of a container whose structure a trip changes: which part is something else after it."""
    if (held.kind, held.keys, len(held.items)) == (now.kind, now.keys, len(now.items)):
        for key, a, b in zip(held.keys or range(len(held.items)), held.items, now.items):
            if carries.skeleton(lx, a) != carries.skeleton(lx, b):
                part = f"attribute {key!r} of an object" if held.kind == "instance" else f"{name}[{key!r}]"
                text = f"{part} is {describe(lx, a)} before a trip of the loop and {describe(lx, b)} after it"
                return lx.error("T119", text, node, "let it have one structure before the loop and in it")
    what = {"instance": "an object gets or loses attributes", "dict": "a dict gets or loses keys"}.get(held.kind)
    if what is None:
        text = "a list changes its structure from trip to trip of this loop"
        return lx.error("T119", text, node, hint="fill an array of known size instead")
    return lx.error("T119", f"{what} in a trip of this loop", node, "let it have all of them before the loop")
