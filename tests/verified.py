"""The verifier with the primitives that there are."""

from __future__ import annotations

from transpile.core import verify as verifier
from transpile.core.nodes import Function
from transpile.rules.tables import prims


def verify(fn: Function) -> Function:
    """``fn`` itself, if it is well formed."""
    return verifier.verify(fn, prims())
