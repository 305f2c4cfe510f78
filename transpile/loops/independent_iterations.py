"""Innermost loops in which no iteration touches what another one writes.

LLVM tests this at run time, and only for a few arrays. It cannot tell apart two rows of one matrix, or an array that a loop
carries, and then does not vectorise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transpile.analysis.accesses import Access, Roots, accesses, is_array
from transpile.analysis.affine import Forms
from transpile.analysis.element_dependence import OtherTrip
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, statements


def loops_apart(fn: ir.Function) -> set[ir.Var]:
    """Indices of innermost loops with independent iterations, provided that two arrays share memory only if one is a view of
    the other."""
    return set(_Search(fn).block(fn.body, None))


def only_in_one_trip(
    x: Sequence[ir.Operand | None],
    y: Sequence[ir.Operand | None],
    loop: ir.For,
    own: set[ir.Var],
    forms: Forms,
    facts: Facts,
) -> bool:
    """Whether two accesses of one array, with the subscripts ``x`` and ``y``, surely touch the same element only in the same
    iteration. ``own``: variables defined in an iteration. A subscript None may be any."""
    pairs = [(forms.of(i), forms.of(j)) for i, j in zip(x, y) if i is not None and j is not None]
    if any(p == q and p.coefficient(loop.index) and not p.atoms & own for p, q in pairs):
        return True
    return OtherTrip((loop,), {loop.index, *own}, facts).never_meet([p for p, _ in pairs], [q for _, q in pairs])


class _Search:
    def __init__(self, fn: ir.Function) -> None:
        self.forms, self.roots = Forms(fn.body), Roots(fn)
        self.facts = Facts(self.forms)

    def block(self, block: ir.Block, loop: ir.For | None) -> Iterator[ir.Var]:
        """The indices of loops in a block whose iterations are independent; ``loop``: the loop of which it is the body."""
        around, self.facts = self.facts, self.facts.inside(loop)
        for stmt in block.stmts:
            self.facts.learn(stmt)
            if isinstance(stmt, ir.For) and self.is_apart(stmt):
                yield stmt.index
            for inner in blocks(stmt):
                yield from self.block(inner, stmt if isinstance(stmt, ir.For) else None)
        self.facts = around

    def is_apart(self, loop: ir.For) -> bool:
        """Whether an innermost loop only accesses elements, and surely no iteration touches one that another iteration
        writes."""
        if loop.body.stop is not None or loop.trips is not None or not isinstance(loop.step, ir.Const):
            return False
        inner = list(statements(loop.body))
        if not all(isinstance(s, (ir.Let, ir.Store, ir.Add)) for s in inner):
            return False
        if any(isinstance(s, ir.Let) and s.prim not in ("index", "dim") and any(map(is_array, s.args)) for s in inner):
            return False
        by_root: dict[ir.Var, list[Access]] = {}
        for s in inner:
            for a in accesses(s):
                by_root.setdefault(self.roots.of(a.var), []).append(a)
        own = set(defined(loop.body))
        return all(self.are_apart(found, loop, own) for found in by_root.values())

    def are_apart(self, found: list[Access], loop: ir.For, own: set[ir.Var]) -> bool:
        """Whether, of the accesses ``found`` to one root, no iteration touches an element that another iteration writes."""
        changes = [a for a in found if a.kind != "read"]
        if not changes:
            return True
        if any(a.var is not found[0].var or a.indices is None for a in found):
            return False
        return all(
            only_in_one_trip(x.indices or (), y.indices or (), loop, own, self.forms, self.facts)
            for x in changes
            for y in found
        )
