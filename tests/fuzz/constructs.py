"""One template for each construct of the language that a random program may hold.

A template takes the `Maker` and the `Scope` and gives lines (nested ones are indented); it makes whatever it needs that is not
there. Its name is the construct's. Order matters: `TEMPLATES` is a table in the order in which they are registered here, so that
a seed means the same program everywhere.
"""

from __future__ import annotations

from . import memory, writes, loops, branches, calls, trees, more, sharing  # isort: skip  # noqa: I001
from .parts import RISKY, TEMPLATES

__all__ = ["RISKY", "TEMPLATES", "branches", "calls", "loops", "memory", "more", "sharing", "trees", "writes"]
