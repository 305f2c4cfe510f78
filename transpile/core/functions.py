"""Functions that are kept: what calls itself has no end when it is put in line.

A *let* ``invoke`` calls the `Routine` in its params. Its operands are those of the routine's parameters; its value is the result,
or, of several, a tuple that ``item`` reads. A routine is known by its signature before its body is there: so a body may call the
routine that it is the body of, and so may the derivatives, which are routines again (`transpile.transform.function_derivatives`).

Every result has memory of its own, and nothing that the caller sees is written: a call is a value, as any primitive's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.places import FormOf
from transpile.core.types import Type
from transpile.core.walk import statements


class Routine:
    """A kept function. Compared by identity. ``fn`` is None while its body is being made."""

    __slots__ = ("derivatives", "fn", "name", "origin", "params", "results")

    def __init__(self, name: str, params: Sequence[ir.Var] = (), results: Sequence[Type] = ()) -> None:
        self.name = name
        self.params = tuple(
            params
        )  # the sizes in their types are symbols, in terms of which those of the results may be
        self.results = tuple(results)
        self.fn: ir.Function | None = None
        self.derivatives: dict[Any, Routine] = {}  # what was asked for -> the routine
        self.origin: tuple[Routine, Any] | None = None  # of a derivative: whose it is, and what was asked for

    def __str__(self) -> str:  # and no __repr__: value numbering compares by it, and two routines may be of one name
        return self.name

    @property
    def body(self) -> ir.Function:
        assert self.fn is not None, f"{self.name} has no body yet"
        return self.fn


def routine_of(stmt: object) -> Routine | None:
    """The routine that a statement calls, if it calls one."""
    if isinstance(stmt, (ir.Let, ir.Alloc)) and stmt.prim == "invoke":
        found: Routine = stmt.params["routine"]
        return found
    return None


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
    if isinstance(stmt, ir.Call):
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


def together(types: Sequence[Type]) -> Type:
    """The type of what a call gives: the result's own, or, of several, that of their tuple."""
    return types[0] if len(types) == 1 else Type("float64", (), kind="tuple", items=tuple(types))


def apart(type_: Type) -> tuple[Type, ...]:
    """The types of the results, of what a call gives."""
    return type_.items if type_.kind == "tuple" else (type_,)


def invoke(b: Builder, routine: Routine, args: Sequence[ir.Operand], types: Sequence[Type]) -> list[Expr]:
    """Emits a call with results of these types; the results."""
    var = ir.Var(ir.SYNTHETIC, together(types))
    b.emit(ir.Let(var, "invoke", tuple(args), {"routine": routine}, b.loc))
    return [b.expr(var)] if len(types) == 1 else [b.let("item", var, k=k) for k in range(len(types))]


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
