"""The core types of the leaves of a call's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.base.signature import plain_array
from transpile.core.dims import Dim
from transpile.core.types import DTYPES, FLOAT, INT, Type
from transpile.errors import NO_COMPLEX, error


def leaf_type(value: Any, number: int, what: Callable[[], str] = lambda: "an argument") -> Any:
    """The core type of a leaf, a number or an array: weak for a Python int or float; each size other than 1 is a new symbol,
    named by ``number``.

    T311 or T409 for a dtype that core lacks; ``what()`` names the leaf in the message.
    """
    if type(value) is float:
        return FLOAT
    if type(value) is int:
        return INT
    if isinstance(value, np.ndarray):
        value = plain_array(value)
    dtype = np.dtype(complex) if type(value) is complex else value.dtype
    found = unsupported(dtype)
    if found is not None:
        code, message, hint = found
        raise error(code, f"{what()} is {message}", hint=hint)
    dims = (Dim(1) if n == 1 else Dim.symbol(f"?{number}_{axis}") for axis, n in enumerate(value.shape))
    return Type(dtype.name, tuple(dims))


def unsupported(dtype: Any) -> tuple[str, str, str] | None:
    """The code, message and hint of the diagnostic for a dtype that core does not have; None for a dtype that it has."""
    if dtype.kind == "c":
        return "T311", f"complex ({dtype.name})", NO_COMPLEX
    if dtype.name in DTYPES and dtype.isnative:
        return None
    shown = dtype.name if dtype.isnative else f"{dtype.name} in foreign byte order"
    return "T409", f"of dtype {shown}, which is not supported", "convert it with .astype(...)"
