"""What a ``raise`` of generated text says, as data: nobody reads it from the message."""

from __future__ import annotations

import ast
from typing import NamedTuple


class Raised(NamedTuple):
    """Whether sizes do not agree, which is so in all lanes alike; the numbers of lanes that end the message, as written there."""

    is_of_sizes: bool
    lanes: tuple[ast.expr, ...] = ()
