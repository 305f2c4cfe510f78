"""Hoists bounds checks out of loops if they are linear in the index and run in every iteration.

    for j in range(m):                    if m > n:
        check j < n             ->            raise IndexError(n, n)
        ...                               for j in range(m):
                                              ...

The error names the first index that is out of range, as in the loop. A check before a loop that may have no iterations is
guarded by a test that it has one.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import is_pure, may_raise
from transpile.analysis.affine import Forms, Linear, computed
from transpile.analysis.undefined import is_left
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, INT
from transpile.core.walk import blocks, defined, reads, statements
from transpile.loops.affine_tests import Ends
from transpile.loops.small_integers import Small


def hoist_checks(fn: ir.Function) -> ir.Function:
    """The function with its checks as far out as possible."""
    return with_body(fn, _Hoist(fn).block(fn.body))


class _Hoist:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.small = Small(fn, self.forms)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with checks before its loops, nested blocks first."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            new = with_blocks(stmt, self.block) if blocks(stmt) else stmt
            if isinstance(new, ir.For):
                before, new = self.taken_out(new)
                stmts += before
            stmts.append(new)
        return with_stmts(block, stmts)

    def taken_out(self, loop: ir.For) -> tuple[list[ir.Stmt], ir.For]:
        """A pair of the statements to run before the loop, checks and what they need, and the loop without these checks."""
        if loop.body.stop is not None or not isinstance(loop.step, ir.Const) or abs(loop.step.value) != 1:
            return [], loop
        if any(isinstance(s, ir.Print) for s in statements(loop.body)):
            return [], loop
        out = _Out(self, loop, asks=True)
        if any(raises(s) and not only_asks(s) for s in out.left):  # an error that Python raises too must come first
            out = _Out(self, loop, asks=False)
        before = [*out.before, *out.later, *out.last]
        if not before or any(raises(s, checks=False) for s in out.left):  # the order of errors must not change
            return [], loop
        return before, replace(loop, body=replace(loop.body, stmts=out.left))


def raises(stmt: ir.Stmt, checks: bool = True) -> bool:
    """Whether the statement, or one nested in it, may raise; checks count unless ``checks`` is False."""
    inner = (s for b in blocks(stmt) for s in statements(b))
    return any(
        isinstance(s, (ir.Raise, ir.Call, ir.Check, ir.BoundsCheck) if checks else (ir.Raise, ir.Call))
        or (isinstance(s, ir.Let) and may_raise(s))
        for s in (stmt, *inner)
    )


def only_asks(stmt: ir.Stmt) -> bool:
    """Whether neither the statement nor one nested in it is a bounds check; it may have overflow checks."""
    inner = (s for b in blocks(stmt) for s in statements(b))
    return not any(isinstance(s, ir.BoundsCheck) for s in (stmt, *inner))


class _Out:
    """Divides the statements of a loop body into those before the loop and those left in it."""

    def __init__(self, around: _Hoist, loop: ir.For, asks: bool) -> None:
        self.asks = asks  # whether overflow checks are hoisted too
        self.forms, self.small, self.loop = around.forms, around.small, loop
        self.own = {loop.index, *defined(loop.body)}
        self.lets = {s.var: s for s in loop.body.stmts if isinstance(s, ir.Let)}
        self.copied: dict[ir.Var, ir.Operand] = {}
        self.before: list[ir.Stmt] = []  # checks of the first iteration, in order
        self.later: list[ir.Stmt] = []  # checks of later iterations
        self.last: list[ir.Stmt] = []  # overflow checks
        self.left: list[ir.Stmt] = []
        self.trip: ir.Operand | None = None
        self.has_raise = any(isinstance(s, ir.If) and self.is_fixed_raise(s) for s in loop.body.stmts)
        self.ends = Ends(loop, self.lets, self.is_fixed, self.copy, self.emit)
        for stmt in loop.body.stmts:
            self.take(stmt)

    def take(self, stmt: ir.Stmt) -> None:
        """Puts a check, or a branch that only raises, before the loop if it can run there once for all iterations; leaves other
        statements in the loop."""
        if isinstance(stmt, ir.Check):
            self.question(stmt)
        elif isinstance(stmt, ir.BoundsCheck) and self.is_linear(stmt):
            self.check(stmt)
        elif isinstance(stmt, ir.If) and self.is_fixed_raise(stmt) and not any(raises(s) for s in self.left):
            effect = stmt.then.stmts[0]
            assert isinstance(effect, ir.Raise)
            raised = replace(effect, args=tuple(self.copy(a) for a in effect.args))
            test = self.both(self.has_trip(), self.copy(stmt.test), stmt.loc)
            self.before.append(ir.If(test, ir.Block((), [raised]), ir.Block(), (), stmt.loc))
        else:
            self.left.append(stmt)

    def question(self, check: ir.Check) -> None:
        """Puts an overflow check before the loop, as a test of all iterations, or leaves it."""
        found = self.ends.anywhere(check.test) if self.asks else None
        if found is None:
            self.left.append(check)
        else:
            test = self.both(self.has_trip(), found, check.loc)
            self.last.append(replace(check, test=test))

    # ---- loop-invariant operands

    def is_fixed(self, op: ir.Operand) -> bool:
        """Whether an operand is known, or can be computed without reading elements, before the loop."""
        if not isinstance(op, ir.Var) or op not in self.own:
            return True
        let = self.lets.get(op)
        if let is None or let.prim == "index" or not is_pure(let) or let.var.type.dims:
            return False
        return all(self.is_fixed(a) for a in let.args)

    def copy(self, op: ir.Operand) -> ir.Operand:
        """An invariant operand before the loop: if the loop computes it, its computation is copied there."""
        if not isinstance(op, ir.Var) or op not in self.own:
            return op
        if op not in self.copied:
            let = self.lets[op]
            args = tuple(self.copy(a) for a in let.args)
            self.copied[op] = self.emit(replace(let, var=ir.Var(op.name, op.type), args=args))
        return self.copied[op]

    def emit(self, let: ir.Let) -> ir.Var:
        """The variable of a *let*, which is put before the loop."""
        self.before.append(let)
        self.forms.learn(let)
        return let.var

    def is_fixed_raise(self, stmt: ir.If) -> bool:
        """Whether a branch is ``if test: raise ...`` with a test and operands that are the same in all iterations."""
        if stmt.results or stmt.orelse.stmts or not is_left(stmt.then) or len(stmt.then.stmts) != 1:
            return False
        return all(self.is_fixed(o) for o in (stmt.test, *reads(stmt.then.stmts[0])))

    # ---- checks linear in the index

    def is_linear(self, check: ir.BoundsCheck) -> bool:
        """Whether a bounds check can be replaced by checks at the ends of the range: its subscript is the index times 1, 0 or
        -1 plus what is known before the loop, as are size and guard."""
        index = self.loop.index
        at, size, given = (self.forms.of(o) for o in (check.at, check.size, check.given))
        if abs(at.coefficient(index)) > 1 or at.coefficient(index) != given.coefficient(index):
            return False
        if check.guard is not None and not self.is_fixed(check.guard):
            return False
        rest = at.without(index).atoms | given.without(index).atoms | size.atoms
        return not (rest & self.own) and self.is_between(at)

    def is_between(self, at: Linear) -> bool:
        """Whether a subscript that is in range at both ends of the loop's range is surely in range in between. It may not be if
        the range has 2**63 indices or more, so that a sum wraps around completely."""
        index, start, bound = self.loop.index, self.forms.of(self.loop.start), self.forms.of(self.loop.bound)
        if not at.coefficient(index) or at.replaced(index, start) == Linear(0):
            return True
        return any(self.small.is_of_small(form) for form in (start, bound, at.without(index)))

    def check(self, check: ir.BoundsCheck) -> None:
        """Puts a bounds check before the loop: at those ends of the range where it can fail."""
        loop = self.loop
        at, size, given = (self.forms.of(o) for o in (check.at, check.size, check.given))
        shift = given - at
        coef = at.coefficient(loop.index)
        step = loop.step.value  # type: ignore[union-attr]
        first, last = self.forms.of(loop.start), self.forms.of(loop.bound).plus(Linear(-step))
        if loop.backwards:
            first, last, step = last, first, -step
        begin, end = (at.replaced(loop.index, x) for x in (first, last))
        low = check.low
        if not coef:
            self.emit_check(check, at, size, given, low)
        elif coef * step > 0:  # counts up: the first index out of range equals the size
            if begin != Linear(0) or self.has_raise:
                self.emit_check(check, begin, size, begin + shift, low)
            # without iterations the end is then negative
            counts = begin == Linear(0) and isinstance(loop.start, ir.Const)
            self.emit_check(check, end, size, size + shift, not self.small.is_of_small(end), self.later, not counts)
        else:
            self.emit_check(check, begin, size, begin + shift, low)
            if low:
                self.emit_check(check, end, size, Linear(-1).plus(shift), True, self.later)

    def emit_check(
        self,
        check: ir.BoundsCheck,
        at: Linear,
        size: Linear,
        given: Linear,
        low: bool,
        to: list[ir.Stmt] | None = None,
        only_trips: bool = True,
    ) -> None:
        """Emits one check, unless it is known to pass: that ``at`` is below ``size`` and, with ``low``, not below 0; the
        message shows ``given``. ``to``: the statements it is appended to, by default those before the loop. ``only_trips``: the
        check counts only if the loop has an iteration."""
        to = self.before if to is None else to
        if not at.plus(size, -1).terms and at.const < size.const and not low:
            return
        loc = check.loc
        now, most, shown = (self.operand(f, loc) for f in (at, size, given))
        guard = self.has_trip() if only_trips or low else None
        if check.guard is not None:
            guard = self.both(guard, self.copy(check.guard), loc)
        to.append(replace(check, at=now, size=most, given=shown, guard=guard, low=low))

    def has_trip(self) -> ir.Operand | None:
        """A test that the loop has an iteration, emitted before the loop at the first request; None if it always has one."""
        loop = self.loop
        step = loop.step.value  # type: ignore[union-attr]
        trips = self.forms.of(loop.bound).plus(self.forms.of(loop.start), -1).times(step)
        if not trips.terms and trips.const > 0:
            return None
        if self.trip is None:
            args = (loop.start, loop.bound) if step > 0 else (loop.bound, loop.start)
            self.trip = self.emit(ir.Let(ir.Var(ir.SYNTHETIC, BOOL), "less", args, {}, loop.loc))
        return self.trip

    def both(self, a: ir.Operand | None, b: ir.Operand, loc: ir.Loc) -> ir.Operand:
        """The conjunction, computed before the loop; ``b`` alone if ``a`` is None."""
        return b if a is None else self.emit(ir.Let(ir.Var(ir.SYNTHETIC, BOOL), "logical_and", (a, b), {}, loc))

    def operand(self, form: Linear, loc: ir.Loc) -> ir.Operand:
        """An operand with the value of the form, computed before the loop."""
        return computed(form, lambda prim, a, b: self.number(prim, a, b, loc))

    def number(self, prim: str, a: ir.Operand, b: ir.Operand, loc: ir.Loc) -> ir.Operand:
        """The integer ``prim(a, b)``, computed before the loop."""
        return self.emit(ir.Let(ir.Var(ir.SYNTHETIC, INT), prim, (a, b), {}, loc))
