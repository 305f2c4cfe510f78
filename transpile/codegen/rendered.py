"""Generated text."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.base.raised import Raised
from transpile.core import nodes as ir


@dataclass(frozen=True)
class Rendered:
    """Generated source. ``line_map``: line -> the user's; ``raises``: line -> what it raises; ``body`` is what stands below the
    ``imports``; ``members``: module -> what is imported from it; ``classes``: what the text names and does not import."""

    text: str
    name: str
    line_map: Mapping[int, ir.Loc]
    raises: Mapping[int, Raised]
    imports: Sequence[Sequence[ast.stmt]]
    members: Mapping[str, Collection[str]]
    classes: Mapping[str, Any]
    body: str
