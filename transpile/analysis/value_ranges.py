"""Bounds of integers, derived from the loops, sizes, checks and tests before a point.

    for i in range(n - 1):                  0 <= i <= n - 2, so that i + 1 < n is true
        if i + 1 < n: ...

A form is known to be nonnegative if it is so after variables are replaced by their lower or upper bounds.

Integers of compiled code wrap at 64 bits: if ``p + 1 > 0`` was found true, ``p > -1`` may still be false. So a comparison adds
a fact only if its operands are *exact*, too small to have wrapped. Sums of sizes and of loop indices over them are exact, and
so is an integer that is no sum.
"""

from __future__ import annotations

from collections.abc import Iterator

from transpile.analysis.affine import Forms, Linear
from transpile.core import nodes as ir
from transpile.ops.interval_arithmetic import is_inside
from transpile.ops.tables import record_of
from transpile.ops.traits import GREATER_EQUAL, LESS_EQUAL, Relation

DEPTH = 5
LONGEST = 2**48  # no nonempty array has a longer axis
LIMIT = 2**63


class Facts:
    """Bounds of variables, valid in a block and in the blocks nested in it."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.low: dict[ir.Var, tuple[Linear, ...]] = {}
        self.high: dict[ir.Var, tuple[Linear, ...]] = {}
        self.forget()

    def inner(self) -> Facts:
        """A copy, for a nested block: facts added to it are not added here."""
        new = Facts(self.forms)
        new.low, new.high = dict(self.low), dict(self.high)
        new.ranges, new.wholes = dict(self.ranges), dict(self.wholes)
        return new

    def forget(self) -> None:
        """Clears the caches that were derived from the bounds, since these have changed."""
        self.ranges: dict[tuple[ir.Var, int], tuple[int, int]] = {}  # by variable and depth
        self.wholes: dict[ir.Var, Linear | None] = {}

    def inside(self, loop: ir.For | None) -> Facts:
        """A copy of the facts, for a nested block. If the block is the body of ``loop``, the range of its index is added; None
        for other blocks."""
        new = self.inner()
        if loop is not None:
            new.enter(loop)
        return new

    def learn(self, stmt: ir.Stmt) -> None:
        """Adds the facts from the definition of an integer; other statements are skipped."""
        if isinstance(stmt, ir.Let) and is_integer(stmt.var):
            self.define(stmt)

    # ---- what has not wrapped

    def form(self, op: ir.Operand) -> Linear:
        """The linear form of an integer if its computation cannot have wrapped; else the integer as an atom."""
        form = self.forms.of(op)
        if not isinstance(op, ir.Var) or is_alone(form):
            return form
        return self.whole(op) or Linear.atom(op)

    def is_exact(self, form: Linear) -> bool:
        """Whether the computed value equals the form: it cannot have wrapped."""
        if is_alone(form):
            return True
        low, high = self.range(form)
        return low >= -LIMIT and high < LIMIT

    def range(self, form: Linear, depth: int = DEPTH) -> tuple[int, int]:
        """Two numbers between which the form lies, both included. A variable of which nothing is known lies in int64; ``depth``
        limits how often bounds of bounds are followed."""
        low = high = form.const
        for var, coef in form.terms:
            ends = self._range(var, depth)
            low += coef * ends[coef < 0]
            high += coef * ends[coef > 0]
        return low, high

    def _range(self, var: ir.Var, depth: int) -> tuple[int, int]:
        """The same two numbers as `range` gives, for a single variable; a size of an array is between 0 and `LONGEST`."""
        known = self.ranges.get((var, DEPTH)) or self.ranges.get((var, depth))
        if known is not None:
            return known
        let = self.forms.lets.get(var)
        if let is not None and let.prim == "dim":
            return 0, LONGEST
        if not depth:
            return -LIMIT, LIMIT - 1
        least, most = -LIMIT, LIMIT - 1
        rule = record_of(let).interval if let is not None else None
        if let is not None and rule is not None and all(is_integer(a) for a in let.args):
            given = [self.range(self.forms.of(a), depth - 1) for a in let.args]
            found = rule(*given) if all(map(is_inside, given)) else None
            if found is not None and is_inside(found):
                least, most = found
        for bound in self.low.get(var, ()):
            least = max(least, self.range(bound, depth - 1)[0])
        for bound in self.high.get(var, ()):
            most = min(most, self.range(bound, depth - 1)[1])
        self.ranges[var, depth] = least, most
        return least, most

    # ---- learning

    def not_negative(self, form: Linear) -> None:
        """Adds the fact ``form >= 0``, as a bound of each variable with coefficient 1 or -1."""
        self.forget()
        for var, coef in form.terms:
            rest = form.without(var)
            if coef == 1:
                self.bound(self.low, var, rest.times(-1))
            elif coef == -1:
                self.bound(self.high, var, rest)

    def bound(self, bounds: dict[ir.Var, tuple[Linear, ...]], var: ir.Var, form: Linear) -> None:
        """Adds ``form`` to the bounds of ``var`` in the table ``bounds``, which is ``low`` or ``high``."""
        known = bounds.get(var, ())
        if form not in known:
            bounds[var] = (*known, form)

    def less(self, a: Linear, b: Linear) -> None:
        """Adds the fact ``a < b``."""
        self.not_negative(b - a - 1)

    def at_most(self, a: Linear, b: Linear) -> None:
        """Adds the fact ``a <= b``."""
        self.not_negative(b - a)

    def same(self, a: Linear, b: Linear) -> None:
        """Adds the fact ``a == b``."""
        self.at_most(a, b)
        self.at_most(b, a)

    def check(self, at: ir.Operand, size: ir.Operand, low: bool) -> None:
        """Adds the facts of a passed bounds check, ``at < size`` and, with ``low``, ``at >= 0``; nothing if ``at`` may have
        wrapped."""
        form, most = self.forms.of(at), self.form(size)
        if not self.is_exact(form) and not (low and self.is_shift(form, most)):
            return
        self.less(form, most)
        if low:
            self.not_negative(form)

    def is_shift(self, form: Linear, size: Linear) -> bool:
        """Whether the form is ``x + rest`` or ``-x + rest`` for one variable x, where ``rest`` and ``size`` are surely less
        than 2**62 in magnitude. Then a value between 0 and ``size`` proves that the sum has not wrapped."""
        for var, coef in form.terms:
            rest = form.without(var)
            if abs(coef) == 1 and all(abs(end) < LIMIT // 2 for f in (rest, size) for end in self.range(f)):
                return True
        return False

    def define(self, let: ir.Let) -> None:
        """Adds the facts from the definition of an integer: a size, a maximum or minimum, a remainder, a quotient or a
        ``where``."""
        self.forget()
        var, record = Linear.atom(let.var), record_of(let)
        kind, args = as_extremum(let)
        if kind:
            for a in args:
                form = self.form(a)
                self.at_most(form, var) if kind == "max" else self.at_most(var, form)
        if let.prim == "dim" or (kind == "min" and all(self.is_not_negative(self.form(a)) for a in args)):
            self.bound(self.low, let.var, Linear(0))
        elif record.below is not None and all(is_integer(a) for a in let.args):
            self._below(let, var)
        elif record.division and all(is_integer(a) for a in let.args):
            self._divide(let, var)
        elif let.prim == "where" and all(is_integer(a) for a in let.args[1:]):
            self._choose(let, var)

    def _choose(self, let: ir.Let, var: Linear) -> None:
        """Adds facts about ``where(test, a, b)`` with the value ``var``, as in ``k + n if k < 0 else k``: it is nonnegative if
        both sides are, and less than ``n``, the difference of the sides, if both are."""
        test = self.forms.lets.get(let.args[0]) if isinstance(let.args[0], ir.Var) else None
        if test is None:
            return
        sides = [(self.inner(), self.form(a)) for a in let.args[1:]]
        size = sides[0][1].plus(sides[1][1], -1)
        for (facts, _), holds in zip(sides, (True, False)):
            facts.test(test, holds)
        if all(facts.is_not_negative(form) for facts, form in sides):
            self.not_negative(var)
        if all(facts.is_not_negative(size - form - 1) for facts, form in sides):
            self.less(var, size)

    def _below(self, let: ir.Let, var: Linear) -> None:
        """Adds ``0 <= var < size`` for a remainder by ``size``, ``0 <= var <= size`` for an end clipped to ``size``; nothing
        unless the range is known not to be empty."""
        relation, size = record_of(let).below, self.form(let.args[-1])
        assert relation is not None
        least = size if relation.equal else size - 1
        if self.is_not_negative(least):
            self.not_negative(var)
            self.at_most(var, least)

    def _divide(self, let: ir.Let, var: Linear) -> None:
        """Adds ``0 <= var <= x`` for a quotient ``x // by`` of which ``x`` is known to be nonnegative and ``by`` positive."""
        x, by = (self.form(a) for a in let.args)
        if self.is_not_negative(by - 1) and self.is_not_negative(x):
            self.not_negative(var)
            self.at_most(var, x)

    def test(self, let: ir.Let, holds: bool) -> None:
        """Adds the facts from a comparison of integers that is true (``holds``) or false."""
        relation = record_of(let).relation
        if relation is None or not all(is_integer(a) for a in let.args):
            return
        a, b = (self.form(x) for x in let.args)
        match (relation if holds else relation.negated).cases:
            case True, False, False:
                self.less(a, b)
            case True, True, False:
                self.at_most(a, b)
            case False, False, True:
                self.less(b, a)
            case False, True, True:
                self.at_most(b, a)
            case False, True, False:
                self.same(a, b)

    def enter(self, loop: ir.For) -> None:
        """Adds what holds in the body of a loop: the range of its index, and with a positive step that the range is not empty.
        Nothing if the step is not constant."""
        if not isinstance(loop.step, ir.Const) or not all(is_integer(o) for o in (loop.index, loop.start, loop.bound)):
            return
        index, start, bound = (self.form(o) for o in (loop.index, loop.start, loop.bound))
        if loop.step.value < 0:
            self.less(bound, index)
            self.at_most(index, start)
            return
        self.less(start, bound)
        self.less(index, bound)
        self.at_most(start, index)
        let = self.forms.lets.get(loop.bound) if isinstance(loop.bound, ir.Var) else None
        kind, args = as_extremum(let) if let is not None else ("", ())
        if kind == "max" and isinstance(args[1], ir.Const) and self.is_not_negative(start.plus(self.form(args[1]), -1)):
            self.same(bound, self.form(args[0]))  # the loop has an iteration, so the maximum is not the constant

    # ---- asking

    def is_not_negative(self, form: Linear) -> bool:
        """Whether the form is known to be nonnegative; False if that is not known."""
        if self.range(form)[0] >= 0:
            return True
        best: dict[frozenset[tuple[ir.Var, int]], int] = {}  # terms -> the greatest constant tried with them
        forms = [form]
        for depth in range(DEPTH + 1):
            deeper: list[Linear] = []
            for f in forms:
                if not f.terms:
                    if f.const >= 0:
                        return True
                elif best.get(f.key, f.const - 1) < f.const:
                    best[f.key] = f.const
                    if depth < DEPTH:
                        deeper += self.weaker(f)
            forms = deeper
        return False

    def weaker(self, form: Linear) -> Iterator[Linear]:
        """Lower bounds of the form: a variable is replaced by one of its bounds, or by its definition if that is exact.

        Only the variables with the fewest replacements are tried, which is enough: a proof that the form is nonnegative
        replaces every variable at some point, in any order. Variables with coefficient 1 or -1 go first, because only these
        have recorded bounds; a factor may hide a proof.
        """
        chosen: list[tuple[ir.Var, int]] = []
        fewest = 0
        for var, coef in form.terms:
            count = len(self.bounds(var, coef)) + (self.whole(var) is not None)
            if abs(coef) == 1 and count and (not fewest or count <= fewest):
                chosen, fewest = [(var, coef), *(chosen if count == fewest else ())], count
        for var, coef in chosen or form.terms:
            whole = self.whole(var)
            if whole is not None:
                yield form.replaced(var, whole)
            bounds = self.bounds(var, coef)
            rest = form.without(var) if bounds else form
            for bound in bounds:
                yield rest.plus(bound, coef)

    def bounds(self, var: ir.Var, coef: int) -> tuple[Linear, ...]:
        """The known bounds of a term ``coef * var`` from below, as bounds of ``var``: lower ones if ``coef`` is positive, else
        upper ones."""
        return (self.low if coef > 0 else self.high).get(var, ())

    def whole(self, var: ir.Var) -> Linear | None:
        """The linear form of a variable's definition; None if its computation may wrap, or if the form is a number or a single
        variable."""
        if var not in self.wholes:
            form = self.forms.of(var)
            self.wholes[var] = None if is_alone(form) or not self.is_exact(form) else form
        return self.wholes[var]

    def compare(self, relation: Relation, a: Linear, b: Linear) -> bool | None:
        """Whether ``a`` and ``b`` are in the given relation (``a < b``, for example); None if that is not known."""
        gap = b - a
        match relation.cases:
            case True, False, False:
                return self._either(gap - 1, -gap)
            case True, True, False:
                return self._either(gap, -gap - 1)
            case False, _, True:
                return self.compare(relation.turned, b, a)
        if not gap.terms:
            return (gap.const == 0) == relation.equal
        if self.is_not_negative(gap - 1) or self.is_not_negative(-gap - 1):
            return not relation.equal
        return None

    def _either(self, yes: Linear, no: Linear) -> bool | None:
        """True if ``yes`` is known to be nonnegative, False if ``no`` is, None if neither is known."""
        return True if self.is_not_negative(yes) else False if self.is_not_negative(no) else None

    def chosen(self, kind: str, args: tuple[ir.Operand, ...]) -> ir.Operand | None:
        """Of the two integers ``args`` the greater (``kind`` "max") or the smaller ("min"); None if that is not known."""
        a, b = (self.form(x) for x in args)
        relation = GREATER_EQUAL if kind == "max" else LESS_EQUAL
        if self.compare(relation, a, b):
            return args[0]
        return args[1] if self.compare(relation, b, a) else None


def is_alone(form: Linear) -> bool:
    """Whether the form is a number or a single variable."""
    return form.is_const or form.as_atom is not None


def is_integer(op: ir.Operand) -> bool:
    """Whether the operand is an int64 scalar or an integer constant; a boolean is none."""
    if isinstance(op, ir.Const):
        return isinstance(op.value, int) and not isinstance(op.value, bool)
    return isinstance(op, ir.Var) and op.type.dtype == "int64" and not op.type.dims and op.type.kind == "array"


def as_extremum(let: ir.Let) -> tuple[str, tuple[ir.Operand, ...]]:
    """``("max", operands)`` or ``("min", operands)`` if the *let* computes one of two integers; else ``("", ())``."""
    if len(let.args) == 2 and all(is_integer(a) for a in let.args) and is_integer(let.var):
        kind = {1: "max", -1: "min"}.get(record_of(let).extreme)
        if kind is not None:
            return kind, let.args
    return "", ()
