"""What is asked of a list that grew: how many elements it has, one of them, a part, all of them as an array.

Its arrays have room for more than there is (see `transpile.frontend.control.dynamic_lists`); nothing here reads beyond the
elements. An index that is not known to be one of an element reads ``items[:count][k]``: it is checked, and counted from the end,
as NumPy does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative, place_dims
from transpile.core.types import BOOL, INT, Type, promote
from transpile.frontend.control import carries
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import aliases, memory, read_only
from transpile.frontend.values.values import Array, Buffer, Cell, Held, Items, Ref, Scalar, SliceOf, Tuple
from transpile.numpy_api.api_arguments import same_dtype

KINDS = ("grown", "counted")


@dataclass(eq=False)
class Grown:
    """Where the elements are: one buffer for each leaf; ``like`` is an element, ``types`` are those of its leaves.

    There is room for all that the loop appends that was lifted as one of ``owners``.
    """

    cells: tuple[Cell, ...]
    like: Any
    skeleton: Any
    types: tuple[Type, ...]
    owners: Sequence[Any] = ()


def is_grown(lx: Lifter, value: Any) -> bool:
    """Whether a value is a list that a loop appends to, or appended to."""
    return isinstance(value, Ref) and lx.state.cells[value.cell].kind in KINDS


def count(state: Items) -> ir.Operand:
    """How many elements such a list has."""
    op: ir.Operand = (state.items[-1] if state.kind == "counted" else state.items[0]).op
    return op


def length(lx: Lifter, value: Ref) -> Scalar:
    """``len(value)``."""
    return Scalar(count(lx.state.cells[value.cell]))


def name_of_count(name: str, held: Any) -> str:
    """What a variable is called that says how many elements the list of this name has; of other containers, the name."""
    return f"{name}_len" if isinstance(held, Items) and held.kind == "grown" else name


def has_any(lx: Lifter, value: Ref) -> ir.Operand:
    """Whether such a list has an element: its truth value."""
    many = lx.symbols.resolve(count_dim(lx, count(lx.state.cells[value.cell])))
    if many.is_const or is_nonnegative(lx.symbols.least(many - 1)):
        return ir.Const(not many.is_const or many.const > 0, BOOL)
    return (lx.b.expr(count(lx.state.cells[value.cell])) > 0).op


def count_dim(lx: Lifter, op: ir.Operand) -> Dim:
    """The number of elements as a size: it is not negative."""
    form = lx.symbols.resolve(lx.b.form(op))
    name = form.as_symbol
    if name is not None and isinstance(op, ir.Var) and lx.b.symbols.get(name) is op:
        form = Dim.symbol(name)
        lx.b.learn(op, form)
    return form


def lengths(lx: Lifter, value: Any) -> dict[Cell, Dim]:
    """How many elements the lists have that an iterable is made of."""
    cells = [c for c in aliases.cells_of(lx, value) if getattr(lx.state.cells.get(c), "kind", "") == "grown"]
    return {c: count_dim(lx, count(lx.state.cells[c])) for c in cells}


def check_lengths(lx: Lifter, before: dict[Cell, Dim], node: Any) -> None:
    """Refuses a loop over a list that its body makes longer or shorter: Python's loop would see that."""
    for cell, many in before.items():
        if count_dim(lx, count(lx.state.cells[cell])) != many:
            raise lx.error("T119", "the length of a list changes in a loop over it", node.iter,
                           hint="iterate over a copy: items[:]")  # fmt: skip


# ------------------------------------------------------------------------------------------------------ an element


def item(lx: Lifter, value: Ref, index: Any, node: Any) -> Any:
    """``value[index]``."""
    state: Items = lx.state.cells[value.cell]
    if isinstance(index, SliceOf):
        return part(lx, value, index, node)
    k = integer(lx, index, node)
    if state.kind == "counted":
        if not (isinstance(k.op, ir.Const) and k.op.value == -1):
            refuse_counted(lx, value, node)
        raise_if_empty(lx, state, "list index out of range")
        return state.items[0]
    known, k = place(lx, state, k)
    return read(lx, state, k, known)


def integer(lx: Lifter, index: Any, node: Any) -> Expr:
    op = lx.operand(index, node)
    if op.type.dims or op.type.is_float:
        hint = "convert it with int(...)"
        raise lx.error("T207", f"the index of a list must be an integer or a slice, not {op.type}", node, hint)
    return lx.b.cast(op, INT) if op.type.is_bool else lx.b.expr(op)


