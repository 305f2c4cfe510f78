"""The transpose of a linear function: its pullback, which must not depend on the point at which it is taken.

    def f(x):                         def f_transpose(x, y_bar):
        return a @ x                      return a.T @ y_bar

Only the sizes of the arguments are read. Terms that do not depend on the arguments are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.walk import first_read
from transpile.core.watch import station
from transpile.errors import error
from transpile.transform.vjp import vjp


@station("transposition")
def transpose(fn: ir.Function, wrt: Sequence[int]) -> ir.Function:
    """The transpose of ``fn`` in the parameters ``wrt``: `vjp` with ``seeds``, which must read no element of these parameters.

    Raises `TranspileError` T312 if it does.
    """
    done = vjp(fn, wrt, seeds=True)
    if (found := first_read(done, wrt)) is not None:
        raise not_linear(fn, *found)
    return replace(done, name=f"{fn.name}_transpose")


def not_linear(fn: ir.Function, operand: ir.Operand, stmt: ir.Stmt) -> Exception:
    """The error for a transpose that would read an argument."""
    assert isinstance(operand, ir.Var)
    name = operand.name
    message = f"{fn.title!r} is not linear in {name!r}: the transpose would need the value of {name!r} here"
    return error("T312", message, stmt.loc, "for the pullback at a point, use vjp")
