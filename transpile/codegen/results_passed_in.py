"""Turns a returned array into a parameter that the caller allocates, if its sizes are constants or sizes of parameters.

    def f(x):                                    def f(x, y):
        n = x.shape[0]                               n = x.shape[0]
        y = np.empty((n,), np.float64)     ->        ...
        ...                                          return
        return y

With Numba, returning a new array to Python costs 0.6 µs; allocating it in Python and passing it in costs 0.2 µs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.output import Output


def pass_results_in(fn: ir.Function) -> tuple[ir.Function, tuple[Output, ...]]:
    """A pair: the lowered function with returned arrays as its last parameters, and their descriptions in the same order.

    Moved are results that the function allocates at its top level, returns once, and whose sizes are constants or sizes of
    parameters. It then returns only the others; without such results it is ``fn`` itself and an empty tuple.
    """
    known: dict[ir.Operand, tuple[int, int]] = {}
    numbers = {p: k for k, p in enumerate(fn.params)}
    for stmt in fn.body.stmts:
        if isinstance(stmt, ir.Let) and stmt.prim == "dim" and stmt.args[0] in numbers:
            known[stmt.var] = (numbers[stmt.args[0]], stmt.params["axis"])
    made = {s.var: s for s in fn.body.stmts if isinstance(s, ir.Alloc) and s.var.type.dims}
    times = Counter(y for y in fn.body.yields if isinstance(y, ir.Var))
    outputs: list[Output] = []
    moved: list[ir.Var] = []
    for k, result in enumerate(fn.body.yields):
        alloc = made.get(result) if isinstance(result, ir.Var) and times[result] == 1 else None
        sizes = [_size(a, known) for a in alloc.args] if alloc is not None else []
        if alloc is not None and all(s is not None for s in sizes):
            outputs.append(Output(k, alloc.var.type.dtype, tuple([s for s in sizes if s is not None])))
            moved.append(alloc.var)
    if not moved:
        return fn, ()
    stmts = [s for s in fn.body.stmts if not (isinstance(s, ir.Alloc) and s.var in moved)]
    yields = tuple([y for y in fn.body.yields if y not in moved])
    body = replace(fn.body, stmts=stmts, yields=yields)
    return replace(fn, params=(*fn.params, *moved), body=body), tuple(outputs)


def _size(size: ir.Operand, known: dict[ir.Operand, tuple[int, int]]) -> int | tuple[int, int] | None:
    """A size of a result: an int, the pair (parameter number, axis) whose size it is according to ``known``, or None."""
    if isinstance(size, ir.Const):
        return int(size.value)
    return known.get(size)
