"""Arrays that get shorter from trip to trip: a loop carries them in their first size, with the number of entries that count.

    for _ in range(n):            carried: v_full, of the size before the loop, and size
        v = v[:-1] + v[1:]        body: v = v_full[:size]; at its end v is filled up with zeros, and size is what it is

Binomial trees, de Casteljau's and Neville's schemes, Aitken's process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import INT
from transpile.frontend.control.slots import Slot
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory
from transpile.frontend.values.symbols import emit_failure
from transpile.frontend.values.values import Array


def gets_shorter(lx: Lifter, before: Dim, after: Dim) -> bool:
    """Whether a size after a trip is known to be less than before it, but where an array of one entry was stretched."""
    if lx.symbols.agree(lx, (before, after)):
        return False
    return any(lx.symbols.is_at_most(size, before) for size in (after, *lx.stretching.narrower(after)))


def can_carry(slot: Slot, op: ir.Operand, param: ir.Var) -> bool:
    """Whether the carried value is one array of one rank."""
    return isinstance(slot.entry, Array) and len(op.type.dims) == len(param.type.dims) > 0


def add_counts(lx: Lifter, slot: Slot, axes: Sequence[int]) -> None:
    """Carries the sizes of these axes of the slot's array too."""
    for axis in axes:
        slot.short.append(axis)
        slot.inits.append(lx.b.dim(slot.inits[0].type.dims[axis]).op)
        slot.params.append(ir.Var(f"{slot.params[0].label}_size", INT))


def cut(lx: Lifter, slot: Slot, ops: Iterator[ir.Operand]) -> Iterator[ir.Operand]:
    """The operands of a slot's leaves, its array with the entries that count."""
    if not slot.short:
        return ops
    whole, *counts = islice(ops, len(slot.params))
    dims, stops = list(whole.type.dims), dict(zip(slot.short, range(len(counts))))
    for axis, count in zip(slot.short, counts):
        dims[axis] = lx.b.fresh_symbol("size")
        lx.symbols.bounds[dims[axis].as_symbol or ""] = (None, whole.type.dims[axis])
        lx.b.bind_symbol(dims[axis], count)
    path = (ir.Index(tuple(ir.Slice(None, stops.get(axis), None) for axis in range(len(dims)))),)
    view = lx.b.let("index", whole, *counts, path=path, dims=tuple(dims)).op
    if isinstance(view, ir.Var):
        memory.note_dtypes(lx, view, whole)
    return iter([view])


def filled_up(lx: Lifter, slot: Slot, op: ir.Operand, name: str) -> list[ir.Operand]:
    """What the next trip gets: the array in its first size, and the sizes that it has."""
    b, wanted = lx.b, slot.params[0].type
    x = b.cast(op, wanted)
    counts = [b.dim(x.dims[axis]).op for axis in slot.short]
    for axis, count in zip(slot.short, counts):
        size, most = lx.symbols.resolve(x.dims[axis]), wanted.dims[axis]
        if not lx.symbols.is_at_most(size, most):
            _refuse_longer(lx, count, most, name)
        rest = (most - size).clip()
        dims = (*x.dims[:axis], rest, *x.dims[axis + 1 :])
        zeros = b.let("full", b.cast(0, wanted), dims=dims, dtype=wanted.dtype)
        x = b.let("concatenate", x, zeros, axis=axis)
        lx.symbols.checked[lx.symbols.resolve(x.dims[axis]), lx.symbols.resolve(most)] = b.block
    return [b.broadcast(x, wanted.dims).op, *counts]


def _refuse_longer(lx: Lifter, count: ir.Operand, most: Dim, name: str) -> None:
    where = lx.symbols.where(lx)
    text = f"{where}{name!r} grows in this loop beyond "
    room = lx.b.dim(most)
    hint = ", its size before the loop: make an array of the final size before the loop, and fill it"
    emit_failure(lx, (lx.b.expr(count) > room).op, (text, (0, "", ""), hint), (room.op,), lx.b.loc)
