"""What is known of integers: between what each lies, from loops, sizes, checks and tests that stand before.

    for i in range(n - 1):                  0 <= i <= n - 2, so that i + 1 < n is true
        if i + 1 < n: ...

A form is known not to be negative if it is so after variables are replaced by what they are at least, or at most.
"""

from __future__ import annotations

from collections.abc import Iterator

from transpile.core.nodes import Const, For, Let, Operand, Var
from transpile.loops.affine import Forms, Linear

DEPTH = 5
ONE = Linear(1)


class Facts:
    """Bounds of variables, valid in a block and in those nested in it."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.low: dict[Var, tuple[Linear, ...]] = {}
        self.high: dict[Var, tuple[Linear, ...]] = {}

    def inner(self) -> Facts:
        """A copy that a nested block may add to."""
        new = Facts(self.forms)
        new.low, new.high = dict(self.low), dict(self.high)
        return new

    # ---- learning

    def not_negative(self, form: Linear) -> None:
        """From here on ``form >= 0``: a bound of each variable in it whose coefficient is 1 or -1."""
        for var, coef in form.terms:
            rest = form.without(var)
            if coef == 1:
                self.bound(self.low, var, rest.times(-1))
            elif coef == -1:
                self.bound(self.high, var, rest)

    def bound(self, bounds: dict[Var, tuple[Linear, ...]], var: Var, form: Linear) -> None:
        known = bounds.get(var, ())
        if form not in known:
            bounds[var] = (*known, form)

    def less(self, a: Linear, b: Linear) -> None:
        self.not_negative(b.plus(a, -1).plus(ONE, -1))

    def at_most(self, a: Linear, b: Linear) -> None:
        self.not_negative(b.plus(a, -1))

    def same(self, a: Linear, b: Linear) -> None:
        self.at_most(a, b)
        self.at_most(b, a)

    def define(self, let: Let) -> None:
        """What the definition of an integer says of it."""
        var = Linear(0, frozenset(((let.var, 1),)))
        kind, args = as_extremum(let)
        if kind:
            for a in args:
                form = self.forms.of(a)
                self.at_most(form, var) if kind == "max" else self.at_most(var, form)
        if let.prim == "dim" or (kind == "min" and all(self.is_not_negative(self.forms.of(a)) for a in args)):
            self.bound(self.low, let.var, Linear(0))
        elif let.prim == "call" and let.params.get("fn") == "arrays.bound":
            self.low[let.var] = (Linear(0),)
            self.high[let.var] = (self.forms.of(let.args[1]),)

    def test(self, let: Let, holds: bool) -> None:
        """What a comparison of integers says where it holds, or does not."""
        if len(let.args) != 2 or not all(is_integer(a) for a in let.args):
            return
        a, b = (self.forms.of(x) for x in let.args)
        match let.prim, holds:
            case ("less", True) | ("greater_equal", False):
                self.less(a, b)
            case ("less_equal", True) | ("greater", False):
                self.at_most(a, b)
            case ("greater", True) | ("less_equal", False):
                self.less(b, a)
            case ("greater_equal", True) | ("less", False):
                self.at_most(b, a)
            case ("equal", True) | ("not_equal", False):
                self.same(a, b)

    def enter(self, loop: For) -> None:
        """Between what the index of a loop lies, in a trip."""
        if not isinstance(loop.step, Const) or not all(is_integer(o) for o in (loop.index, loop.start, loop.bound)):
            return
        index, start, bound = (self.forms.of(o) for o in (loop.index, loop.start, loop.bound))
        if loop.step.value < 0:
            self.less(bound, index)
            self.at_most(index, start)
            return
        self.less(start, bound)
        self.less(index, bound)
        self.at_most(start, index)
        let = self.forms.lets.get(loop.bound) if isinstance(loop.bound, Var) else None
        kind, args = as_extremum(let) if let is not None else ("", ())
        if (
            kind == "max"
            and isinstance(args[1], Const)
            and self.is_not_negative(start.plus(self.forms.of(args[1]), -1))
        ):
            self.same(bound, self.forms.of(args[0]))  # there is a trip, so it is not the other one

    # ---- asking

    def is_not_negative(self, form: Linear) -> bool:
        best: dict[frozenset[tuple[Var, int]], int] = {}  # of forms with these terms the one most likely to be it
        forms = [form]
        for depth in range(DEPTH + 1):
            deeper: list[Linear] = []
            for f in forms:
                if not f.terms:
                    if f.const >= 0:
                        return True
                elif best.get(f.terms, f.const - 1) < f.const:
                    best[f.terms] = f.const
                    if depth < DEPTH:
                        deeper += self.weaker(f)
            forms = deeper
        return False

    def weaker(self, form: Linear) -> Iterator[Linear]:
        """Forms that are at most as great: a variable is replaced by what bounds it."""
        for var, coef in form.terms:
            bounds = (self.low if coef > 0 else self.high).get(var)
            if bounds:
                rest = form.without(var)
                for bound in bounds:
                    yield rest.plus(bound, coef)

    def compare(self, prim: str, a: Linear, b: Linear) -> bool | None:
        """Whether a comparison holds; None if that is not known."""
        gap = b.plus(a, -1)
        match prim:
            case "less":
                return self._either(gap.plus(ONE, -1), gap.times(-1))
            case "less_equal":
                return self._either(gap, gap.times(-1).plus(ONE, -1))
            case "greater":
                return self.compare("less", b, a)
            case "greater_equal":
                return self.compare("less_equal", b, a)
            case "equal" | "not_equal":
                if not gap.terms:
                    return (gap.const == 0) == (prim == "equal")
                if self.is_not_negative(gap.plus(ONE, -1)) or self.is_not_negative(gap.times(-1).plus(ONE, -1)):
                    return prim == "not_equal"
        return None

    def _either(self, yes: Linear, no: Linear) -> bool | None:
        return True if self.is_not_negative(yes) else False if self.is_not_negative(no) else None

    def chosen(self, kind: str, args: tuple[Operand, ...]) -> Operand | None:
        """The one of two integers that is the greater, or smaller, one."""
        a, b = (self.forms.of(x) for x in args)
        prim = "greater_equal" if kind == "max" else "less_equal"
        if self.compare(prim, a, b):
            return args[0]
        return args[1] if self.compare(prim, b, a) else None


def is_integer(op: Operand) -> bool:
    if isinstance(op, Const):
        return isinstance(op.value, int) and not isinstance(op.value, bool)
    return isinstance(op, Var) and op.type.dtype == "int64" and not op.type.dims and op.type.kind == "array"


def as_extremum(let: Let) -> tuple[str, tuple[Operand, ...]]:
    """``max`` or ``min`` and the two integers, however it is said."""
    if len(let.args) == 2 and all(is_integer(a) for a in let.args) and is_integer(let.var):
        name = let.params.get("fn") if let.prim == "call" else let.prim
        if name in ("max", "maximum"):
            return "max", let.args
        if name in ("min", "minimum"):
            return "min", let.args
    return "", ()