def place(lx: Lifter, state: Items, k: Expr) -> tuple[bool, Expr]:
    """Whether the element is sure to be there, and then its number from the front."""
    many = count_dim(lx, count(state))
    if isinstance(k.op, ir.Const) and k.op.value < 0 and is_nonnegative(lx.symbols.least(many + int(k.op.value))):
        return True, lx.b.expr(count(state)) + k.op.value
    form = lx.symbols.resolve(lx.b.form(k.op))
    left = lx.symbols.resolve(many - 1 - form)
    return is_nonnegative(lx.symbols.least(form)) and is_nonnegative(lx.symbols.least(left)), k


def path_to(rank: int, known: bool, many: ir.Operand, k: Expr) -> tuple[ir.Path, tuple[ir.Operand, ...]]:
    """The way to an element in an array of a list."""
    rest = [ir.Slice()] * (rank - 1)
    if known:
        return (ir.Index((ir.Point(0), *rest)),), (k.op,)
    return (ir.Index((ir.Slice(None, 0, None), *rest)), ir.Index((ir.Point(1), *rest))), (many, k.op)


def at(lx: Lifter, value: Ref, k: Expr) -> Any:
    """The element of a number that is known to be one of an element's."""
    refuse_counted(lx, value)
    return read(lx, lx.state.cells[value.cell], k, True)


def exactly(lx: Lifter, value: Ref, wanted: int, node: Any) -> list[Any]:
    """The elements of a list that is spread over so many names; ValueError, when the function runs, where it has others."""
    refuse_counted(lx, value, node)
    state: Items = lx.state.cells[value.cell]
    many = lx.symbols.resolve(count_dim(lx, count(state)))
    if many.is_const:
        return [read(lx, state, lx.b.expr(k), True) for k in range(int(many.const))]
    number = lx.b.expr(count(state))
    few = (f"not enough values to unpack (expected {wanted}, got ", 0, ")")
    raise_if(lx, (number < wanted).op, "ValueError", few, (number.op,))
    raise_if(lx, (number > wanted).op, "ValueError", (f"too many values to unpack (expected {wanted})",))
    return [read(lx, state, lx.b.expr(k), True) for k in range(wanted)]


def refuse_counted(lx: Lifter, value: Ref, node: Any = None) -> None:
    """Refuses to read a list of which only the last element is known, while it is counted how many there will be."""
    if lx.state.cells[value.cell].kind == "counted":
        message = "only the last element of a list can be read in the 'while' loop in which the list grows"
        raise lx.error("T119", message, node, "read the others after the loop")


def read(lx: Lifter, state: Items, k: Expr, known: bool) -> Any:
    grown: Grown = state.cls
    ops: list[ir.Operand] = []
    for cell, type_ in zip(grown.cells, grown.types):
        path, args = path_to(len(memory.type_of(lx, cell).dims), known, count(state), k)
        ops.append(lx.b.cast(memory.read_place(lx, cell, path, args), type_).op)
    found = carries.rebuilt(lx, grown.like, iter(ops), ir.SYNTHETIC)
    for made in aliases.cells_of(lx, found):  # a copy of what Python's list would give: it must not be written
        made.appended = True
    return found


def check_change(lx: Lifter, cell: Cell) -> None:
    """Refuses to change a list that may be another, or whose owner would not see it changed."""
    read_only.refuse(lx, cell)
    aliases.check_write(lx, cell)


def raise_if_empty(lx: Lifter, state: Items, message: str) -> None:
    many = count_dim(lx, count(state))
    if is_nonnegative(lx.symbols.least(many - 1)):
        return
    raise_if(lx, (lx.b.expr(count(state)) < 1).op, "IndexError", message)


def raise_if(
    lx: Lifter, test: ir.Operand, exception: str, message: str | tuple[Any, ...], args: tuple[ir.Operand, ...] = ()
) -> None:
    """An error of Python's, when the function runs; numbers in the message stand for ``args``."""
    if isinstance(test, ir.Const) and not test.value:
        return
    parts = (message,) if isinstance(message, str) else message
    failed = ir.Block(stmts=[ir.Raise(args, exception, parts, loc=lx.b.loc)])
    lx.b.emit(ir.If(test, failed, ir.Block(), (), lx.b.loc))


# ----------------------------------------------------------------------------------------------- several elements


