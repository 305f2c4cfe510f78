"""What a function that is transformed inside another reads of it: hidden parameters, in the order in which they are met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.fingerprints import fingerprint
from transpile.frontend.state import Frame
from transpile.frontend.values import contents, memory
from transpile.frontend.values.values import Array, Bound, Cell, Closure, Items, Maybe, Method, Ref, Scalar, Tuple

OUTSIDE = "an array or list of the enclosing function cannot be written in a function that is transformed or recursive"


@dataclass(frozen=True)
class Around:
    """How a hidden parameter of an inner function is read: it is a value of the lifter around it."""

    op: ir.Operand
    cell: Cell | None = None  # of an array, the memory that it is

    def read(self) -> Any:
        raise TypeError("only where it is spliced")


def imported(lx: Lifter, frame: Frame, name: str, node: Any) -> Any:
    """What a name of the functions around holds, as hidden parameters of the function that is lifted."""
    outer = lx.outer
    if outer is None:
        return None
    value = outer.state.vars.get((frame, name))
    if value is None:
        value = imported(outer, frame, name, node)
        if value is None:
            return None
        outer.state.vars[frame, name] = value
    if isinstance(value, Maybe):
        value = value.value
    lx.read_around[frame, name] = fingerprint(outer, value)
    found = lx.state.vars[frame, name] = _inward(lx, outer, value, name)
    return found


def are_as_before(lx: Lifter, read: Mapping[tuple[Frame, str], Any]) -> bool:
    """Whether names of functions around stand for what they stood for: for another number or function by now, maybe."""
    return all(fingerprint(lx, now(lx, frame, name)) == before for (frame, name), before in read.items())


def now(lx: Lifter, frame: Frame, name: str) -> Any:
    """What a name of this function, or of one around, stands for; None if it has no value."""
    value = lx.state.vars.get((frame, name))
    return imported(lx, frame, name, None) if value is None else value


def brought(lx: Lifter, owner: Lifter, value: Any, name: str = "given") -> Any:
    """A value of a lifter around, however far out, as hidden parameters of the function that is lifted."""
    if lx is owner:
        return value
    assert lx.outer is not None
    return _inward(lx, lx.outer, brought(lx.outer, owner, value, name), name)


def _inward(lx: Lifter, outer: Lifter, value: Any, name: str) -> Any:
    match value:
        case Scalar():
            return value if isinstance(value.op, ir.Const) else Scalar(hidden(lx, value.op, name))
        case Array():
            known = lx.around.get(value.cell)
            if known is None:
                var = hidden(lx, outer.operand(value), name, value.cell)
                known = lx.around[value.cell] = Cell(name, readonly=OUTSIDE)
                lx.captured_cells[known] = memory.held(lx, var)
            lx.state.cells.setdefault(known, lx.captured_cells[known])
            return Array(known)
        case Tuple():
            return Tuple(tuple(_inward(lx, outer, v, f"{name}_{k}") for k, v in enumerate(value.items)), value.cls)
        case Ref():
            state = contents.items(outer, value)
            cell = Cell(name, readonly=OUTSIDE)
            if state.kind in dynamic_list_reads.KINDS:
                lx.state.cells[cell] = _grown(lx, outer, state, name)
                return Ref(cell)
            items = tuple(_inward(lx, outer, v, f"{name}_{k}") for k, v in enumerate(state.items))
            lx.state.cells[cell] = replace(state, items=items)
            return Ref(cell)
        case Bound():
            kwargs = tuple((key, _inward(lx, outer, v, key)) for key, v in value.kwargs)
            function = _inward(lx, outer, value.function, name)
            return Bound(function, tuple(_inward(lx, outer, v, name) for v in value.args), kwargs)
        case Method():
            return replace(value, owner=_inward(lx, outer, value.owner, name))
        case Closure() if value.defaults or value.kw_defaults:
            defaults = tuple(_inward(lx, outer, v, name) for v in value.defaults)
            by_name = {key: _inward(lx, outer, v, key) for key, v in value.kw_defaults.items()}
            return replace(value, defaults=defaults, kw_defaults=by_name)
    return value


def _grown(lx: Lifter, outer: Lifter, state: Items, name: str) -> Items:
    """A list of the function around of which only the run knows how many elements it has."""
    if state.kind == "counted":
        message = "a function that is transformed or recursive reads a list that grows in this 'while' loop"
        raise outer.error("T119", message, hint="pass what it reads as an argument")
    arrays = [_inward(lx, outer, Array(c), name).cell for c in state.cls.cells]
    types = [replace(t, dims=memory.type_of(lx, c).dims[1:]) for t, c in zip(state.cls.types, arrays)]
    count = _inward(lx, outer, state.items[0], name)
    return Items("grown", (count,), None, replace(state.cls, cells=tuple(arrays), types=tuple(types), owners=()))


def hidden(lx: Lifter, op: ir.Operand, name: str, cell: Cell | None = None) -> ir.Operand:
    """The hidden parameter for an operand of the lifter around."""
    if isinstance(op, ir.Const):
        return op
    assert isinstance(op, ir.Var)
    if op not in lx.hidden:
        type_ = lx.sizes.type(op.type, len(lx.captures) + lx.first_capture) if lx.sizes is not None else op.type
        var = lx.hidden[op] = ir.Var(op.name if op.name != ir.SYNTHETIC else name, type_)
        form = None if lx.outer is None else lx.outer.b.form_of(op)
        if form is not None and lx.sizes is not None and (own := lx.sizes.form(form)) is not None:
            lx.b.learn(var, own)
        lx.captures[var] = Around(op, cell)
    return lx.hidden[op]


class Sizes:
    """The sizes of an inner function's arguments: one symbol of its own for each size of the function around."""

    def __init__(self, lx: Lifter, outer: Lifter) -> None:
        self.lx, self.outer = lx, outer
        self.known: dict[Dim, Dim] = {}

    def dim(self, dim: Dim, param: int, axis: int) -> Dim:
        """The symbol that stands for a size of outside; numbers stay numbers."""
        dim = self.outer.symbols.resolve(dim)
        if dim.is_const:
            return dim
        if dim not in self.known:
            symbols = self.lx.symbols
            own = symbols.argument(dim, param, axis, self.outer.symbols.value(dim), 1)
            name = own.as_symbol
            if name is not None and name in symbols.origins:
                wanted = dim.as_symbol or name
                symbols.names.setdefault(name, wanted.partition(".")[0])
            self.known[dim] = own
            symbols.operand(self.lx, own)
        return self.lx.symbols.resolve(self.known[dim])

    def around(self, *dims: Dim) -> list[Dim] | None:
        """The sizes as the function around has them, if they are made of its sizes."""
        names = {own.as_symbol: dim for dim, own in self.known.items()}
        if any(name not in names for dim in dims for name in dim.symbols()):
            return None
        return [dim.substitute(names.get) for dim in dims]

    def type(self, type_: Type, param: int) -> Type:
        return type_.with_dims(tuple(self.dim(d, param, k) for k, d in enumerate(type_.dims)))

    def wish(self, x: Dim, y: Dim) -> None:
        """Says outside that two sizes meet which only the run can tell to be equal."""
        around = self.around(x, y)
        if around is not None and self.outer.sizes is not None:
            self.outer.sizes.wish(*around)

    def form(self, form: Dim) -> Dim | None:
        """The form of an integer of outside, if it is a size that the inner function knows."""
        form = self.outer.symbols.resolve(form)
        return form if form.is_const else self.known.get(form)
