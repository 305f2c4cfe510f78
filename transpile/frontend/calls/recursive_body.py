"""The body of a kept function, lifted by itself: its parameters are numbers and arrays of any sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from transpile.aggregates import number_leaves
from transpile.core import nodes as ir
from transpile.core.dims import ANY, Dim
from transpile.core.rebuild import own_arguments
from transpile.core.types import Type
from transpile.errors import error
from transpile.frontend.calls import calls, equal_axes
from transpile.frontend.calls.result_types import Pair, Signature, signature_of
from transpile.frontend.entry import MAX_RESTARTS, Arguments, Outside, Tries
from transpile.frontend.finish import finish
from transpile.frontend.lifter import Lifter
from transpile.frontend.lifting import Lifting
from transpile.frontend.resolve import statics
from transpile.frontend.restarts import Dead, NeedRoutine, NeedValue, Restart
from transpile.frontend.state import Frame
from transpile.frontend.values import aliases, memory, outputs, read_only
from transpile.frontend.values.symbols import Symbols
from transpile.frontend.values.values import Array, Cell, Items, Static


def lift_body(
    lx: Lifter, code: Any, parent: Frame | None, trees: Mapping[str, Any], wish: Callable[[Pair], None]
) -> tuple[ir.Function | None, Signature | None, list[Cell], dict[Any, Any]]:
    """The core function of a kept function for arguments of these types, and its signature, None if no path returns; and the
    arrays of the functions around that it reads, and all their names. ``wish`` is told of axes that had better be equal."""
    tries = Tries(type(lx), _Symbols())
    for _ in range(MAX_RESTARTS):
        inner = tries.lifter(True)
        inner.outer, inner.codes, inner.own_rules, inner.kept = lx, lx.codes, lx.own_rules, lx.kept
        inner.transforms = lx.transforms
        inner.customs, inner.recalled, inner.pinned = lx.customs, lx.recalled, lx.pinned
        inner.sizes = _Sizes(inner, wish)
        try:
            return (*_once(inner, code, parent, trees), list(inner.around), inner.read_around)
        except Restart as again:
            if again.symbols is not None and again.symbols is not tries.symbols:
                raise
        except NeedRoutine as needed:
            if lx.kept.is_kept(needed.code):
                raise
            lx.kept.keep(needed.code)
            tries = Tries(type(lx), _Symbols())
        except NeedValue as needed:
            if not tries.froze(inner, needed):
                statics.resolve_need(inner, needed)
    message = f"the types of the variables of {code.name!r} change with each recursive call"
    raise error("T206", message, hint="give each variable one dtype and shape")


class _Symbols(Symbols):
    """Sizes without an example: what one path takes to be equal need not be so on another, which may be the end of a recursion."""

    def __init__(self) -> None:
        super().__init__(is_open=True)

    def _equate(self, lx: Lifting, x: Dim, y: Dim, guarded: bool = True) -> None:
        if lx.b.block is lx.root:
            super()._equate(lx, x, y)
        else:
            self.checked[x, y] = lx.b.block
            self._check_here(lx, x, y)

    def _specialise(self, lx: Lifting, dim: Dim, size: int) -> None:
        super()._equate(lx, dim, Dim(size))
        raise Restart(f"{dim} is {size}", self)


class _Sizes:
    """The sizes of the parameters: each a symbol of its own, one for those that are equal in all calls, numbers where all calls
    agree."""

    def __init__(self, lx: Lifter, told: Callable[[Pair], None]) -> None:
        self.lx, self.told = lx, told
        self.shared: dict[Dim, Dim] = {}

    def type(self, type_: Type, param: int) -> Type:
        dims: list[Dim] = []
        for axis, given in enumerate(type_.dims):
            dim = self.shared.get(given, given)
            if not given.is_const and dim is given:
                dim = self.lx.symbols.argument(param, param, axis, None, type_.rank)
                self.lx.symbols.operand(self.lx, dim)
                if given != ANY:
                    self.shared[given] = dim
            dims.append(dim)
        return type_.with_dims(tuple(dims))

    def wish(self, x: Dim, y: Dim) -> None:
        """Says that two sizes meet which only the run can tell to be equal."""
        for pair in equal_axes.wished(self.lx.symbols, x, y):
            self.told(pair)

    def around(self, *dims: Dim) -> None:
        """Sizes of outside: one for each call."""

    def form(self, form: Dim) -> Dim | None:
        """The form of an integer of outside, if it is known here."""
        return form if form.is_const else None


class _Parameters(Arguments):
    """As `Arguments`; containers cannot be changed, since the caller would not see it."""

    def _node(self, tree: Any, name: str, written: str) -> Any:
        value = super()._node(tree, name, written)
        cell = getattr(value, "cell", None)
        if isinstance(cell, Cell) and isinstance(self.lx.state.cells[cell], Items):
            cell.readonly = read_only.HANDED_ON
        return value


def _once(
    lx: Lifter, code: Any, parent: Frame | None, trees: Mapping[str, Any]
) -> tuple[ir.Function | None, Signature | None]:
    lx.frame = Frame(code=Outside(), live=frozenset())
    lx.start = lx.pinned or code.loc(code.node, None)
    maker = _Parameters(lx)
    lx.first_capture = len(number_leaves(list(trees.values()))[1])
    bound = {name: maker.value(tree, name) for name, tree in trees.items()}
    own = {cell: cell.param for cell in maker.cells}
    with lx.b.at(lx.start):
        try:
            result = calls.enter(lx, code, parent, bound, None, 1)
        except Dead:
            return None, None
        with lx.rules():
            tree, yields = outputs.results(lx, result, maker.cells)
        shared = [_shared(lx, cell, own) for cell in _cells(lx, result)]
        near = [c for one in aliases.cells_of(lx, result) for c in (one, *lx.aliases.get(one, ()))]
        hands_back = any(c.readonly == read_only.HANDED_ON for c in near)
        written = sorted(lx.written)
        ends: list[ir.Operand] = [memory.read(lx, next(c for c in own if own[c] == k)) for k in written]
    lx.b.block.yields = (*yields, *ends)
    params = (*maker.params, *lx.captures)
    fn = ir.Function(code.name, params, lx.b.block, {}, lx.start, None, tree, "", tuple(lx.captures.values()))
    fn.errstate = tuple(lx.errstate.items())
    fn = own_arguments(finish(lx, fn))
    return fn, signature_of(fn, written, shared, hands_back)


def _cells(lx: Lifter, value: Any) -> list[Cell | None]:
    """For each leaf of a result the cell that it is in, None for a number: in the order of `outputs.results`."""
    found: list[Cell | None] = []

    def visit(one: Any) -> None:
        match one:
            case Array():
                found.append(one.cell)
            case Static():
                pass
            case _ if hasattr(one, "items") and not hasattr(one, "op"):
                for part in one.items:
                    visit(part)
            case _ if hasattr(one, "cell"):
                for part in lx.state.cells[one.cell].items:
                    visit(part)
            case _:
                found.append(None)

    visit(value)
    return found


def _shared(lx: Lifter, cell: Cell | None, own: Mapping[Cell, int]) -> frozenset[int]:
    """The parameters that a result may share memory with; -1 stands for arrays from outside."""
    if cell is None:
        return frozenset()
    base = memory.root(lx, cell)
    near = (base, *lx.aliases.get(base, ()))
    outside = {*lx.captured_cells, *lx.around.values()}
    return frozenset([*(own[c] for c in near if c in own), *(-1 for c in near if c in outside)])
