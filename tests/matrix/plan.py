"""The cases that are compiled: every pair of operation and template, of operation and order, and of template and order."""

from __future__ import annotations

from zlib import crc32

from .check import ORDERS
from .templates import TEMPLATES


def compiled_of(name: str) -> list[tuple[str, str]]:
    """The templates and orders with which the operation of this name is compiled: each template once, each order at least once.

    They depend on the name alone: adding another operation changes nothing.

    >>> sorted({order for _, order in compiled_of("np.sum(x)")}) == sorted(ORDERS)
    True
    """
    at = crc32(name.encode())
    return [(template, ORDERS[(at + k) % len(ORDERS)]) for k, template in enumerate(TEMPLATES)]
