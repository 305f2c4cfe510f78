"""Parts of arrays along one axis, for rules and API tables: slices, single entries, gathers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative
from transpile.core.types import Type
from transpile.errors import RuleError


def on_axis(rank: int, axis: int, item: ir.Item) -> tuple[ir.Index, ...]:
    """The path, of one index, that applies ``item`` to one axis and keeps all others."""
    return (ir.Index(tuple(item if k == axis else ir.Slice() for k in range(rank))),)


def at_least(
    b: Builder, size: Dim, least: int, message: str, exception: str = "ValueError", unless_empty: Sequence[Dim] = ()
) -> None:
    """Checks that a size is at least ``least``: a known shorter one is refused (T202); if unknown, the program raises
    ``exception`` at run time.

    ``unless_empty``: the sizes of an array that may have any length if one of them is 0.
    """
    if is_nonnegative(size - least) or Dim(0) in unless_empty:
        return
    unknown = [d for d in dict.fromkeys(unless_empty) if not is_nonnegative(d - 1)]
    if size.is_const and not unknown:
        raise RuleError(message, "T202")
    short = b.elementwise("less", b.dim(size), least)
    for d in unknown:
        short = b.elementwise("logical_and", short, b.elementwise("greater", b.dim(d), 0))
    raise_if(short, exception, message)


def vector(type_: Type) -> Type:
    """The type itself if it is a vector, else `RuleError` T202: NumPy takes a vector only."""
    if type_.rank == 1:
        return type_
    depth = "too deep" if type_.rank else "of too small depth"
    raise RuleError(f"object {depth} for desired array: a vector is needed, not {type_}", "T202")


def raise_if(test: Expr, exception: str, message: str, *values: Expr) -> None:
    """Emits a check that raises ``exception`` if ``test`` holds; nothing if it is known not to. ``message`` has ``{}`` for each
    of the values, if any."""
    if isinstance(test.op, ir.Const) and not test.op.value:
        return
    texts = message.split("{}") if values else [message]
    slots = [part for k, text in enumerate(texts) for part in (text, (k, "", ""))][:-1]
    parts = tuple(part for part in slots if part != "")
    failed = ir.Raise(tuple(v.op for v in values), exception, parts, is_check=True, loc=test.b.loc)
    test.b.emit(ir.If(test.op, ir.Block(stmts=[failed]), ir.Block(), (), test.b.loc))


def slice_place(b: Builder, dims: Sequence[Dim], axis: int, start: Dim, stop: Dim) -> tuple[Any, tuple[Expr, ...]]:
    """The path and operands of ``start:stop`` along an axis; bounds at the ends of the axis are left out.

    Both bounds must lie within the axis.
    """
    args: list[Expr] = []
    slots: list[int | None] = [None, None]
    if start != Dim(0):
        slots[0] = len(args)
        args.append(b.dim(start))
    if stop != dims[axis]:
        slots[1] = len(args)
        args.append(b.dim(stop) if not (stop - dims[axis]).is_const else b.expr((stop - dims[axis]).const))
    return on_axis(len(dims), axis, ir.Slice(slots[0], slots[1])), tuple(args)


def slice_axis(x: Expr, axis: int, start: Dim | int, stop: Dim | int | None = None, clip: bool = False) -> Expr:
    """``x[..., start:stop, ...]`` for bounds that are known to be ordered and within the axis; ``stop`` None is the end of the
    axis. With ``clip`` the part is empty where the bounds are not ordered."""
    axis %= x.rank
    start = Dim.of(start)
    stop = x.dims[axis] if stop is None else Dim.of(stop)
    if start == Dim(0) and stop == x.dims[axis]:
        return x
    path, args = slice_place(x.b, x.dims, axis, start, stop)
    size = (stop - start).clip() if clip else stop - start
    dims = tuple(size if k == axis else d for k, d in enumerate(x.dims))
    return x.b.let("index", x, *args, path=path, dims=dims)


def point(x: Expr, axis: int, k: Any) -> Expr:
    """``x[..., k, ...]``: one entry of an axis; the axis is dropped."""
    axis %= x.rank
    dims = tuple(d for j, d in enumerate(x.dims) if j != axis)
    return x.b.let("index", x, x.b.expr(k), path=on_axis(x.rank, axis, ir.Point(0)), dims=dims)


def gather(x: Expr, axis: int, indices: Expr) -> Expr:
    """``x[..., indices, ...]`` for an integer array; its axes take the place of ``axis``."""
    axis %= x.rank
    dims = (*x.dims[:axis], *indices.dims, *x.dims[axis + 1 :])
    return x.b.let("index", x, indices, path=on_axis(x.rank, axis, ir.Gather(0)), dims=dims)


def new_axis(x: Expr, axis: int) -> Expr:
    """``x`` with an axis of size 1 inserted before ``axis``."""
    return x.b.let("reshape", x, dims=(*x.dims[:axis], Dim(1), *x.dims[axis:]))


def along(b: Builder, dims: Sequence[Dim], axis: int) -> Expr:
    """``0, 1, ...`` along an axis, as an int64 array in a shape that broadcasts with an array of ``dims``."""
    count = arange(b, dims[axis])
    if len(dims) == 1:
        return count
    kept = tuple(d if k == axis else Dim(1) for k, d in enumerate(dims))
    return b.let("reshape", count, dims=kept)


def arange(b: Builder, n: Dim) -> Expr:
    """``np.arange(n)``, of int64."""
    return b.let("arange", b.dim(n), dims=(n,), dtype="int64")


def fresh_size(b: Builder, name: str) -> Dim:
    """A new symbol for a size known at run time only; `settle_size` binds it."""
    return b.fresh_symbol(name)


def settle_size(b: Builder, x: Expr, axis: int, symbol: Dim) -> Expr:
    """``x``, after the symbol is bound to the size of one of its axes."""
    value = b.let("dim", x, axis=axis)
    b.bind_symbol(symbol, value.op)
    return x


def at_most(a: Dim, b: Dim) -> bool:
    """True if ``a <= b`` is known to hold."""
    return is_nonnegative(b - a)


def smaller(a: Dim, b: Dim) -> Dim:
    """``min(a, b)``."""
    if at_most(a, b):
        return a
    return b if at_most(b, a) else a - (a - b).clip()


def larger(a: Dim, b: Dim) -> Dim:
    """``max(a, b)``."""
    if at_most(a, b):
        return b
    return a if at_most(b, a) else b + (a - b).clip()
