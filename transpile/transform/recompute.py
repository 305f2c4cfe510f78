"""Loops of the reverse sweep whose iterations are recomputed: each runs its part of the forward sweep, then its adjoints.

    for i in range(n):                      for i in reversed(range(n)):
        for j in range(m):                      for j in range(m):        # again, for this i only
            s = ...            instead of           s_tape[j] = s         # m numbers
            s_tape[i, j] = s                    for j in reversed(range(m)):
                                                    s = s_tape[j]

Values that such a loop carries between iterations are recorded where an iteration reads them; nothing inside an iteration is. A
loop that carries nothing that the reverse sweep reads records nothing at all, and its forward sweep often becomes dead.

A loop is recomputed if that lowers the recorded amount by an order of magnitude and costs no second evaluation, or a cheap one.
The reverse derivative of the loop body as a function of its own is linked in the same way, so inner loops are treated alike.

Sources: Griewank and Walther (2008), Evaluating Derivatives, chapter 12; Moses and Churavy (2020) on caching in loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from transpile.analysis.overwrites import Overwrites
from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.reasons import RERUN
from transpile.core.walk import Cloner, blocks, defined, defines, statements, uses, written_in
from transpile.simplify.dead_code import is_live, remove_dead_block
from transpile.transform.function_derivatives import silent_stmt
from transpile.transform.mirror_fusion import fuse
from transpile.transform.mirror_table import Twins
from transpile.transform.recording import is_countable, link
from transpile.transform.sweep import Sweep
from transpile.transform.to_be_recorded import Needs, decided, is_dear

ORDER = 8  # the factor by which less must be recorded, for a loop whose forward sweep runs anyway


def link_best(fn: ir.Function, sweep: Sweep, b: Builder, kept: Sequence[ir.Operand] = ()) -> ir.Block:
    """One block that runs the forward sweep of ``fn``, then the reverse sweep; it yields what the reverse sweep yields.

    ``kept`` are results of ``fn`` that are wanted as well.
    """
    fn, sweep = fuse(fn, sweep, b, link_best)
    sweep, needs = _choose(fn, sweep, b, kept)
    return link(fn, sweep, b, needs)


def _choose(fn: ir.Function, sweep: Sweep, b: Builder, kept: Sequence[ir.Operand]) -> tuple[Sweep, Needs]:
    """The sweep in which the loops worth recomputing are recomputed, and what must be recorded for this sweep. ``kept``:
    results that are wanted as well."""
    facts = Overwrites(fn)
    needs = decided(facts, sweep, b.symbols)
    tried: set[int] = set()
    while needs.recorded:
        mirror = next((m for m in _mirrors(sweep, sweep.block) if id(sweep.mirrors[m]) not in tried), None)
        if mirror is None:
            break
        loop = sweep.mirrors[mirror]
        assert isinstance(loop, (ir.For, ir.While))
        tried.add(id(loop))
        inside = [v for v in needs.recorded if any(around is loop for around in needs.defs[v].loops)]
        if not inside:
            continue
        before = {v: v.type for v in defined(mirror.body)}
        found = _Again(fn, sweep, b, mirror, loop).run(facts)
        if found is not None:
            after = decided(facts, found.sweep, b.symbols)
            if _is_better(fn, needs, after, inside, found, kept):
                sweep, needs = found.sweep, after
                continue
        for var, type_ in before.items():
            var.type = type_
    return sweep, needs


def _mirrors(sweep: Sweep, block: ir.Block) -> Iterator[ir.For]:
    """The mirrors of loops in a block, each before the ones inside it."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.For) and stmt in sweep.mirrors:
            yield stmt
        for inner in blocks(stmt):
            yield from _mirrors(sweep, inner)


def _is_better(
    fn: ir.Function, before: Needs, after: Needs, inside: Sequence[ir.Var], found: _Found, kept: Sequence[ir.Operand]
) -> bool:
    """Whether recomputing the loop that was ``found`` pays, from what is recorded ``before`` and ``after``. ``inside``: the
    values of its iterations that are recorded before; ``kept``: results that are wanted as well."""
    old, new = _amount(before), _amount(after)
    outside = (found.sweep.current(o) for o in uses(found.sweep.block))
    if not is_live(fn, found.loop, (*kept, *(o for o in outside if o is not found.index)), before.symbols):
        return new < old
    if new * ORDER > old:
        return False
    depth = max(_loops_inside(before, v, found.loop) for v in inside)
    if depth and isinstance(found.loop, ir.For) and found.loop.lanes:
        return True  # the recorded amount does not grow with the number of lanes
    if all(is_countable(v, before) for v in inside):
        return not found.is_dear and not found.has_loop_below(depth)
    return not found.has_loop_below(depth, of_any_length=False)  # a stack costs ten times as much as an array


