"""Finds integer sums that may wrap at 64 bits and that decide which memory is accessed.

Numba tells LLVM that integer sums do not wrap. LLVM may then turn a check of ``4 * p`` into a check of ``p``, and let through a
product that wraps to a number outside the array. Such sums become calls of `transpile_runtime.compiled.scalars`, without that
flag.
"""

from __future__ import annotations

from collections import Counter

from transpile.analysis.value_ranges import is_integer
from transpile.core import nodes as ir
from transpile.core.walk import blocks, reads, statements, uses
from transpile.loops.small_integers import Small
from transpile.ops.tables import record_of
from transpile.ops.traits import LESS


class Counted(Small):
    """`Small` with two more kinds of integers: certain loop indices, and products of small integers with a chunk number.

    The indices are those that start small and have a constant positive step: no program runs long enough for them to wrap.
    """

    def _variable(self, var: ir.Var) -> bool:
        """Whether the variable is small: by the two rules of this class, else as in `Small`."""
        loop = self.loops.get(var)
        if loop is not None and isinstance(loop.step, ir.Const) and loop.step.value > 0:
            return self.is_small(loop.start)
        let = self.forms.lets.get(var)
        if let is not None and record_of(let).multiplies and all(map(self.is_small, let.args)):
            return any(self._is_chunk(a) for a in let.args)
        return super()._variable(var)

    def _is_chunk(self, op: ir.Operand) -> bool:
        """Whether the operand is made of indices of parallel loops and constants only: there are as many chunks as threads."""
        return all(v in self.loops and self.loops[v].kind == "parallel" for v in self.forms.of(op).atoms)


def wrapping(fn: ir.Function) -> set[ir.Var]:
    """The results of sums, differences and products of integers that may wrap and that decide which memory is accessed.

    Left out are sums ``p + n`` that are used only where ``p < 0``.
    """
    small = Counted(fn)
    sources, work = _flow(fn.body)
    seen: set[ir.Var] = set()
    found: set[ir.Var] = set()
    lets = small.forms.lets
    while work:
        op = work.pop()
        if not isinstance(op, ir.Var) or op in seen:
            continue
        seen.add(op)
        work += sources.get(op, ())
        let = lets.get(op)
        if let is not None and record_of(let).wraps and is_integer(op) and all(map(is_integer, let.args)):
            if not small.is_small(op):
                found.add(op)
    return found - _from_the_end(fn, lets)


def _flow(body: ir.Block) -> tuple[dict[ir.Var, list[ir.Operand]], list[ir.Operand]]:
    """A pair: for each variable the operands from which it is computed, and the list of operands that decide about memory.

    The latter are subscripts, sizes, ends of loops, operands of checks and calls, and tests that guard a `Raise`.
    """
    sources: dict[ir.Var, list[ir.Operand]] = {}
    roots: list[ir.Operand] = []
    for stmt in statements(body):
        match stmt:
            case ir.Let():
                if isinstance(stmt, ir.View) or stmt.prim == "index" or record_of(stmt).is_call:
                    roots += stmt.args
                else:
                    sources.setdefault(stmt.var, []).extend(stmt.args)
            case ir.Store() | ir.Add() | ir.Alloc():
                roots += stmt.args
            case ir.Check() | ir.BoundsCheck() | ir.Call():
                roots += reads(stmt)
            case ir.If():
                for result, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                    sources.setdefault(result, []).extend((a, b))
                if any(isinstance(s, ir.Raise) for b in blocks(stmt) for s in b.stmts):
                    roots.append(stmt.test)
            case ir.For() | ir.While():
                if isinstance(stmt, ir.For):
                    roots += (stmt.start, stmt.bound, stmt.step)
                inner = (stmt.body, stmt.test) if isinstance(stmt, ir.While) else (stmt.body,)
                for k, (init, out) in enumerate(zip(stmt.inits, stmt.body.yields)):
                    for var in (*(b.params[k] for b in inner), *stmt.results[k : k + 1]):
                        sources.setdefault(var, []).extend((init, out))
    return sources, roots


def _from_the_end(fn: ir.Function, lets: dict[ir.Var, ir.Let]) -> set[ir.Var]:
    """The sums ``p + n`` all of whose uses are a ``where`` that takes them if ``p < 0``: none of these wraps.

    ``lets`` are the *lets* of the function by variable.
    """
    there: Counter[ir.Var] = Counter()
    for user in lets.values():
        if user.prim == "where" and isinstance(user.args[1], ir.Var) and _is_where_negative(user, lets):
            there[user.args[1]] += 1
    everywhere = Counter(op for op in uses(fn.body) if isinstance(op, ir.Var))
    return {var for var, count in there.items() if count == everywhere[var]}


def _is_where_negative(user: ir.Let, lets: dict[ir.Var, ir.Let]) -> bool:
    """Whether ``user`` is ``where(p < 0, p + n, ...)`` with the same ``p`` in test and sum."""
    test, value = (lets.get(a) if isinstance(a, ir.Var) else None for a in user.args[:2])
    if (
        test is None
        or record_of(test).relation is not LESS
        or not isinstance(test.args[1], ir.Const)
        or test.args[1].value != 0
    ):
        return False
    return (
        value is not None
        and record_of(value).is_sum
        and not record_of(value).is_difference
        and test.args[0] is value.args[0]
    )
