"""Resting variables: active variables whose tangent may be exactly 0, because on some path they depend on no input.

Where such a value meets an infinite slope, the tangent is 0, not 0 times infinity. This agrees with reverse mode, where no
cotangent reaches the value. A buffer counts as a whole, whatever the time.

>>> # y = max(x, 0.0) rests, and so does a carried value that some iteration sets to 0.0; y = 2 * x + 1 does not
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from transpile.analysis.activity import carries_derivative
from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.ops.tables import prims


def resting(fn: ir.Function, active: Collection[ir.Var], given: Iterable[ir.Var] = ()) -> set[ir.Var]:
    """The variables in ``active`` whose tangent may be exactly 0 on some path through ``fn``, together with ``given``, the
    parameters of which that is assumed."""
    found = set(given)

    def rests(operand: ir.Operand) -> bool:
        if isinstance(operand, ir.Undef):
            return False
        return not isinstance(operand, ir.Var) or operand not in active or operand in found

    nested = list(statements(fn.body))
    size = -1
    while size != len(found):
        size = len(found)
        for stmt in nested:
            found.update(v for v in _set(stmt, rests) if v in active)
    return found


def _set(stmt: ir.Stmt, rests: Callable[[ir.Operand], bool]) -> Iterator[ir.Var]:
    """The variables to which the statement gives a resting value; ``rests`` says which operands have one. For a loop these are
    results and parameters of its blocks; nested statements are left out."""
    match stmt:
        case ir.Let() | ir.Alloc():
            several = any if prims()[stmt.prim].picks else all
            if several(rests(a) for a in stmt.args if carries_derivative(a)):
                yield stmt.var
        case ir.Store():
            if rests(stmt.value):
                yield stmt.buf
        case ir.Pop():
            yield stmt.var
        case ir.Call():
            yield from stmt.results
        case ir.If():
            for result, *ends in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                if any(rests(e) for e in ends):
                    yield result
        case ir.For() | ir.While():
            for k, (init, out) in enumerate(zip(stmt.inits, stmt.body.yields)):
                if rests(init) or rests(out):
                    yield from (stmt.results[k], *(block.params[k] for block in blocks(stmt)))
