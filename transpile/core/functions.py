"""Kept functions: a function that calls itself cannot be inlined.

A `Call` of a `Routine` defines its results as variables. A routine has a signature before it has a body, so a body may call its
own routine. The derivatives of a routine are routines too (`transpile.transform.function_derivatives`).

Every result has memory of its own, and a call writes nothing that the caller can see: like a primitive, it only computes
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.nodes import Routine
from transpile.core.places import FormOf
from transpile.core.types import Type
from transpile.core.walk import statements


def routine_of(stmt: object) -> Routine | None:
    """The routine that a statement calls; None if it calls none."""
    return stmt.function if isinstance(stmt, ir.Call) and isinstance(stmt.function, Routine) else None


def is_kept(stmt: object) -> TypeGuard[ir.Call]:
    """Whether a statement calls a routine."""
    return routine_of(stmt) is not None


def is_again(stmt: object) -> TypeGuard[ir.Call]:
    """Whether a statement calls a function inside the function's own rule."""
    return is_custom(stmt) and stmt.custom.rule == "again"


def is_custom(stmt: object) -> TypeGuard[ir.Call]:
    """Whether a statement calls a function with a user-defined derivative."""
    return isinstance(stmt, ir.Call) and isinstance(stmt.function, ir.Custom)


def computes(stmt: object) -> TypeGuard[ir.Let | ir.Call]:
    """Whether a statement only computes values, so that a copy of it may recompute them."""
    return isinstance(stmt, ir.Let) or is_kept(stmt)


def invoked(block: ir.Block) -> Iterator[Routine]:
    """The routines that a block calls itself, also in nested blocks, each once, in textual order."""
    seen: set[Routine] = set()
    for stmt in statements(block):
        found = routine_of(stmt)
        if found is not None and found not in seen:
            seen.add(found)
            yield found


def reached(fn: ir.Function) -> tuple[Routine, ...]:
    """The routines that a call of the function may run; callees come before callers, except in a cycle."""
    found: dict[Routine, None] = {}
    open_: set[Routine] = set()

    def visit(block: ir.Block) -> None:
        for routine in invoked(block):
            if routine not in found and routine not in open_:
                open_.add(routine)
                visit(routine.body.body)
                found[routine] = None

    visit(fn.body)
    return tuple(found)


def helpers(fn: ir.Function) -> tuple[Routine, ...]:
    """The kept functions that must be defined beside ``fn``: all that ``fn`` reaches, except itself."""
    return tuple(r for r in reached(fn) if r is not fn.routine)


def prints(routine: Routine) -> bool:
    """Whether a call of the routine may print; routines that it calls count, those without a body yet do not."""
    return _has_effect(routine, lambda effect: isinstance(effect, ir.Print))


def must_run(stmt: object) -> bool:
    """Whether a statement calls a function that prints, or that raises an exception of the user's (not a size check of the
    compiler's). Such a call is never dead."""
    if is_custom(stmt):
        return any(
            must_run(s) or isinstance(s, ir.Effect) and not is_size_check(s) for s in statements(stmt.custom.fn.body)
        )
    routine = routine_of(stmt)
    return routine is not None and _has_effect(routine, lambda effect: not is_size_check(effect))


def is_size_check(effect: ir.Effect) -> bool:
    """Whether the effect is a raise that the compiler inserted, not the user's."""
    return isinstance(effect, ir.Raise) and effect.is_check


def _has_effect(routine: Routine, wanted: Callable[[ir.Effect], bool]) -> bool:
    """Whether the routine, or one that it calls, contains an effect for which ``wanted`` is true. Routines without a body yet
    are skipped."""
    seen: set[Routine] = set()

    def visit(one: Routine) -> bool:
        if one in seen or one.fn is None:
            return False
        seen.add(one)
        return any(
            isinstance(s, ir.Effect) and wanted(s) or ((r := routine_of(s)) is not None and visit(r))
            for s in statements(one.fn.body)
        )

    return visit(routine)


# --------------------------------------------------------------------------------------------------------- calls


def known_sizes(b: Builder, params: Sequence[ir.Var], args: Sequence[ir.Operand], form_of: FormOf) -> dict[str, Dim]:
    """The forms at a call of the symbols in the types of ``params``, and of parameters that are symbols themselves, by name, as
    far as the ``args`` determine them.

    ``form_of`` gives the linear forms of the parameters.
    """
    found: dict[str, Dim] = {}
    for param, arg in zip(params, args):
        for mine, theirs in zip(param.type.dims, arg.type.dims):
            if mine.as_symbol is not None:
                found.setdefault(mine.as_symbol, theirs)
        form = form_of(param)
        if form is not None and form.as_symbol is not None:
            found.setdefault(form.as_symbol, b.form(arg))
    return found


def result_sizes(
    b: Builder, params: Sequence[ir.Var], results: Sequence[Type], args: Sequence[ir.Operand], form_of: FormOf
) -> list[list[Dim | None]]:
    """For each type in ``results``, the types of a signature, the sizes at a call with ``args``; None for one that is known
    only at run time."""
    sizes = known_sizes(b, params, args, form_of)

    def size(dim: Dim) -> Dim | None:
        return dim.substitute(sizes.get) if all(name in sizes for name in dim.symbols()) else None

    return [[size(d) for d in type_.dims] for type_ in results]


def invoke(b: Builder, routine: Routine, args: Sequence[ir.Operand], types: Sequence[Type]) -> list[Expr]:
    """The results of a call of the routine, which is emitted; ``types`` are their types at this call."""
    results = tuple(ir.Var(ir.SYNTHETIC, t) for t in types)
    b.emit(ir.Call(routine, tuple(args), results, loc=b.loc))
    return [b.expr(r) for r in results]


def invoke_anew(
    b: Builder,
    routine: Routine,
    args: Sequence[ir.Operand],
    params: Sequence[ir.Var],
    results: Sequence[Type],
    form_of: FormOf,
) -> list[Expr]:
    """The results of a call of ``routine``, which is emitted; ``params`` and ``results`` are its signature. A size that is
    known only at run time gets a new symbol."""
    fresh: list[tuple[int, int, Dim]] = []
    types: list[Type] = []
    for k, (type_, dims) in enumerate(zip(results, result_sizes(b, params, results, args, form_of))):
        sizes: list[Dim] = []
        for axis, dim in enumerate(dims):
            if dim is None:
                dim = b.fresh_symbol("size")
                fresh.append((k, axis, dim))
            sizes.append(dim)
        types.append(type_.with_dims(tuple(sizes)) if sizes else type_)
    found = invoke(b, routine, args, types)
    for k, axis, dim in fresh:
        b.symbols[str(dim)] = b.let("dim", found[k], axis=axis).op
    return found
