"""Splits a nest that sums several products into several nests, so that each may become a matrix product.

    for i in range(n):                            for i in range(n):
        for k in range(m):                            for k in range(m):
            for j in range(d):                            for j in range(d):
                b_bar[k, j] += a[i, k] * c[i, j]    ->        b_bar[k, j] += a[i, k] * c[i, j]
                a_bar[i, k] += b[k, j] * c[i, j]      for i in range(n):
                                                          for k in range(m):
                                                              for j in range(d):
                                                                  a_bar[i, k] += b[k, j] * c[i, j]

Reverse mode turns a product that the user wrote as loops into this form. Nothing in the nest may read what it adds to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from transpile.analysis.accesses import is_pure
from transpile.analysis.loop_reductions import SUM, fold_of
from transpile.core import nodes as ir
from transpile.core.rebuild import with_stmts
from transpile.core.types import Type
from transpile.core.walk import Cloner, free, reads
from transpile.loops.memory_sums import as_additions
from transpile.loops.product_statements import added, letter_of
from transpile.loops.terms import REALS, Code, Terms

LEAST = 3  # loops around a product of matrices


@dataclass(frozen=True)
class Sum:
    """One sum of a nest: an addition to an array, or the ``carried`` value of this number of the outermost loop."""

    add: ir.Add | None = None
    carried: int = -1


def parts(code: Code, given: ir.For, chain: Sequence[ir.For]) -> Iterator[list[ir.Stmt]]:
    """For each sum of the nest ``given`` that can be split off, a list: a nest that computes only it, and the nest without it.

    A nest qualifies if it has several sums, or one that does not start at zero. ``chain``: the loops around the nest.
    """
    nest, around = as_additions(given, code.forms, code.roots), len(chain)
    loops = _loops(code, nest)
    if len(loops) + around < LEAST or not loops:
        return
    adds = [s for s in loops[-1].body.stmts if isinstance(s, ir.Add)]
    sums = [*(Sum(carried=k) for k in range(len(nest.inits))), *(Sum(add=a) for a in adds)]
    if any(r.type.dtype not in REALS or fold_of(nest, k) != SUM for k, r in enumerate(nest.results)):
        return
    if len(sums) < 2 and all(ir.is_literal(init, 0.0) for init in nest.inits):
        return
    touch = code.touches.of(nest)
    if any(code.roots.of(a.buf) in touch.read | touch.written or a.buf.type.dtype not in REALS for a in adds):
        return
    inside = code.inside(chain[0] if chain else given)
    values = [*(_carried(code, loops, k) for k in range(len(nest.inits))), *(a.value for a in adds)]
    if not any(_may_be_product(Terms(code, given, inside), v) for v in values):
        return
    for one in sums:
        if one.add is None or len(one.add.args) < len(loops) + around:
            yield _parted(nest, adds, one)


def _carried(code: Code, loops: Sequence[ir.For], k: int) -> ir.Operand | None:
    """The operand that the innermost of these nested loops adds to the carried value number ``k`` of the outermost one, or
    subtracts from it; None if unknown."""
    param, out = loops[0].body.params[k], loops[0].body.yields[k]
    for loop in loops[1:]:
        if param not in loop.inits:
            return None
        place = loop.inits.index(param)
        param, out = loop.body.params[place], loop.body.yields[place]
    found = added(code, param, out)
    return None if found is None else found[0]


def _may_be_product(terms: Terms, value: ir.Operand | None) -> bool:
    """Whether a value has a term with two or more elements; True if it is unknown (None)."""
    if value is None or (isinstance(value, ir.Var) and value not in terms.code.definer):
        return True
    return any(len(t.reads) > 1 for t in terms.of(value) or ())


def _loops(code: Code, nest: ir.For) -> list[ir.For]:
    """The loops of a nest, outermost first, in which everything except carried values and additions in the innermost loop is
    pure; empty if it is no such nest."""
    loops, last = [], nest
    while letter_of(code, last) is not None:
        loops.append(last)
        inner = [s for s in last.body.stmts if isinstance(s, ir.For)]
        others = [s for s in last.body.stmts if not isinstance(s, ir.For)]
        lets = [s for s in others if isinstance(s, ir.Let) and is_pure(s)]
        if not inner:
            return loops if all(isinstance(s, ir.Add) or any(s is x for x in lets) for s in others) else []
        if len(inner) > 1 or len(lets) < len(others):
            return []
        (last,) = inner
    return []


def _parted(nest: ir.For, adds: Sequence[ir.Add], one: Sum) -> list[ir.Stmt]:
    """The nest of the sum ``one``, then the nest of the others of ``adds`` and of the carried values, if there are any. A
    carried sum starts at 0.0 there and is added to its initial value afterwards."""
    every = range(len(nest.inits))
    others = [a for a in adds if a is not one.add], [k for k in every if k != one.carried]
    rest = [_only(nest, *others)] if any(others) else []
    if one.add is not None:
        return [Cloner().stmt(_only(nest, [one.add], [])), *rest]
    alone = Cloner().stmt(_only(nest, [], [one.carried]))
    assert isinstance(alone, ir.For)
    total, dtype = nest.results[one.carried], Type(nest.results[one.carried].type.dtype)
    alone = replace(alone, inits=(ir.Const(0.0, dtype),))
    both = ir.Let(total, "add", (nest.inits[one.carried], alone.results[0]), {}, nest.loc)
    return [alone, both, *rest]


def _only(loop: ir.For, adds: Collection[ir.Add], kept: Sequence[int]) -> ir.For:
    """The nest with only the additions ``adds``, the carried values at the positions ``kept``, and what they read."""
    body = loop.body
    params, yields = tuple(body.params[k] for k in kept), tuple(body.yields[k] for k in kept)
    wanted: set[ir.Operand] = set(yields)
    stmts: list[ir.Stmt] = []
    for stmt in reversed(body.stmts):
        if isinstance(stmt, ir.For):
            stmt = _only(stmt, adds, [n for n, r in enumerate(stmt.results) if r in wanted])
            wanted |= {stmt.start, stmt.bound, *stmt.inits, *free(stmt.body)}
        elif isinstance(stmt, ir.Add):
            if not any(stmt is a for a in adds):
                continue
            wanted.update(reads(stmt))
        elif isinstance(stmt, ir.Let) and stmt.var in wanted:
            wanted.update(stmt.args)
        else:
            continue
        stmts.append(stmt)
    inits, results = tuple(loop.inits[k] for k in kept), tuple(loop.results[k] for k in kept)
    block = replace(with_stmts(body, stmts[::-1]), params=params, yields=yields)
    return replace(loop, inits=inits, results=results, body=block)
