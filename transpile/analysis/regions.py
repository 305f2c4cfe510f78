"""Whether a write that runs after an access of the same buffer can touch an element that the access touched.

The two statements run in two instances of the loops around them. For each way in which the second instance can be the later one
(some outer loops in the same trip, the next one in a later trip; or all in the same trip and the write further down), the
loop bounds, the order and the equality of the index along each axis are a system of linear inequalities; if every such system
is infeasible, the write never touches what was accessed.

    for k in range(n):
        for i in range(k + 1, n):
            for j in range(k, n):
                a[i, j] -= f * a[k, j]          the row read, k, is never written later: i > k' >= k
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from transpile.analysis.inequalities import Constraint, is_infeasible
from transpile.analysis.scopes import Def, Site
from transpile.core.dims import Atom, Dim
from transpile.core.nodes import (
    Add, Const, For, If, Index, Item, Let, Mask, NewAxis, Operand, Path, Point, Slice, Stmt, Store, Var, While,
)

Loop = For | While


def may_overwrite(defs: dict[Var, Def], symbols: dict[str, Operand], access: Site, write: Site) -> bool:
    """Whether ``write`` can, run after ``access``, touch an element that ``access`` touched. True where not proven."""
    common = _common_loops(access, write)
    for level in range(len(common) + 1):
        if level == len(common) and not _stands_after(access, write):
            continue
        system = _System(defs, symbols, common[:level], access, write)
        if level < len(common):
            system.later(common[level])
        system.same_element()
        if not is_infeasible(system.constraints):
            return True
    return False


def _common_loops(a: Site, b: Site) -> list[Loop]:
    found: list[Loop] = []
    for (s, block), (t, other) in zip(a.nest, b.nest):
        if s is not t:
            break
        if isinstance(s, (For, While)):
            found.append(s)
        if block is not other:
            break
    return found


def _stands_after(access: Site, write: Site) -> bool:
    """Whether, in the same trip of all common loops, the write runs after the access."""
    for (s, block), (t, other) in zip(access.nest, write.nest):
        if s is not t:
            break
        if isinstance(s, If) and block is not other:
            return False
    return write.order > access.order


@dataclass
class _System:
    defs: dict[Var, Def]
    symbols: dict[str, Operand]
    same: list[Loop]  # the loops that are in the same trip in both instances
    access: Site
    write: Site
    constraints: list[Constraint] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for side, site in (("a", self.access), ("w", self.write)):
            for stmt, _ in site.nest:
                if isinstance(stmt, For):
                    self._bounds(stmt, side)

    # ---- linear forms

    def linear(self, form: Dim, side: str) -> tuple[dict[str, int], int]:
        return {self._variable(atom, side): coef for atom, coef in form.terms}, form.const

    def _variable(self, atom: Atom, side: str) -> str:
        name = str(atom)
        if any(self._varies(s) for s in Dim(0, ((atom, 1),)).symbols()):
            name = f"{name}@{side}"
        if name not in self.known:
            self.known.add(name)
            if atom.is_size:
                self.constraints.append(({name: 1}, 0))
            if atom.kind == "max0":
                self.at_least(({name: 1}, 0), self.linear(atom.operands[0], side))
        return name

    def _varies(self, symbol: str) -> bool:
        """Whether the symbol may differ between the two instances: it is set inside a loop that is not in the same trip."""
        operand = self.symbols.get(symbol)
        if not isinstance(operand, Var) or operand not in self.defs:
            return False
        return any(all(loop is not s for s in self.same) for loop in self.defs[operand].loops)

    def at_least(self, big: tuple[dict[str, int], int], small: tuple[dict[str, int], int], by: int = 0) -> None:
        """``big >= small + by``."""
        self.constraints.append(_difference(big, small, by))

    def is_nonnegative(self, form: tuple[dict[str, int], int]) -> bool:
        return is_infeasible([*self.constraints, ({v: -c for v, c in form[0].items()}, -form[1] - 1)])

    def operand(self, operand: Operand | None, side: str) -> tuple[dict[str, int], int] | None:
        if isinstance(operand, Const):
            return {}, int(operand.value)
        if isinstance(operand, Var) and operand.form is not None:
            return self.linear(operand.form, side)
        return None

    # ---- loops

    def _bounds(self, loop: For, side: str) -> None:
        index = self.operand(loop.index, side)
        start, bound = self.operand(loop.start, side), self.operand(loop.bound, side)
        step = loop.step.value if isinstance(loop.step, Const) else 0
        if index is None or step == 0:
            return
        if start is not None:
            self.at_least(*((index, start) if step > 0 else (start, index)))
        if bound is not None:
            self.at_least(*((bound, index) if step > 0 else (index, bound)), by=1)

    def later(self, loop: Loop) -> None:
        """The write is in a later trip of ``loop`` than the access."""
        if not isinstance(loop, For) or not isinstance(loop.step, Const):
            return
        a, w = self.operand(loop.index, "a"), self.operand(loop.index, "w")
        if a is None or w is None:
            return
        up = (loop.step.value > 0) != loop.backwards
        self.at_least(*((w, a) if up else (a, w)), by=1)

    # ---- places

    def same_element(self) -> None:
        """Along each axis the two touch the same index."""
        buf, path_a, args_a = _place(self.access.stmt, self.write.stmt)
        _, path_w, args_w = _place(self.write.stmt, self.write.stmt)
        if not path_a or not path_w or not isinstance(path_a[0], Index) or not isinstance(path_w[0], Index):
            return
        dims = buf.type.dims
        spans_a = dict(self._spans(path_a[0].items, args_a, dims, "a"))
        spans_w = dict(self._spans(path_w[0].items, args_w, dims, "w"))
        for axis, (low, high) in spans_a.items():
            if axis in spans_w:
                other_low, other_high = spans_w[axis]
                self.at_least(high, other_low)
                self.at_least(other_high, low)

    def _spans(self, items: Iterable[Item], args: tuple[Operand, ...], dims: tuple[Dim, ...], side: str) -> Iterator:  # type: ignore[type-arg]
        axis = 0
        for item in items:
            if isinstance(item, NewAxis):
                continue
            if isinstance(item, Mask):
                axis += args[item.arg].type.rank
                continue
            n = self.linear(dims[axis], side)
            span = self._span(item, args, n, side)
            if span is not None:
                yield axis, span
            axis += 1

    def _span(self, item: Item, args: tuple[Operand, ...], n, side: str):  # type: ignore[no-untyped-def]
        if isinstance(item, Point):
            at = self._position(args[item.arg], n, side)
            return None if at is None else (at, at)
        if not isinstance(item, Slice):
            return None
        if item.step is not None and not (isinstance(s := args[item.step], Const) and s.value > 0):
            return None
        low = ({}, 0) if item.start is None else self._position(args[item.start], n, side)
        high = n if item.stop is None else self._position(args[item.stop], n, side)
        if low is None or high is None:
            return None
        return low, (high[0], high[1] - 1)

    def _position(self, operand: Operand, n, side: str):  # type: ignore[no-untyped-def]
        """The index counted from the front, or None where it may be counted from the back."""
        form = self.operand(operand, side)
        if form is None:
            return None
        if not form[0]:
            return form if form[1] >= 0 else (n[0], n[1] + form[1])
        return form if self.is_nonnegative(form) else None


def _difference(a: tuple[dict[str, int], int], b: tuple[dict[str, int], int], by: int) -> Constraint:
    coefs = dict(a[0])
    for v, c in b[0].items():
        coefs[v] = coefs.get(v, 0) - c
    return coefs, a[1] - b[1] - by


def _place(stmt: Stmt, write: Stmt) -> tuple[Var, Path, tuple[Operand, ...]]:
    match stmt:
        case Store() | Add():
            return stmt.buf, stmt.path, stmt.args
        case Let() if stmt.prim == "index":
            assert isinstance(stmt.args[0], Var)
            return stmt.args[0], stmt.params["path"], stmt.args[1:]
    assert isinstance(write, (Store, Add))
    return write.buf, (), ()
