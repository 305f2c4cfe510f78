"""Casts of constants.

>>> cast_constant(ir.Const(0.1, Type("float64", (), True)), "float32").value
0.10000000149011612
"""

from __future__ import annotations

import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import Type
from transpile.errors import RuleError


def cast_constant(const: ir.Const, dtype: str, weak: bool = False) -> ir.Const:
    """The constant that NumPy's cast to ``dtype`` gives, weak if ``weak``.

    A Python number cast to an integer dtype is truncated, not wrapped if it does not fit; T201 for NaN and infinity.
    """
    value, kind = const.value, np.dtype(dtype).kind
    if kind in "iu" and const.type.weak:  # Python integers do not wrap: one that does not fit is refused elsewhere
        if isinstance(value, float) and not np.isfinite(value):
            raise RuleError(f"cannot convert float {'NaN' if value != value else 'infinity'} to integer", "T201")
        return ir.Const(int(value), Type(dtype, (), weak))
    if const.type.weak:
        value = bool(value) if kind == "b" else float(value)  # converted through a double, integers too
    source = np.asarray(value, None if const.type.weak else const.type.dtype)
    with np.errstate(all="ignore"):
        return ir.Const(source.astype(dtype).item(), Type(dtype, (), weak))


__all__ = ["cast_constant"]
