"""Value numbering with store forwarding: a value or element is computed or read once, and a stored element is not read again.

    t[i] = x[i] * w[i]                    s = x[i] * w[i]
    total = total + t[i]          ->      t[i] = s
                                          total = total + s

Facts hold within a block: values computed in it or around it; elements of arrays until a statement may write them; a test is
false after a branch on it that raised; two sizes are equal after a check that they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from transpile.analysis.accesses import Roots, Touches, accesses, is_array, is_pure
from transpile.analysis.affine import Forms, Linear
from transpile.analysis.element_dependence import never_meet
from transpile.analysis.undefined import is_left
from transpile.analysis.value_ranges import Facts, is_integer
from transpile.core import nodes as ir
from transpile.core.types import BOOL, Type
from transpile.core.walk import map_reads
from transpile.ops.tables import record_of
from transpile.ops.traits import LESS, NOT_EQUAL
from transpile.simplify.known_integers import shorter, simpler, without_zero
from transpile.simplify.value_numbering import Numbering

Place = tuple[ir.Var, tuple[Linear, ...]]


def forward_stores(fn: ir.Function) -> ir.Function:
    """The function without repeated computations and reads."""
    return replace(fn, body=_Forward(fn).block(fn.body))


class _Forward(Numbering):
    scoped = ("computed", "held", "checked", "asked", "equal")

    def __init__(self, fn: ir.Function) -> None:
        super().__init__()
        self.forms = Forms(fn.body)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.held: dict[Place, ir.Operand] = {}  # values of array elements
        self.checked: set[tuple[Hashable, Hashable, bool, frozenset[ir.Operand]]] = set()
        self.asked: set[frozenset[ir.Operand]] = set()
        self.facts = Facts(self.forms)

    # ---- blocks

    def block(self, block: ir.Block, learn: Callable[[], None] = lambda: None) -> ir.Block:
        """The block without repeated computations, reads and overwritten stores. ``learn`` is called at its start, to add facts
        that hold inside."""
        facts = self.facts
        self.facts = facts.inner()
        with self.inside():
            learn()
            stmts = _Stores(self)
            for stmt in block.stmts:
                for new in self.stmt(stmt):
                    stmts.append(new)
            yields = tuple(self.operand(y) for y in block.yields)
            stop = None if block.stop is None else self.operand(block.stop)
        self.facts = facts
        return ir.Block(block.params, stmts.left(), yields, stop)

    def stmt(self, old: ir.Stmt) -> Sequence[ir.Stmt]:
        """The statements that replace a statement; none if its value is known."""
        stmt = map_reads(old, self.operand)
        match stmt:
            case ir.Let():
                return self.let(stmt)
            case ir.Store():
                self.forget(stmt)
                self.held[self.place(stmt.buf, stmt.args)] = stmt.value
            case ir.Add():
                return self.add(stmt)
            case ir.If():
                return self.branch(stmt)
            case ir.For() | ir.While():
                return (self.loop(stmt),)
            case ir.BoundsCheck():
                return self.bounds_check(stmt)
            case ir.Check():
                return self.check(stmt)
            case _:
                self.forget(stmt)
        return (stmt,)

    def form_of_variable(self, var: ir.Var) -> Hashable:
        """The linear form of an integer scalar; any other variable itself."""
        is_index = var.type.dtype == "int64" and not var.type.dims and var.type.kind == "array"
        return self.forms.of(var) if is_index else var

    # ---- values

    def let(self, stmt: ir.Let) -> Sequence[ir.Stmt]:
        """The *let*, simplified; no statement if its value is known, by which its variable is replaced from here on."""
        if stmt.prim == "index":
            return self.read(stmt)
        if not is_pure(stmt):
            stmt = self.kept(stmt, without_zero(stmt, self.facts))
        if not is_pure(stmt) or is_array(stmt.var) or stmt.var.type.kind != "array":
            self.forget(stmt)
            if is_integer(stmt.var):
                self.facts.define(stmt)
            return (stmt,)
        found = shorter(simpler(stmt, self.facts), self.forms)
        if not isinstance(found, ir.Let):
            self.drop(stmt.var, found)
            return ()
        stmt = self.kept(stmt, found)
        if is_integer(stmt.var):
            self.facts.define(stmt)
        earlier = self.earlier(stmt)
        if earlier is None:
            return (stmt,)
        self.drop(stmt.var, earlier[0])
        return ()

    def kept(self, old: ir.Let, new: ir.Let) -> ir.Let:
        """``new``; if that is not ``old``, the forms get it as the definition of the variable."""
        if new is not old:
            self.forms.learn(new)
        return new

    def drop(self, var: ir.Var, same: ir.Operand) -> None:
        """Replaces ``var`` by ``same`` from here on; a variable ``same`` that has no name of the user's gets that of
        ``var``."""
        if isinstance(same, ir.Var) and same.name == ir.SYNTHETIC:
            same.name = var.name
        if isinstance(same, ir.Var) or is_integer(same):
            self.forms.alias(var, same)
        self.equal[var] = same

    def place(self, var: ir.Var, indices: tuple[ir.Operand, ...]) -> Place:
        """A pair of an array and the linear forms of the subscripts of an element."""
        return var, tuple(self.forms.of(i) for i in indices)

    def read(self, stmt: ir.Let) -> Sequence[ir.Stmt]:
        """The read of an element; no statement if its value is known, by which the variable is replaced from here on."""
        source = stmt.args[0]
        assert isinstance(source, ir.Var)
        held = self.held.setdefault(self.place(source, stmt.args[1:]), stmt.var)
        if held is stmt.var:
            return (stmt,)
        self.drop(stmt.var, held)
        return ()

    def add(self, stmt: ir.Add) -> Sequence[ir.Stmt]:
        """The statements for ``t[i] += x``: a store of the sum, or of ``x`` if ``t[i]`` is 0; the addition itself if ``t[i]``
        is not known."""
        place = self.place(stmt.buf, stmt.args)
        held = self.held.get(place)
        self.forget(stmt)
        if held is None or stmt.buf.type.dtype not in ("float64", "float32", "int64"):
            return (stmt,)
        if is_zero(held):
            self.held[place] = stmt.value
            return (ir.Store(stmt.buf, stmt.path, stmt.args, stmt.value, stmt.loc),)
        total = ir.Var(ir.SYNTHETIC, Type(stmt.buf.type.dtype))
        self.held[place] = total
        let = ir.Let(total, "add", (held, stmt.value), {}, stmt.loc)
        return let, ir.Store(stmt.buf, stmt.path, stmt.args, total, stmt.loc)

    def forget(self, stmt: ir.Stmt) -> None:
        """Drops the known values of elements that a statement itself, without nested blocks, may write."""
        for access in accesses(stmt):
            if access.kind == "read":
                continue
            root = self.roots.of(access.var)
            spot = None if access.indices is None else self.place(access.var, access.indices)
            self.held = {
                p: v
                for p, v in self.held.items()
                if self.roots.of(p[0]) is not root or (spot and self.is_elsewhere(p, spot))
            }

    def is_elsewhere(self, a: Place, b: Place) -> bool:
        """Whether two elements of one array are certainly different."""
        return a[0] is b[0] and never_meet(a[1], b[1], self.facts)

    def forget_inside(self, stmt: ir.Stmt) -> None:
        """Drops the known values of all elements of arrays that a statement writes or adds to, nested blocks included."""
        roots = self.touches.changed(stmt) if self.held else ()
        if roots:
            self.held = {p: v for p, v in self.held.items() if self.roots.of(p[0]) not in roots}

    def conjuncts(self, ops: Sequence[ir.Operand]) -> frozenset[ir.Operand]:
        """The tests that all hold if all of ``ops`` do: conjunctions are replaced by their operands."""
        found: set[ir.Operand] = set()
        for op in ops:
            let = self.forms.lets.get(op) if isinstance(op, ir.Var) else None
            if let is not None and record_of(let).is_conjunction:
                found |= self.conjuncts([self.operand(a) for a in let.args])
            else:
                found.add(op)
        return frozenset(found)

    def check(self, stmt: ir.Check) -> Sequence[ir.Stmt]:
        """The check; no statement if it surely passes, because an earlier check covers it or its test is false."""
        tests = self.conjuncts((stmt.test,))
        if is_false(stmt.test) or any(held <= tests for held in self.asked):
            return ()
        self.asked.add(tests)
        return (stmt,)

    def bounds_check(self, stmt: ir.BoundsCheck) -> Sequence[ir.Stmt]:
        """The bounds check, without a guard that is true; no statement if it surely passes, because of its guard, of ranges, or
        of an earlier check."""
        if isinstance(stmt.guard, ir.Const):
            if not stmt.guard.value:
                return ()
            stmt = replace(stmt, guard=None)
        if self.holds(stmt):
            return ()
        guards = frozenset() if stmt.guard is None else self.conjuncts((stmt.guard,))
        key = (self.form(stmt.at), self.form(stmt.size), stmt.low, guards)
        if any(key[:2] == held[:2] and held[2] >= key[2] and held[3] <= key[3] for held in self.checked):
            return ()
        self.checked.add(key)
        if stmt.guard is None:
            self.facts.check(stmt.at, stmt.size, stmt.low)
        return (stmt,)

    def holds(self, check: ir.BoundsCheck) -> bool:
        """Whether a bounds check is known to pass, whatever its guard."""
        at, size = self.forms.of(check.at), self.facts.form(check.size)
        if check.low and not self.facts.is_not_negative(at):
            return False
        return self.facts.compare(LESS, at, size) is True

    # ---- control

    def branch(self, stmt: ir.If) -> Sequence[ir.Stmt]:
        """The branch with both sides rewritten; if the test is constant, the statements of the side taken."""
        if isinstance(stmt.test, ir.Const):
            taken = self.block(stmt.then if stmt.test.value else stmt.orelse)
            self.forget_inside(stmt)
            for r, y in zip(stmt.results, taken.yields):
                self.drop(r, y)
            return taken.stmts
        then = self.block(stmt.then, lambda: self.assume(stmt.test, True))
        new = replace(stmt, then=then, orelse=self.block(stmt.orelse, lambda: self.assume(stmt.test, False)))
        self.forget_inside(new)
        for result, *sides in zip(new.results, new.then.yields, new.orelse.yields):
            found = {side for side in sides if not isinstance(side, ir.Undef)}
            if len(found) == 1 and isinstance(one := found.pop(), ir.Const) and one.type == result.type:
                self.drop(result, one)
        if isinstance(stmt.test, ir.Var) and is_left(new.then):
            self.learn(stmt.test)
        return (new,)

    def assume(self, test: ir.Operand, holds: bool) -> None:
        """Records that a test is true (``holds``) or false, and the same for the tests that it implies."""
        if not isinstance(test, ir.Var):
            return
        self.equal[test] = ir.Const(holds, BOOL)
        let = self.forms.lets.get(test)
        if let is None:
            return
        implied = record_of(let).implies
        for k, truth in implied(holds) if implied is not None else ():
            # knowing the opposite of a guard would keep it from matching the guard of an equal check
            if truth == holds:
                self.assume(let.args[k], truth)
        self.facts.test(let, holds)

    def learn(self, test: ir.Var) -> None:
        """Records that a test is false from here on. If the test compares two sizes for inequality, one size replaces the
        other."""
        self.assume(test, False)
        let = self.forms.lets.get(test)
        if let is None or record_of(let).relation is not NOT_EQUAL or self.depth > 1:
            return
        a, b = (self.operand(x) for x in let.args)
        if a is not b and is_integer(a) and is_integer(b):
            pair = self.forms.as_alias(a, b)
            if pair is not None:
                self.drop(*pair)

    def loop(self, stmt: ir.For | ir.While) -> ir.Stmt:
        """The loop with its blocks rewritten; what it may change is forgotten before."""
        self.forget_inside(stmt)
        if isinstance(stmt, ir.While):
            return replace(stmt, test=self.block(stmt.test), body=self.block(stmt.body))
        return replace(stmt, body=self.block(stmt.body, lambda: self.facts.enter(stmt)))


def is_false(op: ir.Operand) -> bool:
    return isinstance(op, ir.Const) and not op.value


def is_zero(op: ir.Operand) -> bool:
    return isinstance(op, ir.Const) and not isinstance(op.value, bool) and op.value == 0


def is_read(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Let) and stmt.prim == "index"


class _Stores:
    """The statements of a block, without stores to elements that are overwritten before anything reads them."""

    def __init__(self, around: _Forward) -> None:
        self.around = around
        self.stmts: list[ir.Stmt | None] = []
        self.open: dict[Place, int] = {}  # elements stored and not read since, with the position of the store

    def append(self, stmt: ir.Stmt) -> None:
        """Appends a statement; a store to an element stored before and not read since removes the earlier store."""
        around = self.around
        if not self.open and not isinstance(stmt, ir.Store):
            self.stmts.append(stmt)
            return
        touch = around.touches.of(stmt)
        seen = touch.read | touch.added
        if touch.raises or touch.acts:
            seen |= around.roots.written_params
        if not isinstance(stmt, ir.Store):
            seen |= touch.written
        if seen:
            read = around.place(stmt.args[0], stmt.args[1:]) if is_read(stmt) else None  # type: ignore
            self.open = {
                p: k
                for p, k in self.open.items()
                if around.roots.of(p[0]) not in seen or (read is not None and around.is_elsewhere(p, read))
            }
        if isinstance(stmt, ir.Store):
            place = around.place(stmt.buf, stmt.args)
            if place in self.open:
                self.stmts[self.open[place]] = None
            self.open[place] = len(self.stmts)
        self.stmts.append(stmt)

    def left(self) -> list[ir.Stmt]:
        return [s for s in self.stmts if s is not None]
