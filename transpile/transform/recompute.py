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
    """One new block that runs the forward sweep of ``fn``, then the reverse sweep ``sweep``, and yields what the reverse sweep
    yields. Loops are fused or recomputed where that pays.

    ``kept`` are results of ``fn`` that are wanted as well: they decide whether the forward sweep of a loop runs anyway.
    """
    fn, sweep = fuse(fn, sweep, b, link_best)
    sweep, needs = _choose(fn, sweep, b, kept)
    return link(fn, sweep, b, needs)


def _choose(fn: ir.Function, sweep: Sweep, b: Builder, kept: Sequence[ir.Operand]) -> tuple[Sweep, Needs]:
    """The sweep, with the loops recomputed that are worth it, and the decisions on what is recorded for it. ``kept``: results
    of ``fn`` that are wanted as well."""
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
    """The for loops in a block, nested ones too, that mirror a forward loop, each before the ones inside it."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.For) and stmt in sweep.mirrors:
            yield stmt
        for inner in blocks(stmt):
            yield from _mirrors(sweep, inner)


def _is_better(
    fn: ir.Function, before: Needs, after: Needs, inside: Sequence[ir.Var], found: _Found, kept: Sequence[ir.Operand]
) -> bool:
    """Whether recomputing the loop of ``found`` pays, if the decisions are ``before`` without it and ``after`` with it.
    ``inside``: the values recorded in its iterations before; ``kept``: results that are wanted as well."""
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
    """The number of loops between ``loop`` and the definition of ``var``, which is inside ``loop``."""
    loops = needs.defs[var].loops
    return len(loops) - 1 - next(k for k, around in enumerate(loops) if around is loop)


def _amount(needs: Needs) -> int:
    """A rough number of the elements recorded, for comparisons: each loop around a value and each axis of unknown length counts
    as 50."""
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
        """Whether the recomputed part contains anything more expensive than arithmetic."""
        return any(is_dear(s) and any(v in self.sweep.origins for v in defines(s)) for s in statements(self.trip))

    def has_loop_below(self, depth: int, of_any_length: bool = True) -> bool:
        """Whether the recomputed part has a loop with ``depth`` or more other loops around it, inside the one recomputed.
        Without ``of_any_length``, only while loops count and loops whose start or bound depends on the iteration."""
        own = {self.index, *defined(self.trip)}

        def visit(block: ir.Block, level: int) -> bool:
            """Whether the block, which is inside ``level`` loops, contains a loop that counts."""
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
        """Whether a loop of ``trip`` is a copy of a loop of the forward sweep, not a mirror; while loops always are."""
        return isinstance(stmt, ir.While) or stmt.index in self.sweep.origins


class _Again:
    """Puts into the mirror of a loop the forward computations that its iterations need."""

    def __init__(self, fn: ir.Function, sweep: Sweep, b: Builder, mirror: ir.For, loop: ir.For | ir.While) -> None:
        self.fn, self.sweep, self.b = fn, sweep, b
        self.mirror, self.loop = mirror, loop

    def run(self, facts: Overwrites) -> _Found | None:
        """The sweep in which each iteration of the mirror runs its part of the forward sweep first; None if the iterations
        cannot run again."""
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
        """The reverse sweep of one iteration, in which the copies that ``copier`` made stand for the statements of the forward
        sweep."""
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
        """Whether every buffer from outside that the iteration ``linked`` reads still holds the same values when it runs again.
        The function may itself be an iteration, which writes buffers that it does not allocate."""
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
        """The *let* of the forward function that ``stmt`` is a copy of, directly or by copies of copies; ``stmt`` itself if it
        is of that function; else None."""
        found: ir.Stmt | None = stmt
        while found is not None and id(found) not in overwrites.at:
            found = self.sweep.origins.get(found.var) if isinstance(found, (ir.Let, ir.Alloc)) else None
        return found if isinstance(found, ir.Let) else None

    def replaced(self, linked: ir.Block) -> Sweep:
        """A new sweep in which the mirror has ``linked`` as its body; the old sweep is unchanged."""
        sweep = self.sweep
        mirrors, sides = sweep.mirrors.copy(), sweep.sides.copy()
        mirror = replace(self.mirror, body=linked, reason=RERUN)
        mirrors[mirror], sides[linked] = self.loop, self.loop.body

        def block(old: ir.Block) -> ir.Block:
            """The block with the new mirror; the same block if the mirror is not in it."""
            stmts = [stmt(s) for s in old.stmts]
            if all(a is b for a, b in zip(stmts, old.stmts)):
                return old
            new = replace(old, stmts=stmts)
            if old in sides:
                sides[new] = sides[old]
            return new

        def stmt(old: ir.Stmt) -> ir.Stmt:
            """The statement with the new mirror; the same statement if the mirror is not in it."""
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
        """A new block with the copied statements of ``body``, without yields; None if an iteration pushes to or pops from an
        outer stack."""
        for stmt in statements(body):
            if isinstance(stmt, (ir.Push, ir.Pop)) and stmt.stack not in self.own:
                return None
        new = ir.Block((), [self.stmt(s) for s in body.stmts if self.is_inside(s)])
        self.blocks[body] = new
        self.b.integers.include(new)
        return new

    def is_inside(self, stmt: ir.Stmt) -> bool:
        """Whether the statement is copied: it is not an effect (a print, an exception) and writes no outer buffer."""
        return not isinstance(stmt, ir.Effect) and not (
            isinstance(stmt, (ir.Store, ir.Add)) and stmt.buf not in self.own
        )

    def fresh(self, var: ir.Var) -> ir.Var:
        """A new variable for the copy of ``var``; size symbols whose value is ``var`` get new symbols with the value of the
        copy."""
        new = super().fresh(var)
        for symbol in self.symbols.get(var, ()):
            self.b.bind_symbol(self.renamed[symbol], new)
        return new

    def block(self, block: ir.Block) -> ir.Block:
        """The copy of a block without effects and writes to outer buffers; noted in ``blocks``."""
        new = super().block(replace(block, stmts=[s for s in block.stmts if self.is_inside(s)]))
        self.blocks[block] = new
        return new

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """The copy of a statement, in which called functions do not print; noted in ``stmts``, its variables in ``origins``."""
        new = silent_stmt(super().stmt(stmt))
        self.stmts[stmt] = new
        self.origins.update((var, stmt) for var in defines(new))
        if isinstance(new, ir.For):
            self.origins[new.index] = stmt
        return new
