"""One template for each construct of the language that a random program may contain.

A template takes the `Maker` and the `Scope` and returns lines (nested ones are indented); it creates missing operands itself.
Its name is the construct's. `TEMPLATES` is in the order of registration here, so that a seed means the same program everywhere.
"""

from __future__ import annotations

from . import memory, loops, branches, calls, trees, more, sharing, names, lists, kinds, outside  # isort: skip  # noqa: I001, F401
from .parts import KINDS, RISKY, TEMPLATES

__all__ = [
    "KINDS",
    "RISKY",
    "TEMPLATES",
    "branches",
    "calls",
    "kinds",
    "lists",
    "loops",
    "memory",
    "more",
    "names",
    "outside",
    "sharing",
    "trees",
]
