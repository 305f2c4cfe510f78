"""The verifier with the table of all primitives."""

from __future__ import annotations

from contextlib import AbstractContextManager

from transpile.analysis.overlaps import in_order
from transpile.core import nodes as ir
from transpile.core import verify as verifier
from transpile.core.watch import watching
from transpile.ops.tables import of_dialect


def verify(fn: ir.Function, after: str = "") -> ir.Function:
    """``fn`` itself, if it is well-formed array core."""
    return verifier.verify(fn, of_dialect("array"), after=after)


def check(fn: ir.Function, after: str = "") -> ir.Function:
    """``fn`` itself, if it is well-formed loop core."""
    return verifier.verify(fn, of_dialect("loops"), "loops", after)


def checked_passes() -> AbstractContextManager[None]:
    """A context in which the output of each pass is verified, in both dialects."""
    return watching(verifier.Verifying(of_dialect, in_order))
