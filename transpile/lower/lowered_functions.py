"""Lowered kept functions: each is a function of its own in the module and takes arrays in memory.

The last parameter counts the depth of the calls. Unbounded recursion of compiled code would end the process, so it raises
RecursionError at Python's default limit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import ANY
from transpile.core.functions import Routine, invoke, reached, result_sizes
from transpile.core.types import BOOL, INT, Type
from transpile.lower import lowered_effects
from transpile.lower.element_functions import stored
from transpile.lower.lowering import Lowering
from transpile.lower.runtime_calls import fresh
from transpile.ops.tables import records

DEPTH = 1000  # nested calls: Python's own limit


def functions(core: ir.Function) -> tuple[list[ir.Function], dict[Routine, str]]:
    """The functions to lower for a program: the kept functions that it reaches, each with a parameter for the depth, and last
    the program; and the name of each routine.

    If ``core`` is the body of a kept function, the last one only calls it, and the kept function gets another name.
    """
    found = reached(core)
    names = {r: r.name for r in found}
    entry = core
    if core.routine is not None:
        names[core.routine] = _free(f"{core.name}_kept", set(names.values()))
        entry = _entry(core)
    return [*(_counted(r.body, names[r]) for r in found), entry], names


def _free(name: str, taken: set[str]) -> str:
    """The name, with as many "_" at its end as make it differ from those in ``taken``."""
    while name in taken:
        name += "_"
    return name


def _entry(core: ir.Function) -> ir.Function:
    """A function with the parameters and results of ``core``, the body of a kept function, that only calls this kept
    function."""
    assert core.routine is not None
    params = tuple(ir.Var(p.name, p.type) for p in core.params)
    b = Builder(records(), fn=core)
    sizes = result_sizes(b, core.params, [y.type for y in core.body.yields], params, b.form_of)
    unknown = any(d is None for dims in sizes for d in dims)
    types = [y.type.with_dims(tuple(d or ANY for d in dims)) for y, dims in zip(core.body.yields, sizes)]
    with b.at(core.loc):
        if not unknown:
            for p in params:
                for axis, dim in enumerate(p.type.dims):
                    if dim.as_symbol is not None and dim.as_symbol not in b.symbols:
                        b.symbols[dim.as_symbol] = b.let("dim", p, axis=axis).op
        results = invoke(b, core.routine, params, types)
    body = ir.Block((), b.block.stmts, tuple(r.op for r in results))
    return replace(core, params=params, body=body, symbols=b.symbols, routine=None)


def _counted(fn: ir.Function, name: str) -> ir.Function:
    """A copy of the function with this name and one more parameter, the depth of the calls."""
    return replace(fn, name=name, params=(*fn.params, ir.Var("depth", INT)), arg_tree=None, out_tree=None)


# ------------------------------------------------------------------------------------------------------- in a body


def check_depth(lw: Lowering, depth: ir.Var) -> None:
    """Emits a RecursionError for a ``depth`` greater than `DEPTH`."""
    b, loc = lw.b, lw.fn.loc
    with b.at(loc):
        test = ir.Var(ir.SYNTHETIC, BOOL)
        b.emit(ir.Let(test, "greater", (depth, ir.Const(DEPTH, INT)), {}, loc))
        raised = lowered_effects.too_deep(loc)
        b.emit(ir.If(test, ir.Block((), [raised]), ir.Block(), (), loc))


def call(lw: Lowering, stmt: ir.Call) -> list[Any]:
    """The results of a call of a kept function, which is emitted: a variable for a scalar, `Elements` for an array."""
    b = lw.b
    args: list[ir.Operand] = []
    for a in stmt.args:
        if a.type.dims:
            args.append(lw.rooted(lw.elements(a), a.name if isinstance(a, ir.Var) else ir.SYNTHETIC).memory)
        else:
            args.append(lw.scalar(a).op)
    deeper = ir.Const(1, INT) if lw.depth is None else (b.expr(lw.depth) + 1).op
    name = lw.routines[stmt.routine]
    results = tuple(ir.Var(r.name, _whole(r.type)) for r in stmt.results)
    b.emit(ir.Call(ir.Kept(name), (*args, deeper), results, (), b.loc))
    return [_held(lw, r, of.type) for r, of in zip(results, stmt.results)]


def _whole(type_: Type) -> Type:
    return Type(type_.dtype, (ANY,) * type_.rank, type_.weak)


def _held(lw: Lowering, var: ir.Var, type_: Type) -> Any:
    """The result ``var`` of a call as the lowering holds it: a scalar itself, an array as `Elements`, with sizes from the dims
    of ``type_``, its type in the source, if these are known here, else read from the array."""
    if not type_.dims:
        return var
    lw.owned.add(var)
    if all(lw.is_known(s) for d in type_.dims for s in d.symbols()):
        return stored(lw.b, var, lw.sizes(type_.dims))
    return fresh(lw, var)
