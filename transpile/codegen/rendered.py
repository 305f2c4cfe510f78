"""The record of generated text."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.base.raised import Raised
from transpile.core import nodes as ir


@dataclass(frozen=True)
class Rendered:
    """Generated source of a module.

    ``name``: of the function that it is for; ``line_map``: line number, from 1, to the user's location; ``raises``: line number
    to the error that the line raises; ``body``: the text below the ``imports``; ``members``: module to the names imported from
    it; ``classes``: names that the text uses and does not import, to what they stand for.
    """

    text: str
    name: str
    line_map: Mapping[int, ir.Loc]
    raises: Mapping[int, Raised]
    imports: Sequence[Sequence[ast.stmt]]
    members: Mapping[str, Collection[str]]
    classes: Mapping[str, Any]
    body: str
