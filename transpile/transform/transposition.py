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
    """The transpose of ``fn`` in the parameters ``wrt``: as `vjp` with ``seeds``, it takes the parameters of ``fn``, then a
    cotangent for each floating-point result, and gives an adjoint for each of ``wrt``.

    Raises `TranspileError` T312 if it reads an element of the parameters ``wrt``.
    """
    done = vjp(fn, wrt, seeds=True)
    if (found := first_read(done, wrt)) is not None:
        raise not_linear(fn, *found)
    return replace(done, name=f"{fn.name}_transpose")


def not_linear(fn: ir.Function, operand: ir.Operand, stmt: ir.Stmt) -> Exception:
    """The error T312 for a transpose of ``fn`` that would read the argument ``operand`` in ``stmt``; returned, not raised."""
    assert isinstance(operand, ir.Var)
    name = operand.name
    message = f"{fn.title!r} is not linear in {name!r}: the transpose would need the value of {name!r} here"
    return error("T312", message, stmt.loc, "for the pullback at a point, use vjp")
