"""The elementwise primitive for each of NumPy's names, for one operand and for two."""

from __future__ import annotations

from transpile.ops.tables import prims


def _of(operands: int) -> dict[str, str]:
    return {name: p.name for p in prims().values() if p.operands == operands for name in p.names}


UNARY, BINARY = _of(1), _of(2)