def part(lx: Lifter, value: Ref, index: SliceOf, node: Any) -> Any:
    """``value[start:stop:step]``: a list of its own."""
    state: Items = lx.state.cells[value.cell]
    refuse_counted(lx, value, node)
    grown: Grown = state.cls
    bounds = [None if b is None else integer(lx, b, node).op for b in (index.start, index.stop, index.step)]
    slots = iter(range(1, 4))
    cut = ir.Slice(*(None if b is None else next(slots) for b in bounds))
    args = (count(state), *(b for b in bounds if b is not None))
    many = count_dim(lx, count(state))
    size = place_dims((many,), (ir.Index((cut,)),), args, lx.b.form_of, lx.symbols.least)[
        0
    ]  # of what is there, not of what there is room for
    ops: list[ir.Operand] = []
    for cell in grown.cells:
        inner = memory.type_of(lx, cell).dims[1:]
        rest = [ir.Slice()] * len(inner)
        path = (ir.Index((ir.Slice(None, 0, None), *rest)), ir.Index((cut, *rest)))
        op = (
            memory.read_place(lx, cell, path, args)
            if size is None
            else _read_part(lx, cell, path, args, (size, *inner))
        )
        size = op.type.dims[0]
        ops.append(op)
    return of_arrays(lx, grown, ops, size)


def _read_part(
    lx: Lifter, cell: Cell, path: ir.Path, args: tuple[ir.Operand, ...], dims: tuple[Dim, ...]
) -> ir.Operand:
    held = lx.state.cells[cell]
    source = held.op if isinstance(held, Held) else held.var
    return lx.b.let("index", source, *args, path=path, dims=dims).op


def is_of_numbers(lx: Lifter, value: Ref) -> bool:
    """Whether all elements are numbers."""
    state: Items = lx.state.cells[value.cell]
    return state.kind == "grown" and isinstance(state.cls.like, Scalar)


def of_arrays(lx: Lifter, grown: Grown, ops: Sequence[ir.Operand], many: Dim | None) -> Ref:
    """A list with these arrays of the leaves of its elements."""
    cells: list[Cell] = []
    for op in ops:
        cell = Cell("items", contiguous=True)
        lx.state.cells[cell] = Held(op)
        cells.append(cell)
    made = Cell("list")
    many_op = lx.symbols.sized(lx, many) if many is not None else lx.b.operand(0)
    lx.state.cells[made] = Items("grown", (Scalar(many_op),), None, replace(grown, cells=tuple(cells), owners=()))
    return Ref(made)


def of_array(lx: Lifter, value: Array) -> Ref:
    """A list of the numbers of an array of rank 1 that nobody else has."""
    op = memory.read(lx, value.cell)
    number = Type(op.type.dtype, ())
    like = Scalar(ir.Const(np.dtype(number.dtype).type(0).item(), number))
    return of_arrays(
        lx, Grown((), like, carries.skeleton(lx, like), (number,)), [op], lx.symbols.resolve(op.type.dims[0])
    )


def filled_part(lx: Lifter, cell: Cell, many: ir.Operand) -> Expr:
    """The elements so far of one of the arrays of a list."""
    type_, state = memory.type_of(lx, cell), lx.state.cells[cell]
    source = lx.b.expr(state.var if isinstance(state, Buffer) else state.op)
    size = count_dim(lx, many)
    if lx.symbols.resolve(type_.dims[0]) == size:
        return lx.b.like(lx.b.expr(memory.read(lx, cell)), source)
    path = (ir.Index((ir.Slice(None, 0, None), *[ir.Slice()] * (len(type_.dims) - 1))),)
    found = _read_part(lx, cell, path, (many,), (size, *type_.dims[1:]))
    return lx.b.like(lx.b.expr(found), source)


def stacked(lx: Lifter, value: Ref) -> Any:
    """All elements, as what NumPy makes an array of."""
    state: Items = lx.state.cells[value.cell]
    refuse_counted(lx, value)
    grown: Grown = state.cls
    if not isinstance(grown.like, Scalar):
        many = count_dim(lx, count(state))
        if not is_nonnegative(lx.symbols.least(many - 1)):
            raise_if(lx, (lx.b.expr(count(state)) < 1).op, "ValueError", _EMPTY)
    return _whole(lx, grown.like, iter([filled_part(lx, cell, count(state)) for cell in grown.cells]))


_EMPTY = "need at least one array: the shape of an empty list is not known"


def _whole(lx: Lifter, like: Any, wholes: Iterator[Expr]) -> Expr:
    """An array of all elements that are like this: of tuples and lists, one more axis."""
    if isinstance(like, (Scalar, carries.ArrayOf)):
        return next(wholes)
    inner = like.items if isinstance(like, Tuple) else None
    if isinstance(like, carries.RefOf) and like.items.kind == "list":
        inner = like.items.items
    if not inner:
        message = "a list whose elements are not numbers or arrays cannot become an array"
        raise lx.error("T119", message, hint="append arrays or numbers")
    parts = [_whole(lx, v, wholes) for v in inner]
    return lx.b.let("stack", *same_dtype(lx.b, parts), axis=1)


def wider(a: Type, b: Type) -> Type:
    """The type of elements of both types."""
    common = promote(a, b)
    return Type(common.dtype, a.dims, common.weak and not a.dims)
