"""Where two paths meet: each name's two values become one.

Leaves that differ become results of the statement that forked (`Leaf`): the operand of each side, cast to the common type.
Aggregates join part by part. What cannot be joined becomes a `Conflict`, which only a read turns into a diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import BOOL, Type, computes_alike, promote
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.control.truth_values import answer
from transpile.frontend.lifter import Lifter
from transpile.frontend.state import State
from transpile.frontend.values import aliases, memory
from transpile.frontend.values.convert import describe
from transpile.frontend.values.parts import is_iterator, parts, shell, with_parts
from transpile.frontend.values.values import (
    Array,
    Bound,
    Buffer,
    Cell,
    Closure,
    Conflict,
    Items,
    Iteration,
    Maybe,
    Method,
    RangeOf,
    Ref,
    Scalar,
    SliceOf,
    Static,
    Text,
    Tuple,
    Updates,
)

TRUE, FALSE = ir.Const(True, BOOL), ir.Const(False, BOOL)
_CONFLICT_HINTS = {
    "T204": "give it the same number of dimensions on both paths",
    "T205": "give it the same shape and dtype on both paths",
}


@dataclass
class Side:
    """One path: its statements, and what names and cells hold at its end."""

    block: ir.Block
    state: State
    value: Any = None
    dead: bool = False


@dataclass
class Join:
    """The meeting of two paths of an *if* with this test."""

    lx: Lifter
    test: ir.Operand
    sides: tuple[Side, Side]
    where: Any = None  # what a list that is not known after it is remembered by
    results: list[ir.Var] = field(default_factory=list)
    yields: tuple[list[ir.Operand], list[ir.Operand]] = field(default_factory=lambda: ([], []))
    cells: dict[Cell, Any] = field(default_factory=dict)  # what joined cells hold after it
    made: dict[tuple[Cell | None, Cell | None], Cell] = field(default_factory=dict)
    sizes: list[tuple[Dim, ir.Var, int]] = field(
        default_factory=list
    )  # that only the run knows: of which result and axis

    # ---- reading in a side

    def on(self, k: int, read: Callable[[], Any]) -> Any:
        side = self.sides[k]
        with self.lx.forked(side.state), self.lx.into(side.block):
            return read()

    def operand(self, k: int, value: Any) -> ir.Operand:
        return self.on(k, lambda: self.lx.operand(value))

    # ---- joining

    def value(self, a: Any, b: Any, name: str = "") -> Any:
        """One value of the two; None stands for unassigned."""
        if a is b or (type(a) is type(b) and isinstance(a, (Scalar, Static, Array, Ref)) and a == b):
            return a
        if a is None or b is None or isinstance(a, Maybe) or isinstance(b, Maybe):
            return self.maybe(a, b, name)
        if isinstance(a, Conflict) or isinstance(b, Conflict):
            return a if isinstance(a, Conflict) else b
        kind = type(a) if type(a) is type(b) else None
        rule = _RULES.get(kind) if kind is not None else None
        if rule is None and all(isinstance(v, (Scalar, Array, Static)) for v in (a, b)):
            rule = Join._mixed
        return rule(self, a, b, name) if rule is not None else self.conflict(a, b, name)

    def conflict(self, a: Any, b: Any, name: str, code: str = "T118") -> Conflict:
        texts = [self.on(k, partial(describe, self.lx, v)) for k, v in enumerate((a, b))]
        desugared = self.lx.frame.code.desugared
        is_result = bool(name) and desugared is not None and name == desugared.result
        what = "the function returns" if is_result else f"{name!r} is" if name else "this is"
        hint = _CONFLICT_HINTS.get(code, "give it the same structure on both paths")
        if any(isinstance(v, (Closure, Bound, Static)) for v in (a, b)):
            hint = "return a value on every path" if is_result else "use it inside each branch"
        if texts[0] == texts[1]:
            return Conflict(code, f"{what} one {texts[0].split(' ', 1)[-1]} or another, depending on the data", hint)
        return Conflict(code, f"{what} {texts[0]} or {texts[1]}, depending on the data", hint)

    def maybe(self, a: Any, b: Any, name: str) -> Any:
        values = [v.value if isinstance(v, Maybe) else v for v in (a, b)]
        flags = [self._flag(k, v) for k, v in enumerate((a, b))]
        joined = self.present(values, name)
        if flags[0] == TRUE and flags[1] == TRUE:
            return joined
        flag = self.leaf(flags[0], flags[1], f"has_{name}")
        return Maybe(joined, lambda: flag)

    def flag(self, a: Scalar, b: Scalar, name: str) -> Scalar:
        """One truth value of the two, of which only the truth is asked."""
        return Scalar(self.leaf(self.operand(0, a), self.operand(1, b), name))

    def _flag(self, k: int, value: Any) -> ir.Operand:
        if value is None:
            return FALSE
        return self.on(k, value.flag) if isinstance(value, Maybe) else TRUE

    def present(self, values: list[Any], name: str) -> Any:
        """The join where one side may have nothing."""
        if values[0] is not None and values[1] is not None:
            return self.value(values[0], values[1], name)
        k = 0 if values[0] is not None else 1
        return self.one_sided(k, values[k], name)

    def one_sided(self, k: int, value: Any, name: str) -> Any:
        """The value of side ``k``; nothing on the other."""
        match value:
            case Scalar() if isinstance(value.op, ir.Const):
                return value
            case Scalar() | Array():
                x = self.operand(k, value)
                nothing = ir.Undef(x.type)
                if any(map(self._is_computed, x.type.dims)):
                    made = self._sized(k, x, name)
                else:
                    made = self.leaf(x, nothing, name) if k == 0 else self.leaf(nothing, x, name)
                if isinstance(value, Scalar):
                    return Scalar(made)
                cells = (value.cell, None) if k == 0 else (None, value.cell)
                return Array(self.cell(made, cells[0], cells[1], name))
            case Ref():
                state: Items = self.sides[k].state.cells[value.cell]
                items = tuple(self.one_sided(k, v, name) for v in state.items)
                return self._ref(Items(state.kind, items, state.keys, state.cls), value.cell, value.cell)
        if is_iterator(value):
            text = f"{name!r} is an iterator that only one branch makes"
            return Conflict("T120", text, "make a list of it in the branch")
        return with_parts(value, tuple(self.one_sided(k, v, name) for v in parts(value)))

    # ---- leaves

    def leaf(self, x: ir.Operand, y: ir.Operand, name: str) -> ir.Operand:
        """One operand of the two; they have the same dims."""
        if x == y and not isinstance(x, ir.Undef):
            return x
        if isinstance(x, ir.Const) and isinstance(y, ir.Const) and x.type == y.type == BOOL:
            return self.test if x.value else self._not()
        common = _common(x, y)
        ready = []
        for k, op in enumerate((x, y)):
            ready.append(self.on(k, partial(self._as, op, common)))
        if ready[0] == ready[1] and not isinstance(ready[0], ir.Undef):
            return ready[0]
        for k, pair in enumerate(zip(*self.yields)):
            if pair == (ready[0], ready[1]):
                return self.results[k]
        result = ir.Var(name or ir.SYNTHETIC, common)
        memory.note_dtypes(self.lx, result, x, y)
        self.results.append(result)
        self.yields[0].append(ready[0])
        self.yields[1].append(ready[1])
        return result

    def _as(self, op: ir.Operand, common: Type) -> ir.Operand:
        cast = self.lx.b.cast(op, common)
        return (
            cast.op if isinstance(cast.op, ir.Undef) or not common.dims else self.lx.b.broadcast(cast, common.dims).op
        )

    def _not(self) -> ir.Operand:
        return self.lx.b.elementwise("logical_not", self.test).op

    def _mixed(self, a: Any, b: Any, name: str) -> Any:
        """Numbers, arrays and static numbers of different kinds."""
        if isinstance(a, Static) or isinstance(b, Static):
            return self.conflict(a, b, name)
        return self._numbers(a, b, name)

    def _numbers(self, a: Any, b: Any, name: str) -> Any:
        x, y = self.operand(0, a), self.operand(1, b)
        if len(x.type.dims) != len(y.type.dims):
            return self.conflict(a, b, name, "T204")
        if not computes_alike(x.type, y.type):
            return self.conflict(a, b, name, "T205")
        if not all(p == q or self._agree(p, q) for p, q in zip(x.type.dims, y.type.dims)):
            return Array(self.cell(self._of_any_size(x, y, name), a.cell, b.cell, name))
        x, y = (self.on(k, partial(self._as, op, op.type.with_dims(x.type.dims))) for k, op in enumerate((x, y)))
        joined = self.leaf(x, y, name)
        if x.type == y.type == BOOL != joined.type:  # the test itself, which may be NumPy's
            joined = answer(self.lx, joined).op
        if isinstance(a, Scalar) and isinstance(b, Scalar):
            return Scalar(joined)
        if isinstance(a, Array) and isinstance(b, Array):
            return Array(self.cell(joined, a.cell, b.cell, name))
        return self._number_or_array(joined, a, b, name)

    def _number_or_array(self, joined: ir.Operand, a: Any, b: Any, name: str) -> Array:
        """A number on one side, an array of rank 0 on the other."""
        made = Cell(name, contiguous=True)
        made.mixed = True
        self.cells[made] = memory.held(self.lx, joined)
        cells = [(k, v.cell) for k, v in enumerate((a, b)) if isinstance(v, Array)]
        aliases.may_be(self.lx, made, tuple(aliases.root_in(self.sides[k].state, c) for k, c in cells))
        return Array(made)

    def _of_any_size(self, x: ir.Operand, y: ir.Operand, name: str) -> ir.Operand:
        """One array of two whose sizes differ: it has sizes of its own."""
        dims = []
        for p, q in zip(x.type.dims, y.type.dims):
            same = self.lx.symbols.agree(self.lx, (p, q))
            dims.append(self.lx.symbols.resolve(p) if same else self.lx.b.fresh_symbol("size"))
            if not same:
                symbol = dims[-1].as_symbol or ""
                self.lx.symbols.joined[symbol] = (p, q)
                self.lx.symbols.bounds[symbol] = (None, self.lx.symbols.larger(p, q))
        common = replace(_common(x, y), dims=tuple(dims))
        result = ir.Var(name or ir.SYNTHETIC, common)
        memory.note_dtypes(self.lx, result, x, y)
        self.sizes += [(d, result, k) for k, (d, p) in enumerate(zip(dims, x.type.dims)) if d.as_symbol != p.as_symbol]
        self.results.append(result)
        for k, op in enumerate((x, y)):
            self.yields[k].append(self.on(k, partial(self._in_dims, op, common)))
        return result

    def _sized(self, k: int, x: ir.Operand, name: str) -> ir.Operand:
        """An array of one side whose sizes only that side knows: it has sizes of its own."""
        dims = tuple(self.lx.b.fresh_symbol("size") if self._is_computed(d) else d for d in x.type.dims)
        result = ir.Var(name or ir.SYNTHETIC, replace(x.type, dims=dims))
        memory.note_dtypes(self.lx, result, x)
        self.sizes += [(d, result, axis) for axis, d in enumerate(dims) if d != x.type.dims[axis]]
        self.results.append(result)
        for side in (0, 1):
            self.yields[side].append(x if side == k else ir.Undef(result.type))
        return result

    def _in_dims(self, op: ir.Operand, common: Type) -> ir.Operand:
        """The operand in the common dtype; a size of 1 is one of any."""
        b = self.lx.b
        cast = b.cast(op, common.dtype)
        ones = [k for k, (d, e) in enumerate(zip(op.type.dims, common.dims)) if d.is_one and not e.is_one]
        if not ones:
            return cast.op
        dims = tuple(b.fresh_symbol("size") if k in ones else d for k, d in enumerate(op.type.dims))
        sized = b.let("index", cast, path=(ir.Index(tuple(ir.Slice() for _ in dims)),), dims=dims)
        for k in ones:
            b.symbols[str(dims[k])] = b.let("dim", sized, axis=k).op
        return sized.op

    def close(self) -> None:
        """Behind the branch: its results have the sizes that they have."""
        for dim, result, axis in self.sizes:
            self.lx.b.symbols[str(dim)] = self.lx.b.let("dim", result, axis=axis).op

    def _agree(self, p: Dim, q: Dim) -> bool:
        """Whether the sizes are equal: two of arguments are where they are in the example, and that is checked. All others may be
        what they are: nobody asks for the size of the path that is not taken."""
        symbols = self.lx.symbols
        if symbols.agree(self.lx, (p, q)):
            return True
        if symbols.is_open or self._is_computed(p) or self._is_computed(q):
            return False
        left, right = symbols.value(p), symbols.value(q)
        return (left == right or left is None or right is None) and self.lx.b.same(p, q)

    def _is_computed(self, dim: Dim) -> bool:
        return not dim.is_const and not self.lx.symbols.is_size(dim)

    def cell(self, op: ir.Operand, a: Cell | None, b: Cell | None, name: str) -> Cell:
        """The cell that is ``a`` on one side and ``b`` on the other."""
        if (a, b) not in self.made:
            made = self.made[a, b] = Cell(name, all(c is None or c.contiguous for c in (a, b)))
            made.mixed = any(c is not None and c.mixed for c in (a, b))
            self.cells[made] = memory.held(self.lx, op)
            roots = [aliases.root_in(self.sides[k].state, c) for k, c in enumerate((a, b)) if c is not None]
            aliases.may_be(self.lx, made, tuple(roots))
            for (p, q), other in self.made.items():  # two joins share memory only if they do on one side
                if other is not made and not self._shares(0, p, a) and not self._shares(1, q, b):
                    aliases.apart(self.lx, made, other)
        return self.made[a, b]

    def _shares(self, k: int, a: Cell | None, b: Cell | None) -> bool:
        """Whether two cells of a side may be one memory."""
        if a is None or b is None:
            return False
        return aliases.is_related(self.lx, *(aliases.root_in(self.sides[k].state, c) for c in (a, b)))

    # ---- aggregates

    def _tuples(self, a: Tuple, b: Tuple, name: str) -> Any:
        if shell(a) != shell(b):
            return self.conflict(a, b, name)
        return with_parts(a, tuple(self.value(x, y, name) for x, y in zip(a.items, b.items)))

    def _with_parts(self, a: Any, b: Any, name: str) -> Any:
        """Functions with what is given to them, ranges, slices and their like: each part of one or the other."""
        if shell(a) is None or shell(a) != shell(b):
            return self.conflict(a, b, name)
        joined = tuple(self.value(x, y, name) for x, y in zip(parts(a), parts(b)))
        return self.conflict(a, b, name) if any(isinstance(v, Conflict) for v in joined) else with_parts(a, joined)

    def _refs(self, a: Ref, b: Ref, name: str) -> Any:
        states = [self.sides[k].state.cells[v.cell] for k, v in enumerate((a, b))]
        joined = self.items(states[0], states[1], name)
        return self.conflict(a, b, name) if joined is None else self._ref(joined, a.cell, b.cell)

    def _ref(self, items: Items, a: Cell, b: Cell) -> Ref:
        if (a, b) not in self.made:
            made = self.made[a, b] = Cell(a.name)
            self.cells[made] = items
            aliases.may_be(self.lx, made, (a, b))
        return Ref(self.made[a, b])

    def items(self, a: Items, b: Items, name: str) -> Items | None:
        """What a list, dict or instance holds after the two paths; None if the structures differ."""
        if (a.kind, a.keys, a.cls, len(a.items)) != (b.kind, b.keys, b.cls, len(b.items)):
            return None
        name = dynamic_list_reads.name_of_count(name, a)
        return Items(a.kind, tuple(self.value(x, y, name) for x, y in zip(a.items, b.items)), a.keys, a.cls)

    # ---- cells that both sides had before

    def state_of(self, cell: Cell, before: Any) -> Any:
        """What a cell holds after the two paths."""
        a, b = (side.state.cells[cell] for side in self.sides)
        if a is b:
            return a
        if isinstance(a, Items):
            joined = self.items(a, b, cell.name)
            return joined if joined is not None else self._either(a, b)
        if isinstance(a, Buffer):
            return Buffer(a.var)
        return before

    def _either(self, a: Items, b: Items) -> Items:
        """One of two structures: it cannot be read; a list may be read once it is an array."""
        lists = all(s.kind in ("list", "grown") or (s.kind == "conflict" and s.cls is not None) for s in (a, b))
        return Items("conflict", (), None, self.where if lists else None)


def _common(x: ir.Operand, y: ir.Operand) -> Type:
    if isinstance(x, ir.Undef):
        return y.type
    if isinstance(y, ir.Undef):
        return x.type
    scalars = promote(x.type, y.type)
    return Type(scalars.dtype, x.type.dims, scalars.weak and not x.type.dims)


_RULES: dict[type, Callable[[Join, Any, Any, str], Any]] = {
    Scalar: Join._numbers,
    Array: Join._numbers,
    Tuple: Join._tuples,
    Ref: Join._refs,
    **dict.fromkeys((Closure, Bound, RangeOf, SliceOf, Method, Updates, Iteration, Text), Join._with_parts),
}
