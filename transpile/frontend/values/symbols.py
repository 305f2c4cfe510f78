"""Symbolic sizes: their names, which of them are equal, and the checks that make sure when the function runs.

Where two sizes of arguments meet, the example decides: equal, they become one symbol, with a check at the top of the generated
function; one of them 1, it is specialised to 1. Without an example they are taken to be equal, and checked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative
from transpile.core.taken import Taken
from transpile.core.types import INT
from transpile.errors import short_path
from transpile.frontend.lifting import Lifting
from transpile.frontend.restarts import Restart
from transpile.frontend.values.values import Scalar


@dataclass
class Origin:
    """A size of an argument: which parameter's, and its size in the example.

    ``place`` says which argument it is, the same in every attempt to lift: the position of an argument, the variable or attribute
    outside that is read (`Captured`), a size of the function around. Never a name: two objects of one class have attributes of one
    name, and so do the variables of two closures. ``param`` is its number in this attempt.
    """

    param: int
    axis: int
    example: int | None
    place: Hashable = None
    rank: int = 1


def _candidates(pool: str) -> Iterator[str]:
    """Names for a size, the likeliest first."""
    return chain(pool, (f"{pool[0]}{k}" for k in count(2)))


def _mentions(dims: Iterable[Dim | str], names: set[str]) -> bool:
    """Whether one of the sizes is made of one of these."""
    return any(d in names if isinstance(d, str) else not names.isdisjoint(d.symbols()) for d in dims)


def _is_leading(origin: Origin) -> bool:
    return origin.rank > 1 and origin.axis == 0


def _is_trailing(origin: Origin) -> bool:
    return origin.rank > 1 and origin.axis > 0


@dataclass
class Guard:
    """Two sizes that must be equal when the function runs."""

    a: Dim
    b: Dim
    loc: ir.Loc
    message: str = ""


@dataclass
class Symbols:
    """What is known of sizes. It outlives a `Restart`, so that what was learnt holds from the start."""

    origins: dict[str, Origin] = field(default_factory=dict)
    of_places: dict[tuple[Hashable, int], str] = field(default_factory=dict)  # the symbol of an axis at a place
    present: dict[str, None] = field(default_factory=dict)  # the symbols whose arguments this attempt has met
    equal: dict[str, Dim] = field(default_factory=dict)
    guards: dict[tuple[Dim, Dim], Guard] = field(default_factory=dict)
    from_around: dict[tuple[Dim, Dim], None] = field(default_factory=dict)  # equal: the function around checks it
    bounds: dict[str, tuple[Dim | None, Dim | None]] = field(
        default_factory=dict
    )  # of loop indices, both ends included
    names: dict[str, str] = field(default_factory=dict)  # symbol -> the user's name for it
    integers: dict[str, int] = field(default_factory=dict)  # integer arguments -> their example
    forms: dict[Dim, Dim] = field(default_factory=dict)  # forms of such sizes that are taken to be equal
    named: dict[str, Dim] = field(default_factory=dict)  # the caller's names for sizes
    unequal: dict[tuple[Dim, Dim], Guard] = field(default_factory=dict)  # sizes that are taken to differ
    spans: list[Dim] = field(default_factory=list)  # of the loops whose bodies are being lifted: not negative there
    checked: dict[tuple[Dim, Dim], ir.Block] = field(default_factory=dict)  # where two sizes are compared in the body
    apart: tuple[str, ...] = ()  # the sizes that did not agree, as the example has them
    shapes: tuple[str, ...] = ()  # the arguments that have them, with their shapes
    written: dict[int, str] = field(
        default_factory=dict
    )  # how the leaves of arguments are read in Python, by their numbers
    joined: dict[str, tuple[Dim, Dim]] = field(default_factory=dict)  # of what two paths give: their sizes
    count: int = 0
    late: bool = True  # whether sizes that do not fit may be an error where that runs
    is_open: bool = False  # whether sizes where paths meet may differ

    # ---- forms

    def resolve(self, dim: Dim) -> Dim:
        """The form in terms of the symbols that stand for all that are equal."""
        while True:
            found = self.substituted(dim)
            found = self.forms.get(found, found)
            if found == dim:
                return found
            dim = found

    def substituted(self, dim: Dim) -> Dim:
        """The form in terms of the symbols that stand for others, forms as a whole left as they are."""
        while self.equal:
            found = dim.substitute(self.equal.get)
            if found == dim:
                break
            dim = found
        return dim

    def value(self, dim: Dim) -> int | None:
        """The size in the example, if it is known."""
        sizes = {name: o.example for name, o in self.origins.items() if o.example is not None}
        found = self.resolve(dim).evaluate({**sizes, **self.integers})
        return found.const if found.is_const else None

    def least(self, dim: Dim) -> Dim:
        """A form that is never more, by the bounds of loop indices."""
        for _ in range(8):
            total = Dim(dim.const)
            changed = False
            for atom, coef in dim.terms:
                low, high = self.bounds.get(atom.name, (None, None)) if atom.kind in ("symbol", "int") else (None, None)
                end = low if coef > 0 else high
                if end is None or (coef > 0 and atom.kind == "symbol"):
                    total = total + Dim(0, ((atom, coef),))
                else:
                    total, changed = total + end.times(coef), True
            if not changed:
                return total
            dim = total
        return dim

    @contextmanager
    def trip(self, index: Dim) -> Iterator[None]:
        """The body of a loop, which runs where the ends of its range are in order."""
        low, high = self.bounds.get(index.as_symbol or "", (None, None))
        spans = self.spans
        self.spans = spans if low is None or high is None else [*spans, high - low]
        try:
            yield
        finally:
            self.spans = spans

    def is_reached(self, dim: Dim) -> bool:
        """Whether a form is not negative where the bodies that are being lifted run."""
        return any(is_nonnegative(self.least(dim - span)) for span in self.spans)

    def is_at_most(self, size: Dim, most: Dim) -> bool:
        """Whether one size is known to be another one or less."""
        size, most = self.resolve(size), self.resolve(most)
        atom = size.as_atom
        if atom is not None and atom.kind == "floordiv" and atom.operands[1].is_const and is_nonnegative(most):
            over, divisor = atom.operands[0] - most, atom.operands[1].const
            if over.is_const and over.const < divisor:  # (n + d - 1) // d
                return True
        if is_nonnegative(self.least(most - size)) or any(
            self.is_at_most(d, most) for d in size.unclipped.as_min or ()
        ):
            return True
        return is_nonnegative(most) and is_nonnegative(self.least(most - size.unclipped))

    def larger(self, a: Dim, b: Dim) -> Dim | None:
        """The larger one of two sizes, where that is known."""
        return b if self.is_at_most(a, b) else a if self.is_at_most(b, a) else None

    def is_size(self, dim: Dim) -> bool:
        """Whether the form is made of sizes of arguments only."""
        return all(s in self.origins for s in dim.symbols())

    # ---- meeting

    def agree(self, lx: Lifting, dims: Sequence[Dim]) -> bool:
        """Whether sizes are known to be equal already."""
        first = self.resolve(dims[0])
        return all(self.resolve(d) == first for d in dims)

    def agree_all(self, dims: Sequence[Dim], others: Sequence[Dim]) -> bool:
        """Whether sizes are known to be equal, one by one."""
        return all(self.resolve(a) == self.resolve(b) for a, b in zip(dims, others))

    def unify(self, lx: Lifting, a: Dim, b: Dim) -> Dim | None:
        """The size that both are, noted and checked; None where they cannot be equal."""
        x, y = self.resolve(a), self.resolve(b)
        self.apart = self.shapes = ()
        if x == y or self.is_checked(lx, x, y):
            return x
        if self._unified_around(lx, x, y):
            return self.resolve(x)
        left, right = self.value(x), self.value(y)
        if (x - y).is_const and (left is None or right is None):
            return None
        if left is not None and right is not None and left != right:
            self.apart = tuple(f"{d} is {n}" for d, n in ((x, left), (y, right)) if not d.is_const)
            self.shapes = tuple(dict.fromkeys(text for d in (x, y) for text in self._shape_text(d)))
            self._one_of_them(lx, x, y, left, right)
            return self._never(lx, x, y)
        self._equate(lx, x, y)
        return self.resolve(x)

    def _shape_text(self, dim: Dim) -> Iterator[str]:
        """Whose size it is, with the shape of the example."""
        for name in dim.symbols():
            origin = self.origins.get(name)
            if origin is not None and origin.param in self.written:
                all_ = sorted((o.axis, o.example) for o in self.origins.values() if o.param == origin.param)
                if all(size is not None for _, size in all_) and len(all_) == origin.rank:
                    yield f"{self.written[origin.param]} has shape {tuple(size for _, size in all_)}"

    def _unified_around(self, lx: Lifting, x: Dim, y: Dim) -> bool:
        """Whether the function around sees to it that sizes which it gives are equal."""
        around = lx.sizes.around(x, y) if lx.sizes is not None else None
        outer = lx.outer
        if around is None or outer is None or not all(outer.symbols.is_size(d) for d in around):
            return False
        if outer.symbols.unify(outer, *around) is None:
            return False
        self.from_around[x, y] = None
        self._equate(lx, x, y, guarded=False)
        return True

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Sizes that do not fit are a diagnostic, wherever this is: of what a loop carries."""
        late, self.late = self.late, False
        try:
            yield
        finally:
            self.late = late

    def decide(self, lx: Lifting, a: Dim, b: Dim, noted: bool = True) -> bool | None:
        """Whether two sizes are equal, where that is more than a check: those of arguments are what the example says, and checked
        (that they differ only if it is ``noted``); None where only the run knows."""
        x, y = self.resolve(a), self.resolve(b)
        if (x - y).is_const:
            return x == y
        if y.is_one and not lx.stretching.may_be_one(x) and not self.is_size(x):
            return False
        around = lx.sizes.around(x, y) if lx.sizes is not None else None
        if around is not None:
            return lx.outer.b.decide(*around, noted)  # type: ignore[union-attr]
        left, right = self.value(x), self.value(y)
        if lx.sizes is not None or not self.is_size(x) or not self.is_size(y) or left is None or right is None:
            return None
        if left != right and noted:
            self.unequal.setdefault((x, y), Guard(x, y, lx.b.loc, self.where(lx)))
        return left == right and self.unify(lx, x, y) is not None

    def _never(self, lx: Lifting, x: Dim, y: Dim) -> Dim | None:
        """Sizes of the example that do not fit: in a branch that is for other sizes, or in a loop that the example does not run,
        that is an error where it runs."""
        is_elsewhere = self._does_not_run(lx) or any(_is_of_integers(lx, fact) for fact in lx.facts)
        if not self.late or x.is_const and y.is_const or not is_elsewhere:
            return None
        self.checked[x, y] = lx.b.block
        self._check_here(lx, x, y)
        return x

    def _does_not_run(self, lx: Lifting) -> bool:
        """Whether this is in a loop that the example does not run."""
        return any(loop.length is not None and self.value(loop.length) == 0 for loop in lx.loops)

    def _one_of_them(self, lx: Lifting, x: Dim, y: Dim, left: int, right: int) -> None:
        for dim, size in ((x, left), (y, right)):
            if size == 1 and not dim.is_const and self.is_size(dim):
                self._specialise(lx, dim, 1)

    def _specialise(self, lx: Lifting, dim: Dim, size: int) -> None:
        """The size is this number from the start."""
        self._equate(lx, dim, Dim(size))
        raise Restart(f"{dim} is {size}", self)

    def fix(self, lx: Lifting, dim: Dim, size: int, node: Any = None) -> None:
        """Makes a size known, that of what is unpacked: it must be ``size``, and that is checked."""
        dim = self.resolve(dim)
        example = self.value(dim)
        if example is None and self._symbol(dim) is not None:
            self._specialise(lx, dim, size)
        met = self.unify(lx, dim, Dim(size))
        if met is None:
            many = dim if example is None else example
            hint = (
                f"write {many} names, or '*rest' for the others"
                if isinstance(many, int)
                else "unpack as many as there are"
            )
            raise lx.error("T134", f"cannot unpack {many} values into {size} names", node, hint)
        if example == size and self._symbol(dim) is not None:
            raise Restart(f"{dim} is {size}", self)

    def fixed(self, lx: Lifting, dim: Dim, node: Any = None) -> int:
        """The size as a number; one of an argument is specialised to that of the example."""
        dim = self.resolve(dim)
        if dim.is_const:
            return dim.const
        for name in dim.symbols():
            origin = self.origins.get(name)
            if origin is not None and origin.example is not None:
                self._specialise(lx, Dim.symbol(name), origin.example)
        raise lx.error("T210", f"the size {dim} must be known before the function runs", node,
                       hint="write a loop over an index")  # fmt: skip

    def _symbol(self, dim: Dim) -> str | None:
        """The symbol of an argument's size that the form is, if it is one."""
        name = dim.as_symbol
        return name if name in self.origins else None

    def _equate(self, lx: Lifting, x: Dim, y: Dim, guarded: bool = True) -> None:
        """Takes two forms to be equal from now on, and checks it."""
        if y.is_const and (size := self._solved(x, y.const)) is not None:
            x, y = size
        if guarded:
            self.guards.setdefault((x, y), Guard(x, y, lx.b.loc, self.where(lx)))
        for a, b in ((y, x), (x, y)):  # the later argument's symbol gives way
            name = self._symbol(a)
            if name is not None and name not in b.symbols() and self._older(b, name):
                self.equal[name] = b
                return
        for a, b in ((y, x), (x, y)):
            name = self._symbol(a)
            if name is not None and name not in b.symbols() and self.is_size(b):
                self.equal[name] = b
                return
        if self.is_size(x) and self.is_size(y):
            kept, other = (x, y) if len(str(x)) <= len(str(y)) or y.is_const else (y, x)
            kept, other = (other, kept) if other.is_const else (kept, other)
            self.forms[other] = kept
            raise Restart(f"{other} is {kept}", self)
        self.checked[x, y] = lx.b.block
        self._check_here(lx, x, y)

    def _solved(self, dim: Dim, size: int) -> tuple[Dim, Dim] | None:
        """``n - 2 == 1`` as ``n == 3``."""
        if len(dim.terms) != 1:
            return None
        ((atom, coef),) = dim.terms
        if atom.name not in self.origins or (size - dim.const) % coef:
            return None
        return Dim.symbol(atom.name), Dim((size - dim.const) // coef)

    def is_checked(self, lx: Lifting, x: Dim, y: Dim) -> bool:
        """Whether a check ran before this point: one in another branch, or in a try that was given up, did not."""
        found = (self.checked.get((x, y)), self.checked.get((y, x)))
        return any(block is one for one in found if one is not None for block in lx.b.open)

    def _older(self, dim: Dim, name: str) -> bool:
        order = list(self.origins)
        return all(s in self.origins and order.index(s) < order.index(name) for s in dim.symbols())

    def where(self, lx: Lifting) -> str:
        """The user's line, as a message begins."""
        loc = lx.b.loc
        while loc.caller is not None and not loc.line:
            loc = loc.caller
        return f"{short_path(loc.file)}:{loc.line}: " if loc.file else ""

    def _check_here(self, lx: Lifting, x: Dim, y: Dim) -> None:
        """A check where the two meet: sizes that only this point of the program knows."""
        self.guards.pop((x, y), None)
        a, b = lx.b.dim(x), lx.b.dim(y)
        where = self.where(lx)
        emit_check(lx, a.op, b.op, where, lx.b.loc)

    def sized(self, lx: Lifting, dim: Dim) -> ir.Operand:
        """The run-time value of a size, which knows its form."""
        op = lx.b.dim(self.resolve(dim)).op
        lx.b.learn(op, dim)
        return op

    # ---- loop indices

    def index(self, lx: Lifting, var: ir.Var, start: ir.Operand, bound: ir.Operand, step: ir.Operand) -> Dim:
        """The form of a loop index: not negative where it counts up from such a number."""
        name = self.unique(lx, var.name)
        low, high = lx.b.form(start), lx.b.form(bound)
        size = step.value if isinstance(step, ir.Const) else 0
        if size > 0:
            form = Dim.symbol(name) if is_nonnegative(self.least(low)) else Dim.integer(name)
            self.bounds[name] = (low, high - 1)
        elif size < 0:
            form = Dim.symbol(name) if is_nonnegative(self.least(high + 1)) else Dim.integer(name)
            self.bounds[name] = (high + 1, low)
        else:
            form = Dim.integer(name)
        lx.b.bind_symbol(form, var)
        return form

    def unique(self, lx: Lifting, base: str) -> str:
        self.count += 1
        return f"{base}.{self.count}"

    def taken(self, own: int) -> Taken:
        """What is checked where the function begins, or where the one around does; by parameters: ``own`` many, and those from
        outside."""
        pairs = [(g.a, g.b, True) for g in self.guards.values()]
        pairs += [(a, b, True) for a, b in self.from_around]
        pairs += [(g.a, g.b, False) for g in self.unequal.values()]
        names = {s for a, b, _ in pairs for d in (a, b) for s in d.symbols()}
        if any(name not in self.origins for name in names):
            return Taken()
        where = {
            n: (o.param if o.param < own else own - 1 - o.param, o.axis) for n, o in self.origins.items() if n in names
        }
        return Taken(tuple(pairs), where)

    # ---- names

    def argument(self, place: Hashable, param: int, axis: int, size: int | None, rank: int) -> Dim:
        """The size of an axis of an argument: the same symbol after each restart."""
        name = self.of_places.get((place, axis))
        if name is not None:
            self.origins[name].param = param
            self.present.setdefault(name)
            return self.resolve(Dim.symbol(name))
        pool = "nmpq" if axis == 0 else "dkhcr"
        name = next(n for n in _candidates(pool) if n not in self.origins)
        self.origins[name] = Origin(param, axis, size, place, rank)
        self.of_places[place, axis] = name
        self.present.setdefault(name)
        return Dim.symbol(name)

    def forget_unread(self) -> None:
        """Forgets the sizes of what an earlier attempt read and this one does not, and begins again if anything rests on it."""
        gone = self.origins.keys() - self.present.keys()
        for name in gone:
            origin = self.origins.pop(name)
            del self.of_places[origin.place, origin.axis]
        pairs: tuple[MutableMapping[Any, Any], ...] = (self.guards, self.unequal, self.from_around)
        taken: tuple[MutableMapping[Any, Any], ...] = (self.equal, self.forms)
        rests = [(table, key) for table in pairs for key in table if _mentions(key, gone)]
        rests += [(table, key) for table in taken for key, dim in table.items() if _mentions((key, dim), gone)]
        for table, key in rests:
            del table[key]
        if rests:
            raise Restart(f"sizes of {', '.join(sorted(gone))} are not read", self)

    def given(self, lx: Lifting, own: Dim, wanted: Dim) -> Dim:
        """The size of an axis that the caller named, or gave as a number: equal names are equal sizes."""
        name = wanted.as_symbol
        known = wanted if name is None else self.named.setdefault(name, own)
        if known == own:
            assert name is not None
            self.names[own.as_symbol or ""] = name
            return own
        met = self.unify(lx, known, own)
        return self.resolve(own if met is None else met)

    def operand(self, lx: Lifting, dim: Dim) -> None:
        """Makes sure that the size of an argument has a variable for its value."""
        for name in dim.symbols():
            if name in self.origins and name not in lx.b.symbols:
                lx.b.symbols[name] = ir.Var(name, INT)
                lx.b.learn(lx.b.symbols[name], Dim.symbol(name))

    def final_names(self, taken: Sequence[str] = ()) -> dict[str, str]:
        """The names that the sizes get in the end: the user's own, else by where they stand."""
        classes: dict[str, list[str]] = {}
        for name in self.origins:
            canonical = self.resolve(Dim.symbol(name)).as_symbol
            if canonical in self.origins:
                classes.setdefault(canonical, []).append(name)
        found: dict[str, str] = {}
        for canonical, members in classes.items():
            own = next((self.names[m] for m in members if m in self.names), None)
            if own is not None and own not in found.values() and own not in taken:
                found[canonical] = own
        for pool, wanted in (("nmpq", _is_leading), ("dkhcr", _is_trailing), ("nmkpq", lambda o: True)):
            for canonical, members in classes.items():
                if canonical not in found and any(wanted(self.origins[m]) for m in members):
                    found[canonical] = next(n for n in _candidates(pool) if n not in found.values() and n not in taken)
        return found

    def christen(self, lx: Lifting, name: str, value: Any) -> None:
        """The user's own name for a size: ``n = len(x)``."""
        if not isinstance(value, Scalar) or not isinstance(value.op, ir.Var):
            return
        for symbol in self.origins:
            if lx.b.symbols.get(symbol) is value.op and symbol not in self.names and name not in self.names.values():
                self.names[symbol] = name
                value.op.name = name


def _is_of_integers(lx: Lifting, fact: Any) -> bool:
    """Whether what is known on a path is a comparison of integers, or such a one among others."""
    test = getattr(fact, "test", fact)
    made = next((s for block in lx.b.open for s in block.stmts if isinstance(s, ir.Let) and s.var is test), None)
    if made is None:
        return False
    if all(a.type.is_bool for a in made.args):
        return any(_is_of_integers(lx, part) for part in made.args)
    return all(a.type.is_int for a in made.args)


def emit_check(lx: Lifting, a: ir.Operand, b: ir.Operand, where: str, loc: ir.Loc) -> None:
    """``if a != b: raise ValueError``."""
    with lx.b.at(loc):
        test = lx.b.elementwise("not_equal", a, b).op
        emit_failure(lx, test, disagreement(where), (a, b), loc, where)


def emit_apart(lx: Lifting, guard: Guard) -> None:
    """``if a == b: raise ValueError``."""
    a, b = lx.b.dim(guard.a), lx.b.dim(guard.b)
    with lx.b.at(guard.loc):
        parts = (
            f"{guard.message}the size {guard.a} is ",
            (0, "", ""),
            ": this text is for sizes other than ",
            (1, "", ""),
        )
        emit_failure(lx, a.eq(b).op, parts, (a.op, b.op), guard.loc, guard.message)


def disagreement(where: str) -> tuple[Any, ...]:
    """The message of two sizes that do not agree."""
    return (f"{where}sizes ", (0, "", ""), " and ", (1, "", ""), " do not agree")


def emit_failure(
    lx: Lifting,
    test: ir.Operand,
    parts: tuple[Any, ...],
    args: tuple[ir.Operand, ...],
    loc: ir.Loc,
    sizes_at: str | None = None,
) -> None:
    """``if test: raise ValueError(parts)``."""
    if isinstance(test, ir.Const) and not test.value:
        return
    failed = ir.Block(stmts=[ir.Raise(args, "ValueError", parts, is_check=True, sizes_at=sizes_at, loc=loc)])
    lx.b.emit(ir.If(test, failed, ir.Block(), (), loc))
