"""Parts of arrays whose places are data (`transpile.lax.slices`): no slice ends early, so that their sizes are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative
from transpile.errors import TranspileError
from transpile.frontend.calls import inner_transforms, tree_calls
from transpile.frontend.calls.lax_kinds import kind_of
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values import attributes
from transpile.frontend.values.values import Array, Buffer, Cell, Scalar, Static, Tuple
from transpile.lax import checks

Args = list[Any]
Kwargs = dict[str, Any]


def _starts(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Tuple:
    what, operand, given, sizes = args
    dims = attributes.type_of(lx, operand).dims
    if isinstance(given, Scalar) or isinstance(sizes, Scalar):
        raise lx.error("T203", checks.one_number(what.value), node, checks.EACH_AXIS_HINT)
    starts, wanted = lx.unrolled(given, node), lx.unrolled(sizes, node)
    if not len(starts) == len(wanted) == len(dims):
        message = checks.wrong_numbers(what.value, len(dims), len(starts), len(wanted))
        raise lx.error("T203", message, node, checks.EACH_AXIS_HINT)
    found = []
    for start, size, dim in zip(starts, wanted, dims):
        _at_most(lx, [what, size, attributes.size(lx, dim)], {}, node)
        wrong = checks.wrong_integer(f"an index of {what.value}", kind_of(lx, start))
        if wrong is not None:
            raise lx.error("T207", wrong, node, checks.INTEGER_HINT)
        found.append(_start(lx, lx.operand(start, node), dim, lx.b.form(lx.operand(size, node))))
    return Tuple(tuple(found))


def _start(lx: Lifter, k: ir.Operand, dim: Dim, size: Dim) -> Scalar:
    """Where a part begins, moved into the array; what is known of it is known of its size."""
    n, room = attributes.size(lx, dim).op, lx.symbols.resolve(dim - size)
    if room == Dim(0) or isinstance(k, ir.Const) and k.value == 0:
        return Scalar(lx.b.operand(0))
    at, form = lx.b.expr(k), lx.b.form_of(k)
    if isinstance(k, ir.Const):
        at, form = (at, Dim(int(k.value))) if k.value >= 0 else (at + n, dim + int(k.value))
    if not _is_known(lx, form):
        at = at if isinstance(k, ir.Const) else lx.b.elementwise("where", at < 0, at + n, at)
        at = lx.b.elementwise("maximum", at, 0)
        form = form if isinstance(k, ir.Const) else None  # of one below 0 there is more room
    if form is not None and _is_known(lx, room - form):
        return Scalar(at.op)
    return Scalar(lx.b.elementwise("minimum", at, lx.b.dim(room)).op)


def _is_known(lx: Lifter, form: Dim | None) -> bool:
    """Whether a number is known not to be negative."""
    return form is not None and is_nonnegative(lx.symbols.least(lx.symbols.resolve(form)))


def _box(
    lx: Lifter, dims: Sequence[Dim], starts: Sequence[Any], sizes: Sequence[Dim]
) -> tuple[ir.Index, list[ir.Operand]]:
    """The slices that begin there and have these sizes, for which there is room: no slice ends early."""
    items: list[ir.Slice] = []
    args: list[ir.Operand] = []
    for dim, start, size in zip(dims, starts, sizes):
        if lx.symbols.resolve(dim) == lx.symbols.resolve(size):
            items.append(ir.Slice())
            continue
        begin = start.op
        args += [begin, (lx.b.expr(begin) + lx.b.dim(size)).op]
        items.append(ir.Slice(len(args) - 2, len(args) - 1))
    return ir.Index(tuple(items)), args


def _part(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    operand, starts, given = args
    op = lx.operand(operand, node)
    sizes = tuple(lx.symbols.resolve(lx.b.form(lx.operand(n, node))) for n in lx.unrolled(given, node))
    box, used = _box(lx, op.type.dims, starts.items, sizes)
    if not used:
        return inner_transforms.copied(lx, operand)
    return lx.value(lx.b.let("index", op, *used, path=(box,), dims=sizes).op)


def _replaced(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    operand, starts, update = args
    op, new = lx.operand(operand, node), lx.operand(update, node)
    box, used = _box(lx, op.type.dims, starts.items, new.type.dims)
    if not used:
        return inner_transforms.copied(lx, update)
    var = lx.b.copy("updated", op)
    lx.b.store(var, (box,), tuple(used), lx.b.expr(new))
    cell = Cell("updated", contiguous=True)
    lx.state.cells[cell] = Buffer(var)
    return Array(cell)


def _at_most(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    what, size, n = args
    wrong = checks.wrong_integer(f"a size of {what.value}", kind_of(lx, size))
    if wrong is not None:
        raise lx.error("T131", wrong, node, checks.INTEGER_HINT)
    if statics.is_known(lx, size) and statics.is_known(lx, n):
        try:
            checks.at_most(what.value, statics.known(lx, size), statics.known(lx, n))
        except TranspileError as failed:
            raise tree_calls.placed(lx, failed, node) from None
        return Static(None)
    many, count = lx.operand(size, node), lx.operand(n, node)
    if is_nonnegative(lx.symbols.least(lx.symbols.resolve(lx.b.form(count) - lx.b.form(many)))):
        return Static(None)
    beyond = lx.b.elementwise("greater", many, count).op
    takes, of = checks.TOO_MANY
    parts = (f"{lx.symbols.where(lx)}{what.value}{takes}", (0, "", ""), of, (1, "", ""))
    dynamic_list_reads.raise_if(lx, beyond, "ValueError", parts, (many, count))
    return Static(None)


def _last_axis(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    what, operand = args
    dims = attributes.type_of(lx, operand).dims
    if not dims:
        raise lx.error("T203", checks.no_axis(what.value), node, checks.NO_AXIS_HINT)
    return attributes.size(lx, dims[-1])


def _same_dtype(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    what, operand, update = args
    a, b = kind_of(lx, operand), kind_of(lx, update)
    if a.dtype != b.dtype or not a.dtype:
        raise lx.error("T201", checks.other_dtype(what.value, a, b), node, checks.CAST_HINT)
    return Static(None)


TABLE: dict[str, Any] = {
    f"transpile.lax.checks.{name}": rule
    for name, rule in {
        "starts": _starts, "at_most": _at_most, "same_dtype": _same_dtype, "part": _part, "replaced": _replaced,
        "last_axis": _last_axis,
    }.items()
}  # fmt: skip
