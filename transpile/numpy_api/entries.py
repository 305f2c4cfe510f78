"""The callables that user code may name, as one table; a name that stands in two of the modules is an error.

>>> entries()["numpy.tanh"].elementwise
'tanh'
"""

from __future__ import annotations

from functools import cache

from transpile.numpy_api import (
    numpy_creation,
    numpy_cumulative,
    numpy_elementwise,
    numpy_join,
    numpy_linalg,
    numpy_numeric,
    numpy_products,
    numpy_quantile,
    numpy_rearrange,
    numpy_reduction,
    numpy_shape,
    numpy_sorting,
    random_functions,
    scipy_linalg,
    scipy_special,
)
from transpile.numpy_api.entry_record import Entry

MODULES = (
    numpy_creation,
    numpy_cumulative,
    numpy_elementwise,
    numpy_join,
    numpy_linalg,
    numpy_numeric,
    numpy_products,
    numpy_quantile,
    random_functions,
    numpy_rearrange,
    numpy_reduction,
    scipy_linalg,
    numpy_shape,
    numpy_sorting,
    scipy_special,
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
