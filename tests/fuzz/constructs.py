"""One template for each construct of the language that a random program may hold.

A template takes the `Maker` and the `Scope` and gives lines (nested ones are indented); it makes whatever it needs that is not
there. Its name is the construct's. Order matters: `TEMPLATES` is a table in the order in which they are registered here, so that
a seed means the same program everywhere.
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
