"""Which cases are compiled: of operation, template and order, every pair."""

from __future__ import annotations

from zlib import crc32

from .check import ORDERS
from .templates import TEMPLATES


def compiled_of(name: str) -> list[tuple[str, str]]:
    """The templates and orders that the operation of this name is compiled with: each template once, each order at least once.

    They are its own: another operation beside it changes nothing.

    >>> sorted({order for _, order in compiled_of("np.sum(x)")}) == sorted(ORDERS)
    True
    """
    at = crc32(name.encode())
    return [(template, ORDERS[(at + k) % len(ORDERS)]) for k, template in enumerate(TEMPLATES)]
