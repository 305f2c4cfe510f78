"""Primitives that are calls of `transpile_runtime.compiled`: sorting, searching, counting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.fold_loops import cast
from transpile.lower.indices import unravel
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import call, entry_of, flags_of, flat, items, library_call, view
from transpile.ops.lowering_kinds import CallEach, CallWhole

# -------------------------------------------------------------------------------------------- rows along an axis


def along_last(lw: Lowering, x: Elements, axis: int) -> tuple[ir.Operand, Callable[[Elements], Elements]]:
    """The array as an operand that is a matrix whose rows lie along ``axis``, and the function that gives a result of that form
    the original axes."""
    b = lw.b
    order = [*(k for k in range(x.rank) if k != axis), axis]
    where = {a: k for k, a in enumerate(order)}
    moved = x
    if axis != x.rank - 1:
        moved = replace(
            x,
            sizes=tuple(x.sizes[a] for a in order),
            root=None,
            made=None,
            unit=None if x.unit is None else where[x.unit],
            at=lambda idx: x.at([idx[where[a]] for a in range(x.rank)]),
        )
    moved = lw.rooted(moved, "rows")
    count = b.expr(1)
    for s in moved.sizes[:-1]:
        count = count * b.expr(s)
    rows = view(lw, moved, (count.op, moved.sizes[-1]))

    def back(result: Elements) -> Elements:
        var = view(lw, result, moved.sizes)
        found = stored(b, var, moved.sizes)  # type: ignore[arg-type]
        if axis == x.rank - 1:
            return found
        unit = axis if found.unit is not None else None
        return replace(found, sizes=x.sizes, root=None, unit=unit, at=lambda idx: found.at([idx[a] for a in order]))

    return rows, back


def by_rows(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The result of a runtime function that takes a matrix and works row by row, such as a sort along the statement's axis."""
    x = lw.elements(stmt.args[0])
    rows, back = along_last(lw, x, stmt.params["axis"] % x.rank)
    return back(call(lw, entry_of(stmt), stmt.var.type.dtype, 2, rows, name=stmt.var.name))


# ----------------------------------------------------------------------------------------- an element, whole vectors


def by_element(lw: Lowering, stmt: Any, how: CallEach) -> Elements:
    """The result of a call for each element of operand ``how.of``, where it is read; the other operands are passed whole,
    sorted if ``how.ordered``."""
    names = iter(how.names)
    operands = [lw.elements(a) if k == how.of else _whole(lw, a, next(names)) for k, a in enumerate(stmt.args)]
    x = operands[how.of]
    others = [e for k, e in enumerate(operands) if k != how.of]
    memory = [_ordered(lw, e) if how.ordered else e.memory for e in others]
    flags, result = flags_of(stmt), Type(stmt.var.type.dtype)

    def at(idx: Sequence[Expr]) -> Expr:
        args = (*memory[: how.of], x.at(idx).op, *memory[how.of :], *flags)
        return Expr(lw.b, library_call(lw.b, ir.SYNTHETIC, result, entry_of(stmt), args))

    found = x.each(at, result.dtype)
    return replace(found if how.ordered else found.also(*others), cheap=False)


def _whole(lw: Lowering, op: ir.Operand, name: str) -> Elements:
    return lw.rooted(lw.elements(op), name or ir.SYNTHETIC)


def _ordered(lw: Lowering, x: Elements) -> ir.Operand:
    """All entries of an array as a new sorted vector."""
    if not x.rank:
        one = lw.memory(ir.SYNTHETIC, x.dtype, (ir.Const(1, INT),))
        write(lw.b, one, (lw.b.expr(0),), x.at(()))
        return one
    found = call(lw, "arrays.sort", x.dtype, 2, view(lw, x, (ir.Const(1, INT), _count(lw, x))))
    return view(lw, found, (_count(lw, x),))


def _count(lw: Lowering, x: Elements) -> ir.Operand:
    n = lw.b.expr(1)
    for s in x.sizes:
        n = n * lw.b.expr(s)
    return n.op


