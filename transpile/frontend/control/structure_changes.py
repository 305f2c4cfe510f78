"""The message for a container whose structure the body of a loop changes."""

from __future__ import annotations

from typing import Any

from transpile.errors import TranspileError
from transpile.frontend.control import carries
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Items

ONE_STRUCTURE = "give it the same structure before the loop and in it"
ONE_DTYPE = "give it the same dtype before the loop and in it"


def diagnostic(lx: Lifter, name: str, held: Items, now: Items, node: Any) -> TranspileError:
    """The diagnostic of a container whose structure changes between iterations: it names the part that does."""
    if (held.kind, held.keys, len(held.items)) == (now.kind, now.keys, len(now.items)):
        for key, a, b in zip(held.keys or range(len(held.items)), held.items, now.items):
            if carries.skeleton(lx, a) != carries.skeleton(lx, b):
                part = f"attribute {key!r} of an object" if held.kind == "instance" else f"{name}[{key!r}]"
                text = f"{part} is {describe(lx, a)} before the loop body and {describe(lx, b)} after it"
                return lx.error("T119", text, node, ONE_STRUCTURE)
    if held.kind == "instance":
        text, hint = "an object gets or loses attributes in the body of this loop", "set all attributes before the loop"
    elif held.kind == "dict":
        text, hint = "a dict gets or loses keys in the body of this loop", "set all keys before the loop"
    else:
        text = "the structure of a list changes between iterations of this loop"
        hint = "fill an array of known size instead"
    return lx.error("T119", text, node, hint)
