"""Sizes that were equal when the function was compiled are taken to be one, after a guard.

    n = A.shape[0]                        n = A.shape[0]
    d = A.shape[1]               ->       d = A.shape[1]
                                          if n != d:
                                              raise again.OtherSizes

A square matrix is then known to be square: what is checked against one size need not be checked against the other, and loops over
both are one. A small last axis, as of points in space, becomes a number, so that loops over it are written out. A call whose
sizes differ is compiled again without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.analysis.messages import OTHER_SIZES
from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT

Axis = tuple[int, int]  # a parameter's number and one of its axes
Assumed = tuple[tuple[Axis, ...], "int | None"]  # axes of one size, and what it is if it is small

SMALL = 4


def assumed(shapes: Sequence[Sequence[int] | None]) -> tuple[Assumed, ...]:
    """The groups of axes that have the same size, of arguments with these shapes, and small last axes with their sizes.

    A size of 0 or 1 is no such size.

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
    """The lowered function with a guard for each of what is assumed, after the sizes of the parameters."""
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
