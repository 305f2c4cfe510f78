"""Matrix products on several cores: each thread computes a share of the result, if that is enough work.

blas.gemm(1.0, a, b, 0.0, c)    ->    chunks = shares.of_matrix(a, b, c, 2, 100000)
                                      if chunks > 1:
                                          for s in prange(chunks):
                                              shares.matrix(1.0, a, b, 0.0, c, s, chunks)
                                      else:
                                          blas.gemm(1.0, a, b, 0.0, c)
"""

from __future__ import annotations

from typing import TypeGuard

from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT

_NAMES = {"blas.gemm": "matrix", "blas.gemv": "vector", "blas.part": "part"}
# arguments that determine the work
_ASKED = {"matrix": (1, 2, 4), "vector": (1, 2, 4), "part": (1, 2, 3, 4, 5, 6)}


def is_product(stmt: ir.Stmt) -> TypeGuard[ir.Call]:
    """Whether a statement is a BLAS matrix or matrix-vector product."""
    return isinstance(stmt, ir.Call) and stmt.library in _NAMES


def shared(let: ir.Call, threads: int, least: float) -> list[ir.Stmt]:
    """The statements that replace a product: the number of shares, at most ``threads`` and each of at least ``least``
    multiplications, and a branch between the shares in parallel and the call ``let`` itself."""
    name = _NAMES[let.library]
    chunks, test, index = ir.Var("chunks", INT), ir.Var(ir.SYNTHETIC, BOOL), ir.Var("s", INT)
    asked = (*(let.args[k] for k in _ASKED[name]), ir.Const(threads, INT), ir.Const(int(least), INT))
    count = ir.Call(ir.Library(f"shares.of_{name}"), asked, (chunks,), (), let.loc)
    share = ir.Call(ir.Library(f"shares.{name}"), (*let.args, index, chunks), (), let.written, let.loc)
    zero, one = ir.Const(0, INT), ir.Const(1, INT)
    loop = ir.For(index, zero, chunks, one, (), ir.Block((), [share]), loc=let.loc, kind="parallel")
    choice = ir.If(test, ir.Block((), [loop]), ir.Block((), [let]), (), let.loc)
    return [count, ir.Let(test, "greater", (chunks, one), {}, let.loc), choice]