def of_vectors(lw: Lowering, stmt: Any, how: CallWhole) -> Elements:
    """The vector that one call of a runtime function makes of the operands, vectors in memory, and of a size or further
    scalars."""
    args: list[ir.Operand] = [
        _as(lw, lw.elements(a), dtype, name).memory for a, dtype, name in zip(stmt.args, how.dtypes, how.names)
    ]
    if how.size:
        size = stmt.params.get(how.size, 0)
        args.append(lw.b.expr(size).op if isinstance(size, int) else lw.dim(size))
    else:
        args += [lw.scalar(a).op for a in stmt.args[len(how.dtypes) :]]
    found = call(lw, entry_of(stmt), stmt.var.type.dtype, 1, *args)
    lw.name_sizes(found.sizes, stmt.var.type.dims)
    return found


def _as(lw: Lowering, x: Elements, dtype: str, name: str) -> Elements:
    """The array in memory, cast to ``dtype`` if one is given."""
    if dtype and x.dtype != dtype:
        x = replace(x, dtype=dtype, root=None, made=None, at=_casting(lw, x, dtype))
    return lw.rooted(x, name or ir.SYNTHETIC)


def _casting(lw: Lowering, x: Elements, dtype: str) -> Callable[[Sequence[Expr]], Expr]:
    return lambda idx: cast(lw, x.at(idx), dtype)


def non_zero(lw: Lowering, stmt: Any, how: Any) -> list[Any]:
    """``np.nonzero``: a list with one array of indices for each axis."""
    x = lw.rooted(lw.elements(stmt.args[0]), ir.SYNTHETIC)
    found = call(lw, entry_of(stmt), "int64", 1, flat(lw, x))
    lw.name_sizes(found.sizes, stmt.var.type.items[0].dims)

    def place(k: int) -> Elements:
        return replace(found, root=None, at=lambda idx: unravel(lw, found.at(idx), x.sizes)[k])

    return [place(k) for k in range(x.rank)] if x.rank > 1 else [found]


def unravelled(lw: Lowering, stmt: Any, how: Any) -> list[Any]:
    """``np.unravel_index``: a list with one index for each axis, elements or, for a scalar operand, operands."""
    x = lw.steady(lw.elements(stmt.args[0]), ir.SYNTHETIC)
    sizes = [lw.scalar(a).op for a in stmt.args[1:]]
    if not x.rank:
        return [e.op for e in unravel(lw, x.at(()), sizes)]

    def place(k: int) -> Elements:
        return replace(x, root=None, at=lambda idx: unravel(lw, x.at(idx), sizes)[k])

    return [place(k) for k in range(len(sizes))]


_EXTRAS = ("return_index", "return_inverse", "return_counts")


def unique(lw: Lowering, stmt: Any, how: Any) -> Any:
    """The result of ``np.unique`` in loop core: the sorted values; or, if ``stmt.params`` ask for more, a list of these and of
    first indices, inverse and counts, those asked for in this order."""
    x = lw.elements(stmt.args[0])
    values, first, inverse, counts = items(
        lw, entry_of(stmt), [(x.dtype, 1), ("int64", 1), ("int64", 1), ("int64", 1)], flat(lw, x)
    )
    if x.rank > 1:
        inverse = stored(lw.b, view(lw, inverse, x.sizes), x.sizes)  # type: ignore[arg-type]
    found = [values, *(e for name, e in zip(_EXTRAS, (first, inverse, counts)) if stmt.params.get(name))]
    types = stmt.var.type.items or (stmt.var.type,)
    for e, t in zip(found, types):
        lw.name_sizes(e.sizes, t.dims)
    return found if stmt.var.type.kind == "tuple" else found[0]


def lexical_order(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``lexsort``, the order in which the last key counts first, as indices: stable sorts, from the first key to the last."""
    order = None
    for a in stmt.args:
        key = lw.rooted(lw.elements(a), "key")
        if order is None:
            row = view(lw, key, (ir.Const(1, INT), key.sizes[0]))
            found = call(lw, "arrays.argsort", "int64", 2, row)
            order = stored(lw.b, view(lw, found, key.sizes), key.sizes)  # type: ignore[arg-type]
        else:
            order = call(lw, entry_of(stmt), "int64", 1, order.memory, key.memory)
    assert order is not None
    return order
