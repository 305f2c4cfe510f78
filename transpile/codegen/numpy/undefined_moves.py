"""Detects assignments of a variable that may be undefined, which raise an error in Python.

if c:                          if c:
    y = x * x          ->          y = x * x
z = y  # z is read              z = y        # UnboundLocalError where the user's text has none
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transpile.analysis.undefined import Undefined
from transpile.codegen.numpy.expression_trees import Nested
from transpile.codegen.numpy.printable_form import Handed, Printable
from transpile.core import nodes as ir
from transpile.core.walk import statements


def moves_undefined(form: Printable) -> bool:
    """Whether the function, printed with these names, assigns a variable that may be undefined to another one."""
    maybe = Undefined(form.fn).maybe
    return bool(maybe) and any(maybe.intersection(form.nested.leaves((h[1],))) for h in _handed(form))


def _handed(form: Printable) -> Iterator[Handed]:
    """Yields the assignments of one name to another that the text has, except those at its returns."""
    live, body = form.live, form.fn.body
    returning = {id(stmt) for stmt in _returning(form.nested, body.stmts, body.yields)}
    for stmt in statements(body):
        match stmt:
            case ir.Let(prim="identity"):
                if not form.is_name(stmt.args[0], form.names[stmt.var]):
                    yield form.names[stmt.var], stmt.args[0], stmt.var
            case ir.If() if id(stmt) not in returning:
                for side in (stmt.then, stmt.orelse):
                    yield from form.pairs(stmt.results, side.yields, live.after[id(stmt)])
            case ir.For() | ir.While():
                around = live.around[id(stmt)] | live.entry[id(stmt.body)]
                yield from form.pairs(stmt.body.params, stmt.inits, around)
                yield from form.pairs(stmt.body.params, stmt.body.yields, around)
                yield from form.pairs(stmt.results, stmt.body.params, live.after[id(stmt)])


def _returning(nested: Nested, stmts: Sequence[ir.Stmt], yields: tuple[ir.Operand, ...]) -> Iterator[ir.If]:
    """Yields the branches at the end of the function whose sides both return, outermost first; the function returns
    ``yields``."""
    last = stmts[-1] if stmts else None
    if isinstance(last, ir.If) and is_handed_on(nested, last, yields):
        yield last
        for side in (last.then, last.orelse):
            yield from _returning(nested, side.stmts, given_back(last, side, yields))


def is_handed_on(nested: Nested, stmt: ir.If, yields: tuple[ir.Operand, ...]) -> bool:
    """Whether the function, which returns ``yields``, returns results of the branch, at least one, unchanged.

    False if an expression among ``yields`` reads a result, or if both sides have no statements and only exchange results.
    """
    results = set(stmt.results)
    if not results or not results & set(yields):
        return False
    reads = {v for y in yields if y in nested.trees for v in nested.leaves((y,))}
    sides = [side for side in (stmt.then, stmt.orelse) if side.stmts or any(y not in results for y in side.yields)]
    return not reads & results and bool(sides)


def given_back(stmt: ir.If, side: ir.Block, yields: tuple[ir.Operand, ...]) -> tuple[ir.Operand, ...]:
    """The values ``yields`` that are returned after a branch, as values of this side of it."""
    given: dict[ir.Operand, ir.Operand] = dict(zip(stmt.results, side.yields))
    return tuple(given.get(y, y) for y in yields)
