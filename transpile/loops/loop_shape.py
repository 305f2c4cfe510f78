"""Properties of a loop that decide whether fusing it with another one pays."""

from __future__ import annotations

from dataclasses import dataclass

from transpile.analysis.accesses import Access, accesses, is_array
from transpile.analysis.affine import Forms
from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.ops.tables import record_of

WIDTH = 16  # iterations that LLVM may execute in vectors at once


@dataclass(frozen=True)
class Kind:
    """``nested``: has loops inside; ``serial``: LLVM will not vectorise the iterations; ``dear``: has operations that are
    several times faster in vectors."""

    nested: bool
    serial: bool
    dear: bool

    def goes_with(self, other: Kind) -> bool:
        """Whether fusing a loop of this kind with one of the kind ``other`` pays."""
        if self.nested and other.nested:
            return True
        if self.nested or other.nested:
            flat = other if self.nested else self
            return not flat.dear or flat.serial
        return self.serial == other.serial


def kind_of(loop: ir.For) -> Kind:
    """The kind of a loop; a loop with loops inside is never ``serial``."""
    inner = list(statements(loop.body))
    nested = any(isinstance(s, (ir.For, ir.While)) for s in inner)
    dear = any(isinstance(s, ir.Let) and record_of(s).is_dear for s in inner)
    return Kind(nested, not nested and is_serial(loop), dear)


def known_trips(loop: ir.For) -> int | None:
    """The distance between start and bound, which is at least the trip count; None unless both ends are constants."""
    ends = (loop.start, loop.bound)
    return abs(ends[1].value - ends[0].value) if all(isinstance(e, ir.Const) for e in ends) else None  # type: ignore[union-attr]


def is_serial(loop: ir.For) -> bool:
    """Whether LLVM is expected not to vectorise an innermost loop."""
    if any(_is_scalar_only(s) for s in statements(loop.body)):
        return True
    return any(not _is_reduction(loop, k) for k in range(len(loop.body.params)))


def has_recurrence(loop: ir.For, forms: Forms) -> bool:
    """Whether an iteration reads an element that another statement wrote fewer than `WIDTH` iterations before, which keeps LLVM
    from vectorising the loop."""
    inner = [a for s in statements(loop.body) for a in accesses(s) if a.indices is not None]
    return any(
        _is_recent(w, r, loop, forms) for w in inner if w.kind != "read" for r in inner if r.var is w.var and r is not w
    )


def _is_recent(write: Access, read: Access, loop: ir.For, forms: Forms) -> bool:
    """Whether the element that ``read`` touches was surely written by ``write`` at least 1 and fewer than `WIDTH` iterations
    before."""
    if write.indices is None or read.indices is None or not isinstance(loop.step, ir.Const):
        return False
    trips: set[float] = set()
    for p, q in zip(map(forms.of, write.indices), map(forms.of, read.indices)):
        if p.key != q.key:
            return False
        each = p.coefficient(loop.index) * loop.step.value * (-1 if loop.backwards else 1)
        if each:
            trips.add((p.const - q.const) / each)
        elif p.const != q.const:
            return False
    return len(trips) == 1 and 0 < min(trips) < WIDTH


def _is_scalar_only(stmt: ir.Stmt) -> bool:
    """Whether a statement keeps LLVM from vectorising the loop around it."""
    if isinstance(stmt, (ir.Effect, ir.Push, ir.Pop, ir.Alloc, ir.While)):
        return True
    if isinstance(stmt, ir.If):
        return any(isinstance(s, (ir.Store, ir.Add, ir.Effect)) for b in blocks(stmt) for s in statements(b))
    return isinstance(stmt, ir.Call) and any(is_array(a) for a in stmt.args)


def _is_reduction(loop: ir.For, k: int) -> bool:
    """Whether the carried value number ``k`` is only accumulated: ``total = total + x``."""
    param, out = loop.body.params[k], loop.body.yields[k]
    lets = {s.var: s for s in loop.body.stmts if isinstance(s, ir.Let)}
    users = [s for s in statements(loop.body) if isinstance(s, ir.Let) and param in s.args]
    chain: set[ir.Var] = set()
    found = out
    while isinstance(found, ir.Var) and found in lets and record_of(lets[found]).is_folding and found not in chain:
        chain.add(found)
        let = lets[found]
        if param in let.args:
            return len(users) == 1
        step = next((a for a in let.args if isinstance(a, ir.Var) and _reaches(a, param, lets)), None)
        if step is None:
            return False
        found = step
    return found is param


def _reaches(var: ir.Var, param: ir.Var, lets: dict[ir.Var, ir.Let]) -> bool:
    """Whether a chain of first variable operands leads from ``var`` to ``param``."""
    while var in lets:
        let = lets[var]
        if param in let.args:
            return True
        nxt = next((a for a in let.args if isinstance(a, ir.Var) and a in lets), None)
        if nxt is None:
            return False
        var = nxt
    return False
