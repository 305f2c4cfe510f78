"""Derivatives of kept functions: routines again, made once for each question that is asked.

    f(x, n)                              y
    f_pushforward(x, n, x_dot)           y, y_dot
    f_pullback(x, n, y_bar)              x_bar
    f_vmap(x, n)                         y                      of all lanes, for those of the arguments that differ between them

A pullback runs the function once more and then backwards, so a call records its arguments and nothing of its inside. A derivative
has its name and its signature before its body is made: a function that calls itself gives a pullback that calls itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.nodes import Block, Effect, Function, Let, Stmt, Var
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.routines import Routine, invoke, prints, routine_of
from transpile.core.types import INT, Type
from transpile.core.walk import Cloner


def pushforward(routine: Routine, wrt: Sequence[int]) -> Routine:
    """The results of ``routine``, then a tangent for each of floating point; its parameters, then a tangent for each of ``wrt``."""
    dots = tuple(Var(f"{routine.params[k].name}_dot", routine.params[k].type) for k in wrt)
    results = (*routine.results, *(t for t in routine.results if t.is_float))

    def body(fn: Function) -> Function:
        from transpile.transform.forward import jvp

        return jvp(fn, wrt)

    return derived(
        routine, ("pushforward", *wrt), f"{routine.name}_pushforward", (*routine.params, *dots), results, body
    )


def pullback(routine: Routine, wrt: Sequence[int], seeded: Sequence[int]) -> Routine:
    """An adjoint for each of the parameters ``wrt``, from the parameters and a cotangent for each of the results ``seeded``."""
    routine = silent(routine)  # it runs once more
    bars = tuple(Var("y_bar", routine.results[k]) for k in seeded)
    results = tuple(routine.params[k].type for k in wrt)

    def body(fn: Function) -> Function:
        from transpile.transform.sides import vjp_by_sides

        yields = tuple(fn.body.yields[k] for k in seeded)
        return vjp_by_sides(replace(fn, body=replace(fn.body, yields=yields)), wrt)

    key = ("pullback", tuple(wrt), tuple(seeded))
    return derived(routine, key, f"{routine.name}_pullback", (*routine.params, *bars), results, body)


def value_and_pullback(of: Routine) -> Routine:
    """The results of a function and what its pullback ``of`` gives, in one run; both may be of all lanes."""
    if of.origin is not None and of.origin[1][0] == "vmap":
        return batched(value_and_pullback(of.origin[0]), *of.origin[1][1:])
    assert of.origin is not None and of.origin[1][0] == "pullback", f"{of} is the pullback of nothing"
    routine, (_, wrt, seeded) = of.origin
    rest = [k for k in range(len(routine.results)) if k not in seeded]
    bars = of.params[len(routine.params) :]

    def body(fn: Function) -> Function:
        from transpile.transform.sides import vjp_by_sides

        order = [*seeded, *rest]
        yields = tuple(fn.body.yields[k] for k in order)
        done = vjp_by_sides(replace(fn, body=replace(fn.body, yields=yields)), wrt, value=True, aux=len(rest))
        values = tuple(done.body.yields[order.index(k)] for k in range(len(order)))
        return replace(done, body=replace(done.body, yields=(*values, *done.body.yields[len(order) :])))

    name = f"{routine.name}_value_and_pullback"
    return derived(
        routine, ("value", wrt, seeded), name, (*routine.params, *bars), (*routine.results, *of.results), body
    )


def is_pullback_of(other: Routine, routine: Routine) -> bool:
    """Whether one is the pullback of the other, or that of all lanes where the same arguments differ."""
    if other.origin is None:
        return False
    of, key = other.origin
    if key[0] != "vmap" or routine.origin is None or routine.origin[1][0] != "vmap":
        return of is routine and key[0] == "pullback"
    first, (_, given, together) = routine.origin
    return key[1][: len(given)] == given and key[2] == together and is_pullback_of(of, first)


def batched(routine: Routine, given: tuple[bool | None, ...], together: bool) -> Routine:
    """The routine of all lanes: these parameters have them, and all results; one that is None is their axis, and becomes their
    number. ``together`` as in `transpile.transform.batching`."""
    axis = given.index(None) if None in given else None
    taken = {name for p in routine.params for d in p.type.dims for name in d.symbols()}
    lanes = Dim.symbol(next(name for k in count(1) if (name := f"batch_{k}" if k > 1 else "batch") not in taken))

    if axis is not None:
        (lanes,) = routine.params[axis].type.dims

    def of_lanes(type_: Type) -> Type:
        return replace(type_, dims=(lanes, *type_.dims), weak=False)

    def of_all(param: Var, differs: bool | None) -> Var:
        if differs is None:
            return Var(str(lanes), INT, form=lanes)
        return Var(param.name, of_lanes(param.type)) if differs else param

    def body(fn: Function) -> Function:
        from transpile.transform.batching import batch

        axes = [0 if differs else None for differs in given]
        return batch(fn, axes, [0] * len(fn.body.yields), together=together, axis=axis, checked=False)

    params = tuple(of_all(p, differs) for p, differs in zip(routine.params, given))
    results = [of_lanes(t) for t in routine.results]
    return derived(routine, ("vmap", given, together), f"{routine.name}_vmap", params, tuple(results), body)


def derived(
    routine: Routine,
    key: Any,
    name: str,
    params: tuple[Var, ...],
    results: tuple[Type, ...],
    body: Callable[[Function], Function],
) -> Routine:
    found = routine.derivatives.get(key)
    if found is None:
        found = routine.derivatives[key] = Routine(name, params, results)
        found.origin = routine, key
        try:
            made = body(Cloner().function(routine.body))
        except Exception:
            del routine.derivatives[key]  # refused: whoever asks again is told again
            raise
        found.params = made.params
        found.fn = replace(made, name=name, captured=(), arg_tree=None, out_tree=None, doc="")
    return found


def adjoints(
    routine: Routine, args: Sequence[Expr], bars: Sequence[Expr | None], wants: Sequence[bool]
) -> tuple[Expr | None, ...]:
    """The adjoint of each operand of a call that is wanted, from the cotangents of its results; None of the others."""
    wrt = [k for k, wanted in enumerate(wants) if wanted]
    seeded = [k for k, bar in enumerate(bars) if bar is not None]
    given = [*(a.op for a in args), *(bar.op for bar in bars if bar is not None)]
    found = iter(invoke(args[0].b, pullback(routine, wrt, seeded), given, [args[k].type for k in wrt]))
    return tuple(next(found) if wanted else None for wanted in wants)


# ------------------------------------------------------------------------------------------------------- silence


def silenced(fn: Function) -> Function:
    """The function without what it prints: for where it runs a second time."""
    return with_body(fn, _silent_block(fn.body))


def silent(routine: Routine) -> Routine:
    """The routine without what it prints; itself if it prints nothing."""
    if not prints(routine):
        return routine
    return derived(routine, "silent", routine.name, routine.params, routine.results, silenced)


def _silent_block(block: Block) -> Block:
    stmts = [
        with_blocks(silent_stmt(s), _silent_block)
        for s in block.stmts
        if not (isinstance(s, Effect) and s.kind == "print")
    ]
    return with_stmts(block, stmts)


def silent_stmt(stmt: Stmt) -> Stmt:
    """A call of the silent routine in the place of a call of one that prints."""
    called = routine_of(stmt)
    if called is None or not prints(called):
        return stmt
    assert isinstance(stmt, Let)
    return replace(stmt, params={**stmt.params, "routine": silent(called)})
