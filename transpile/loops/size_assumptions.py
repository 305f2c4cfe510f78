"""Treats sizes that were equal at compile time as one size, behind a guard.

    n = A.shape[0]                        n = A.shape[0]
    d = A.shape[1]               ->       d = A.shape[1]
                                          if n != d:
                                              raise again.OtherSizes

A square matrix is then known to be square: a check against one size also covers the other, and loops over both can be fused. A
small last axis, such as the coordinates of points in space, gets a constant size, so that loops over it are unrolled. A call
with other sizes is compiled again without the assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.analysis.messages import OTHER_SIZES
from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT

Axis = tuple[int, int]  # a parameter's number and one of its axes
Assumed = tuple[tuple[Axis, ...], "int | None"]  # axes of one size, and the size if it is small

SMALL = 4


def assumed(shapes: Sequence[Sequence[int] | None]) -> tuple[Assumed, ...]:
    """Groups of axes that have the same size in arguments of these shapes, each with the size, if it is small and that of a
    last axis, else None.

    Sizes 0 and 1 are left out; the shape None is that of a number.

    >>> assumed([(9, 9), None, (5, 3)])
    ((((0, 0), (0, 1)), None), (((2, 1),), 3))
    """
    found: dict[int, list[Axis]] = {}
    last: dict[int, bool] = {}
    for k, shape in enumerate(shapes):
        for axis, size in enumerate(shape or ()):
            if size > 1:
                found.setdefault(size, []).append((k, axis))
                last[size] = last.get(size, False) or axis == len(shape or ()) - 1
    small = {size for size in found if size <= SMALL and last[size]}
    return tuple(
        (tuple(group), size if size in small else None)
        for size, group in found.items()
        if len(group) > 1 or size in small
    )


def assume_sizes(fn: ir.Function, sizes: Sequence[Assumed]) -> ir.Function:
    """The lowered function with a guard for each assumption, after the statements that read the sizes of parameters."""
    held: dict[tuple[ir.Var, int], ir.Var] = {}
    start = 0
    for k, stmt in enumerate(fn.body.stmts):
        if isinstance(stmt, ir.Let) and stmt.prim == "dim" and stmt.args[0] in fn.params:
            held[stmt.args[0], stmt.params["axis"]] = stmt.var
            start = k + 1
        else:
            break
    guards: list[ir.Stmt] = []
    for group, size in sizes:
        known: list[ir.Operand] = [held[fn.params[k], axis] for k, axis in group if (fn.params[k], axis) in held]
        if size is not None:
            known.insert(0, ir.Const(size, INT))
        for other in known[1:]:
            test = ir.Var(ir.SYNTHETIC, BOOL)
            guards.append(ir.Let(test, "not_equal", (other, known[0]), {}, fn.loc))
            raised = ir.Raise((), OTHER_SIZES, loc=fn.loc)
            guards.append(ir.If(test, ir.Block((), [raised]), ir.Block(), (), fn.loc))
    if not guards:
        return fn
    stmts = fn.body.stmts
    return replace(fn, body=replace(fn.body, stmts=[*stmts[:start], *guards, *stmts[start:]]))
