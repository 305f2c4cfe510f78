"""Linear algebra as calls of `transpile_runtime.compiled.linalg`, one for each matrix of a batch, into memory allocated before.

    y = np.linalg.solve(a, b)     ->      y = np.empty(...)
                                          for i in range(n):
                                              linalg.solve(a[i], b[i], y[i])

Matrices are passed in place: a transpose or a slice of a stored array is not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import Type
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.factor_reuse import Factors, factors_of, flag
from transpile.lower.lowering import Lowering
from transpile.lower.matrix_operands import Given, column, own_index, part, passed, whole
from transpile.lower.runtime_calls import entry_of, filled, flags_of, library_call
from transpile.ops.lowering_kinds import System
from transpile.ops.tables import record_of


@dataclass(frozen=True)
class Result:
    """A result of a call: memory of these sizes, whose last ``rank`` axes belong to one matrix; a number if that is 0."""

    name: str
    dtype: str
    sizes: tuple[ir.Operand, ...]
    rank: int


def calls(lw: Lowering, fn: str, given: Given, flags: Sequence[ir.Operand], results: Sequence[Result]) -> list[Any]:
    """The results of calls of the runtime function ``fn``, emitted, one for each matrix of a batch: for each of ``results`` its
    `Elements`, or, if there is no batch, a number as an operand.

    ``given(idx)`` are the arguments for the matrix at that index; ``flags`` follow, then the memory to fill.
    """
    batch = results[0].sizes[: len(results[0].sizes) - results[0].rank]
    made = [lw.memory(r.name, r.dtype, r.sizes) if r.sizes else None for r in results]
    numbers: list[Expr] = []

    def one(idx: list[Expr]) -> None:
        args = [*given(idx), *flags]
        out = [part(lw, whole(var, r.sizes), idx) for var, r in zip(made, results) if var is not None and r.rank]
        into = tuple(range(len(args), len(args) + len(out)))
        numbers[:] = _call(lw, fn, (*args, *out), into, results)
        for var, value in zip(made, numbers):
            if var is not None:
                write(lw.b, var, idx, value)

    lw.nest(batch, one)
    if not batch and numbers:
        return [e.op for e in numbers]
    return [stored(lw.b, var, r.sizes) for var, r in zip(made, results)]  # type: ignore[arg-type]


def _call(
    lw: Lowering, fn: str, args: tuple[ir.Operand, ...], into: tuple[int, ...], results: Sequence[Result]
) -> list[Expr]:
    """The numbers among ``results``, as one call gives them; the call is emitted, and fills the arguments at ``into``."""
    b = lw.b
    scalars = [r for r in results if not r.rank]
    if not scalars:
        filled(b, fn, args, into)
        return []
    if len(scalars) == 1:
        return [Expr(b, library_call(b, scalars[0].name, Type(scalars[0].dtype), fn, args, ()))]
    several = tuple(ir.Var(r.name, Type(r.dtype)) for r in scalars)
    b.emit(ir.Call(ir.Library(fn), args, several, (), b.loc))
    return [Expr(b, r) for r in several]


# -------------------------------------------------------------------------------------------------------- rules


def of_matrices(lw: Lowering, stmt: Any, how: Any) -> Any:
    """The result of a function of matrices, one call for each matrix of a batch: elements, a number, or a list of these.

    It uses factors that other statements compute too.
    """
    shared = factors_of(lw, stmt.args[0]) if record_of(stmt).factored else None
    types = stmt.var.type.items if stmt.var.type.kind == "tuple" else [stmt.var.type]
    results = _results(lw, stmt, types, ir.SYNTHETIC if len(types) > 1 else stmt.var.name)
    if shared is None:
        found = calls(lw, entry_of(stmt), passed(lw, [lw.elements(a) for a in stmt.args]), flags_of(stmt), results)
    else:
        flags = (flag(shared[1]),) if len(results) == 1 and results[0].rank else ()
        found = calls(lw, record_of(stmt).factored, _kept(lw, shared[0]), flags, results)
    if stmt.var.type.kind == "tuple":
        return found
    return found[0] if isinstance(found[0], Elements) else lw.b.expr(found[0])


def _results(lw: Lowering, stmt: Any, types: Sequence[Type], name: str) -> list[Result]:
    batch = stmt.args[0].type.rank - 2
    return [Result(name, t.dtype, lw.sizes(t.dims), t.rank - batch) for t in types]


def _kept(lw: Lowering, factors: Factors) -> Given:
    """A function that gives, for an index in the batch, the LU factors and the pivots of that matrix as operands."""

    def given(idx: Sequence[Expr]) -> list[ir.Operand]:
        own = own_index(lw, factors.batch, idx)
        return [part(lw, factors.columns, own), part(lw, factors.pivots, own)]

    return given


def system(lw: Lowering, stmt: Any, how: System) -> Elements:
    """The solution of a linear system, in new memory: by substitution if the matrix is known to be triangular, by shared
    factors if other statements need them too, else by the record's runtime function."""
    record = record_of(stmt)
    lower = lw.matrices.triangle(stmt.args[0]) if record.factored else None
    if lower is not None:
        return _equation(lw, stmt, "linalg.solve_triangular", (flag(lower), flag(False), flag(False)))
    shared = factors_of(lw, stmt.args[0]) if record.factored else None
    if shared is not None:
        factors, turned = shared
        return _equation(lw, stmt, record.factored, (flag(turned),), factors)
    given = [none if stmt.params.get(name) is None else float(stmt.params[name]) for name, none in how.numbers]
    return _equation(lw, stmt, entry_of(stmt), (*flags_of(stmt), *(ir.Const(x, Type("float64")) for x in given)))


def _equation(
    lw: Lowering, stmt: Any, fn: str, flags: Sequence[ir.Operand], factors: Factors | None = None
) -> Elements:
    """The solution, in new memory, by one call of ``fn`` for each matrix of a batch; with ``factors``, from the kept factors of
    the matrix.

    A right side of rank 1 is a matrix with one column.
    """
    a, y = (lw.elements(x) for x in stmt.args)
    dtype, sizes = stmt.var.type.dtype, lw.sizes(stmt.var.type.dims)
    first = passed(lw, [a]) if factors is None else _kept(lw, factors)
    second = passed(lw, [y])
    var = lw.memory(stmt.var.name, dtype, sizes)
    is_vector = y.rank == 1

    def one(idx: list[Expr]) -> None:
        args = [*first(idx), *(() if factors is None else flags), *second(idx), *(flags if factors is None else ())]
        out = part(lw, whole(var, sizes), idx)
        out = column(lw, out, sizes[-1]) if is_vector else out
        filled(lw.b, fn, (*args, out), (len(args),))

    lw.nest(sizes[:-1] if is_vector else sizes[:-2], one)
    return stored(lw.b, var, sizes)
