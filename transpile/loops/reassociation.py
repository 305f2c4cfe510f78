"""A long sum is four shorter ones, side by side, where no vectors are made of the loop in which it stands.

    s = a + b + c + d + e + f + g + h     ->     s = ((a + e) + (b + f)) + ((c + g) + (d + h))

Each addition waits four cycles for the one before; a processor begins two in each. What a loop carries, or is 0, is added last, so
that a trip waits for one addition of the trip before. Terms are added in another order; nothing else is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, statements, uses
from transpile.loops.loop_shape import is_serial
from transpile.ops.tables import record_of

LONG = 8  # terms
WAYS = 4


def side_by_side(fn: ir.Function) -> ir.Function:
    """The function with such sums."""
    return with_body(fn, _Search(fn).block(fn.body, False))


@dataclass(frozen=True)
class _Chain:
    """Additions, each of the one before and of a term; the first has two of them."""

    adds: tuple[ir.Let, ...]
    terms: tuple[ir.Operand, ...]


class _Search:
    def __init__(self, fn: ir.Function) -> None:
        self.uses = Counter(o for o in uses(fn.body) if isinstance(o, ir.Var))

    def block(self, block: ir.Block, in_vectors: bool) -> ir.Block:
        stmts = [self.inside(s, in_vectors) if blocks(s) else s for s in block.stmts]
        if in_vectors:
            return with_stmts(block, stmts)
        for chain in self.chains(stmts, block.params):
            stmts = _spread(stmts, chain, block.params)
        return with_stmts(block, stmts)

    def inside(self, stmt: ir.Stmt, in_vectors: bool) -> ir.Stmt:
        if isinstance(stmt, (ir.For, ir.While)):
            is_inner = not any(isinstance(s, (ir.For, ir.While)) for s in statements(stmt.body))
            in_vectors = is_inner and isinstance(stmt, ir.For) and not is_serial(stmt)
        return with_blocks(stmt, lambda b: self.block(b, in_vectors))

    def chains(self, stmts: Sequence[ir.Stmt], carried: Sequence[ir.Var]) -> list[_Chain]:
        """The long sums of a block, each all of one."""
        adds = {s.var: s for s in stmts if isinstance(s, ir.Let) and _is_addition(s)}
        if len(adds) < LONG - 1:
            return []
        found: list[_Chain] = []
        seen: set[ir.Var] = set()
        for let in reversed(adds.values()):
            if let.var in seen:
                continue
            chain, terms = [let], []
            while True:
                first, second = chain[-1].args
                if not self.goes_on(first, adds, seen):
                    first, second = second, first
                if not self.goes_on(first, adds, seen):
                    terms += [second, first]
                    break
                terms.append(second)
                chain.append(adds[first])  # type: ignore[index]
            seen.update(a.var for a in chain)
            if sum(not _is_late(t, carried) for t in terms) >= LONG:
                found.append(_Chain(tuple(chain[::-1]), tuple(terms[::-1])))
        return found

    def goes_on(self, op: ir.Operand, adds: dict[ir.Var, ir.Let], seen: set[ir.Var]) -> bool:
        return isinstance(op, ir.Var) and op in adds and op not in seen and self.uses[op] == 1


def _is_addition(let: ir.Let) -> bool:
    return record_of(let).signs == (1, 1) and let.var.type.is_float and not let.var.type.dims


def _spread(stmts: Sequence[ir.Stmt], chain: _Chain, carried: Sequence[ir.Var]) -> list[ir.Stmt]:
    """The statements with the sum in several parts, each added to where the terms are at hand."""
    last = [t for t in chain.terms if _is_late(t, carried)]
    ready = {id(a): chain.terms[k + 1 : k + 2] for k, a in enumerate(chain.adds)}
    ready[id(chain.adds[0])] = chain.terms[:2]
    sums: list[ir.Operand] = []
    turn = 0
    out: list[ir.Stmt] = []

    def added(let: ir.Let, a: ir.Operand, b: ir.Operand) -> ir.Var:
        var = ir.Var(let.var.name, let.var.type)
        out.append(replace(let, var=var, args=(a, b)))
        return var

    for stmt in stmts:
        if id(stmt) not in ready:
            out.append(stmt)
            continue
        assert isinstance(stmt, ir.Let)
        for term in ready[id(stmt)]:
            if _is_late(term, carried):
                continue
            if turn < WAYS:
                sums.append(term)
            else:
                sums[turn % WAYS] = added(stmt, sums[turn % WAYS], term)
            turn += 1
        if stmt is chain.adds[-1]:
            whole = [added(stmt, a, b) for a, b in zip(sums[::2], sums[1::2])]
            total: ir.Operand = whole[0]
            for term in (*whole[1:], *last):
                total = added(stmt, total, term)
            final = out.pop()
            assert isinstance(final, ir.Let)
            out.append(replace(final, var=stmt.var))
    return out


def _is_late(term: ir.Operand, carried: Sequence[ir.Var]) -> bool:
    return isinstance(term, ir.Const) or term in carried
