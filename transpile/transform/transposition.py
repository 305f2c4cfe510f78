"""The transpose of a linear function: its pullback, which must not depend on where it is taken.

    def f(x):                         def f_transpose(x, y_bar):
        return a @ x                      return a.T @ y_bar

Of the arguments only sizes are read. What a function adds that does not depend on them counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.walk import reads, statements
from transpile.core.watch import station
from transpile.errors import error
from transpile.transform.vjp import vjp


@station("transposition")
def transpose(fn: ir.Function, wrt: Sequence[int]) -> ir.Function:
    """The transpose of ``fn`` in the parameters ``wrt``: as `vjp` with seeds, which reads no element of theirs.

    Raises `TranspileError` T312 where it does.
    """
    done = vjp(fn, wrt, seeds=True)
    given = {done.params[k] for k in wrt}
    for stmt in statements(done.body):
        if not (isinstance(stmt, ir.Let) and stmt.prim == "dim"):
            for operand in reads(stmt):
                if operand in given:
                    raise not_linear(fn, operand, stmt)
    return replace(done, name=f"{fn.name}_transpose")


def not_linear(fn: ir.Function, operand: ir.Operand, stmt: ir.Stmt) -> Exception:
    assert isinstance(operand, ir.Var)
    message = f"{fn.name!r} is not linear in {operand.name!r}: its transpose would read it"
    return error("T312", message, stmt.loc, "vjp gives the pullback at a point")
