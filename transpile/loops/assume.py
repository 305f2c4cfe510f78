"""Sizes that were equal when the function was compiled are taken to be one, after a guard.

    n = A.shape[0]                        n = A.shape[0]
    d = A.shape[1]               ->       d = A.shape[1]
                                          if n != d:
                                              raise errors.OtherSizes_(0)

A square matrix is then known to be square: what is checked against one size need not be checked against the other, and loops over
both are one. A call whose sizes differ is compiled again without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core.nodes import SYNTHETIC, Block, Effect, Function, If, Let, Stmt, Var
from transpile.core.types import BOOL

Axis = tuple[int, int]  # a parameter's number and one of its axes


def equal_sizes(shapes: Sequence[Sequence[int] | None]) -> tuple[tuple[Axis, ...], ...]:
    """The groups of axes that have the same size, of arguments with these shapes; 0 and 1 are no such size.

    >>> equal_sizes([(3, 3), None, (5, 3)])
    (((0, 0), (0, 1), (2, 1)),)
    """
    found: dict[int, list[Axis]] = {}
    for k, shape in enumerate(shapes):
        for axis, size in enumerate(shape or ()):
            if size > 1:
                found.setdefault(size, []).append((k, axis))
    return tuple(tuple(group) for group in found.values() if len(group) > 1)


def assume(fn: Function, groups: Sequence[Sequence[Axis]]) -> Function:
    """The lowered function with a guard for each group, after the sizes of the parameters."""
    sizes: dict[tuple[Var, int], Var] = {}
    start = 0
    for k, stmt in enumerate(fn.body.stmts):
        if isinstance(stmt, Let) and stmt.prim == "dim" and stmt.args[0] in fn.params:
            sizes[stmt.args[0], stmt.params["axis"]] = stmt.var
            start = k + 1
        else:
            break
    guards: list[Stmt] = []
    for group in groups:
        known = [sizes[fn.params[k], axis] for k, axis in group if (fn.params[k], axis) in sizes]
        for other in known[1:]:
            test = Var(SYNTHETIC, BOOL)
            guards.append(Let(test, "not_equal", (other, known[0]), {}, fn.loc))
            raised = Effect("raise", (), {"class": "OtherSizes_", "site": 0, "entry": None}, fn.loc)
            guards.append(If(test, Block((), [raised]), Block(), (), fn.loc))
    if not guards:
        return fn
    stmts = fn.body.stmts
    return replace(fn, body=replace(fn.body, stmts=[*stmts[:start], *guards, *stmts[start:]]))
