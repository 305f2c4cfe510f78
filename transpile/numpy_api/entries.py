"""All callables that user code may name, merged into one table; a name that occurs in two modules is an error.

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
from transpile.ops.tables import joined

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
    """All callables that user code may name, by dotted name; one table, not to be changed."""
    return joined(pair for module in MODULES for pair in module.TABLE.items())
