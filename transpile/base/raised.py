"""The error of a ``raise`` in generated text, as data, so that nobody parses its message."""

from __future__ import annotations

import ast
from typing import NamedTuple


class Raised(NamedTuple):
    """Whether it reports sizes that disagree, which holds for all lanes alike, and the lane numbers at the end of the message,
    as expressions."""

    is_of_sizes: bool
    lanes: tuple[ast.expr, ...] = ()
