"""Linear algebra as calls of `runtime.compiled.linalg`, each on a stack of matrices (batch, rows, columns)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from transpile.core.builder import Expr
from transpile.core.nodes import SYNTHETIC, Const, Operand
from transpile.core.types import INT, Type
from transpile.lower.elements import Elements, read, stored
from transpile.lower.library import call, items, view
from transpile.lower.places import broadcast_index

if TYPE_CHECKING:
    from transpile.lower.lowering import Lowering


def stack_of(lw: Lowering, x: Elements, name: str = "a") -> Operand:
    """The matrices of an array as a stack."""
    x = lw.rooted(x, name)
    batch = lw.b.expr(1)
    for s in x.sizes[:-2]:
        batch = batch * lw.b.expr(s)
    return view(lw, x, (batch.op, *x.sizes[-2:]))


def back(lw: Lowering, found: Elements, sizes: Sequence[Operand]) -> Any:
    """A result of a stack in its own shape; a scalar if it has none."""
    if not sizes:
        root = found.root
        assert root is not None
        return read(lw.b, root, [lw.b.expr(0)] * found.rank)
    return stored(lw.b, view(lw, found, sizes), sizes)  # type: ignore[arg-type]


def _flags(stmt: Any, names: Sequence[str]) -> tuple[Operand, ...]:
    return tuple(Const(_truth(stmt.params.get(n)), Type("bool")) for n in names)


def _truth(value: Any) -> bool:
    return value in ("U", "T", 1, True)


def _single(fn: str, rank: int, *flags: str) -> Callable[[Lowering, Any], Any]:
    """A matrix to a matrix (rank 2), a vector (1) or a number (0)."""

    def rule(lw: Lowering, stmt: Any) -> Any:
        x = lw.elements(stmt.args[0])
        args = (stack_of(lw, x), *_flags(stmt, flags))
        found = call(lw, fn, stmt.var.type.dtype, rank + 1, *args, name=stmt.var.name)
        return back(lw, found, lw.sizes(stmt.var.type.dims))

    return rule


def _several(fn: str, *flags: str) -> Callable[[Lowering, Any], list[Any]]:
    """A matrix to several results."""

    def rule(lw: Lowering, stmt: Any) -> list[Any]:
        x = lw.elements(stmt.args[0])
        batch = x.rank - 2
        types = [(t.dtype, t.rank - batch + 1) for t in stmt.var.type.items]
        found = items(lw, fn, types, stack_of(lw, x), *_flags(stmt, flags))
        out = [back(lw, e, lw.sizes(t.dims)) for e, t in zip(found, stmt.var.type.items)]
        return [e.op if isinstance(e, Expr) else e for e in out]

    return rule


def _qr(lw: Lowering, stmt: Any) -> Any:
    x = lw.elements(stmt.args[0])
    mode = stmt.params.get("mode", "reduced")
    if mode == "r":
        return back(lw, call(lw, "linalg.qr_r", x.dtype, 3, stack_of(lw, x)), lw.sizes(stmt.var.type.dims))
    return _several("linalg.qr")(lw, stmt)


def _solve(fn: str, *flags: str) -> Callable[[Lowering, Any], Any]:
    """``a x = b`` with batches that broadcast; ``b`` of rank 1 is one vector."""

    def rule(lw: Lowering, stmt: Any) -> Any:
        a, y = (lw.elements(x) for x in stmt.args)
        is_vector = y.rank == 1
        if is_vector:
            y = _column(y)
        dims = stmt.var.type.dims
        sizes = lw.sizes(dims)
        batch = sizes[:-1] if is_vector else sizes[:-2]
        if batch:
            a, y = _spread(lw, a, batch), _spread(lw, y, batch)
        args = (stack_of(lw, a), stack_of(lw, y, "b"), *_flags(stmt, flags))
        found = call(lw, fn, stmt.var.type.dtype, 3, *args, name=stmt.var.name)
        return back(lw, found, sizes)

    return rule


def _column(y: Elements) -> Elements:
    return replace(
        y, sizes=(*y.sizes, Const(1, INT)), root=None, swapped=None, unit=None, at=lambda idx: y.at(idx[:-1])
    )


def _spread(lw: Lowering, x: Elements, batch: Sequence[Operand]) -> Elements:
    """The matrices broadcast to a batch."""
    if x.rank == len(batch) + 2 and all(a == b for a, b in zip(x.sizes, batch)):
        return x
    x = lw.steady(x, SYNTHETIC)
    sizes = (*batch, *x.sizes[-2:])
    return replace(x, sizes=sizes, root=None, swapped=None, unit=None, at=lambda idx: x.at(broadcast_index(lw, x, idx)))


def _lstsq(lw: Lowering, stmt: Any) -> Any:
    a, y = (lw.elements(x) for x in stmt.args)
    sizes = lw.sizes(stmt.var.type.dims)
    if y.rank == 1:
        y = _column(y)
    rcond = stmt.params.get("rcond")
    value = Const(-2.0 if rcond is None else float(rcond), Type("float64"))
    found = call(
        lw, "linalg.lstsq", stmt.var.type.dtype, 3, stack_of(lw, a), stack_of(lw, y, "b"), value, name=stmt.var.name
    )
    return back(lw, found, sizes)


TABLE: dict[str, Callable[[Lowering, Any], Any]] = {
    "inv": _single("linalg.inv", 2),
    "det": _single("linalg.det", 0),
    "cholesky": _single("linalg.cholesky", 2, "upper"),
    "eigvalsh": _single("linalg.eigvalsh", 1, "UPLO"),
    "svdvals": _single("linalg.svdvals", 1),
    "pinv": _single("linalg.pinv", 2),
    "matrix_rank": _single("linalg.matrix_rank", 0),
    "expm": _single("linalg.expm", 2),
    "solve": _solve("linalg.solve"),
    "solve_triangular": _solve("linalg.solve_triangular", "lower", "trans", "unit_diagonal"),
    "lstsq": _lstsq,
    "qr": _qr,
}
SEVERAL: dict[str, Callable[[Lowering, Any], list[Any]]] = {
    "qr": _qr,
    "svd": _several("linalg.svd"),
    "svd_full": _several("linalg.svd_full"),
    "eigh": _several("linalg.eigh", "UPLO"),
    "slogdet": _several("linalg.slogdet"),
    "lu": _several("linalg.lu"),
}
