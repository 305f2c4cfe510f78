"""Splits a carried sum of several products into one sum per product, so that each may become a matrix product.

total = 0.0                                       first = second = 0.0
for k in range(n):                                for k in range(n):
    total += a[i, k] * b[k] + c[i, k] * d[k]  ->      first += a[i, k] * b[k]
                                                  for k in range(n):
                                                      second += c[i, k] * d[k]
                                                  total = first + second
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.types import INT, Type
from transpile.loops.product_calls import Maker
from transpile.loops.product_statements import Letter, Product
from transpile.loops.terms import Term


def one_by_one(make: Maker, p: Product) -> list[ir.Stmt]:
    """The statements that replace a sum with several terms: one nest for each term, then their total as ``p.result``."""
    assert p.result is not None
    dtype = Type(p.result.type.dtype)
    total, *rest = [_sum(make, p, term) for term in p.terms]
    for value in rest:
        total = make.let("add", (total, value), dtype)
    last = make.stmts[-1]
    assert isinstance(last, ir.Let)
    return [*make.stmts[:-1], replace(last, var=p.result)]


def _sum(make: Maker, p: Product, term: Term) -> ir.Var:
    """The variable with the sum over one term; the nest that carries it is appended to ``make.stmts``."""
    assert p.result is not None
    name, dtype = p.result.name, Type(p.result.type.dtype)
    letters, term = _renamed(p.letters, term)
    params = [ir.Var(name, dtype) for _ in letters]
    inits: tuple[ir.Operand, ...] = (ir.Const(0.0, dtype), *params)
    kept, make.stmts = make.stmts, []
    out = make.let("add", (params[-1], make.product(term, dtype)), dtype)
    for c, param, init in [*zip(letters, params, inits)][::-1]:
        body, make.stmts = make.stmts, []
        start, stop = make.form(c.low), make.form(c.high)
        result = ir.Var(name, dtype)
        block = ir.Block((param,), body, (out,))
        make.stmts.append(
            ir.For(c.index, start, stop, ir.Const(1, INT), (init,), block, (result,), None, False, make.loc)
        )
        out = result
    make.stmts = kept + make.stmts
    return out


def _renamed(letters: Sequence[Letter], term: Term) -> tuple[list[Letter], Term]:
    """A pair of the letters and the term, both with fresh indices."""
    found = list(letters)
    for old in letters:
        new = ir.Var(old.index.name, INT)
        form = replace(old, index=new).form
        term = term.replaced(old.index, form)
        found = [replace(c, index=new) if c.index is old.index else c.replaced(old.index, form) for c in found]
    return found, term
