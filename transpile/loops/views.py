"""Accesses of an array that has axes of size 1 more or less than another one are accesses of that.

    y = x.reshape((n, 1))
    ... y[i, 0] ...               ->      ... x[i] ...

So the loops that write ``x`` and those that read ``y`` are seen to touch the same elements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from transpile.core.nodes import Add, Alloc, Block, Const, Function, Let, Operand, Stmt, Store, Var
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT
from transpile.core.walk import blocks, statements
from transpile.loops.contract import points

ZERO = Const(0, INT)


def see_through(fn: Function) -> Function:
    """The function with such accesses replaced."""
    found = _found(fn)
    return replace(fn, body=_block(fn.body, found)) if found else fn


@dataclass(frozen=True)
class _View:
    """Of the other array: for each axis which one of the view it is, None for one of size 1."""

    base: Var
    axes: tuple[int | None, ...]

    def indices(self, given: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple([ZERO if a is None else given[a] for a in self.axes])


def _found(fn: Function) -> dict[Var, _View]:
    sizes: dict[Var, list[Operand | None]] = {p: [None] * len(p.type.dims) for p in fn.params}
    for stmt in statements(fn.body):
        if isinstance(stmt, Alloc):
            sizes[stmt.var] = list(stmt.args)
        elif isinstance(stmt, Let) and stmt.prim == "view":
            sizes[stmt.var] = list(stmt.args[1:])
        elif isinstance(stmt, Let) and stmt.prim == "dim" and isinstance(stmt.args[0], Var):
            known = sizes.get(stmt.args[0])
            if known is not None and known[stmt.params["axis"]] is None:
                known[stmt.params["axis"]] = stmt.var
    views: dict[Var, _View] = {}
    for stmt in statements(fn.body):
        if isinstance(stmt, Let) and stmt.prim == "view" and isinstance(stmt.args[0], Var):
            made = _view(stmt.args[0], sizes.get(stmt.args[0]), stmt.args[1:])
            if made is not None:
                inner = views.get(made.base)  # a view of a view
                if inner is not None:
                    axes = tuple([None if a is None else made.axes[a] for a in inner.axes])
                    made = _View(inner.base, axes)
                views[stmt.var] = made
    return views


def _view(base: Var, old: list[Operand | None] | None, new: tuple[Operand, ...]) -> _View | None:
    if old is None or any(s is None for s in old):
        return None
    kept = [k for k, s in enumerate(new) if not _is_one(s)]
    own = [k for k, s in enumerate(old) if not _is_one(s)]
    if len(kept) != len(own) or not all(_same(new[k], old[j]) for k, j in zip(kept, own)):
        return None
    place = dict(zip(own, kept))
    return _View(base, tuple([place.get(k) for k in range(len(old))]))


def _is_one(size: Operand | None) -> bool:
    return isinstance(size, Const) and size.value == 1


def _same(a: Operand | None, b: Operand | None) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.value == b.value)


def _block(block: Block, found: dict[Var, _View]) -> Block:
    return replace(block, stmts=[_stmt(s, found) for s in block.stmts])


def _stmt(stmt: Stmt, found: dict[Var, _View]) -> Stmt:
    match stmt:
        case Let(prim="index") if isinstance(stmt.args[0], Var) and stmt.args[0] in found:
            view = found[stmt.args[0]]
            args = view.indices(stmt.args[1:])
            return replace(stmt, args=(view.base, *args), params={**stmt.params, "path": points(len(args))})
        case Store() | Add() if stmt.buf in found:
            view = found[stmt.buf]
            args = view.indices(tuple([stmt.args[i.arg] for step in stmt.path for i in step.items]))  # type: ignore[union-attr]
            return replace(stmt, buf=view.base, path=points(len(args)), args=args)
    return with_blocks(stmt, lambda b: _block(b, found)) if blocks(stmt) else stmt
