"""Random draws: each number is a function of the two words of its key and of its position, computed where it is read.

    z = normal(key, (n, d))     ->      z = np.empty((n, d))
                                        draws.normals(z.reshape(n * d), key[0], key[1])

Many normal numbers of one key are drawn by one call, which works block by block in loops that LLVM vectorises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, is_one, stored
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import entry_of, filled, view
from transpile.ops.tables import record_of


def _keys(lw: Lowering, stmt: Any) -> Elements:
    return lw.steady(lw.elements(stmt.args[0]), "key")


def _words(lw: Lowering, keys: Elements, lane: Sequence[Expr]) -> tuple[Expr, Expr]:
    """The two words of the key of a lane, in order."""
    first, second = (keys.at([*lane, lw.b.expr(k)]) for k in (0, 1))
    return first, second


def _place(lw: Lowering, idx: Sequence[Expr], sizes: Sequence[ir.Operand]) -> Expr:
    """The position in C order of the element at ``idx`` in an array of these sizes; 0 for a scalar."""
    total = lw.b.expr(0)
    for i, n in zip(idx, sizes):
        if not is_one(n):
            total = total * lw.b.expr(n) + i
    return total


def _block(lw: Lowering, name: str, dtype: str, *args: Expr) -> Expr:
    return lw.b.expr(lw.b.bind(ir.SYNTHETIC, Type(dtype), name, tuple(a.op for a in args)))


def _each(
    lw: Lowering, keys: Elements, sizes: Sequence[ir.Operand], dtype: str, at: Callable[[Sequence[Expr]], Expr]
) -> Elements:
    return replace(Elements(tuple(sizes), dtype, at, cheap=False).also(keys), cheap=False)


def drawn(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The numbers that a statement draws with one key, or with each of several; an element is computed where it is read.

    One call fills memory instead if there is one key, the result is an array and the runtime has a function for it.
    """
    keys, dtype = _keys(lw, stmt), stmt.var.type.dtype
    lead, sizes = keys.sizes[:-1], lw.sizes(stmt.params["dims"])
    entry = entry_of(stmt)
    filling = record_of(entry).filling
    if filling and not lead and sizes:
        return _many(lw, stmt, keys, sizes, filling)

    def at(idx: Sequence[Expr]) -> Expr:
        own = idx[len(lead) :]
        return _block(lw, entry, dtype, *_words(lw, keys, idx[: len(lead)]), _place(lw, own, sizes))

    return _each(lw, keys, (*lead, *sizes), dtype, at)


def _many(lw: Lowering, stmt: Any, keys: Elements, sizes: tuple[ir.Operand, ...], fn: str) -> Elements:
    """The numbers drawn with one key in new memory, which one call of the runtime function ``fn`` fills."""
    b, dtype = lw.b, stmt.var.type.dtype
    words = _words(lw, keys, ())
    made = stored(b, lw.memory(stmt.var.name, dtype, sizes), sizes)
    count = b.expr(1)
    for n in sizes:
        count = count * b.expr(n)
    flat = made.memory if len(sizes) == 1 else view(lw, made, (count.op,))
    filled(b, fn, (flat, *(w.op for w in words)), (0,))
    return made


def split_keys(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The new keys that a statement splits from each key: the two words of a key are the last axis."""
    keys, entry = _keys(lw, stmt), entry_of(stmt)
    lead, sizes = keys.sizes[:-1], lw.sizes(stmt.params["dims"])

    def at(idx: Sequence[Expr]) -> Expr:
        own = idx[len(lead) : -1]
        return _block(lw, entry, "uint32", *_words(lw, keys, idx[: len(lead)]), _place(lw, own, sizes), idx[-1])

    return _each(lw, keys, (*lead, *sizes, ir.Const(2, INT)), "uint32", at)


def folded_in(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The keys that a statement makes of each key and an integer, of which the lower 32 bits count."""
    keys, data, entry = _keys(lw, stmt), lw.steady(lw.elements(stmt.args[1]), "data"), entry_of(stmt)

    def at(idx: Sequence[Expr]) -> Expr:
        place = lw.compute("cast", [data.at(idx[:-1])], Type("int64"), {})
        low = lw.compute("bitwise_and", [place, lw.b.expr(ir.Const(0xFFFFFFFF, Type("int64")))], Type("int64"), {})
        return _block(lw, entry, "uint32", *_words(lw, keys, idx[:-1]), low, idx[-1])

    return replace(_each(lw, keys, (*keys.sizes[:-1], ir.Const(2, INT)), "uint32", at).also(data), cheap=False)


def shaped(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """The numbers that a statement draws with keys and array parameters, such as gamma variates, computed where they are
    read."""
    keys, entry = _keys(lw, stmt), entry_of(stmt)
    operands = [lw.steady(lw.elements(a), "a") for a in stmt.args[1:]]
    sizes = operands[0].sizes
    lead = keys.rank - 1
    wide, own = Type("float64"), stmt.var.type.dtype

    def at(idx: Sequence[Expr]) -> Expr:
        own_operands = [lw.compute("cast", [x.at(idx)], wide, {}) for x in operands]
        place = _place(lw, idx[lead:], sizes[lead:])
        found = _block(lw, entry, "float64", *_words(lw, keys, idx[:lead]), place, *own_operands)
        return lw.compute("cast", [found], Type(own), {})

    found = _each(lw, keys, sizes, own, at)
    for x in operands:
        found = found.also(x)
    return replace(found, cheap=False)
