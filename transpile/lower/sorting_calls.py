"""Primitives that are calls of `transpile_runtime.compiled`: sorting, searching, counting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, stored
from transpile.lower.fold_loops import cast
from transpile.lower.indices import unravel
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import call, flat, items, library_call, view
from transpile.ops.tables import record_of

# -------------------------------------------------------------------------------------------- rows along an axis


def along_last(lw: Lowering, x: Elements, axis: int) -> tuple[ir.Operand, Callable[[Elements], Elements]]:
    """The entries as rows along ``axis``, and the way back."""
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


def by_rows(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    rows, back = along_last(lw, x, stmt.params["axis"] % x.rank)
    return back(call(lw, _entry(stmt), stmt.var.type.dtype, 2, rows, name=stmt.var.name))


def _entry(stmt: Any) -> str:
    return record_of(stmt).entry_of(stmt.params, len(stmt.args))


def _searchsorted(lw: Lowering, stmt: Any) -> Elements:
    a, x = lw.rooted(lw.elements(stmt.args[0]), "sorted"), lw.elements(stmt.args[1])
    return _each(lw, x, "int64", lambda e: (a.memory, e.op), _entry(stmt), a)


def _each(
    lw: Lowering, x: Elements, dtype: str, args: Callable[[Expr], tuple[ir.Operand, ...]], fn: str, *more: Elements
) -> Elements:
    """A call for each element."""

    def at(idx: Sequence[Expr]) -> Expr:
        return Expr(lw.b, library_call(lw.b, ir.SYNTHETIC, Type(dtype), fn, args(x.at(idx))))

    return replace(x.each(at, dtype).also(*more), cheap=False)


def _digitize(lw: Lowering, stmt: Any) -> Elements:
    x, bins = lw.elements(stmt.args[0]), lw.rooted(lw.elements(stmt.args[1]), "bins")
    right = ir.Const(bool(stmt.params.get("right", False)), Type("bool"))
    return _each(lw, x, "int64", lambda e: (e.op, bins.memory, right), _entry(stmt), bins)


def _interp(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    xp, fp = (lw.rooted(lw.elements(a), n) for a, n in zip(stmt.args[1:], ("xp", "fp")))
    return _each(lw, x, "float64", lambda e: (e.op, xp.memory, fp.memory), _entry(stmt), xp, fp)


def _bincount(lw: Lowering, stmt: Any) -> Elements:
    places = _as(lw, lw.elements(stmt.args[0]), "int64")
    least = stmt.params.get("minlength", 0)
    last = lw.b.expr(least).op if isinstance(least, int) else lw.dim(least)
    if len(stmt.args) > 1:
        weights = _as(lw, lw.elements(stmt.args[1]), "float64")
        return call(lw, _entry(stmt), "float64", 1, places.memory, weights.memory, last)
    return call(lw, _entry(stmt), "int64", 1, places.memory, last)


def _as(lw: Lowering, x: Elements, dtype: str) -> Elements:
    """Rooted in a dtype."""
    if x.dtype != dtype:
        x = replace(x, dtype=dtype, root=None, made=None, at=_casting(lw, x, dtype))
    return lw.rooted(x, ir.SYNTHETIC)


def _casting(lw: Lowering, x: Elements, dtype: str) -> Callable[[Sequence[Expr]], Expr]:
    return lambda idx: cast(lw, x.at(idx), dtype)


def _nonzero(lw: Lowering, stmt: Any) -> list[Any]:
    x = lw.rooted(lw.elements(stmt.args[0]), ir.SYNTHETIC)
    found = call(lw, _entry(stmt), "int64", 1, flat(lw, x))
    lw.name_sizes(found.sizes, stmt.var.type.items[0].dims)

    def place(k: int) -> Elements:
        return replace(found, root=None, at=lambda idx: unravel(lw, found.at(idx), x.sizes)[k])

    return [place(k) for k in range(x.rank)] if x.rank > 1 else [found]


def _unravel_index(lw: Lowering, stmt: Any) -> list[Any]:
    x = lw.steady(lw.elements(stmt.args[0]), ir.SYNTHETIC)
    sizes = [lw.scalar(a).op for a in stmt.args[1:]]
    if not x.rank:
        return [e.op for e in unravel(lw, x.at(()), sizes)]

    def place(k: int) -> Elements:
        return replace(x, root=None, at=lambda idx: unravel(lw, x.at(idx), sizes)[k])

    return [place(k) for k in range(len(sizes))]


_EXTRAS = ("return_index", "return_inverse", "return_counts")


def _unique_all(lw: Lowering, stmt: Any) -> list[Any]:
    x = lw.elements(stmt.args[0])
    values, first, inverse, counts = items(
        lw, _entry(stmt), [(x.dtype, 1), ("int64", 1), ("int64", 1), ("int64", 1)], flat(lw, x)
    )
    if x.rank > 1:
        inverse = stored(lw.b, view(lw, inverse, x.sizes), x.sizes)  # type: ignore[arg-type]
    found = [values, *(e for name, e in zip(_EXTRAS, (first, inverse, counts)) if stmt.params.get(name))]
    types = stmt.var.type.items or (stmt.var.type,)
    for e, t in zip(found, types):
        lw.name_sizes(e.sizes, t.dims)
    return found


def _unique(lw: Lowering, stmt: Any) -> Elements:
    return _unique_all(lw, stmt)[0]


def _isin(lw: Lowering, stmt: Any) -> Elements:
    x, values = lw.elements(stmt.args[0]), lw.elements(stmt.args[1])
    row = view(lw, lw.rooted(values, ir.SYNTHETIC), (ir.Const(1, INT), _count(lw, values)))
    ordered = call(lw, "arrays.sort", values.dtype, 2, row)
    line = view(lw, ordered, (_count(lw, values),))
    invert = ir.Const(bool(stmt.params.get("invert", False)), Type("bool"))
    return _each(lw, x, "bool", lambda e: (e.op, line, invert), _entry(stmt))


def _count(lw: Lowering, x: Elements) -> ir.Operand:
    n = lw.b.expr(1)
    for s in x.sizes:
        n = n * lw.b.expr(s)
    return n.op


def _scatter_add(lw: Lowering, stmt: Any) -> Elements:
    places, weights = _as(lw, lw.elements(stmt.args[0]), "int64"), lw.rooted(lw.elements(stmt.args[1]), "weights")
    return call(lw, _entry(stmt), weights.dtype, 1, places.memory, weights.memory, lw.scalar(stmt.args[2]).op)


def _repeat_each(lw: Lowering, stmt: Any) -> Elements:
    x, times = lw.rooted(lw.elements(stmt.args[0]), ir.SYNTHETIC), _as(lw, lw.elements(stmt.args[1]), "int64")
    found = call(lw, _entry(stmt), x.dtype, 1, x.memory, times.memory)
    lw.name_sizes(found.sizes, stmt.var.type.dims)
    return found


def _lexsort(lw: Lowering, stmt: Any) -> Elements:
    """By the last key first: stable sorts, from the first key to the last."""
    order = None
    for a in stmt.args:
        key = lw.rooted(lw.elements(a), "key")
        if order is None:
            row = view(lw, key, (ir.Const(1, INT), key.sizes[0]))
            found = call(lw, "arrays.argsort", "int64", 2, row)
            order = stored(lw.b, view(lw, found, key.sizes), key.sizes)  # type: ignore[arg-type]
        else:
            order = call(lw, _entry(stmt), "int64", 1, order.memory, key.memory)
    assert order is not None
    return order


TABLE: dict[str, Callable[[Lowering, Any], Any]] = {
    "searchsorted": _searchsorted,
    "digitize": _digitize,
    "interp": _interp,
    "bincount": _bincount,
    "unique": _unique,
    "isin": _isin,
    "scatter_add": _scatter_add,
    "lexsort": _lexsort,
    "repeat_each": _repeat_each,
}
SEVERAL: dict[str, Callable[[Lowering, Any], list[Any]]] = {
    "nonzero": _nonzero,
    "unravel_index": _unravel_index,
    "unique": _unique_all,
}
