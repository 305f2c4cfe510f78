"""Matrices whose factors serve several statements: ``solve(a, b)`` in a function, ``solve(a.T, x_bar)`` in its adjoint.

Which matrix it is the definitions say: values are assigned once, so the same variable, through transposes, is the same matrix.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transpile.core.nodes import Alloc, Const, For, Function, Let, Operand, Var, While
from transpile.core.types import INT, Type
from transpile.core.walk import statements
from transpile.lower.elements import Elements
from transpile.lower.views import Range, View

if TYPE_CHECKING:
    from transpile.lower.lowering import Lowering

USERS = ("solve", "inv", "det", "slogdet")


@dataclass(frozen=True)
class Factors:
    """The factors of a stack of matrices: their columns, and the rows that became pivots."""

    batch: tuple[Operand, ...]
    columns: View
    pivots: View


class Matrices:
    """Which matrices of a function are factored more than once."""

    def __init__(self, fn: Function) -> None:
        self.lets = {s.var: s for s in statements(fn.body) if isinstance(s, Let)}
        users = [s for s in statements(fn.body) if isinstance(s, (Let, Alloc)) and s.prim in USERS]
        self.count = Counter(self.base(s.args[0])[0] for s in users)
        loops = [s for s in statements(fn.body) if isinstance(s, (For, While))]
        inside = {id(s) for f in loops for s in statements(f.body)}
        self.again = {self.base(s.args[0])[0] for s in users if id(s) in inside and s.args[0].type.rank == 2}
        self.keys: dict[Operand, Var] = {}

    def base(self, op: Operand) -> tuple[Operand, bool]:
        """The variable that holds the matrix, and whether it is the transpose of that."""
        turned = False
        while isinstance(op, Var) and op in self.lets:
            let = self.lets[op]
            if let.prim == "transpose" and _swaps_last(let.params["axes"]):
                turned = not turned
            elif let.prim not in ("copy", "identity"):
                break
            op = let.args[0]
        return op, turned

    def triangle(self, op: Operand) -> bool | None:
        """Whether the matrix is a lower (False: upper) triangular factor, as a decomposition gives it; None if it is not known to
        be one."""
        base, turned = self.base(op)
        let = self.lets.get(base) if isinstance(base, Var) else None
        if let is None:
            return None
        if let.prim == "cholesky":
            return let.params["upper"] == turned
        source = self.lets.get(let.args[0]) if let.prim == "item" and isinstance(let.args[0], Var) else None
        if source is not None and source.prim == "qr" and let.params["k"] == 1:
            return turned
        return None

    def key(self, op: Operand) -> Var:
        """What stands for the factors of a matrix where variables are looked up, so that they end with its block."""
        return self.keys.setdefault(op, Var("factors", Type("float64")))


def _swaps_last(axes: Any) -> bool:
    n = len(axes)
    return tuple(axes) == (*range(n - 2), n - 1, n - 2)


def factors_of(lw: Lowering, op: Operand) -> tuple[Factors, bool] | None:
    """The factors of a matrix that several statements factor, computed where the first one stands; and whether they are of its
    transpose. None if there is one statement, outside of loops: in a loop all trips have the memory for them."""
    matrices = lw.matrices
    base, turned = matrices.base(op)
    if isinstance(base, Var) and base.buffer or matrices.count[base] < 2 and base not in matrices.again:
        return None
    key = matrices.key(base)
    if key not in lw.env:
        x = lw.elements(op)
        lw.env[key] = [_factored(lw, x), turned]
    found, is_turned = lw.env[key]
    return found, turned != is_turned


def _factored(lw: Lowering, x: Elements) -> Factors:
    from transpile.lower.linear import matrix, part, stacked

    b, dtype = lw.b, x.dtype
    more = (b.expr(x.sizes[-1]) + 1).op
    columns, pivots = lw.memory("lu", dtype, x.sizes), lw.memory("pivots", "int64", (*x.sizes[:-2], more))
    shapes = ((columns, x.sizes), (pivots, (*x.sizes[:-2], more)))
    views = [View(v, tuple(Range(None, s) for s in sizes), tuple(range(len(sizes)))) for v, sizes in shapes]
    view = stacked(lw, x)

    def one(idx: list[Any]) -> None:
        args = (matrix(lw, view, x, idx), part(lw, views[0], idx), part(lw, views[1], idx))
        b.bind("done", INT, "call", args, {"fn": "linalg.lu_factor", "into": (1, 2)})

    lw.nest(x.sizes[:-2], one)
    return Factors(x.sizes[:-2], *views)


def flag(value: bool) -> Const:
    return Const(value, Type("bool"))
