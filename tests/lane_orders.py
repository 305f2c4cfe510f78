"""Two orders of execution for a batch, both interpreted: all lanes at once where possible, and lane by lane, as in compiled
code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from transpile.base.levels import COMPILED


@contextmanager
def order(by_lane: bool) -> Iterator[None]:
    """A context in which interpreted code runs in the order of compiled code, or not."""
    token = COMPILED.set(by_lane)
    try:
        yield
    finally:
        COMPILED.reset(token)
