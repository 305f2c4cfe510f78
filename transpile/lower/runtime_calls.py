"""Calls of `transpile_runtime.compiled` that give arrays, and arrays as their operands: all entries in a row.

What a function of `arrays` gives is new, and it writes into no argument; those that fill memory are told by `filled`.
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
    """The function that a primitive calls."""
    return record_of(stmt).entry_of(stmt.params, len(stmt.args))


def flags_of(stmt: Any) -> tuple[ir.Operand, ...]:
    """The params that it takes as truth values."""
    return tuple(ir.Const(stmt.params.get(n) in ("U", "T", 1, True), Type("bool")) for n in record_of(stmt).flags)


def call(lw: Lowering, fn: str, dtype: str, rank: int, *args: ir.Operand, name: str = ir.SYNTHETIC) -> Elements:
    """A call that gives a new array."""
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
    """What a function of the runtime gives."""
    var = ir.Var(name, type_)
    b.emit(ir.Call(ir.Library(function), tuple(args), (var,), written, b.loc))
    return var


def filled(b: Builder, function: str, args: Sequence[ir.Operand], written: tuple[int, ...]) -> None:
    """A call for what it writes."""
    b.emit(ir.Call(ir.Library(function), tuple(args), (), written, b.loc))


def fresh(lw: Lowering, var: ir.Var) -> Elements:
    sizes = tuple(lw.b.let("dim", var, axis=k).op for k in range(var.type.rank))
    return stored(lw.b, var, sizes)


def items(lw: Lowering, fn: str, types: Sequence[tuple[str, int]], *args: ir.Operand) -> list[Any]:
    """A call that gives several arrays and numbers."""
    b = lw.b
    results = tuple(ir.Var(ir.SYNTHETIC, Type(dtype, (ANY,) * rank)) for dtype, rank in types)
    b.emit(ir.Call(ir.Library(fn), args, results, loc=b.loc))
    lw.owned.update(r for r in results if r.type.dims)
    return [fresh(lw, r) if r.type.dims else r for r in results]


def flat(lw: Lowering, x: Elements, name: str = "flat") -> ir.Operand:
    """The variable of all entries in C order, of rank 1."""
    x = lw.rooted(x, name)
    if x.rank == 1:
        return x.root  # type: ignore[return-value]
    n = lw.b.expr(1)
    for s in x.sizes:
        n = n * lw.b.expr(s)
    return view(lw, x, (n.op,))


def view(lw: Lowering, x: Elements, sizes: Sequence[ir.Operand]) -> ir.Operand:
    assert x.root is not None
    if x.rank == 0:
        raise AssertionError("a scalar has no view")
    return in_sizes(lw.b, ir.SYNTHETIC, Type(x.dtype, (ANY,) * len(sizes)), x.root, sizes)


def in_sizes(b: Builder, name: str, type_: Type, base: ir.Operand, sizes: Sequence[ir.Operand]) -> ir.Var:
    """A view of memory in C order under other sizes."""
    return viewed(b, name, type_, base, ir.reshape(len(sizes)), sizes)


def viewed(b: Builder, name: str, type_: Type, base: ir.Operand, step: ir.Step, args: Sequence[ir.Operand]) -> ir.Var:
    var = ir.Var(name, type_)
    b.emit(ir.view(var, base, step, tuple(args), b.loc))
    return var
