"""The dependence test: whether a later write can touch an element that was read earlier.

A read and a write of one buffer are two *instances*, each with its own values of the enclosing loop indices. The write comes
later if it is in a later iteration of a common loop (all loops further out being in the same iteration), or if it stands
further down in the same iteration of all common loops. For each of these orders the question is whether integers exist for
which both touch the same element. This is a system of linear constraints (`transpile.analysis.fourier_motzkin`) over the loop
indices, the sizes and the element.

    for k in range(n):                       a[k, j] is read in iteration (k, i, j); a[i', j'] is written in a later one:
        for i in range(k + 1, n):            k' > k, or k' = k and i' > i, or ..., and always i' >= k' + 1.
            for j in range(k, n):            Both are one element only if i' = k, but i' > k' >= k: there are no such
                a[i, j] -= f * a[k, j]       integers, so a[k, j] is never overwritten.

The known facts are used: ranges of loops, tests of enclosing branches, and that every index is in range (generated code checks
it). Nonlinear subscripts, gathers and masks may be anything. The answer True means "cannot be excluded".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transpile.analysis.scopes import Def, Site
from transpile.analysis.statement_instances import Axis, Instances, Order, TooMany
from transpile.core import nodes as ir
from transpile.core.places import FormOf, consumed

OpenAxes = list[int | None]  # the axes that remain after a part of a path: axes of the buffer, None for new ones


def may_overwrite(
    defs: dict[ir.Var, Def], symbols: Mapping[str, ir.Operand], form_of: FormOf, first: Site, write: Site
) -> bool:
    """Whether ``write`` can touch, after some run of ``first``, an element that ``first`` read or wrote. True if that cannot be
    excluded.

    ``defs`` are the `definitions` of the function, ``symbols`` maps the symbols of its dims to operands, ``form_of`` gives the
    forms of its integers.
    """
    buf, read_path, read_args = _place(first, write)
    _, write_path, write_args = _place(write, write)
    reads, writes = _axes(buf, read_path, read_args), _axes(buf, write_path, write_args)
    orders = list(_orders(first, write))
    if not any(a.is_known and b.is_known for a, b in zip(reads, writes)):
        return bool(orders)
    return any(_meet(Instances(defs, symbols, form_of, first, write, order), reads, writes) for order in orders)


def _meet(system: Instances, reads: Sequence[Axis], writes: Sequence[Axis]) -> bool:
    """Whether a read and a write of these axes may touch one element if the write comes later in the order of ``system``, to
    which the constraints are added. True if there are too many cases to decide."""
    for axis, (a, b) in enumerate(zip(reads, writes)):
        system.touch(axis, a, 1)
        system.touch(axis, b, 2)
    system.trips()
    system.tests()
    try:
        return not system.is_infeasible()
    except TooMany:
        return True


# ----------------------------------------------------------------------------------------------------- order


def _orders(first: Site, write: Site) -> Iterator[Order]:
    """The orders in which the write can come after the first statement."""
    common: list[ir.For | ir.While] = []
    alternatives = False
    for (a, block_a), (b, block_b) in zip(first.nest, write.nest):
        if a is not b:
            break
        if isinstance(a, (ir.For, ir.While)):
            common.append(a)
        if block_a is not block_b:
            alternatives = isinstance(a, ir.If)
            break
    for k, loop in enumerate(common):
        yield Order(tuple(common[:k]), loop)
    if write.order > first.order and not alternatives:
        yield Order(tuple(common), None)


# ---------------------------------------------------------------------------------------------------- places


def _place(site: Site, write: Site) -> tuple[ir.Var, ir.Path, tuple[ir.Operand, ...]]:
    """The touched buffer, and the path and operands of the part of it that the statement at ``site`` touches.

    Statements other than ``index``, `Store` and `Add` count as touching all of the buffer that ``write`` writes.
    """
    match site.stmt:
        case ir.Store() | ir.Add() as stmt:
            return stmt.buf, stmt.path, stmt.args
        case ir.Let(prim="index") as stmt if isinstance(stmt.args[0], ir.Var):
            return stmt.args[0], stmt.params["path"], stmt.args[1:]
    assert isinstance(write.stmt, (ir.Store, ir.Add))
    return write.stmt.buf, (), ()


def _axes(buf: ir.Var, path: ir.Path, args: tuple[ir.Operand, ...]) -> list[Axis]:
    """The axes of the buffer, each with the elements touched by an access through ``path``, as far as transpositions and the
    first subscripts determine them."""
    found = [Axis(d) for d in buf.type.dims]
    open_axes: OpenAxes = list(range(len(found)))
    for step in path:
        match step:
            case ir.Permute():
                open_axes = [open_axes[a] for a in step.axes]
            case ir.Index():
                open_axes = _subscript(found, open_axes, step, args)
                if not step.is_basic:
                    break
            case _:
                break
    return found


def _subscript(found: list[Axis], open_axes: OpenAxes, step: ir.Index, args: tuple[ir.Operand, ...]) -> OpenAxes:
    """The axes that remain of ``open_axes`` after an index step of a path, in order (None for new ones).

    Notes in ``found``, the axes of the buffer, the item that selects on an axis, if it is a point or a slice that is not full
    and the first one there. Axes taken by gathers and masks are dropped.
    """
    left: OpenAxes = []
    position = 0
    for item in step.items:
        count = consumed(item, args)
        axis = open_axes[position] if count else None
        position += count
        match item:
            case ir.NewAxis():
                left.append(None)
            case ir.Point():
                if axis is not None and not found[axis].is_known:
                    found[axis] = Axis(found[axis].size, item, args)
            case ir.Slice():
                left.append(axis)
                if axis is not None and not found[axis].is_known and not item.is_full:
                    found[axis] = Axis(found[axis].size, item, args)
            case ir.Gather() | ir.Mask():
                pass
    return left
