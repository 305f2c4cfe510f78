"""Products of matrices on several cores: each thread makes a share of the result, if that is work enough.

blas.gemm(1.0, a, b, 0.0, c)    ->    chunks = shares.of_matrix(a, b, c, 2, 100000)
                                      if chunks > 1:
                                          for s in prange(chunks):
                                              shares.matrix(1.0, a, b, 0.0, c, s, chunks)
                                      else:
                                          blas.gemm(1.0, a, b, 0.0, c)
"""

from __future__ import annotations

from transpile.core.nodes import SYNTHETIC, Block, Const, For, If, Let, Stmt, Var
from transpile.core.types import BOOL, INT
from transpile.loops.chunks import PARALLEL

_NAMES = {"blas.gemm": "matrix", "blas.gemv": "vector", "blas.part": "part"}
_ASKED = {
    "matrix": (1, 2, 4),
    "vector": (1, 2, 4),
    "part": (1, 2, 3, 4, 5, 6),
}  # arguments that say how much work it is


def is_product(stmt: Let) -> bool:
    return stmt.prim == "call" and stmt.params.get("fn") in _NAMES and "into" in stmt.params


def shared(let: Let, threads: int, least: float) -> list[Stmt]:
    """The product in shares for so many threads, each of ``least`` multiplications or more."""
    name = _NAMES[let.params["fn"]]
    chunks, test, index = Var("chunks", INT), Var(SYNTHETIC, BOOL), Var("s", INT, note=PARALLEL)
    asked = (*(let.args[k] for k in _ASKED[name]), Const(threads, INT), Const(int(least), INT))
    count = Let(chunks, "call", asked, {"fn": f"shares.of_{name}", "into": ()}, let.loc)
    into = {"fn": f"shares.{name}", "into": let.params["into"]}
    share = Let(Var("done", INT), "call", (*let.args, index, chunks), into, let.loc)
    zero, one = Const(0, INT), Const(1, INT)
    loop = For(index, zero, chunks, one, (), Block((), [share]), loc=let.loc)
    choice = If(test, Block((), [loop]), Block((), [let]), (), let.loc)
    return [count, Let(test, "greater", (chunks, one), {}, let.loc), choice]
