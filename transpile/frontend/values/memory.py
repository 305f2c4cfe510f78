"""What arrays are in: values, buffers and views, reads and writes of them.

A cell holds a value until something writes into it; the first write copies the value into a buffer (a copy that later
passes leave out where nobody can tell). A view is a path into another cell: reading it reads that cell as it is now,
writing it writes there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.places import compact, place_dims
from transpile.core.types import Type
from transpile.errors import TranspileError, with_article
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import NeedBuffer, Restart
from transpile.frontend.values import aliases
from transpile.frontend.values.paths import compose
from transpile.frontend.values.values import Array, Buffer, Cell, Derived, Held, Items, Scalar, View
from transpile.numpy_api.api_arguments import shape_text

READ_ONLY = "this view is read-only, as in NumPy"


def new_array(
    lx: Lifter, op: ir.Operand, name: str = "", contiguous: bool = False, readonly: str = "", param: int = -1
) -> Array:
    """A new array that is a value."""
    cell = Cell(name, contiguous or len(op.type.dims) <= 1, readonly, param)
    lx.state.cells[cell] = held(lx, op)
    return Array(cell)


def held(lx: Lifter, op: ir.Operand) -> Held | Items:
    """What the cell of an array holds that nothing has written into."""
    if op.type.dims:
        return Held(op)
    return Items("number", (Scalar(op if isinstance(op, ir.Undef) else lx.b.cast(op, op.type.strong).op),))


def type_of(lx: Lifter, cell: Cell) -> Type:
    return lx.state.cells[cell].type


def root(lx: Lifter, cell: Cell) -> Cell:
    """The cell whose memory it is."""
    return aliases.root_in(lx.state, cell)


# ------------------------------------------------------------------------------------------------------- reads


def read(lx: Lifter, cell: Cell) -> ir.Operand:
    """What the array holds now, as a value."""
    state = lx.state.cells[cell]
    if isinstance(state, Held):
        return state.op
    if isinstance(state, Items):
        return lx.operand(state.items[0])
    if isinstance(state, Buffer):
        if state.snapshot is None:
            found = lx.b.let("index", state.var, path=(), dims=state.var.type.dims).op
            lx.state.cells[cell] = replace(state, snapshot=found)
            return found
        return state.snapshot
    if isinstance(state, Derived):
        return _read_derived(lx, cell, state)
    return _read_view(lx, cell, state)


def _read_derived(lx: Lifter, cell: Cell, state: Derived) -> ir.Operand:
    source = read(lx, state.source)
    if state.memo is None or state.memo[0] is not source:
        state = lx.state.cells[cell] = replace(state, memo=(source, state.again(source)))
    assert state.memo is not None
    return state.memo[1]


def _read_view(lx: Lifter, cell: Cell, state: View) -> ir.Operand:
    base = lx.state.cells[state.base]
    source = base.op if isinstance(base, (Held, Items)) else base.snapshot if isinstance(base, Buffer) else None
    if state.memo is not None and source is not None and state.memo[0] is source:
        return state.memo[1]
    result = read_place(lx, state.base, state.path, state.args, state.type.dims)
    if isinstance(base, Held):
        lx.state.cells[cell] = replace(state, memo=(base.op, result))
    return result


def read_place(
    lx: Lifter, base: Cell, path: ir.Path, args: tuple[ir.Operand, ...], dims: tuple[Dim, ...] | None = None
) -> ir.Operand:
    """What a place holds now: one *index* for the subscripts that come first, then permutations and the rest."""
    state = lx.state.cells[base]
    is_value = not isinstance(state, Buffer)
    whole = state.var if isinstance(state, Buffer) else read(lx, base)
    if isinstance(state, Items) and path:
        return _spread(lx, whole, path, args)
    lead = next((k for k, step in enumerate(path) if not isinstance(step, ir.Index)), len(path))
    if lead or not is_value:
        head, used = compact(path[:lead], args)
        given = dims if lead == len(path) else None
        current = index(lx, whole, head, used, given) if head else read(lx, base)
    else:
        current = whole
    for step in path[lead:]:
        current = _apply(lx, current, step, args)
    return current


def _spread(lx: Lifter, whole: ir.Operand, path: ir.Path, args: tuple[ir.Operand, ...]) -> ir.Operand:
    """A view of an array of rank 0: the number with axes of size 1."""
    dims = place_dims((), path, args, lx.b.form_of, lx.symbols.least)
    if not all(d is not None and d.is_one for d in dims):
        raise lx.error("T123", "this view of an array of rank 0 may be empty", hint=COPY)
    return lx.b.let("reshape", whole, dims=tuple(Dim(1) for _ in dims)).op if dims else whole


def _apply(lx: Lifter, source: ir.Operand, step: ir.Step, args: tuple[ir.Operand, ...]) -> ir.Operand:
    if isinstance(step, ir.Permute):
        return lx.b.let("transpose", source, axes=step.axes).op
    if isinstance(step, ir.Reshape):
        return lx.b.let("reshape", source, dims=tuple(lx.b.form(args[a]) for a in step.args)).op
    path, used = compact((step,), args)
    return index(lx, source, path, used)


def index(
    lx: Lifter, source: ir.Operand, path: ir.Path, args: tuple[ir.Operand, ...], dims: tuple[Dim, ...] | None = None
) -> ir.Operand:
    """A read of a place; sizes that only the run knows are those of ``dims``, where it was read before."""
    found = place_dims(source.type.dims, path, args, lx.b.form_of, lx.symbols.least)
    if all(d is not None for d in found):
        return lx.b.read(source, path, args).op
    if dims is not None:
        known = tuple(old if d is None else d for old, d in zip(dims, found))
        return lx.b.let("index", source, *args, path=path, dims=known).op
    return _measured(lx, source, path, args, found)


def _measured(
    lx: Lifter, source: ir.Operand, path: ir.Path, args: tuple[ir.Operand, ...], found: list[Dim | None]
) -> ir.Operand:
    """A read of a place of a size that only the run knows, unless an equal part of an equal size was read before."""
    keys = lx.measured.keys(source.type.dims, path, args, len(found))
    fresh: dict[int, Dim] = {}
    dims: list[Dim] = []
    for k, d in enumerate(found):
        d = lx.measured.find(keys[k]) if d is None else d
        if d is None:
            d = fresh[k] = lx.b.fresh_symbol("size")
            lx.symbols.bounds[d.as_symbol or ""] = (None, _axis_of_slice(source, path, args, k))
        dims.append(d)
    result = lx.b.let("index", source, *args, path=path, dims=tuple(dims))
    lx.b.measure(result, fresh)
    for k, d in fresh.items():
        lx.measured.note(keys[k], d)
    return result.op


def _axis_of_slice(source: ir.Operand, path: ir.Path, args: tuple[ir.Operand, ...], axis: int) -> Dim | None:
    """The size of the axis of which one of the result is a slice, or what a mask lets through."""
    (step,) = path if len(path) == 1 else (None,)
    if not isinstance(step, ir.Index) or not all(isinstance(i, (ir.Point, ir.Slice, ir.Mask)) for i in step.items):
        return None
    masks = [args[i.arg].type.dims for i in step.items if isinstance(i, ir.Mask)]
    if any(len(d) != 1 for d in masks) or len(masks) > 1:
        return None
    kept = [d for d, item in zip(source.type.dims, step.items) if not isinstance(item, ir.Point)]
    return kept[axis] if axis < len(kept) else None


# ------------------------------------------------------------------------------------------------------- views


def view(lx: Lifter, cell: Cell, step: ir.Step, args: tuple[ir.Operand, ...] = ()) -> Any:
    """The part of an array that a basic subscript, permutation or reshape names; a scalar is read at once."""
    return part(lx, cell, (step,), args, zero_dim=False)


def part(
    lx: Lifter, cell: Cell, steps: ir.Path, args: tuple[ir.Operand, ...] = (), readonly: str = "", zero_dim: bool = True
) -> Any:
    """The part of an array that a path leads to. Of rank 0 it is a view, or (not ``zero_dim``) a number, read at once."""
    in_order = is_whole_in_order(lx, cell)
    base, path, used = place(lx, cell, (), ())
    if in_order and steps and isinstance(steps[0], ir.Reshape):
        path, used = (), ()
    path, used = _behind(path, used, steps, args)
    source = lx.state.cells[base].type
    found = place_dims(source.dims, path, used, lx.b.form_of, lx.symbols.least)
    if not found and not zero_dim:
        return lx.value(read_place(lx, base, path, used))
    memo = None
    if any(d is None for d in found):  # the size is that of what is read
        op = read_place(lx, base, path, used)
        found, state = list(op.type.dims), lx.state.cells[base]
        memo = (state.op, op) if isinstance(state, Held) else None
    kept = cell.readonly if cell.readonly == READ_ONLY else ""
    made = Cell(contiguous=in_order and all(isinstance(s, ir.Reshape) for s in steps), readonly=readonly or kept)
    type_ = Type(source.dtype, tuple(lx.symbols.resolve(d) for d in found if d is not None))
    lx.state.cells[made] = View(base, path, used, type_, memo)
    return Array(made)


def is_whole_in_order(lx: Lifter, cell: Cell) -> bool:
    """Whether an array is all of some memory, in C order: any reshape of it is a view."""
    state = lx.state.cells[cell]
    whole = not isinstance(state, View) or all(isinstance(s, ir.Reshape) for s in state.path)
    return cell.contiguous and whole and not isinstance(state, Derived)


def place(
    lx: Lifter, cell: Cell, steps: ir.Path, args: tuple[ir.Operand, ...]
) -> tuple[Cell, ir.Path, tuple[ir.Operand, ...]]:
    """The cell whose memory it is, and the way into it with steps behind."""
    state = lx.state.cells[cell]
    base, path, given = (state.base, state.path, state.args) if isinstance(state, View) else (cell, (), ())
    return (base, *_behind(path, given, steps, args)) if steps else (base, path, given)


def _behind(
    path: ir.Path, used: tuple[ir.Operand, ...], steps: ir.Path, args: tuple[ir.Operand, ...]
) -> tuple[ir.Path, tuple[ir.Operand, ...]]:
    """The path with steps behind it, whose operands are ``args``."""
    for step in steps:
        path, used = compose(path, used, step, args)
    return compact(path, used)


# ------------------------------------------------------------------------------------------------------- writes


def write(lx: Lifter, cell: Cell, steps: ir.Path, args: tuple[ir.Operand, ...], value: Any, add: bool = False) -> None:
    """``cell[steps] = value`` (no steps: all of it); the value is cast and broadcast to the place."""
    refuse_read_only(lx, cell)
    write_place(lx, *place(lx, cell, steps, args), value, add)


def refuse_read_only(lx: Lifter, cell: Cell) -> None:
    """Refuses a write through a view that NumPy gives out for reading."""
    if cell.readonly == READ_ONLY:
        raise _refused(lx, cell)


COPY = "take a .copy() first"


def _refused(lx: Lifter, cell: Cell) -> TranspileError:
    """The diagnostic of a write into what must not be written."""
    what = repr(cell.name) if cell.name.isidentifier() else "this array"
    return lx.error("T123" if "copy" not in cell.readonly else "T122", cell.readonly.format(what), hint=COPY)


def write_place(
    lx: Lifter, base: Cell, path: ir.Path, used: tuple[ir.Operand, ...], value: Any, add: bool = False
) -> None:
    """``base[path] = value``."""
    x = lx.b.expr(value)
    if isinstance(lx.state.cells[base], Items):
        _write_number(lx, base, path, used, x, add)
        return
    var = to_buffer(lx, base)
    dims = tuple(_place_dims(lx, var, path, used))
    x = _number(lx, x, var.type.dtype) if not dims else lx.b.cast(x, var.type.dtype)
    x = fitted(lx, x, dims)
    aliases.check_write(lx, base)
    (lx.b.add if add else lx.b.store)(var, path, used, x)
    changed(lx, base)


def fitted(lx: Lifter, x: Expr, dims: tuple[Dim, ...]) -> Expr:
    """The value broadcast to a place of these sizes; leading axes of one entry are dropped, as NumPy does it."""
    if dims and len(x.dims) > len(dims) and all(d.is_one for d in x.dims[: len(x.dims) - len(dims)]):
        x = lx.b.let("reshape", x, dims=x.dims[len(x.dims) - len(dims) :])
    _check_fits(lx, x, dims)
    if isinstance(x.op, ir.Const) and not dims:
        return x
    return lx.b.broadcast(x, tuple(lx.symbols.resolve(d) for d in dims))


def _number(lx: Lifter, x: Expr, dtype: str) -> Expr:
    """A number as an entry of an array: NumPy refuses one that does not fit into a signed integer; the rest is cast as it comes."""
    fits = x.type.weak and not x.type.is_float or np.can_cast(x.dtype, dtype, "safe")
    if not dtype.startswith("int") or x.dims or fits or (isinstance(x.op, ir.Const) and abs(x.op.value) < 128):
        return lx.b.cast(x, Type(dtype))
    return lx.b.let("cast", x, dtype=dtype, weak=False, place=True)


def _write_number(lx: Lifter, base: Cell, path: ir.Path, used: tuple[ir.Operand, ...], x: Expr, add: bool) -> None:
    """A write into an array of rank 0, which any view of it covers."""
    state: Items = lx.state.cells[base]
    if base.readonly:
        raise _refused(lx, base)
    if lx.mutable and base.param >= 0:
        message = "compiled code cannot write into an argument that is an array of rank 0"
        raise lx.error("T123", message, hint="pass an array of one element, or return the value")
    _refuse_dtypes(lx, state)
    place = _spread(lx, state.op, path, used).type.dims
    if any(isinstance(i, (ir.Gather, ir.Mask)) for s in path if isinstance(s, ir.Index) for i in s.items):
        message = "a write into an array of rank 0 with an array as index is not supported"
        raise lx.error("T123", message, hint="write a[...] = value")
    _check_fits(lx, x, place) if len(x.dims) <= len(place) or not all(d.is_one for d in x.dims) else None
    x = lx.b.cast(lx.b.let("reshape", x, dims=()) if x.dims else x, state.type)
    if add:
        x = lx.b.elementwise("add", state.op, x)
    aliases.check_write(lx, base)
    if isinstance(x.op, ir.Var) and x.op.name == ir.SYNTHETIC and x.op not in lx.params:
        x.op.name = base.name
    lx.state.cells[base] = Items("number", (Scalar(x.op),))


def _place_dims(lx: Lifter, var: ir.Var, path: ir.Path, args: tuple[ir.Operand, ...]) -> list[Dim]:
    found = place_dims(var.type.dims, path, args, lx.b.form_of, lx.symbols.least)
    if any(d is None for d in found):  # only a read knows the size
        found = list(index(lx, var, path, args).type.dims)
    return [d for d in found if d is not None]


def _check_fits(lx: Lifter, x: Expr, dims: tuple[Dim, ...]) -> None:
    given, room = shape_text(x.dims), shape_text(dims)
    fits = len(x.dims) <= len(dims) and all(lx.b.fits(d, room_) for d, room_ in zip(reversed(x.dims), reversed(dims)))
    if not fits:
        sizes = f" ({', '.join(lx.symbols.apart)})" if lx.symbols.apart else ""
        message = f"a value of shape {given} does not fit into an array of shape {room}{sizes}"
        raise lx.error("T202", message, hint="write values of the shape of the part, or of one that broadcasts to it")


def changed(lx: Lifter, base: Cell) -> None:
    """A buffer was written: reads of it no longer hold."""
    state = lx.state.cells[base]
    if isinstance(state, Buffer) and state.snapshot is not None:
        lx.state.cells[base] = replace(state, snapshot=None)


def note_dtypes(lx: Lifter, result: ir.Var, *values: ir.Operand) -> None:
    """Notes the dtypes, other than its own, that what is one of several values has."""
    found = set(lx.b.others.get(result, ()))
    for value in values:
        if not isinstance(value, ir.Undef):
            found.update(lx.b.dtypes(value))
    if found - {result.type.dtype}:
        lx.b.others[result] = frozenset(found - {result.type.dtype})
    note_either(lx, result, *values)


def note_either(lx: Lifter, result: ir.Var, *values: ir.Operand) -> None:
    """Notes a number that is Python's or NumPy's, as one of several values is."""
    if not result.type.dims and are_either(lx, *values):
        lx.b.either.add(result)


def are_either(lx: Lifter, *values: ir.Operand) -> bool:
    """Whether of several values some are Python's and some NumPy's, or one may be either."""
    given = [v for v in values if not isinstance(v, ir.Undef)]
    return any(v in lx.b.either for v in given) or len({v.type.weak for v in given}) > 1


def is_of_either(lx: Lifter, *operands: ir.Operand) -> bool:
    """Whether it depends on the path whether truth values are Python's, which count as 0 and 1, or NumPy's, which do not."""
    others = [o for o in operands if not o.type.is_bool or o.type.dims or not (o.type.weak or o in lx.b.either)]
    return not others and any(o in lx.b.either for o in operands)


def of_either(lx: Lifter, result: ir.Operand, *operands: ir.Operand) -> ir.Operand:
    """The result, which is Python's or NumPy's where its operands are."""
    if is_of_either(lx, *operands):
        lx.b.either.add(result)
    return result


def to_buffer(lx: Lifter, cell: Cell) -> ir.Var:
    """The buffer of a cell that is not a view; a value is copied into one."""
    state = lx.state.cells[cell]
    if isinstance(state, Buffer):
        return state.var
    if cell.readonly:
        raise _refused(lx, cell)
    _refuse_dtypes(lx, state, cell.name)
    if lx.regions and cell in lx.regions[-1]:
        raise NeedBuffer(cell)
    if lx.mutable and cell.param >= 0 and cell.param not in lx.written:
        lx.written[cell.param] = None
        raise Restart(f"parameter {cell.param} is written")
    name = cell.name or (state.op.name if isinstance(state.op, ir.Var) else ir.SYNTHETIC)
    var = lx.b.copy(name, state.op)
    lx.state.cells[cell] = Buffer(var)
    return var


def has_dtypes(lx: Lifter, state: Any) -> list[str]:
    """The dtypes of an array, the own one last, if it has several by path."""
    is_value = isinstance(state, Held) or isinstance(state, Items) and state.kind == "number"
    found = lx.b.dtypes(state.op) if is_value else []
    return found if len(found) > 1 else []


def _refuse_dtypes(lx: Lifter, state: Any, name: str = "") -> None:
    """Refuses a write into an array, called ``name``, that has several dtypes by path: NumPy would round to that of the path."""
    if others := has_dtypes(lx, state):
        name = name or (state.op.name if isinstance(state.op, ir.Var) else "")
        what = repr(name) if name.isidentifier() else "this array"
        text = f"the dtype of {what} is {' or '.join(others)}, depending on the data"
        whole = next((t for t in others if not t.startswith("float")), "")
        if whole and others[-1].startswith("float"):
            text += f": {with_article(whole)} array would round what is written"
        raise lx.error("T205", text, hint=f"give it the same dtype on both paths: .astype(np.{others[-1]})")


def drop_snapshots(lx: Lifter) -> None:
    """Where a loop body begins: what was read before it may be old in the next trip."""
    for cell, state in lx.state.cells.items():
        if isinstance(state, Buffer) and state.snapshot is not None:
            lx.state.cells[cell] = replace(state, snapshot=None)


def is_undefined(op: ir.Operand) -> bool:
    return isinstance(op, ir.Undef)
