"""Two instances of statements as one system of linear constraints: loop indices, sizes, tests, the touched element."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import product

from transpile.analysis.fourier_motzkin import at_least, is_infeasible
from transpile.analysis.scopes import Def, Nest, Site
from transpile.core import nodes as ir
from transpile.core.dims import Atom, Dim
from transpile.core.forms import Form
from transpile.core.places import FormOf
from transpile.ops.tables import record_of
from transpile.ops.traits import Relation

CASES = 128  # more combinations of cases than this are not tried: the answer is "unknown"
Facts = tuple[list[Form], list[Form]]  # forms that are nonnegative, forms that are zero
Choice = list[Facts]  # at least one of these holds


class TooMany(Exception):
    """More cases than may be tried."""


@dataclass(frozen=True)
class Order:
    """The write runs in a later iteration of loop ``later`` (None: all common loops are in the same iteration); the loops in
    ``same`` are in the same iteration."""

    same: tuple[ir.For | ir.While, ...]
    later: ir.For | ir.While | None

    def is_same(self, loop: ir.For | ir.While) -> bool:
        return any(loop is s for s in self.same)


@dataclass(frozen=True)
class Axis:
    """The touched elements of an axis: all, or those that an item of an index with its operands selects."""

    size: Dim
    item: ir.Point | ir.Slice | None = None
    args: tuple[ir.Operand, ...] = ()

    @property
    def is_known(self) -> bool:
        return self.item is not None


@dataclass
class Instances:
    """The constraints of one order. Side 1 is the first statement, side 2 the write; side 0 marks what both share."""

    defs: dict[ir.Var, Def]
    symbols: Mapping[str, ir.Operand]
    form_of: FormOf
    first: Site
    write: Site
    order: Order
    facts: Facts = field(default_factory=lambda: ([], []))
    choices: list[Choice] = field(default_factory=list)
    numbers: dict[Hashable, int] = field(default_factory=dict)

    # ---- variables and forms

    def variable(self, key: Hashable, is_size: bool = False) -> Form:
        """The form of the unknown with this key, created on first use; ``is_size``: it is then constrained to be
        nonnegative."""
        known = key in self.numbers
        form: Form[Hashable, int] = Form.atom(self.numbers.setdefault(key, len(self.numbers)))
        if is_size and not known:
            self.facts[0].append(form)
        return form

    def site(self, side: int) -> Site:
        """The first statement for side 1, the write for side 2."""
        return self.first if side == 1 else self.write

    def operand(self, operand: ir.Operand, side: int) -> Form:
        """The form of an integer operand's value, as the first statement (``side`` 1) or the write (2) sees it."""
        if isinstance(operand, ir.Const):
            return Form(int(operand.value))
        assert isinstance(operand, ir.Var), operand
        loop = next((s for s, _ in self.site(side).nest if isinstance(s, ir.For) and s.index is operand), None)
        if loop is not None:
            return self.index(loop, side)
        form = self.form_of(operand)
        if form is not None:
            return self.dim(form, side)
        return self.atom(operand, ("var", id(operand)), side)

    def index(self, loop: ir.For, side: int) -> Form:
        """The form of a loop's index on a side; both sides share it if they are in the same iteration of the loop."""
        is_size = loop.symbol is not None and loop.symbol.is_size_symbol
        return self.variable(("index", id(loop), 0 if self.order.is_same(loop) else side), is_size)

    def dim(self, dim: Dim, side: int) -> Form:
        """The form of a dimension's value, as the first statement (``side`` 1) or the write (2) sees it."""
        total: Form[Hashable, int] = Form(dim.const)
        for atom, coef in dim.terms:
            total = total + self.term(atom, side).times(coef)
        return total

    def term(self, atom: Atom, side: int) -> Form:
        """The form of an atom's value on a side; adds the constraints that define a maximum with 0 or a quotient."""
        if atom.kind in ("symbol", "int"):
            return self.symbol(atom, side)
        parts = [self.dim(d, side) for d in atom.operands]
        if atom.kind == "mul":
            for k in (0, 1):
                if not parts[k].terms:
                    return parts[1 - k].times(parts[k].const)
        value = self.variable((atom.kind, *(p for p in parts)), atom.is_size)
        if atom.kind == "max0":
            self.facts[0].append(at_least(value, parts[0]))
            self.choices.append([([], [value]), ([], [value - parts[0]])])
        elif atom.kind == "floordiv" and not parts[1].terms and parts[1].const > 0:
            rest = parts[0] - value.times(parts[1].const)
            self.facts[0].extend([rest, Form(parts[1].const - 1) - rest])
        return value

    def symbol(self, atom: Atom, side: int) -> Form:
        """The form of a symbol's value on a side: a loop index, a constant, or an unknown."""
        # a cloned loop keeps the symbol of its index: the symbol means the enclosing loop
        for stmt, _ in reversed(self.site(side).nest):
            if isinstance(stmt, ir.For) and stmt.symbol is not None and stmt.symbol.as_symbol == atom.name:
                return self.index(stmt, side)
        holder = self.symbols.get(atom.name)
        if isinstance(holder, ir.Const):
            return Form(int(holder.value))
        return self.atom(holder, ("symbol", atom.name), side, atom.kind == "symbol")

    def atom(self, holder: ir.Operand | None, key: Hashable, side: int, is_size: bool = False) -> Form:
        """The form of one unknown named ``key``: the same for both sides if they see the same value, else one for each
        ``side``. ``holder`` is the operand with the value, if there is one."""
        where = self.defs.get(holder) if isinstance(holder, ir.Var) else None
        shared = self.is_parameter(key) if where is None else self.is_shared(where)
        return self.variable((key, 0 if shared else side), is_size)

    def is_parameter(self, key: Hashable) -> bool:
        """Whether the key names a symbol in the size of a parameter; its operand may have been removed, or never existed."""
        params = (v for v, d in self.defs.items() if d.kind == "param" and d.stmt is None)
        return any(key == ("symbol", s) for p in params for d in p.type.dims for s in d.symbols())

    def is_shared(self, where: Def) -> bool:
        """Whether a definition has one value for both sides: both can see it, and its loops are in the same iteration."""
        if not (_is_prefix(where.nest, self.first.nest) and _is_prefix(where.nest, self.write.nest)):
            return False
        return all(self.order.is_same(loop) for loop in where.loops)

    # ---- constraints

    def touch(self, number: int, axis: Axis, side: int) -> None:
        """Constrains the element's subscript along an axis of the buffer (the one with this ``number``) as far as ``axis``
        tells, on a side: within the size, and selected by the axis's item."""
        element = self.variable(("element", number))
        size = self.dim(axis.size, side)
        self.facts[0].extend([element, size - element - 1])
        match axis.item:
            case ir.Point():
                value = self.operand(axis.args[axis.item.arg], side)
                self.choices.append(self.wrapped(value, size, lambda v: ([], [element - v])))
            case ir.Slice():
                self.slice(axis.item, axis.args, element, size, side)

    def wrapped(self, value: Form, size: Form, then) -> Choice:  # type: ignore[no-untyped-def]
        """The cases of Python's negative indices: ``value`` itself, or counted from the end, ``value + size``. ``then`` gives
        the further constraints and equations for each of these subscripts; cases that a constant excludes are left out."""
        choice: Choice = []
        if value.terms or value.const >= 0:
            at_front, zero = then(value)
            choice.append(([value, *at_front], zero))
        if value.terms or value.const < 0:
            at_end, zero = then(value + size)
            choice.append(([-value - 1, *at_end], zero))
        return choice

    def slice(self, item: ir.Slice, args: tuple[ir.Operand, ...], element: Form, size: Form, side: int) -> None:
        """Constrains the subscript ``element`` to lie in the slice ``item``, whose step must be constant; nothing is added
        otherwise. ``size``: that of the axis."""
        step = 1 if item.step is None else getattr(args[item.step], "value", None)
        if not isinstance(step, int) or step == 0:
            return
        start = None if item.start is None else self.operand(args[item.start], side)
        stop = None if item.stop is None else self.operand(args[item.stop], side)
        if step > 0:
            if start is not None:
                self.choices.append(self.wrapped(start, size, lambda v: ([element - v], [])))
            if stop is not None:
                self.choices.append(self.wrapped(stop, size, lambda v: ([v - element - 1], [])))
            if step > 1 and (start is None or not start.terms and start.const >= 0):
                self.stride(element - (Form() if start is None else start), step, side)
        else:
            if start is not None:
                self.choices.append(self.wrapped(start, size, lambda v: ([v - element], [])))
            if stop is not None:
                self.choices.append(self.wrapped(stop, size, lambda v: ([element - v - 1], [])))
            if step < -1 and start is None:
                self.stride(size - element - 1, -step, side)

    def stride(self, distance: Form, step: int, side: int) -> None:
        """Constrains ``distance`` to be 0 or a positive multiple of ``step``."""
        times = self.variable(("times", len(self.numbers)))
        self.facts[0].append(times)
        self.facts[1].append(distance - times.times(step))

    def trips(self) -> None:
        """Adds the ranges of the loops, and the order of the two iterations in the loop where the write comes later."""
        for side in (1, 2):
            for stmt, _ in self.site(side).nest:
                if isinstance(stmt, ir.For) and not (side == 2 and self.order.is_same(stmt)):
                    self.range(stmt, side)
        loop = self.order.later
        if isinstance(loop, ir.For):
            gap = self.index(loop, 2) - self.index(loop, 1)
            sign = _sign(loop)
            if sign:
                self.facts[0].append(gap.times(sign) - 1)
            else:
                self.choices.append([([gap - 1], []), ([-gap - 1], [])])

    def range(self, loop: ir.For, side: int) -> None:
        """Adds the range of a loop's index on one side."""
        index = self.index(loop, side)
        if loop.symbol is not None and loop.symbol.as_symbol is None:
            self.facts[1].append(index - self.dim(loop.symbol, side))
        step = loop.step.value if isinstance(loop.step, ir.Const) else 0
        if not step:
            return
        sign = 1 if step > 0 else -1
        distance = (index - self.operand(loop.start, side)).times(sign)
        self.facts[0].extend([distance, (self.operand(loop.bound, side) - index).times(sign) - 1])
        if abs(step) > 1:
            self.stride(distance, abs(step), side)

    def tests(self) -> None:
        """Adds, for both sides, the tests of the enclosing branches, as far as they compare integers."""
        for side in (1, 2):
            for stmt, block in self.site(side).nest:
                if isinstance(stmt, ir.If):
                    self.test(stmt.test, block is stmt.then, side)

    def test(self, operand: ir.Operand, holds: bool, side: int) -> None:
        """Adds that the boolean ``operand`` has the truth value ``holds`` on a side; nothing if it is no comparison of
        integers, or combination of some."""
        where = self.defs.get(operand) if isinstance(operand, ir.Var) else None
        let = where.stmt if where is not None else None
        if not isinstance(let, ir.Let):
            return
        record = record_of(let)
        for k, truth in record.implies(holds) if record.implies is not None else ():
            self.test(let.args[k], truth, side)
        if record.relation is not None and all(a.type.is_int and not a.type.dims for a in let.args):
            a, b = (self.operand(arg, side) for arg in let.args)
            self.choices.append(_compared(record.relation if holds else record.relation.negated, a - b))

    # ---- the answer

    def is_infeasible(self) -> bool:
        """Whether surely no combination of cases has a solution; raises `TooMany` if there are more than `CASES`
        combinations."""
        nonnegative, zero = self.facts
        choices = [c for c in self.choices if len(c) > 1]
        for facts in (c[0] for c in self.choices if len(c) == 1):
            nonnegative, zero = nonnegative + facts[0], zero + facts[1]
        if any(not c for c in self.choices) or is_infeasible(nonnegative, zero):
            return True
        # choices with a single possible case are decided first
        left: list[Choice] = []
        for choice in choices:
            possible = [f for f in choice if not is_infeasible(nonnegative + f[0], zero + f[1])]
            if not possible:
                return True
            if len(possible) == 1:
                nonnegative, zero = nonnegative + possible[0][0], zero + possible[0][1]
            else:
                left.append(possible)
        count = 1
        for choice in left:
            count *= len(choice)
        if count > CASES:
            raise TooMany
        return all(
            is_infeasible(nonnegative + [g for f in made for g in f[0]], zero + [g for f in made for g in f[1]])
            for made in product(*left)
        )


def _is_prefix(outer: Nest, inner: Nest) -> bool:
    """Whether ``inner`` begins with all of ``outer``: the same statements, and the same blocks of them."""
    return len(outer) <= len(inner) and all(a is c and b is d for (a, b), (c, d) in zip(outer, inner))


def _sign(loop: ir.For) -> int:
    """1 if the index increases between iterations, -1 if it decreases, 0 if that is not known."""
    if not isinstance(loop.step, ir.Const):
        return 0
    up = (loop.step.value > 0) != loop.backwards
    return 1 if up else -1


def _compared(relation: Relation, gap: Form) -> Choice:
    """The cases in which ``a`` and ``b`` are in this relation, as constraints and equations on the difference ``gap = a -
    b``."""
    match relation.cases:
        case False, True, False:
            return [([], [gap])]
        case True, equal, False:
            return [([-gap - (not equal)], [])]
        case False, equal, True:
            return [([gap - (not equal)], [])]
    return [([gap - 1], []), ([-gap - 1], [])]
