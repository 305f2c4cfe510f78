"""Calls of `transpile_runtime.compiled`, and arrays as their operands: C-contiguous memory.

A function called by `call` or `items` returns new arrays and writes no argument; `filled` calls functions that fill memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import ANY
from transpile.core.types import Type
from transpile.lower.element_functions import Elements, stored
from transpile.lower.lowering import Lowering
from transpile.ops.tables import record_of


def entry_of(stmt: Any) -> str:
    """The runtime function that the primitive of a statement calls, as "module.function"."""
    return record_of(stmt).entry_of(stmt.params, len(stmt.args))


def flags_of(stmt: Any) -> tuple[ir.Operand, ...]:
    """The params of a statement that the runtime function takes as booleans, as constants: True for "U", "T", 1 and True."""
    return tuple(ir.Const(stmt.params.get(n) in ("U", "T", 1, True), Type("bool")) for n in record_of(stmt).flags)


def call(lw: Lowering, fn: str, dtype: str, rank: int, *args: ir.Operand, name: str = ir.SYNTHETIC) -> Elements:
    """The result of a call of the runtime function ``fn``, emitted: a new array of this dtype and rank, whose sizes are read
    from it."""
    b = lw.b
    var = library_call(b, name, Type(dtype, (ANY,) * rank), fn, args)
    lw.owned.add(var)
    return fresh(lw, var)


def library_call(
    b: Builder,
    name: str,
    type_: Type,
    function: str,
    args: Sequence[ir.Operand],
    written: tuple[int, ...] = (),
) -> ir.Var:
    """The variable, with this name and type, that holds the result of a call of a runtime function; the call is emitted.

    ``written``: the positions of arguments that the function writes.
    """
    var = ir.Var(name, type_)
    b.emit(ir.Call(ir.Library(function), tuple(args), (var,), written, b.loc))
    return var


def filled(b: Builder, function: str, args: Sequence[ir.Operand], written: tuple[int, ...]) -> None:
    """Emits a call of a runtime function that has no results and writes the arguments at the positions ``written``."""
    b.emit(ir.Call(ir.Library(function), tuple(args), (), written, b.loc))


def fresh(lw: Lowering, var: ir.Var) -> Elements:
    """The elements of ``var``, a new array in memory; its sizes are read from it."""
    sizes = tuple(lw.b.let("dim", var, axis=k).op for k in range(var.type.rank))
    return stored(lw.b, var, sizes)


def items(lw: Lowering, fn: str, types: Sequence[tuple[str, int]], *args: ir.Operand) -> list[Any]:
    """The results of a call of the runtime function ``fn``, emitted, one for each (dtype, rank) of ``types``: `Elements`, or a
    variable for rank 0."""
    b = lw.b
    results = tuple(ir.Var(ir.SYNTHETIC, Type(dtype, (ANY,) * rank)) for dtype, rank in types)
    b.emit(ir.Call(ir.Library(fn), args, results, loc=b.loc))
    lw.owned.update(r for r in results if r.type.dims)
    return [fresh(lw, r) if r.type.dims else r for r in results]


def flat(lw: Lowering, x: Elements, name: str = "flat") -> ir.Operand:
    """The array as a variable of rank 1, in C order; an array without memory gets memory with this name."""
    x = lw.rooted(x, name)
    if x.rank == 1:
        return x.root  # type: ignore[return-value]
    n = lw.b.expr(1)
    for s in x.sizes:
        n = n * lw.b.expr(s)
    return view(lw, x, (n.op,))


def view(lw: Lowering, x: Elements, sizes: Sequence[ir.Operand]) -> ir.Operand:
    """The memory of ``x``, which has some and is no scalar, under other sizes, as a new variable."""
    assert x.root is not None
    if x.rank == 0:
        raise AssertionError("a scalar has no view")
    return in_sizes(lw.b, ir.SYNTHETIC, Type(x.dtype, (ANY,) * len(sizes)), x.root, sizes)


def in_sizes(b: Builder, name: str, type_: Type, base: ir.Operand, sizes: Sequence[ir.Operand]) -> ir.Var:
    """A new variable with this name and type: a view of the C-contiguous array ``base`` with other sizes."""
    return viewed(b, name, type_, base, ir.reshape(len(sizes)), sizes)


def viewed(b: Builder, name: str, type_: Type, base: ir.Operand, step: ir.Step, args: Sequence[ir.Operand]) -> ir.Var:
    """A new variable with this name and type: the view of ``base`` by one step of a path, emitted; ``args`` are the step's
    operands."""
    var = ir.Var(name, type_)
    b.emit(ir.view(var, base, step, tuple(args), b.loc))
    return var
