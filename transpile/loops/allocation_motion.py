"""Hoists temporaries out of loops: an array that each iteration allocates, fills and drops is allocated once, before the loop.

    for i in range(n):                    t = np.empty(max(m, 0))
        t = np.empty(m)           ->      for i in range(n):
        ...                                   ...

If the size varies with the index, the largest size is allocated. The loop may have no iterations: the size before it is then 0,
or clipped at 0. An allocation stays if its size may be negative, which raises an error, and moving it could change which error
is raised.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transpile.analysis.affine import Forms, Linear
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import blocks, defined, leaves, statements
from transpile.loops.check_hoisting import raises
from transpile.ops.tables import record_of

READS = ("index", "dim")  # primitives that give their array no alias


def hoist_allocations(fn: ir.Function) -> ir.Function:
    """The function with temporaries of loops allocated before the outermost loop that the allocation can leave."""
    return with_body(fn, _Hoist(fn).block(fn.body))


class _Hoist:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.facts = Facts(self.forms)
        for stmt in statements(fn.body):
            self.facts.learn(stmt)

    def block(self, block: ir.Block, loop: ir.For | None = None) -> ir.Block:
        """The block with temporaries of its loops allocated before them; ``loop``: the loop of which it is the body, None for
        others."""
        around, self.facts = self.facts, self.facts.inside(loop)
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if blocks(stmt):
                inside = stmt if isinstance(stmt, ir.For) else None
                stmt = with_blocks(stmt, lambda b, inside=inside: self.block(b, inside))  # type: ignore[misc]
            if isinstance(stmt, ir.While) or (isinstance(stmt, ir.For) and stmt.kind != "parallel"):
                out, stmt = self.taken_out(stmt)
                stmts += out
            stmts.append(stmt)
        self.facts = around
        return with_stmts(block, stmts)

    def taken_out(self, loop: ir.For | ir.While) -> tuple[list[ir.Stmt], ir.For | ir.While]:
        """A pair of the statements to put before the loop, and the loop without the hoisted allocations."""
        body = loop.body
        named, sized = _named_otherwise(body), _asked_for_size(body)
        sizes = _Sizes(self.forms, self.facts, loop)
        moved: dict[int, ir.Stmt] = {}
        for s in body.stmts:
            sizes.pass_by(s)
            if isinstance(s, ir.Alloc) and s.prim == "empty" and s.var not in named:
                args = sizes.before(s, exact=s.var in sized)
                if args is not None:
                    moved[id(s)] = replace(s, args=args)
        if not moved:
            return [], loop
        rest = replace(body, stmts=[s for s in body.stmts if id(s) not in moved])
        return [*sizes.stmts, *moved.values()], replace(loop, body=rest)


class _Sizes:
    """Sizes used in a loop, computed before it."""

    def __init__(self, forms: Forms, facts: Facts, loop: ir.For | ir.While) -> None:
        self.forms, self.loop = forms, loop
        self.facts = facts.inner()
        self.own = set(defined(loop.body))
        if isinstance(loop, ir.For):
            self.own.add(loop.index)
            self.facts.enter(loop)
        self.stmts: list[ir.Stmt] = []
        self.trip: ir.Var | None = None
        self.asked = False  # whether a statement before may raise

    def pass_by(self, stmt: ir.Stmt) -> None:
        """Notes a statement that runs before the next allocation."""
        if isinstance(stmt, ir.BoundsCheck) and stmt.guard is None:
            self.facts.check(stmt.at, stmt.size, stmt.low)
        self.asked = self.asked or raises(stmt)

    def before(self, alloc: ir.Alloc, exact: bool) -> tuple[ir.Operand, ...] | None:
        """Sizes with which the array of ``alloc`` can be allocated before the loop: upper bounds over all iterations, equal to
        the sizes if ``exact``. None if one is unknown. What computes them is appended to ``stmts``."""
        kept, trip = len(self.stmts), self.trip
        found: list[ir.Operand] = []
        for size in alloc.args:
            new = self.size(size, exact)
            if new is None:
                del self.stmts[kept:]
                self.trip = trip
                return None
            found.append(new)
        return tuple(found)

    def size(self, size: ir.Operand, exact: bool) -> ir.Operand | None:
        """One size before the loop: an upper bound over all iterations, with ``exact`` equal in all of them; at least 0 unless
        it is a constant. None if it is unknown, or if a negative size would have to raise an error inside the loop."""
        if isinstance(size, ir.Const):
            return size
        inside = self.forms.of(size)
        form: Linear | None = inside
        if size in self.own:
            if not exact and isinstance(self.loop, ir.For):
                form = self.greatest(inside, self.loop)
            if form is None or form.atoms & self.own:
                return None
            size = self.emit(form)
        if isinstance(size, ir.Const) or self.is_size(size):
            return size
        if self.facts.is_exact(inside) and self.facts.is_not_negative(inside):
            return self.let("maximum", size, ir.Const(0, INT), params={"py": True})
        if form != inside or isinstance(self.loop, ir.While) or self.asked:
            return None  # a negative size must raise, but only after what stands before it
        return self.let("where", self.has_trip(self.loop), size, ir.Const(0, INT))

    def has_trip(self, loop: ir.For) -> ir.Var:
        """A test that the loop has an iteration, emitted before the loop at the first request."""
        if self.trip is None:
            ends = (loop.start, loop.bound)
            if not isinstance(loop.step, ir.Const) or loop.step.value < 0:
                ends = (loop.bound, loop.start)
            self.trip = self.let("less", *ends, type=BOOL)
        return self.trip

    def greatest(self, form: Linear, loop: ir.For) -> Linear | None:
        """The form at the end of the index's range where it is largest; the form itself if it does not contain the index or the
        step is not constant."""
        coef = form.coefficient(loop.index)
        if not coef or not isinstance(loop.step, ir.Const):
            return form
        low, high = self.forms.of(loop.start), self.forms.of(loop.bound) - 1
        if loop.step.value < 0:
            low, high = self.forms.of(loop.bound) + 1, self.forms.of(loop.start)
        return form.replaced(loop.index, high if coef > 0 else low)

    def is_size(self, size: ir.Operand) -> bool:
        """Whether an operand is the size of an array, or a maximum with a constant that is not negative."""
        let = self.forms.lets.get(size) if isinstance(size, ir.Var) else None
        if let is None:
            return False
        return let.prim == "dim" or (
            record_of(let).extreme > 0 and isinstance(let.args[1], ir.Const) and let.args[1].value >= 0
        )

    def emit(self, form: Linear) -> ir.Operand:
        """An operand with the value of the form; what computes it is appended to ``stmts``."""
        found: ir.Operand = ir.Const(form.const, INT)
        for var, coef in sorted(form.terms, key=lambda t: (t[1] < 0, t[0].label)):
            term: ir.Operand = var if abs(coef) == 1 else self.let("mul", ir.Const(abs(coef), INT), var)
            is_first = isinstance(found, ir.Const) and found.value == 0
            found = term if is_first and coef > 0 else self.let("add" if coef > 0 else "sub", found, term)
        return found

    def let(self, prim: str, *args: ir.Operand, params: dict | None = None, type: Type = INT) -> ir.Var:
        let = ir.Let(ir.Var(ir.SYNTHETIC, type), prim, args, params or {}, self.loop.loc)
        self.stmts.append(let)
        self.forms.learn(let)
        return let.var


def _named_otherwise(body: ir.Block) -> set[object]:
    """Arrays and other variables that outlive an iteration or may get a second name: yielded, pushed, passed to branches, loops
    or other primitives, or the base of a view that is."""
    found: set[object] = set(leaves(body))
    for s in statements(body):
        found.update(_gives_away(s))
        for inner in blocks(s):
            found.update(leaves(inner))
        if isinstance(s, (ir.For, ir.While)):
            found.update(s.inits)
    for s in reversed(list(statements(body))):
        if isinstance(s, ir.View) and s.var in found:  # a view that is not passed on itself lives within the iteration
            found.add(s.base)
    return found


def _gives_away(stmt: ir.Stmt) -> Iterable[object]:
    """Arrays to which a statement may give another name."""
    if isinstance(stmt, ir.Push):
        return (stmt.value,)
    if (isinstance(stmt, ir.Let) and stmt.prim not in READS and not isinstance(stmt, ir.View)) or (
        isinstance(stmt, ir.Call) and not isinstance(stmt.function, ir.Kept) and any(r.type.dims for r in stmt.results)
    ):  # a kept function returns fresh memory
        return [a for a in stmt.args if isinstance(a, ir.Var) and a.type.dims]
    return ()


def _asked_for_size(body: ir.Block) -> set[object]:
    """The operands of calls, and of *lets* other than ``index``: arrays among them have their size read or are used as a
    whole."""
    asking = (s for s in statements(body) if isinstance(s, ir.Call) or isinstance(s, ir.Let) and s.prim != "index")
    return {a for s in asking for a in s.args}
