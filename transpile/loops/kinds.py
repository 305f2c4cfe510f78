"""What a loop is like: what decides whether it goes well with another one."""

from __future__ import annotations

from dataclasses import dataclass

from transpile.analysis.accesses import Access, accesses, is_array
from transpile.analysis.affine import Forms
from transpile.analysis.vector_forms import DEAR
from transpile.core.nodes import Add, Alloc, Const, Effect, For, If, Let, Pop, Push, Stmt, Store, Var, While
from transpile.core.walk import blocks, statements

WIDTH = 16  # trips that LLVM may put into vectors at once


@dataclass(frozen=True)
class Kind:
    """``nested``: there are loops inside; ``serial``: a trip waits for the one before, or branches; ``dear``: see `DEAR`."""

    nested: bool
    serial: bool
    dear: bool

    def goes_with(self, other: Kind) -> bool:
        if self.nested and other.nested:
            return True
        if self.nested or other.nested:
            flat = other if self.nested else self
            return not flat.dear or flat.serial
        return self.serial == other.serial


def kind_of(loop: For) -> Kind:
    inner = list(statements(loop.body))
    nested = any(isinstance(s, (For, While)) for s in inner)
    dear = any(isinstance(s, Let) and s.prim in DEAR for s in inner)
    return Kind(nested, not nested and is_serial(loop), dear)


def known_trips(loop: For) -> int | None:
    """How many trips of step 1 there are, at most, where numbers say so."""
    ends = (loop.start, loop.bound)
    return abs(ends[1].value - ends[0].value) if all(isinstance(e, Const) for e in ends) else None  # type: ignore[union-attr]


def is_serial(loop: For) -> bool:
    """Whether LLVM is not expected to make vectors of the trips of an innermost loop."""
    if any(_is_scalar_only(s) for s in statements(loop.body)):
        return True
    return any(not _is_reduction(loop, k) for k in range(len(loop.body.params)))


def has_recurrence(loop: For, forms: Forms) -> bool:
    """Whether a trip reads an element that one of the last trips wrote: LLVM makes no vectors then."""
    inner = [a for s in statements(loop.body) for a in accesses(s) if a.indices is not None]
    return any(
        _is_recent(w, r, loop, forms) for w in inner if w.kind != "read" for r in inner if r.var is w.var and r is not w
    )


def _is_recent(write: Access, read: Access, loop: For, forms: Forms) -> bool:
    """Whether what is read is what was written a few trips before."""
    if write.indices is None or read.indices is None or not isinstance(loop.step, Const):
        return False
    trips: set[float] = set()
    for p, q in zip(map(forms.of, write.indices), map(forms.of, read.indices)):
        if p.terms != q.terms:
            return False
        each = p.coefficient(loop.index) * loop.step.value * (-1 if loop.backwards else 1)
        if each:
            trips.add((p.const - q.const) / each)
        elif p.const != q.const:
            return False
    return len(trips) == 1 and 0 < min(trips) < WIDTH


def _is_scalar_only(stmt: Stmt) -> bool:
    if isinstance(stmt, (Effect, Push, Pop, Alloc, While)):
        return True
    if isinstance(stmt, If):
        return any(isinstance(s, (Store, Add, Effect)) for b in blocks(stmt) for s in statements(b))
    return isinstance(stmt, Let) and stmt.prim == "call" and any(is_array(a) for a in stmt.args)


_FOLDS = ("add", "sub", "mul", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or")


def _is_reduction(loop: For, k: int) -> bool:
    """Whether a carried value is only folded: ``total = total + x``."""
    param, out = loop.body.params[k], loop.body.yields[k]
    lets = {s.var: s for s in loop.body.stmts if isinstance(s, Let)}
    users = [s for s in statements(loop.body) if isinstance(s, Let) and param in s.args]
    chain: set[Var] = set()
    found = out
    while isinstance(found, Var) and found in lets and lets[found].prim in _FOLDS and found not in chain:
        chain.add(found)
        let = lets[found]
        if param in let.args:
            return len(users) == 1
        step = next((a for a in let.args if isinstance(a, Var) and _reaches(a, param, lets)), None)
        if step is None:
            return False
        found = step
    return found is param


def _reaches(var: Var, param: Var, lets: dict[Var, Let]) -> bool:
    while var in lets:
        let = lets[var]
        if param in let.args:
            return True
        nxt = next((a for a in let.args if isinstance(a, Var) and a in lets), None)
        if nxt is None:
            return False
        var = nxt
    return False
