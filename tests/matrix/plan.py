"""Which cases are compiled: of operation, template and order, every pair."""

from __future__ import annotations

from .check import ORDERS
from .templates import TEMPLATES


def compiled_of(at: int) -> list[tuple[str, str]]:
    """The templates and orders that the operation of this number is compiled with: each template once, each order at least once.

    >>> sorted({order for _, order in compiled_of(3)}) == sorted(ORDERS)
    True
    """
    return [(template, ORDERS[(at + k) % len(ORDERS)]) for k, template in enumerate(TEMPLATES)]
