"""Sums of integers that may wrap at 64 bits and that decide what memory is touched.

Numba tells LLVM that no sum of integers wraps. A check of ``4 * p`` may then become one of ``p``, and let through what wraps to a
number outside the array. Such sums are calls of `transpile_runtime.compiled.scalars`, where it is not said.
"""

from __future__ import annotations

from collections import Counter

from transpile.analysis.value_ranges import is_integer
from transpile.core.nodes import (
    Add,
    Alloc,
    Block,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    Operand,
    Store,
    Var,
    While,
)
from transpile.core.walk import blocks, statements, uses
from transpile.loops.chunks import PARALLEL
from transpile.loops.small import Small

CALLS = {"add": "scalars.plus", "sub": "scalars.minus", "mul": "scalars.times"}


class Counted(Small):
    """Small is also what a loop has counted up to from a small number: nobody waits until that wraps."""

    def _variable(self, var: Var) -> bool:
        loop = self.loops.get(var)
        if loop is not None and isinstance(loop.step, Const) and loop.step.value > 0:
            return self.is_small(loop.start)
        let = self.forms.lets.get(var)
        if let is not None and let.prim == "mul" and all(map(self.is_small, let.args)):
            return any(self._is_chunk(a) for a in let.args)
        return super()._variable(var)

    def _is_chunk(self, op: Operand) -> bool:
        """Whether it is the number of a chunk of a parallel loop, or the next one: there are as many as threads."""
        return all(v.note == PARALLEL for v in self.forms.of(op).variables)


def wrapping(fn: Function) -> set[Var]:
    """The results of such sums."""
    small = Counted(fn)
    sources, work = _flow(fn.body)
    seen: set[Var] = set()
    found: set[Var] = set()
    lets = small.forms.lets
    while work:
        op = work.pop()
        if not isinstance(op, Var) or op in seen:
            continue
        seen.add(op)
        work += sources.get(op, ())
        let = lets.get(op)
        if let is not None and let.prim in CALLS and is_integer(op) and all(map(is_integer, let.args)):
            if not small.is_small(op):
                found.add(op)
    return found - _from_the_end(fn, lets)


def _flow(body: Block) -> tuple[dict[Var, list[Operand]], list[Operand]]:
    """What each variable comes from, and what decides about memory."""
    sources: dict[Var, list[Operand]] = {}
    roots: list[Operand] = []
    for stmt in statements(body):
        match stmt:
            case Let():
                if stmt.prim in ("index", "view", "row", "call"):
                    roots += stmt.args
                else:
                    sources.setdefault(stmt.var, []).extend(stmt.args)
            case Store() | Add() | Alloc():
                roots += stmt.args
            case Effect(kind="check"):
                roots += stmt.args
            case If():
                for result, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                    sources.setdefault(result, []).extend((a, b))
                if any(isinstance(s, Effect) and s.kind == "raise" for b in blocks(stmt) for s in b.stmts):
                    roots.append(stmt.test)
            case For() | While():
                if isinstance(stmt, For):
                    roots += (stmt.start, stmt.bound, stmt.step)
                inner = (stmt.body, stmt.test) if isinstance(stmt, While) else (stmt.body,)
                for k, (init, out) in enumerate(zip(stmt.inits, stmt.body.yields)):
                    for var in (*(b.params[k] for b in inner), *stmt.results[k : k + 1]):
                        sources.setdefault(var, []).extend((init, out))
    return sources, roots


def _from_the_end(fn: Function, lets: dict[Var, Let]) -> set[Var]:
    """Sums ``p + n`` that are used where ``p < 0`` only: none wraps."""
    there: Counter[Var] = Counter()
    for user in lets.values():
        if user.prim == "where" and isinstance(user.args[1], Var) and _is_where_negative(user, lets):
            there[user.args[1]] += 1
    everywhere = Counter(op for op in uses(fn.body) if isinstance(op, Var))
    return {var for var, count in there.items() if count == everywhere[var]}


def _is_where_negative(user: Let, lets: dict[Var, Let]) -> bool:
    test, value = (lets.get(a) if isinstance(a, Var) else None for a in user.args[:2])
    if test is None or test.prim != "less" or not isinstance(test.args[1], Const) or test.args[1].value != 0:
        return False
    return value is not None and value.prim == "add" and test.args[0] is value.args[0]
