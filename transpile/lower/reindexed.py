"""Arrays whose elements are those of another array at other indices: broadcasts, transposes, reshapes, subscripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import Type
from transpile.lower.element_functions import Elements, is_one, read, stored, write
from transpile.lower.index_bounds import guarded, named
from transpile.lower.index_maps import place_of
from transpile.lower.indices import broadcast_index, regroup
from transpile.lower.lowering import Lowering, name_of
from transpile.lower.memory_layout import repeated, view_of
from transpile.lower.memory_views import Uniform
from transpile.lower.runtime_calls import in_sizes


def broadcast(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.broadcast_to``: the operand's elements, read at other indices. If it has one element, this is computed once, except
    for a cheap array."""
    x = lw.elements(stmt.args[0])
    dims = stmt.params["dims"]
    own = stmt.args[0].type.dims
    lead = len(dims) - len(own)
    sizes = tuple(
        x.sizes[k - lead] if k >= lead and not is_one(x.sizes[k - lead]) else lw.dim(d) for k, d in enumerate(dims)
    )
    if x.rank and any(not is_one(s) for s in x.sizes):
        x = lw.steady(x, name_of(stmt.args[0]))
    elif not x.cheap or not x.rank:
        value = x.at([lw.b.expr(0)] * x.rank)  # one element, computed once
        return Elements(sizes, x.dtype, lambda idx: value, made=Uniform(value))
    unit = None if x.unit is None or is_one(x.sizes[x.unit]) else x.unit + lead
    made = repeated(x, lead)
    return replace(x, sizes=sizes, root=None, made=made, unit=unit, at=lambda idx: x.at(broadcast_index(lw, x, idx)))


def stretched(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The operand with one axis, of size 1 or already of the size wanted, broadcast to that size: indices are clipped to its
    last entry."""
    x = lw.steady(lw.elements(stmt.args[0]), name_of(stmt.args[0]))
    axis, b = stmt.params["axis"], lw.b
    size = lw.dim(stmt.params["dims"][axis])
    last = b.expr(x.sizes[axis]) - 1

    def at(idx: Sequence[Expr]) -> Expr:
        return x.at([b.elementwise("minimum", i, last, py=True) if k == axis else i for k, i in enumerate(idx)])

    sizes = (*x.sizes[:axis], size, *x.sizes[axis + 1 :])
    return replace(x, sizes=sizes, root=None, made=None, unit=None if x.unit == axis else x.unit, at=at)


def transposed(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.transpose``: the operand's elements, read at other indices; a view if the operand is one."""
    x = lw.elements(stmt.args[0])
    axes = tuple(stmt.params["axes"])
    where = {a: k for k, a in enumerate(axes)}
    unit = None if x.unit is None else where[x.unit]
    view = view_of(x)
    made = None if view is None else view.permuted(axes)
    return replace(
        x,
        sizes=tuple(x.sizes[a] for a in axes),
        root=made.var if made is not None and made.is_whole else None,
        made=made,
        unit=unit,
        at=lambda idx: x.at([idx[where[a]] for a in range(len(axes))]),
    )


def in_other_sizes(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.reshape``: an index map if only axes of size 1 change and the operand has no memory, or the result is a scalar; else
    a view of memory, into which an operand without memory is computed."""
    x = lw.elements(stmt.args[0])
    sizes = lw.sizes(stmt.params["dims"])
    if _only_ones(lw, x.sizes, sizes):
        move = regroup(lw, x.sizes, sizes)
        kept = [k for k, s in enumerate(sizes) if not is_one(s)]
        unit = None
        if x.unit is not None and not is_one(x.sizes[x.unit]):
            unit = kept[[k for k, s in enumerate(x.sizes) if not is_one(s)].index(x.unit)]
        if x.root is None or not sizes:
            return replace(x, sizes=sizes, root=None, made=None, unit=unit, at=lambda idx: x.at(move(idx)))
    x = lw.rooted(x, name_of(stmt.args[0]))
    assert x.root is not None
    if not sizes:
        root = x.root
        return Elements((), x.dtype, lambda idx: read(lw.b, root, [lw.b.expr(0)] * x.rank), deps=x.deps)
    view = in_sizes(lw.b, name_of(stmt.var), Type(x.dtype, stmt.var.type.dims), x.root, sizes)
    return stored(lw.b, view, sizes, x.deps)


def _only_ones(lw: Lowering, old: Sequence[ir.Operand], new: Sequence[ir.Operand]) -> bool:
    """Whether the sizes ``old`` and ``new`` differ only by axes of size 1."""
    a, c = ([s for s in sizes if not is_one(s)] for sizes in (old, new))
    return len(a) == len(c) and all(lw.are_equal(s, t) for s, t in zip(a, c))


def subscripted(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``x[...]``: elements read at other indices, or an array in memory if a mask selects them."""
    x = lw.elements(stmt.args[0])
    path = stmt.params["path"]
    if not path:
        return x
    place = place_of(lw, path, stmt.args[1:], x.sizes)
    lw.name_sizes(place.sizes, stmt.var.type.dims)
    if place.mask is not None:
        x = lw.steady(x, name_of(stmt.args[0]))
        var = lw.memory(name_of(stmt.var), x.dtype, place.sizes)
        place.each(lw, lambda here: write(lw.b, var, here, x.at(place.at(here))))
        return stored(lw.b, var, place.sizes)
    if _has_gather(path):
        x = lw.steady(x, name_of(stmt.args[0]))
    unit = place.unit if x.unit == x.rank - 1 else None
    if place.identity:
        return x
    gathers = not place.cheap or _has_gather(path)
    return Elements(
        place.sizes,
        x.dtype,
        lambda idx: x.at(place.at(idx)),
        deps=x.deps | place.deps,
        cheap=x.cheap and not gathers,
        unit=unit,
        made=place.view(lw, view_of(x), (stmt.args[0], path, stmt.args[1:])),
    )


def _has_gather(path: Any) -> bool:
    return any(not step.is_basic for step in path if hasattr(step, "is_basic"))


def taken_along(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.take_along_axis``: elements read where the index array says; each index is checked when it is read."""
    axis = stmt.params["axis"]
    x = lw.steady(lw.elements(stmt.args[0]), name_of(stmt.args[0]))
    places = lw.elements(stmt.args[1])
    sizes = lw.sizes(stmt.var.type.dims)

    def at(idx: Sequence[Expr]) -> Expr:
        b = lw.b
        k = places.at(broadcast_index(lw, places, idx))
        n = b.expr(x.sizes[axis])
        k = guarded(lw, named(lw, b.elementwise("where", k < 0, k + n, k), "at"), k, n)
        return x.at(broadcast_index(lw, replace(x, sizes=x.sizes), [k if a == axis else i for a, i in enumerate(idx)]))

    return replace(Elements(sizes, x.dtype, at).also(x, places), cheap=False)
