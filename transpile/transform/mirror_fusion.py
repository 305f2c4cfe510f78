"""Loops that run forward and backward at once: the mirror of a loop moves into the loop itself.

    for i in range(n):                      for i in range(n):
        hidden = np.tanh(w @ x[i])              hidden = np.tanh(w @ x[i])
        total += np.sum(hidden)                 total += np.sum(hidden)
    for i in reversed(range(n)):                hidden_bar = ...
        ...                                     w_bar += ...

This is valid if the mirror may run its iterations in any order: its carried values are unchanged or only added to, and the
adjoint arrays that it writes are only added to. Its initial values must be known before the loop, as must the full contents of
the arrays that it only reads. A sum of losses over data is the ordinary case, a sum over lanes another. Nothing is recorded
across iterations, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.analysis.loop_reductions import SUM, fold_of
from transpile.analysis.scopes import Def, definitions, sizes_before
from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.functions import computes
from transpile.core.reasons import FUSED
from transpile.core.walk import (
    blocks,
    defined,
    defines,
    dim_symbols,
    free,
    reads,
    statements,
    written,
    written_in,
)
from transpile.transform.sweep import Sweep
from transpile.transform.to_be_recorded import is_dear


def fuse(fn: ir.Function, sweep: Sweep, b: Builder, link) -> tuple[ir.Function, Sweep]:  # type: ignore[no-untyped-def]
    """The function and its sweep, in which each mirror of an outermost loop has moved into its loop where that is possible and
    pays; both unchanged if there is none.

    ``link`` (as `transpile.transform.recompute.link_best`) joins the forward and the reverse sweep of one iteration.
    """
    outermost = set(map(id, fn.body.stmts))
    for mirror in [s for s in sweep.block.stmts if isinstance(s, ir.For) and s in sweep.mirrors]:
        loop = sweep.mirrors[mirror]
        if not isinstance(loop, ir.For) or id(loop) not in outermost or not may_reorder(mirror):
            continue
        if is_worth_it(sweep, mirror, loop):
            hoisted = _Hoist(fn, sweep, b, mirror, loop).run()
            if hoisted is not None:
                fn, sweep = _fused(fn, sweep, b, mirror, loop, hoisted, link)
                outermost = set(map(id, fn.body.stmts))
    return fn, sweep


def _fused(  # type: ignore[no-untyped-def]
    fn: ir.Function, sweep: Sweep, b: Builder, mirror: ir.For, loop: ir.For, hoisted: Sequence[ir.Stmt], link
) -> tuple[ir.Function, Sweep]:
    """The function and its sweep with ``mirror`` moved into ``loop``, preceded by the statements ``hoisted`` of both sweeps.
    ``link`` joins the sweeps of one iteration."""
    body = loop.body
    kept = body.yields if body.stop is None else (*body.yields, body.stop)
    trip = replace(fn, params=(), body=ir.Block((), body.stmts, kept))
    linked = link(trip, replace(sweep, block=mirror.body), b, kept)
    both = ir.Block((*body.params, *mirror.body.params), linked.stmts, (*body.yields, *linked.yields), body.stop)
    inits, results = (*loop.inits, *mirror.inits), (*loop.results, *mirror.results)
    new = replace(loop, inits=inits, body=both, results=results, reason=FUSED)
    moved = {id(mirror), *(id(s) for s in hoisted)}
    stmts: list[ir.Stmt] = []
    for stmt in fn.body.stmts:
        stmts += [*hoisted, new] if stmt is loop else [stmt] if id(stmt) not in moved else []
    left = replace(sweep.block, stmts=[s for s in sweep.block.stmts if id(s) not in moved])
    return replace(fn, body=replace(fn.body, stmts=stmts)), replace(sweep, block=left)


def is_worth_it(sweep: Sweep, mirror: ir.For, loop: ir.For) -> bool:
    """Whether moving ``mirror`` into ``loop`` saves anything: False for a mirror that reads adjoints from memory and only cheap
    values of its loop. Always True for loops over lanes."""
    own = set(defined(mirror.body))
    if loop.lanes or not any(a not in own for s in statements(mirror.body) for a in _buffers_read(s)):
        return True
    needed = {sweep.current(o) for o in free(mirror.body)}
    return any(is_dear(s) and not needed.isdisjoint(defines(s)) for s in statements(loop.body))


# ------------------------------------------------------------------------------------------------- any order


def may_reorder(mirror: ir.For) -> bool:
    """Whether the iterations of a mirror may run in any order, up to rounding: it touches no stack from outside, adds to outer
    buffers without storing to them or reading them, and its carried values are unchanged or sums."""
    own, changed = set(defined(mirror.body)), written_in(mirror.body)
    for stmt in statements(mirror.body):
        match stmt:
            case ir.Push() | ir.Pop() if stmt.stack not in own:
                return False
            case ir.Store() if stmt.buf not in own:
                return False
            case ir.Let() | ir.Alloc() if any(a not in own and a in changed for a in _buffers_read(stmt)):
                return False
    changes = [k for k, (p, y) in enumerate(zip(mirror.body.params, mirror.body.yields)) if y is not p]
    return all(fold_of(mirror, k) == SUM for k in changes)


def _is_buffer(operand: ir.Operand) -> bool:
    return isinstance(operand, ir.Var) and operand.buffer


def _buffers_read(stmt: ir.Stmt) -> list[ir.Operand]:
    """The buffers whose elements a statement reads, not those of nested statements."""
    if isinstance(stmt, (ir.Let, ir.Alloc)) and stmt.prim == "dim":
        return []
    return [a for a in reads(stmt) if _is_buffer(a)]


# ------------------------------------------------------------------------------------------ before the loop


class _Hoist:
    """Finds the statements of the reverse sweep that must run before the loop if its mirror is to run in it."""

    def __init__(self, fn: ir.Function, sweep: Sweep, b: Builder, mirror: ir.For, loop: ir.For) -> None:
        self.fn, self.sweep, self.b, self.mirror, self.loop = fn, sweep, b, mirror, loop
        self.defs: dict[ir.Var, Def] = definitions(fn)
        self.order = next(d.order for v, d in self.defs.items() if v is loop.index)
        stmts = sweep.block.stmts
        self.before = stmts[: next(k for k, s in enumerate(stmts) if s is mirror)]
        self.made = {v: s for s in self.before for v in defines(s)}
        self.found: dict[int, ir.Stmt] = {}
        self.contents: set[ir.Var] = set()  # buffers whose full content is known before the loop

    def run(self) -> list[ir.Stmt] | None:
        """The statements of both sweeps to move in front of the loop so that the mirror can run in it; None if a value, or the
        content of a buffer, is known only later."""
        inside = {*defined(self.loop.body), self.loop.index}
        wanted: list[ir.Operand] = [*self.mirror.inits, *free(self.mirror.body)]
        for stmt in statements(self.mirror.body):
            wanted += [self.b.symbols[s] for s in dim_symbols(stmt)]
        own = set(defined(self.mirror.body))
        for operand in map(self.sweep.current, wanted):
            if operand not in inside and operand not in own and not self.have(operand):
                return None
        read = {b for s in statements(self.mirror.body) for b in _buffers_read(s) if b not in own}
        if not all(self.have_content(b) for b in read):
            return None
        if not all(self.is_only_added_to(v) for v in written_in(self.mirror.body) if v not in own):
            return None
        return [s for s in (*self.fn.body.stmts, *self.before) if id(s) in self.found]

    def have(self, operand: ir.Operand) -> bool:
        """Whether the operand has a value before the loop, or gets one from statements that can move there; these are added to
        ``found``."""
        operand = self.sweep.current(operand)
        if not isinstance(operand, ir.Var):
            return True
        known = self.defs.get(operand)
        if known is not None and (known.nest or known.order < self.order):
            return not known.nest
        stmt = known.stmt if known is not None else self.made.get(operand)
        if stmt is None or id(stmt) in self.found:
            return True
        if not (isinstance(stmt, ir.Alloc) or computes(stmt)) or not all(
            self.have_content(b) for b in _buffers_read(stmt)
        ):
            return False
        sizes = (self.b.symbols[s] for s in sizes_before(stmt, self.b.symbols, self.defs))
        if not all(self.have(o) for o in (*reads(stmt), *sizes)):
            return False
        self.found[id(stmt)] = stmt
        return True

    def have_content(self, buf: ir.Operand) -> bool:
        """Whether ``buf`` is an adjoint buffer whose writes before the mirror can all move in front of the loop; these are
        added to ``found``."""
        maker = self.made.get(self.sweep.current(buf))  # type: ignore[arg-type]
        if not isinstance(maker, ir.Alloc):
            return False
        if maker.var in self.contents:
            return True
        self.contents.add(maker.var)
        is_read = False
        for stmt in self.before:
            inside = [stmt, *(s for b in blocks(stmt) for s in statements(b))]
            if any(written(s) is maker.var for s in inside):
                if is_read or not isinstance(stmt, (ir.Store, ir.Add)) or not all(map(self.have, reads(stmt))):
                    return False
                if not all(self.have_content(b) for b in _buffers_read(stmt) if b is not maker.var):
                    return False
                self.found[id(stmt)] = stmt
            elif any(maker.var in _buffers_read(s) for s in inside):
                is_read = True
        return True

    def is_only_added_to(self, buf: ir.Var) -> bool:
        """Whether the statements that the mirror moves past, later ones of the forward sweep and earlier ones of the reverse
        sweep, only add to ``buf``: none reads it or stores to it."""
        at = next(k for k, s in enumerate(self.fn.body.stmts) if s is self.loop)
        return not any(
            (isinstance(s, ir.Store) and s.buf is buf) or any(o is buf for o in reads(s))
            for s in statements(ir.Block((), [*self.fn.body.stmts[at + 1 :], *self.before]))
        )
