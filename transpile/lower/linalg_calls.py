"""Linear algebra as calls of `transpile_runtime.compiled.linalg`, one for each matrix of a stack, into memory that is made before.

    y = np.linalg.solve(a, b)     ->      y = np.empty(...)
                                          for i in range(n):
                                              linalg.solve(a[i], b[i], y[i])

A matrix is passed as it lies: a transpose or a slice of a stored array is not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import Type
from transpile.lower.element_functions import Elements, stored, write
from transpile.lower.factor_reuse import Factors, factors_of, flag
from transpile.lower.lowering import Lowering
from transpile.lower.matrix_operands import Given, column, own_index, part, passed, whole
from transpile.lower.runtime_calls import filled, library_call
from transpile.ops.tables import record_of


@dataclass(frozen=True)
class Result:
    """What a call gives: memory of these sizes, of which the last ``rank`` axes are one matrix's; a number if that is 0."""

    name: str
    dtype: str
    sizes: tuple[ir.Operand, ...]
    rank: int


def calls(lw: Lowering, fn: str, given: Given, flags: Sequence[ir.Operand], results: Sequence[Result]) -> list[Any]:
    """The results of a function of matrices, for each of a stack: elements, or numbers where there is no stack."""
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
    """The call, and the numbers that it gives."""
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


def _flags(stmt: Any) -> tuple[ir.Operand, ...]:
    return tuple(ir.Const(stmt.params.get(n) in ("U", "T", 1, True), Type("bool")) for n in record_of(stmt).flags)


def _entry(stmt: Any) -> str:
    return record_of(stmt).entry_of(stmt.params, len(stmt.args))


def of_matrices(lw: Lowering, stmt: Any) -> Any:
    """Matrices to a matrix, a vector or a number; by its factors, if other statements want those too."""
    shared = factors_of(lw, stmt.args[0]) if record_of(stmt).factored else None
    (result,) = _results(lw, stmt, [stmt.var.type], stmt.var.name)
    if shared is None:
        (found,) = calls(lw, _entry(stmt), passed(lw, [lw.elements(a) for a in stmt.args]), _flags(stmt), [result])
    else:
        flags = (flag(shared[1]),) if result.rank else ()
        (found,) = calls(lw, record_of(stmt).factored, _kept(lw, shared[0]), flags, [result])
    return found if isinstance(found, Elements) else lw.b.expr(found)


def several(lw: Lowering, stmt: Any) -> list[Any]:
    """A matrix to several results."""
    shared = factors_of(lw, stmt.args[0]) if record_of(stmt).factored else None
    if shared is not None:
        return calls(lw, record_of(stmt).factored, _kept(lw, shared[0]), (), _results(lw, stmt, stmt.var.type.items))
    given = passed(lw, [lw.elements(stmt.args[0])])
    return calls(lw, _entry(stmt), given, _flags(stmt), _results(lw, stmt, stmt.var.type.items))


def _results(lw: Lowering, stmt: Any, types: Sequence[Type], name: str = ir.SYNTHETIC) -> list[Result]:
    batch = stmt.args[0].type.rank - 2
    return [Result(name, t.dtype, lw.sizes(t.dims), t.rank - batch) for t in types]


def _kept(lw: Lowering, factors: Factors) -> Given:
    """The factors as operands."""

    def given(idx: Sequence[Expr]) -> list[ir.Operand]:
        own = own_index(lw, factors.batch, idx)
        return [part(lw, factors.columns, own), part(lw, factors.pivots, own)]

    return given


def _linear_solve(lw: Lowering, stmt: Any) -> Elements:
    lower = lw.matrices.triangle(stmt.args[0])
    if lower is not None:
        return _equation(lw, stmt, "linalg.solve_triangular", (flag(lower), flag(False), flag(False)))
    shared = factors_of(lw, stmt.args[0])
    if shared is None:
        return _equation(lw, stmt, _entry(stmt), ())
    factors, turned = shared
    return _equation(lw, stmt, record_of(stmt).factored, (flag(turned),), factors)


def _equation(
    lw: Lowering, stmt: Any, fn: str, flags: Sequence[ir.Operand], factors: Factors | None = None
) -> Elements:
    """``b`` of rank 1 is one vector: a matrix of one column."""
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


def _lstsq(lw: Lowering, stmt: Any) -> Any:
    rcond = stmt.params.get("rcond")
    value = ir.Const(-2.0 if rcond is None else float(rcond), Type("float64"))
    return _equation(lw, stmt, _entry(stmt), (value,))


TABLE: dict[str, Callable[[Lowering, Any], Any]] = {
    "solve": _linear_solve,
    "solve_triangular": lambda lw, stmt: _equation(lw, stmt, _entry(stmt), _flags(stmt)),
    "lstsq": _lstsq,
}
