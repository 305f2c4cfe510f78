"""Temporaries out of loops: an array that a trip makes anew, fills and forgets is made once, before the loop.

    for i in range(n):                    t = np.empty(max(m, 0))
        t = np.empty(m)           ->      for i in range(n):
        ...                                   ...

One whose size changes with the index is made as large as it gets. Before the loop nothing says that the loop has a trip: without
one the size is 0, or what it would be if that is not negative. A size that may be negative in a trip raises there, and stays.
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

READS = ("index", "dim")  # what an array may be used for without another name being given to it


def hoist_allocations(fn: ir.Function) -> ir.Function:
    """The function with such arrays before the outermost loop that they can leave."""
    return with_body(fn, _Hoist(fn).block(fn.body))


class _Hoist:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.facts = Facts(self.forms)
        for stmt in statements(fn.body):
            self.facts.learn(stmt)

    def block(self, block: ir.Block, loop: ir.For | None = None) -> ir.Block:
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
    """Sizes that are known in a loop, as they are known before it."""

    def __init__(self, forms: Forms, facts: Facts, loop: ir.For | ir.While) -> None:
        self.forms, self.loop = forms, loop
        self.facts = facts.inner()
        self.own = set(defined(loop.body))
        if isinstance(loop, ir.For):
            self.own.add(loop.index)
            self.facts.enter(loop)
        self.stmts: list[ir.Stmt] = []
        self.trip: ir.Var | None = None
        self.asked = False  # whether a trip may have raised

    def pass_by(self, stmt: ir.Stmt) -> None:
        """What a trip does before it comes to an allocation."""
        if isinstance(stmt, ir.BoundsCheck) and stmt.guard is None:
            self.facts.check(stmt.at, stmt.size, stmt.low)
        self.asked = self.asked or raises(stmt)

    def before(self, alloc: ir.Alloc, exact: bool) -> tuple[ir.Operand, ...] | None:
        """The sizes of the array before the loop: at least what they are in any trip, or, with ``exact``, the same."""
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
            return None  # a trip may ask for a size that is negative, which raises, if nothing before it does
        return self.let("where", self.has_trip(self.loop), size, ir.Const(0, INT))

    def has_trip(self, loop: ir.For) -> ir.Var:
        if self.trip is None:
            ends = (loop.start, loop.bound)
            if not isinstance(loop.step, ir.Const) or loop.step.value < 0:
                ends = (loop.bound, loop.start)
            self.trip = self.let("less", *ends, type=BOOL)
        return self.trip

    def greatest(self, form: Linear, loop: ir.For) -> Linear | None:
        """The form at the end of the range where it is largest."""
        coef = form.coefficient(loop.index)
        if not coef or not isinstance(loop.step, ir.Const):
            return form
        low, high = self.forms.of(loop.start), self.forms.of(loop.bound) - 1
        if loop.step.value < 0:
            low, high = self.forms.of(loop.bound) + 1, self.forms.of(loop.start)
        return form.replaced(loop.index, high if coef > 0 else low)

    def is_size(self, size: ir.Operand) -> bool:
        """Whether it is the size of an array, or has been kept from being negative."""
        let = self.forms.lets.get(size) if isinstance(size, ir.Var) else None
        if let is None:
            return False
        return let.prim == "dim" or (
            record_of(let).extreme > 0 and isinstance(let.args[1], ir.Const) and let.args[1].value >= 0
        )

    def emit(self, form: Linear) -> ir.Operand:
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
    """Variables that a trip hands on or gives another name: what it yields, pushes, views, passes to branches."""
    found: set[object] = set(leaves(body))
    for s in statements(body):
        found.update(_gives_away(s))
        for inner in blocks(s):
            found.update(leaves(inner))
        if isinstance(s, (ir.For, ir.While)):
            found.update(s.inits)
    for s in reversed(list(statements(body))):
        if (
            isinstance(s, ir.View) and s.var in found
        ):  # another name, for as long as the trip lasts if it is not handed on itself
            found.add(s.base)
    return found


def _gives_away(stmt: ir.Stmt) -> Iterable[object]:
    if isinstance(stmt, ir.Push):
        return (stmt.value,)
    if (isinstance(stmt, ir.Let) and stmt.prim not in READS and not isinstance(stmt, ir.View)) or (
        isinstance(stmt, ir.Call) and not isinstance(stmt.function, ir.Kept) and any(r.type.dims for r in stmt.results)
    ):  # what a kept function returns is memory of its own
        return [a for a in stmt.args if isinstance(a, ir.Var) and a.type.dims]
    return ()


def _asked_for_size(body: ir.Block) -> set[object]:
    """Arrays whose size is read, or that are passed whole to a function."""
    asking = (s for s in statements(body) if isinstance(s, ir.Call) or isinstance(s, ir.Let) and s.prim != "index")
    return {a for s in asking for a in s.args}
