"""Functions that are kept: what calls itself has no end when it is put in line.

A `Call` of a `Routine` has its results as variables. A routine is known by its signature before its body is there: so a body may
call the routine that it is the body of, and so may the derivatives, which are routines again
(`transpile.transform.function_derivatives`).

Every result has memory of its own, and nothing that the caller sees is written: a call computes values, as any primitive does.
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
    """The routine that a statement calls, if it calls one."""
    return stmt.function if isinstance(stmt, ir.Call) and isinstance(stmt.function, Routine) else None


def is_kept(stmt: object) -> TypeGuard[ir.Call]:
    """Whether a statement calls a routine."""
    return routine_of(stmt) is not None


def is_again(stmt: object) -> TypeGuard[ir.Call]:
    """Whether it is a call, in the rule of a function, of the function itself."""
    return is_custom(stmt) and stmt.custom.rule == "again"


def is_custom(stmt: object) -> TypeGuard[ir.Call]:
    """Whether a statement calls a function with a derivative of the user's own."""
    return isinstance(stmt, ir.Call) and isinstance(stmt.function, ir.Custom)


def computes(stmt: object) -> TypeGuard[ir.Let | ir.Call]:
    """Whether a statement does nothing but compute values, which another one like it may compute again."""
    return isinstance(stmt, ir.Let) or is_kept(stmt)


def invoked(block: ir.Block) -> Iterator[Routine]:
    """The routines that are called in a block, once each, in the order of the text."""
    seen: set[Routine] = set()
    for stmt in statements(block):
        found = routine_of(stmt)
        if found is not None and found not in seen:
            seen.add(found)
            yield found


def reached(fn: ir.Function) -> tuple[Routine, ...]:
    """The routines that a call of the function may run, those that call no others first where that can be."""
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
    """The kept functions that the text of ``fn`` defines besides."""
    return tuple(r for r in reached(fn) if r is not fn.routine)


def prints(routine: Routine) -> bool:
    """Whether a call may print."""
    return _has_effect(routine, lambda effect: isinstance(effect, ir.Print))


def must_run(stmt: object) -> bool:
    """Whether a statement calls what prints, or raises what the user says: such a call stays, read or not."""
    if is_custom(stmt):
        return any(
            must_run(s) or isinstance(s, ir.Effect) and not is_size_check(s) for s in statements(stmt.custom.fn.body)
        )
    routine = routine_of(stmt)
    return routine is not None and _has_effect(routine, lambda effect: not is_size_check(effect))


def is_size_check(effect: ir.Effect) -> bool:
    """Whether it raises what the user did not say."""
    return isinstance(effect, ir.Raise) and effect.is_check


def _has_effect(routine: Routine, wanted: Callable[[ir.Effect], bool]) -> bool:
    """Whether there is such an effect in the routine or in what it calls. Of one that is being made only the others are asked."""
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
    """What the symbols of a signature are at a call: the sizes of arguments, and what is known of integers. ``form_of``: what the
    parameters are in it."""
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
    """The sizes of the results at a call; None for one that only the run knows."""
    sizes = known_sizes(b, params, args, form_of)

    def size(dim: Dim) -> Dim | None:
        return dim.substitute(sizes.get) if all(name in sizes for name in dim.symbols()) else None

    return [[size(d) for d in type_.dims] for type_ in results]


def invoke(b: Builder, routine: Routine, args: Sequence[ir.Operand], types: Sequence[Type]) -> list[Expr]:
    """Emits a call with results of these types; the results."""
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
    """The same for a signature: a size of a result that only the run knows gets a symbol of its own."""
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
