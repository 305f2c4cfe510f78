"""Matrices of a function that are factored more than once.

Values are assigned once, so the same variable, seen through transposes, is the same matrix.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from transpile.core import nodes as ir
from transpile.core.types import Type
from transpile.core.walk import statements
from transpile.ops.tables import record_of


class Matrices:
    """The matrices of a function: how often each is factored, and which are known to be triangular."""

    def __init__(self, fn: ir.Function) -> None:
        self.lets = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let)}
        users = [s for s in statements(fn.body) if isinstance(s, (ir.Let, ir.Alloc)) and record_of(s).factored]
        self.count = Counter(self.base(s.args[0])[0] for s in users)
        loops = [s for s in statements(fn.body) if isinstance(s, (ir.For, ir.While))]
        inside = {id(s) for f in loops for s in statements(f.body)}
        self.again = {self.base(s.args[0])[0] for s in users if id(s) in inside and s.args[0].type.rank == 2}
        self.keys: dict[ir.Operand, ir.Var] = {}

    def base(self, op: ir.Operand) -> tuple[ir.Operand, bool]:
        """The variable that holds the matrix, looking through copies and transposes, and whether the matrix is its
        transpose."""
        turned = False
        while isinstance(op, ir.Var) and op in self.lets:
            let = self.lets[op]
            if let.prim == "transpose" and _swaps_last(let.params["axes"]):
                turned = not turned
            elif let.prim not in ("copy", "identity"):
                break
            op = let.args[0]
        return op, turned

    def triangle(self, op: ir.Operand) -> bool | None:
        """True if the matrix is known to be a lower triangular factor of a decomposition, False if an upper one, else None."""
        base, turned = self.base(op)
        let = self.lets.get(base) if isinstance(base, ir.Var) else None
        if let is None:
            return None
        source, k = let, 0
        if let.prim == "item" and isinstance(let.args[0], ir.Var) and let.args[0] in self.lets:
            source, k = self.lets[let.args[0]], let.params["k"]
        triangles = record_of(source).triangles(source.params)
        lower = triangles[k] if k < len(triangles) else None
        return None if lower is None else lower != turned

    def key(self, op: ir.Operand) -> ir.Var:
        """The variable under which the factors of the matrix ``op`` are stored in the environment, the same one at each call:
        they go out of scope with the block of this variable."""
        return self.keys.setdefault(op, ir.Var("factors", Type("float64")))


def _swaps_last(axes: Any) -> bool:
    n = len(axes)
    return tuple(axes) == (*range(n - 2), n - 1, n - 2)