def _loops_inside(needs: Needs, var: ir.Var, loop: ir.For | ir.While) -> int:
    loops = needs.defs[var].loops
    return len(loops) - 1 - next(k for k, around in enumerate(loops) if around is loop)


def _amount(needs: Needs) -> int:
    """The approximate number of recorded elements: a loop or an axis of unknown length counts as 50."""
    total = 0
    for var in needs.recorded:
        size = 50 ** len(needs.defs[var].loops)
        for d in var.type.dims:
            size *= 50 if d.terms else d.const
        total += size
    return total


@dataclass
class _Found:
    """A sweep in which a loop is recomputed. ``trip`` is the body of its mirror, which holds a copy of one iteration of the
    forward sweep."""

    sweep: Sweep
    trip: ir.Block
    loop: ir.For | ir.While

    @property
    def index(self) -> ir.Var | None:
        """The index of the forward loop; None for a while loop."""
        return self.loop.index if isinstance(self.loop, ir.For) else None

    @property
    def is_dear(self) -> bool:
        """Whether the recomputed part evaluates more than arithmetic."""
        return any(is_dear(s) and any(v in self.sweep.origins for v in defines(s)) for s in statements(self.trip))

    def has_loop_below(self, depth: int, of_any_length: bool = True) -> bool:
        """Whether a recomputed loop is nested more than ``depth`` loops deep; without ``of_any_length``, only one whose length
        changes between the iterations counts."""
        own = {self.index, *defined(self.trip)}

        def visit(block: ir.Block, level: int) -> bool:
            for stmt in block.stmts:
                inside = level
                if isinstance(stmt, (ir.For, ir.While)):
                    inside += 1
                    if inside > depth and self.is_copy(stmt):
                        if of_any_length or isinstance(stmt, ir.While) or not own.isdisjoint((stmt.start, stmt.bound)):
                            return True
                if any(visit(inner, inside) for inner in blocks(stmt)):
                    return True
            return False

        return visit(self.trip, 0)

    def is_copy(self, stmt: ir.For | ir.While) -> bool:
        """Whether a loop belongs to the recomputed forward sweep."""
        return isinstance(stmt, ir.While) or stmt.index in self.sweep.origins


