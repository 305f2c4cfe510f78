"""Arithmetic of indices: positions in C order, and the index maps of broadcasting and reshaping."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT
from transpile.lower.element_functions import Elements, is_one
from transpile.lower.lowering import Lowering

Map = Callable[[Sequence[Expr]], list[Expr]]


def regroup(lw: Lowering, old: Sequence[ir.Operand], new: Sequence[ir.Operand]) -> Map:
    """The index map of a reshape from ``old`` to ``new`` sizes: from an index in the result to one in the operand."""
    kept_old = [k for k, s in enumerate(old) if not is_one(s)]
    kept_new = [k for k, s in enumerate(new) if not is_one(s)]
    b = lw.b
    if len(kept_old) == len(kept_new) and all(old[a] == new[c] for a, c in zip(kept_old, kept_new)):

        def move(idx: Sequence[Expr]) -> list[Expr]:
            out = [b.expr(0)] * len(old)
            for a, c in zip(kept_old, kept_new):
                out[a] = idx[c]
            return out

        return move

    def through_flat(idx: Sequence[Expr]) -> list[Expr]:
        flat = ravel(lw, idx, new)
        return unravel(lw, flat, old)

    return through_flat


def ravel(lw: Lowering, idx: Sequence[Expr], sizes: Sequence[ir.Operand]) -> Expr:
    """The position in C order of the index ``idx`` in an array of these sizes."""
    flat = lw.b.expr(0)
    for k, size in zip(idx, sizes):
        flat = k if isinstance(flat.op, ir.Const) and flat.op.value == 0 else flat * lw.b.expr(size) + k
    return flat


def unravel(lw: Lowering, flat: Expr, sizes: Sequence[ir.Operand]) -> list[Expr]:
    """The index, in an array of these sizes, of the position ``flat`` in C order."""
    out: list[Expr] = []
    for k in range(len(sizes) - 1, -1, -1):
        size = lw.b.expr(sizes[k])
        if is_one(sizes[k]):
            out.append(lw.b.expr(0))
        elif all(is_one(s) for s in sizes[:k]):
            out.append(flat)
            flat = lw.b.expr(0)
        else:
            out.append(quick(lw, "quick_mod", flat, size))
            flat = quick(lw, "quick_div", flat, size)
    return out[::-1]


def quick(lw: Lowering, prim: str, x: Expr, y: Expr) -> Expr:
    """The quotient or the remainder (``prim``: "quick_div" or "quick_mod") of a nonnegative number by a positive one."""
    return Expr(lw.b, lw.b.bind(ir.SYNTHETIC, INT, prim, (x.op, y.op), {}))


def broadcast_index(lw: Lowering, elements: Elements, idx: Sequence[Expr]) -> list[Expr]:
    """The index in an array that is broadcast, for an index ``idx`` of the result: the end of ``idx``, with 0 where a size is
    1."""
    tail = list(idx[len(idx) - elements.rank :]) if elements.rank else []
    return [lw.b.expr(0) if is_one(s) else k for k, s in zip(tail, elements.sizes)]
