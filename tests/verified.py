"""The verifier with the primitives that there are."""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core import verify as verifier
from transpile.ops.tables import prims


def verify(fn: ir.Function) -> ir.Function:
    """``fn`` itself, if it is well formed."""
    return verifier.verify(fn, prims())