class _Again:
    """Puts into the mirror of a loop the forward computations that its iterations need."""

    def __init__(self, fn: ir.Function, sweep: Sweep, b: Builder, mirror: ir.For, loop: ir.For | ir.While) -> None:
        self.fn, self.sweep, self.b = fn, sweep, b
        self.mirror, self.loop = mirror, loop

    def run(self, facts: Overwrites) -> _Found | None:
        """The sweep with the recomputed loop; None if its iterations cannot run again."""
        copier = _Copier(self.b, self.loop.body, self.sweep.origins)
        body = copier.trip(self.loop.body)
        if body is None:
            return None
        linked = link_best(replace(self.fn, params=(), body=body), self.inner(copier), self.b)
        linked.params = self.mirror.body.params
        own = set(defined(linked))
        roots = [*linked.yields, *(v for v in written_in(linked) if v not in own)]
        linked = remove_dead_block(linked, roots, self.b.symbols, sizes=True)
        if not self.is_repeatable(linked, facts):
            return None
        return _Found(self.replaced(linked), linked, self.loop)

    def inner(self, copier: _Copier) -> Sweep:
        """The reverse sweep of one iteration, as the sweep of a function."""
        outer = self.sweep
        mapping = {v: copier.operand(o) for v, o in outer.mapping.items()}
        return Sweep(
            self.mirror.body,
            (),
            outer.mirrors.mapped(copier.stmts),
            outer.sides.mapped(copier.blocks),
            {**mapping, **copier.mapping},
            outer.origins,
        )

    def is_repeatable(self, linked: ir.Block, overwrites: Overwrites) -> bool:
        """Whether buffers from outside that the iteration reads still hold the same values when it runs again. The function may
        itself be an iteration, which writes buffers that it does not allocate."""
        own = set(defined(linked))
        for stmt in statements(linked):
            if not isinstance(stmt, (ir.Let, ir.Alloc)) or stmt.prim == "dim":
                continue
            for root in stmt.args:
                if not isinstance(root, ir.Var) or not root.buffer or root in own:
                    continue
                made = overwrites.defs.get(root)
                if made is None and root not in overwrites.writes:
                    continue
                first = self.origin(stmt, overwrites)
                if made is not None and made.nest or first is None or not overwrites.is_stable(first):
                    return False
        return True

    def origin(self, stmt: ir.Let | ir.Alloc, overwrites: Overwrites) -> ir.Let | None:
        """The statement of the forward function that ``stmt`` is a copy of; None if it is not a copy."""
        found: ir.Stmt | None = stmt
        while found is not None and id(found) not in overwrites.at:
            found = self.sweep.origins.get(found.var) if isinstance(found, (ir.Let, ir.Alloc)) else None
        return found if isinstance(found, ir.Let) else None

    def replaced(self, linked: ir.Block) -> Sweep:
        """The sweep with ``linked`` as the body of the mirror."""
        sweep = self.sweep
        mirrors, sides = sweep.mirrors.copy(), sweep.sides.copy()
        mirror = replace(self.mirror, body=linked, reason=RERUN)
        mirrors[mirror], sides[linked] = self.loop, self.loop.body

        def block(old: ir.Block) -> ir.Block:
            stmts = [stmt(s) for s in old.stmts]
            if all(a is b for a, b in zip(stmts, old.stmts)):
                return old
            new = replace(old, stmts=stmts)
            if old in sides:
                sides[new] = sides[old]
            return new

        def stmt(old: ir.Stmt) -> ir.Stmt:
            if old is self.mirror:
                return mirror
            new = old
            match old:
                case ir.If():
                    then, orelse = block(old.then), block(old.orelse)
                    if then is not old.then or orelse is not old.orelse:
                        new = replace(old, then=then, orelse=orelse)
                case ir.For() | ir.While():
                    body = block(old.body)
                    if body is not old.body:
                        new = replace(old, body=body)
            if new is not old and old in mirrors:
                mirrors[new] = mirrors[old]
            return new

        return replace(sweep, block=block(sweep.block), mirrors=mirrors, sides=sides)


class _Copier(Cloner):
    """Copies the computations of one iteration of a loop, without effects and without writes to outer buffers."""

    def __init__(self, b: Builder, body: ir.Block, origins: dict[ir.Var, ir.Stmt]) -> None:
        self.renamed: dict[str, Dim] = {}
        super().__init__({}, self.renamed.get)
        self.b, self.origins = b, origins
        self.stmts: Twins[ir.Stmt] = Twins()
        self.blocks: Twins[ir.Block] = Twins()
        self.own = set(defined(body)) - set(body.params)
        self.symbols: dict[
            ir.Var, list[str]
        ] = {}  # variables of the iteration that are values of size symbols -> the symbols
        for symbol, value in list(b.symbols.items()):
            if isinstance(value, ir.Var) and value in self.own:
                self.symbols.setdefault(value, []).append(symbol)
                self.renamed[symbol] = Dim.alike(str(b.fresh_symbol(value.label)), b.form_of(value))

    def trip(self, body: ir.Block) -> ir.Block | None:
        """The copy of the body; None if an iteration pushes to or pops from an outer stack."""
        for stmt in statements(body):
            if isinstance(stmt, (ir.Push, ir.Pop)) and stmt.stack not in self.own:
                return None
        new = ir.Block((), [self.stmt(s) for s in body.stmts if self.is_inside(s)])
        self.blocks[body] = new
        self.b.integers.include(new)
        return new

    def is_inside(self, stmt: ir.Stmt) -> bool:
        """Whether the statement is copied: it is no effect and writes no outer buffer."""
        return not isinstance(stmt, ir.Effect) and not (
            isinstance(stmt, (ir.Store, ir.Add)) and stmt.buf not in self.own
        )

    def fresh(self, var: ir.Var) -> ir.Var:
        """The copy of a variable; a size symbol whose value is this variable gets a copy too."""
        new = super().fresh(var)
        for symbol in self.symbols.get(var, ()):
            self.b.bind_symbol(self.renamed[symbol], new)
        return new

    def block(self, block: ir.Block) -> ir.Block:
        new = super().block(replace(block, stmts=[s for s in block.stmts if self.is_inside(s)]))
        self.blocks[block] = new
        return new

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        new = silent_stmt(super().stmt(stmt))
        self.stmts[stmt] = new
        self.origins.update((var, stmt) for var in defines(new))
        if isinstance(new, ir.For):
            self.origins[new.index] = stmt
        return new
