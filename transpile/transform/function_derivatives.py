"""Derivatives of kept functions: routines too, one for each combination of differentiated parameters and results.

    f(x, n)                              y
    f_pushforward(x, n, x_dot)           y, y_dot
    f_pullback(x, n, y_bar)              x_bar
    f_vmap(x, n)                         y                      for all lanes; only the arguments that differ have a lane axis

A pullback runs the function again and then backwards, so a call records its arguments and nothing of its inside. A derivative
has its name and its signature before its body is built: the pullback of a function that calls itself calls itself. Callers pass
in how a body is differentiated or batched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from transpile.analysis.called import Pattern
from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.functions import Routine, invoke, is_kept, prints
from transpile.core.rebuild import with_blocks, with_body, with_results, with_stmts
from transpile.core.types import INT, Type
from transpile.core.walk import Cloner, symbols_of, type_symbols

Derivative = Callable[
    [ir.Function, Sequence[int]], ir.Function
]  # function, parameters to differentiate with respect to
OfLanes = Callable[
    [ir.Function, Pattern, bool], ir.Function
]  # function, which parameters have a lane axis, together -> function for all lanes


def pushforward(routine: Routine, wrt: Sequence[int], jvp: Derivative) -> Routine:
    """The routine for tangents of ``routine``; ``jvp`` derives its body. Parameters: those of ``routine``, then a tangent for
    each of the positions ``wrt``. Results: those of ``routine``, then a tangent for each floating-point one."""
    dots = tuple(ir.Var(f"{routine.params[k].name}_dot", routine.params[k].type) for k in wrt)
    results = (*routine.results, *(t for t in routine.results if t.is_float))

    def body(fn: ir.Function) -> ir.Function:
        return jvp(fn, wrt)

    return derived(
        routine, ("pushforward", *wrt), f"{routine.name}_pushforward", (*routine.params, *dots), results, body
    )


def pullback(routine: Routine, wrt: Sequence[int], seeded: Sequence[int], vjp: Derivative) -> Routine:
    """The routine for adjoints of ``routine``; ``vjp`` derives its body. Parameters: those of ``routine``, then a cotangent for
    each of its results at the positions ``seeded``. Results: an adjoint for each of the parameters at the positions ``wrt``. It
    prints nothing."""
    routine = silent(routine)  # it runs a second time
    bars = tuple(ir.Var("y_bar", routine.results[k]) for k in seeded)
    results = tuple(routine.params[k].type for k in wrt)

    def body(fn: ir.Function) -> ir.Function:
        return vjp(with_results(fn, [fn.body.yields[k] for k in seeded]), wrt)

    key = ("pullback", tuple(wrt), tuple(seeded))
    return derived(routine, key, f"{routine.name}_pullback", (*routine.params, *bars), results, body)


def batched(routine: Routine, given: Pattern, together: bool, batch: OfLanes) -> Routine:
    """The routine for all lanes of ``routine``; all its results have a lane axis in front. ``batch`` derives its body.

    ``given``: for each parameter whether it has a lane axis; None marks the axis of collectives, whose parameter becomes the
    number of lanes. ``together`` is as for `transpile.transform.batching.batch`.
    """
    axis = given.index(None) if None in given else None
    taken = {name for p in routine.params for name in type_symbols(p.type)}
    if routine.fn is not None:
        taken |= symbols_of(routine.fn)
    lanes = Dim.symbol(next(name for k in count(1) if (name := f"batch_{k}" if k > 1 else "batch") not in taken))

    if axis is not None:
        (lanes,) = routine.params[axis].type.dims

    def of_lanes(type_: Type) -> Type:
        return replace(type_, dims=(lanes, *type_.dims), weak=False)

    def of_all(param: ir.Var, differs: bool | None) -> ir.Var:
        if differs is None:
            return ir.Var(str(lanes), INT)
        return ir.Var(param.name, of_lanes(param.type)) if differs else param

    def body(fn: ir.Function) -> ir.Function:
        return batch(fn, given, together)

    params = tuple(of_all(p, differs) for p, differs in zip(routine.params, given))
    results = [of_lanes(t) for t in routine.results]
    return derived(routine, ("vmap", given, together), f"{routine.name}_vmap", params, tuple(results), body)


def derived(
    routine: Routine,
    key: Any,
    name: str,
    params: tuple[ir.Var, ...],
    results: tuple[Type, ...],
    body: Callable[[ir.Function], ir.Function],
) -> Routine:
    """The routine with this signature whose body ``body`` makes of a copy of the function of ``routine``. Built once for each
    ``key``: a later call returns the same routine, also while its body is being built."""
    found = routine.derivatives.get(key)
    if found is None:
        found = routine.derivatives[key] = Routine(name, params, results)
        found.origin = routine, key
        try:
            made = body(Cloner().function(routine.body))
        except Exception:
            del routine.derivatives[key]  # refused: the next request raises again
            raise
        found.params = made.params
        found.fn = replace(made, name=name, captured=(), arg_tree=None, out_tree=None, doc="")
    return found


def adjoints(
    routine: Routine, args: Sequence[Expr], bars: Sequence[Expr | None], wants: Sequence[bool], vjp: Derivative
) -> tuple[Expr | None, ...]:
    """For each operand of a call its adjoint, by a call of the pullback that is emitted here; None where ``wants`` is False.
    ``bars``: for each result its cotangent, None if it is zero."""
    wrt = [k for k, wanted in enumerate(wants) if wanted]
    seeded = [k for k, bar in enumerate(bars) if bar is not None]
    given = [*(a.op for a in args), *(bar.op for bar in bars if bar is not None)]
    found = iter(invoke(args[0].b, pullback(routine, wrt, seeded, vjp), given, [args[k].type for k in wrt]))
    return tuple(next(found) if wanted else None for wanted in wants)


# ------------------------------------------------------------------------------------------------------- silence


def silenced(fn: ir.Function) -> ir.Function:
    """The function without its print statements, for a second run; calls of routines that print become calls of silent ones."""
    return with_body(fn, _silent_block(fn.body))


def silent(routine: Routine) -> Routine:
    """A routine that does the same without print statements; ``routine`` itself if it prints nothing."""
    if not prints(routine):
        return routine
    return derived(routine, "silent", routine.name, routine.params, routine.results, silenced)


def _silent_block(block: ir.Block) -> ir.Block:
    stmts = [with_blocks(silent_stmt(s), _silent_block) for s in block.stmts if not isinstance(s, ir.Print)]
    return with_stmts(block, stmts)


def silent_stmt(stmt: ir.Stmt) -> ir.Stmt:
    """The statement itself; if it calls a routine that prints, the call of the silent routine. A print statement stays."""
    if not is_kept(stmt) or not prints(stmt.routine):
        return stmt
    return replace(stmt, function=silent(stmt.routine))
