"""Accesses through a view that only adds or drops axes of size 1 become accesses of the array itself.

    y = x.reshape((n, 1))
    ... y[i, 0] ...               ->      ... x[i] ...

Later passes then see that loops that write ``x`` and loops that read ``y`` touch the same elements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT
from transpile.core.walk import blocks, statements
from transpile.loops.array_contraction import points

ZERO = ir.Const(0, INT)


def drop_unit_axes(fn: ir.Function) -> ir.Function:
    """The function with accesses through views that only add or drop axes of size 1 made accesses of the array itself."""
    found = _found(fn)
    return replace(fn, body=_block(fn.body, found)) if found else fn


@dataclass(frozen=True)
class _View:
    """A view that differs from ``base`` by axes of size 1: for each axis of ``base``, the axis of the view, None for one of
    size 1."""

    base: ir.Var
    axes: tuple[int | None, ...]

    def indices(self, given: tuple[ir.Operand, ...]) -> tuple[ir.Operand, ...]:
        """Subscripts of ``base`` for ``given``, the subscripts of the view: 0 along axes of size 1."""
        return tuple([ZERO if a is None else given[a] for a in self.axes])


def _found(fn: ir.Function) -> dict[ir.Var, _View]:
    """The views of the function that only add or drop axes of size 1, by variable; a view of such a view refers to the array
    itself."""
    sizes: dict[ir.Var, list[ir.Operand | None]] = {p: [None] * len(p.type.dims) for p in fn.params}
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.Alloc):
            sizes[stmt.var] = list(stmt.args)
        elif isinstance(stmt, ir.View) and isinstance(stmt.step, ir.Reshape):
            sizes[stmt.var] = list(stmt.args[1:])
        elif isinstance(stmt, ir.Let) and stmt.prim == "dim" and isinstance(stmt.args[0], ir.Var):
            known = sizes.get(stmt.args[0])
            if known is not None and known[stmt.params["axis"]] is None:
                known[stmt.params["axis"]] = stmt.var
    views: dict[ir.Var, _View] = {}
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.View) and isinstance(stmt.step, ir.Reshape) and isinstance(stmt.base, ir.Var):
            made = _view(stmt.base, sizes.get(stmt.base), stmt.args[1:])
            if made is not None:
                inner = views.get(made.base)  # a view of a view
                if inner is not None:
                    axes = tuple([None if a is None else made.axes[a] for a in inner.axes])
                    made = _View(inner.base, axes)
                views[stmt.var] = made
    return views


def _view(base: ir.Var, old: list[ir.Operand | None] | None, new: tuple[ir.Operand, ...]) -> _View | None:
    """The view of ``base``, whose sizes are ``old``, with the sizes ``new``. None if these differ by more than axes of size 1,
    or a size in ``old`` is unknown."""
    if old is None or any(s is None for s in old):
        return None
    kept = [k for k, s in enumerate(new) if not _is_one(s)]
    own = [k for k, s in enumerate(old) if not _is_one(s)]
    if len(kept) != len(own) or not all(_same(new[k], old[j]) for k, j in zip(kept, own)):
        return None
    place = dict(zip(own, kept))
    return _View(base, tuple([place.get(k) for k in range(len(old))]))


def _is_one(size: ir.Operand | None) -> bool:
    """Whether a size is the constant 1."""
    return isinstance(size, ir.Const) and size.value == 1


def _same(a: ir.Operand | None, b: ir.Operand | None) -> bool:
    """Whether two sizes are one operand or equal constants."""
    return a is b or (isinstance(a, ir.Const) and isinstance(b, ir.Const) and a.value == b.value)


def _block(block: ir.Block, found: dict[ir.Var, _View]) -> ir.Block:
    """The block with accesses through the views ``found`` made accesses of their arrays, nested blocks included."""
    return replace(block, stmts=[_stmt(s, found) for s in block.stmts])


def _stmt(stmt: ir.Stmt, found: dict[ir.Var, _View]) -> ir.Stmt:
    """The statement with accesses through the views ``found`` made accesses of their arrays, nested blocks included."""
    match stmt:
        case ir.Let(prim="index") if isinstance(stmt.args[0], ir.Var) and stmt.args[0] in found:
            view = found[stmt.args[0]]
            args = view.indices(stmt.args[1:])
            return replace(stmt, args=(view.base, *args), params={**stmt.params, "path": points(len(args))})
        case ir.Store() | ir.Add() if stmt.buf in found:
            view = found[stmt.buf]
            args = view.indices(tuple([stmt.args[i.arg] for step in stmt.path for i in step.items]))  # type: ignore[union-attr]
            return replace(stmt, buf=view.base, path=points(len(args)), args=args)
    return with_blocks(stmt, lambda b: _block(b, found)) if blocks(stmt) else stmt
