"""The callables that user code may name, as one table; a name that stands in two of the modules is an error.

>>> entries()["numpy.tanh"].elementwise
'tanh'
"""

from __future__ import annotations

from functools import cache

from transpile.rules import (
    api_creation,
    api_cumulative,
    api_elementwise,
    api_join,
    api_linalg,
    api_numeric,
    api_products,
    api_quantile,
    api_random,
    api_rearrange,
    api_reduction,
    api_scipy,
    api_shape,
    api_sorting,
    api_special,
)
from transpile.rules.api import Entry

MODULES = (
    api_creation,
    api_cumulative,
    api_elementwise,
    api_join,
    api_linalg,
    api_numeric,
    api_products,
    api_quantile,
    api_random,
    api_rearrange,
    api_reduction,
    api_scipy,
    api_shape,
    api_sorting,
    api_special,
)


@cache
def entries() -> dict[str, Entry]:
    """All callables by dotted name."""
    merged: dict[str, Entry] = {}
    for module in MODULES:
        for name, entry in module.TABLE.items():
            if name in merged:
                raise ValueError(f"{name!r} stands in two tables")
            merged[name] = entry
    return merged
