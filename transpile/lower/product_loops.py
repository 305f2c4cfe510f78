"""Contractions as loops: axes of the result outside, contracted ones inside, in memory order.

Products with a matrix that `transpile.lower.contractions` can turn into calls of BLAS do not get here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, is_one, stored, write
from transpile.lower.fold_loops import add_up, cast, number, op, wide
from transpile.lower.indices import broadcast_index
from transpile.lower.lowered_effects import raise_value
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import entry_of
from transpile.lower.sums import Pending, pending
from transpile.ops.lowering_kinds import Contraction, Convolution


def contract(lw: Lowering, parts: Sequence[tuple[str, Elements]], output: str, dtype: str, name: str) -> Elements:
    """The elements of an ``einsum``, by loops: the parts are multiplied and summed over the letters that ``output`` lacks.

    ``parts``: the letters of each array's axes, and the array; ``name`` is for the memory that is needed.
    """
    steady = [(s, lw.steady(x, f"{name or 't'}_{k}")) for k, (s, x) in enumerate(parts)]
    sizes: dict[str, ir.Operand] = {}
    for s, x in steady:
        for c, size in zip(s, x.sizes):
            if c not in sizes or is_one(sizes[c]):
                sizes[c] = size
    summed = [c for c in dict.fromkeys("".join(s for s, _ in steady)) if c not in output]
    letters = [*output, *summed]
    unit = _unit(steady, letters)

    def at(idx: Sequence[Expr]) -> Expr:
        where = dict(zip(letters, idx))
        value: Expr | None = None
        for s, x in steady:
            factor = x.at([lw.b.expr(0) if is_one(n) else where[c] for c, n in zip(s, x.sizes)])
            value = factor if value is None else op(lw, "mul", value, factor)
        assert value is not None
        return value

    whole = Elements(tuple(sizes[c] for c in letters), steady[0][1].dtype, at, cheap=False, unit=unit)
    whole = whole.also(*(x for _, x in steady))
    if not summed:
        return whole
    return add_up(lw, whole, tuple(range(len(output), len(letters))), False, dtype, name)


def _unit(parts: Sequence[tuple[str, Elements]], letters: Sequence[str]) -> int | None:
    """The position in ``letters`` of the letter that most parts have contiguous, weighted by their ranks; None if there is
    none."""
    votes: dict[str, int] = {}
    for s, x in parts:
        if x.unit is not None and x.rank and s.count(s[x.unit]) == 1 and not is_one(x.sizes[x.unit]):
            votes[s[x.unit]] = votes.get(s[x.unit], 0) + x.rank
    if not votes:
        return None
    return list(letters).index(max(votes, key=lambda c: (votes[c], c)))


def einsum(lw: Lowering, parts: Sequence[tuple[str, Elements]], output: str, dtype: str, name: str) -> Elements:
    """``einsum`` of the parts, each an array with its letters, to the letters ``output``: products of two operands as calls of
    BLAS if possible; more operands two at a time if that saves loops."""
    if len(parts) == 2:
        sizes: dict[str, ir.Operand] = {}
        for s, x in parts:
            sizes.update((c, n) for c, n in zip(s, x.sizes) if c not in sizes or not is_one(n))
        found = pending(lw, parts, output, [sizes[c] for c in output])
        if found is not None:
            return found
    pair = _pair(parts, output) if len(parts) > 2 else None
    if pair is not None:
        two = [parts[k] for k in pair]
        rest = [p for k, p in enumerate(parts) if k not in pair]
        needed = {*output, *(c for s, _ in rest for c in s)}
        letters = "".join(c for c in dict.fromkeys(two[0][0] + two[1][0]) if c in needed)
        inner = einsum(lw, two, letters, dtype, "")
        if isinstance(inner, Pending):
            inner = inner.formed("")
        return einsum(lw, [(letters, inner), *rest], output, dtype, name)
    return contract(lw, parts, output, dtype, name)


def _pair(parts: Sequence[tuple[str, Elements]], output: str) -> tuple[int, int] | None:
    """Two operands, by position and the earlier first, that share a summed letter which no other operand has, unless together
    they have all letters. None if there are none."""
    every = {c for s, _ in parts for c in s}
    for k, (s, _) in enumerate(parts):
        for j, (t, _) in enumerate(parts[:k]):
            others = {*output, *(c for i, (u, _) in enumerate(parts) if i not in (j, k) for c in u)}
            if ({*s} & {*t}) - others and {*s, *t} != every:
                return j, k
    return None


def contraction(lw: Lowering, stmt: Any, how: Contraction) -> Elements:
    """The contraction of a statement's operands, by the letters that ``how`` gives: by loops if ``how.in_loops``, else as
    `einsum`."""
    operands = [lw.elements(a) for a in stmt.args]
    inputs, output = how.letters([x.rank for x in operands], stmt.params).split("->")
    parts = list(zip(inputs.split(","), operands))
    return (contract if how.in_loops else einsum)(lw, parts, output, stmt.var.type.dtype, stmt.var.name)


def cross_product(lw: Lowering, stmt: Any, how: Any) -> Elements:
    """``np.cross`` of vectors with three components along the last axis, in new memory."""
    b = lw.b
    x, y = (lw.steady(lw.elements(a), f"{stmt.var.label}_{k}") for k, a in enumerate(stmt.args))
    dtype = stmt.var.type.dtype
    sizes = (*lw.sizes(stmt.var.type.dims[:-1]), ir.Const(3, INT))
    var = lw.memory(stmt.var.name, dtype, sizes)

    def line(outer: list[Expr]) -> None:
        def get(e: Elements, k: int) -> Expr:
            return e.at(broadcast_index(lw, e, [*outer, b.expr(k)]))

        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            plus, minus = op(lw, "mul", get(x, i), get(y, j)), op(lw, "mul", get(x, j), get(y, i))
            write(b, var, [*outer, b.expr(k)], op(lw, "sub", plus, minus))

    lw.nest(sizes[:-1], line)
    return stored(b, var, sizes)


def convolution(lw: Lowering, stmt: Any, how: Convolution) -> Elements:
    """``np.convolve`` or, if ``how`` says so, ``np.correlate`` of two vectors; ValueError at run time if one is empty."""
    b, dtype = lw.b, stmt.var.type.dtype
    x, y = (lw.steady(lw.elements(a), f"{stmt.var.label}_{k}") for k, a in enumerate(stmt.args))
    n, m = b.expr(x.sizes[0]), b.expr(y.sizes[0])
    empty = b.elementwise("minimum", n, m, py=True).eq(0)
    if not isinstance(empty.op, ir.Const):
        b.emit(
            ir.If(
                empty.op,
                ir.Block((), [raise_value(b.loc, "an array to convolve cannot be empty")]),
                ir.Block(),
                (),
                b.loc,
            )
        )
    carried = wide(dtype)
    bounds = entry_of(stmt)
    call = b.bind("bounds", Type("int64", (), kind="tuple"), bounds, (n.op, m.op))
    lead, size = (Expr(b, b.bind(w, INT, "item", (call,), {"k": k})) for k, w in enumerate(("lead", "size")))

    def at(idx: Sequence[Expr]) -> Expr:
        k = idx[0] + lead
        low = Expr(b, b.bind("low", INT, "maximum", ((k - m + 1).op, b.expr(0).op), {"py": True}))
        high = Expr(b, b.bind("high", INT, "minimum", ((k + 1).op, n.op), {"py": True}))

        def body(inner: list[Expr], values: list[Expr]) -> list[Expr]:
            i = inner[0] + low
            j = m - 1 - (k - i) if how.reversed else k - i
            return [op(lw, "add", values[0], cast(lw, op(lw, "mul", x.at([i]), y.at([j])), carried))]

        return cast(lw, lw.fold([(high - low).op], [number(lw, 0, carried)], body)[0], dtype)

    return Elements((size.op,), dtype, at, cheap=False, deps=x.deps | y.deps)
