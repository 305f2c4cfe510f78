"""The functions of ``numpy.linalg``, by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import (
    array,
    axes_of,
    axis_of,
    floats,
    one_of,
    refuse_options,
    shape_text,
    strong,
)
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_products import matmul
from transpile.numpy_api.numpy_reduction import holds, reduce
from transpile.numpy_api.numpy_shape import moved, reshape
from transpile.numpy_api.numpy_sorting import compressed
from transpile.numpy_api.signatures import NO_VALUE
from transpile.ops import language as m
from transpile.ops.cumulative import flip
from transpile.ops.factorisations import mirrored
from transpile.ops.linalg import eye
from transpile.ops.slicing import new_axis
from transpile.ops.sorting import take_along

try:  # the named tuples that these functions return since NumPy 1.25
    from numpy.linalg import _linalg as _results
except ImportError:  # NumPy before 2.0 keeps them elsewhere
    from numpy.linalg import linalg as _results  # type: ignore[attr-defined, no-redef]

EighResult: Any = _results.EighResult
QRResult: Any = _results.QRResult
SlogdetResult: Any = _results.SlogdetResult
SVDResult: Any = _results.SVDResult


def matrix(b: Builder, a: Any, what: str, square: bool = True) -> Expr:
    """The argument ``a`` as floats: a matrix or a stack of matrices. T202, naming the function ``what``, if it has lower rank
    or, with ``square``, is not square."""
    (x,) = floats(b, a)
    if x.rank < 2:
        raise RuleError(f"{what} takes a matrix, not {x.type}", "T202", "pass an array of rank 2")
    if square and not (x.dims[-1] == x.dims[-2] or b.same(x.dims[-1], x.dims[-2])):
        message = f"{what} takes a square matrix, not one of shape {shape_text(x.dims)}"
        raise RuleError(message, "T202", "pass a square matrix")
    return x


def items(found: Expr) -> tuple[Expr, ...]:
    """The items of a primitive with several results, each as an `Expr`."""
    return tuple(found.b.let("item", found, k=k) for k in range(len(found.type.items)))


# -------------------------------------------------------------------------------------------------------- norms


def _norm(b: Builder, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Expr:
    """``np.linalg.norm``: of a vector, of matrices (two axes), or, without axis and order, of all elements."""
    (v,) = floats(b, x)
    order = _order(ord)
    if not v.rank:
        if order is not None or axis is not None:
            raise RuleError("Improper number of dimensions to norm.", "T202")
        return m.absolute(strong(v))
    if axis is None:
        if order is None or (order == "fro" and v.rank == 2) or (order == 2 and v.rank == 1):
            return _euclidean(v, tuple(range(v.rank)), keepdims)
        if v.rank > 2:
            raise RuleError("Improper number of dimensions to norm.", "T202")
        axis = tuple(range(v.rank))
    axes = [axis_of(k, v.rank) for k in (axis if isinstance(axis, tuple) else (axis,))]
    if len(set(axes)) != len(axes):
        raise RuleError("Duplicate axes given.", "T208")
    if len(axes) == 1:
        return vector_norm(v, order, axes[0], keepdims)
    if len(axes) != 2:
        raise RuleError("Improper number of dimensions to norm.", "T202")
    return matrix_norm(v, order, axes, keepdims)


def _order(ord: Any) -> Any:
    """The order of the norm as None, a name or a number, taken from a literal."""
    return ord.op.value if isinstance(ord, Expr) and isinstance(ord.op, ir.Const) else ord


def _euclidean(x: Expr, axes: Sequence[int], keepdims: bool) -> Expr:
    return x.b.let("norm", x, axes=tuple(sorted(axes)), keepdims=bool(keepdims))


def vector_norm(x: Expr, order: Any, axis: int, keepdims: bool) -> Expr:
    """The norms of order ``order`` (None is 2) of the vectors along one axis; T201 for a name."""
    size = m.absolute
    if order is None or order == 2:
        return _euclidean(x, (axis,), keepdims)
    if order == np.inf:
        return reduce("max", size(x), axis, keepdims)
    if order == -np.inf:
        return reduce("min", size(x), axis, keepdims)
    if order == 0:
        return x.b.cast(reduce("count_nonzero", x, axis, keepdims), x.dtype)
    if order == 1:
        return reduce("sum", size(x), axis, keepdims)
    if isinstance(order, str):
        raise RuleError(f"Invalid norm order {order!r} for vectors", "T201")
    return _power_norm(x, order, axis, keepdims)


def _power_norm(x: Expr, order: Any, axis: int, keepdims: bool) -> Expr:
    """The norm of any other order, unscaled as in NumPy; its derivative at 0 is 0."""
    total = reduce("sum", m.pow(m.absolute(x), order), axis, keepdims)
    none = total.eq(0)
    exponent, there = 1.0 / order, 0.0 if order > 0 else np.inf
    return strong(x.b.cast(m.where(none, m.flat(total, there), m.pow(m.where(none, 1.0, total), exponent)), x.dtype))


def matrix_norm(x: Expr, order: Any, axes: Sequence[int], keepdims: bool) -> Expr:
    """The norms of order ``order`` (None is "fro") of the matrices on two axes, rows first; T201 for an unknown one."""
    if order in (None, "fro"):
        return _euclidean(x, axes, keepdims)
    if order in (1, -1, np.inf, -np.inf):
        summed, other = (axes[0], axes[1]) if order in (1, -1) else (axes[1], axes[0])
        sums = reduce("sum", m.absolute(x), summed, True)
        found = reduce("max" if order > 0 else "min", sums, other, True)
    elif order in (2, -2, "nuc"):
        s = x.b.let("svdvals", moved(x, tuple(axes), (-2, -1)))
        found = reduce({2: "max", -2: "min", "nuc": "sum"}[order], s, -1, False)
    else:
        raise RuleError(f"Invalid norm order {order!r} for matrices", "T201")
    dims = tuple(Dim(1) if k in axes else d for k, d in enumerate(x.dims))
    return reshape(found, dims if keepdims else [d for k, d in enumerate(x.dims) if k not in axes])


def _vector_norm(b: Builder, x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Expr:
    """``np.linalg.vector_norm``: several axes are merged into one."""
    (v,) = floats(b, x)
    axes = axes_of(axis, v.rank)
    if len(axes) == 1:
        return vector_norm(v, _order(ord), axes[0], keepdims)
    order = [k for k in range(v.rank) if k not in axes] + list(axes)
    kept = [d for k, d in enumerate(v.dims) if k not in axes]
    total = v.b.size([v.dims[k] for k in axes])
    flat = reshape(m.transpose(v, order), [*kept, b.form(total)])
    y = vector_norm(flat, _order(ord), flat.rank - 1, False)
    return reshape(y, [Dim(1) if k in axes else d for k, d in enumerate(v.dims)]) if keepdims else y


def _matrix_norm(b: Builder, x: Any, keepdims: bool = False, ord: Any = "fro") -> Expr:
    v = matrix(b, x, "matrix_norm", square=False)
    return matrix_norm(v, _order(ord), (v.rank - 2, v.rank - 1), keepdims)


# ------------------------------------------------------------------------------------------- systems and inverses


def _solve(build: Builder, a: Any, b: Any) -> Expr:
    x, y = floats(build, a, b)
    x = matrix(build, x, "np.linalg.solve")
    _fits(build, x, y)
    return general(build, x, y)


def general(build: Builder, x: Expr, y: Expr) -> Expr:
    """The solution of one system or a stack. A right side ``y`` of rank 1 is one vector for all matrices, any other is a stack
    of matrices."""
    if y.rank > 1:
        batch = build.broadcast_dims([x.dims[:-2], y.dims[:-2]])
        return build.let("solve", *(build.stretched(v, (*batch, *v.dims[-2:])) if batch else v for v in (x, y)))
    if x.rank == 2:
        return build.let("solve", x, y)
    column = build.let("solve", x, reshape(y, [y.dims[0], Dim(1)]))  # a stack of matrices, one right side
    return reshape(column, column.dims[:-1])


def stacked(build: Builder, x: Expr, y: Expr, solution: Callable[[Expr, Expr], Expr]) -> Expr:
    """``solution(x, y)``, the solution of one system, for one or a stack; matrices and right sides are broadcast against each
    other first. A right side of rank 1 is one vector for all matrices."""
    if x.rank == 2 and y.rank <= 2:
        return solution(x, y)
    if y.rank == 1:
        column = stacked(build, x, reshape(y, [y.dims[0], Dim(1)]), solution)
        return reshape(column, column.dims[:-1])
    batch = build.broadcast_dims([x.dims[:-2], y.dims[:-2]])
    return solution(*(build.broadcast(v, (*batch, *v.dims[-2:])) for v in (x, y)))


def _fits(b: Builder, x: Expr, y: Expr) -> None:
    if not y.rank:
        raise RuleError("the right-hand side must be an array, not a number", "T202", "pass a vector: np.array([...])")
    n = y.dims[0] if y.rank == 1 else y.dims[-2]
    if not (n == x.dims[-2] or b.same(n, x.dims[-2])):
        shapes = f"shape {shape_text(x.dims)} does not fit a right-hand side of shape {shape_text(y.dims)}"
        raise RuleError(f"a system of {shapes}", "T202", "pass a right-hand side with as many rows as the matrix")


def _square(prim: str, what: str, **params: Any) -> Callable[..., Expr]:
    def build(b: Builder, a: Any) -> Expr:
        return b.let(prim, matrix(b, a, what), **params)

    return build


def _slogdet(b: Builder, a: Any) -> tuple[Expr, ...]:
    return SlogdetResult(*items(b.let("slogdet", matrix(b, a, "np.linalg.slogdet"))))


def _cholesky(b: Builder, a: Any, *, upper: bool = False) -> Expr:
    return b.let("cholesky", matrix(b, a, "np.linalg.cholesky"), upper=bool(upper))


def _qr(b: Builder, a: Any, mode: str = "reduced") -> Any:
    x = matrix(b, a, "np.linalg.qr", square=False)
    square = b.surely(x.dims[-1], x.dims[-2])
    if mode not in ("reduced", "r") and not (mode == "complete" and square):
        raise RuleError(f"the mode {mode!r} of np.linalg.qr is not supported", "T201", "use mode='reduced'")
    found = items(b.let("qr", x, mode="reduced"))
    return found[1] if mode == "r" else QRResult(*found)


def _svd(b: Builder, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """``np.linalg.svd``; without ``compute_uv`` the singular values only."""
    x = matrix(b, a, "np.linalg.svd", square=bool(hermitian))
    if not compute_uv:
        return b.let("svdvals", mirrored(x) if hermitian else x)
    if hermitian:
        return SVDResult(*_of_eigenvectors(*items(b.let("eigh", x, UPLO="L"))))
    if full_matrices and not b.surely(x.dims[-1], x.dims[-2]):
        u, _, vt = items(b.let("svd_full", x))
        return SVDResult(u, b.let("svdvals", x), vt)
    return SVDResult(*items(b.let("svd", x, full_matrices=False)))


def _of_eigenvectors(values: Expr, vectors: Expr) -> tuple[Expr, Expr, Expr]:
    """The factors u, s, vh of the singular value decomposition of a symmetric matrix, from its eigenvalues and eigenvectors;
    the signs of the eigenvalues go into vh."""
    last = values.rank - 1
    order = flip(m.call("argsort", m.absolute(values), axis=last), last)
    sizes, signs = (take_along(v, order, last) for v in (m.absolute(values), m.elementwise("copysign", 1.0, values)))
    n = vectors.dims[-1]
    columns = m.broadcast(new_axis(order, last), (*order.dims[:-1], n, n))
    left = take_along(vectors, columns, last + 1)
    return left, sizes, m.swap_last(left * new_axis(signs, last))


def _svdvals(b: Builder, x: Any) -> Expr:
    return b.let("svdvals", matrix(b, x, "np.linalg.svdvals", square=False))


def _eigh(b: Builder, a: Any, UPLO: str = "L") -> Any:
    return EighResult(*items(b.let("eigh", matrix(b, a, "np.linalg.eigh"), UPLO=_side(UPLO))))


def _eigvalsh(b: Builder, a: Any, UPLO: str = "L") -> Expr:
    return b.let("eigvalsh", matrix(b, a, "np.linalg.eigvalsh"), UPLO=_side(UPLO))


def _side(UPLO: Any) -> str:
    """The triangle that is read, "L" or "U"; like NumPy it accepts small letters."""
    side = UPLO.upper() if isinstance(UPLO, str) else UPLO
    one_of("np.linalg", "UPLO", side, "L", "U")
    return str(side)


def _pinv(b: Builder, a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = NO_VALUE) -> Expr:
    """``np.linalg.pinv``; without a tolerance one primitive."""
    x = matrix(b, a, "np.linalg.pinv", square=False)
    x = mirrored(x) if hermitian else x
    if rcond is not None and rtol is not NO_VALUE:
        raise RuleError("`rtol` and `rcond` can't be both set.", "T131")
    if rcond is None and rtol is NO_VALUE:
        return b.let("pinv", x)
    share = rtol if rcond is None else rcond
    factor = rounding(x) if share is None else array(b, share)
    factor = b.broadcast(factor, x.dims[:-2]) if factor.rank else factor
    return inverse_above(x, factor)[0]


def inverse_above(x: Expr, share: Expr, least: Any = None) -> tuple[Expr, Expr]:
    """The pseudoinverse and the rank of a matrix; singular values that fail `_are_above` count as 0. ``least`` None is 0."""
    u, values, vt = items(x.b.let("svd", x, full_matrices=False))
    counts = _are_above(values, share, least)
    inverses = m.where(counts, 1 / m.where(counts, values, 1), 0)
    y = m.matmul(m.swap_last(vt), new_axis(inverses, values.rank) * m.swap_last(u))
    return y, reduce("sum", counts, -1)


def rounding(x: Expr) -> Expr:
    """NumPy's estimate of the relative rounding error of a matrix: its larger size times the epsilon of its dtype."""
    rows, columns = (x.b.dim(d) for d in x.dims[-2:])
    return m.maximum(rows, columns, py=True) * float(np.finfo(x.dtype).eps)


def _are_above(values: Expr, share: Expr, least: Any = None) -> Expr:
    """A mask of the singular values that exceed ``share`` times the largest one of their matrix, plus ``least`` (None: 0)."""
    bound = _beside(share) * reduce("max", values, -1, values.rank > 1, initial=0.0)
    return values > (bound if least is None else bound + least)


def _beside(x: Expr) -> Expr:
    """One number for each matrix, with an axis to broadcast against its singular values."""
    return new_axis(x, x.rank) if x.rank else x


def _lstsq(build: Builder, a: Any, b: Any, rcond: Any = None) -> tuple[Expr, ...]:
    """The solution, sums of squared residuals (empty unless there are more rows than columns and the rank is full), rank, and
    singular values. Dead code elimination removes the unused ones."""
    x, y = floats(build, a, b)
    if rcond != -1:
        refuse_options("np.linalg.lstsq", rcond=(rcond, None))
    if x.rank != 2 or y.rank not in (1, 2):
        raise RuleError("np.linalg.lstsq takes one matrix and a vector or matrix", "T202")
    _fits(build, x, y)
    found, squares, is_over, rank, values = least_squares(x, y, rcond)
    squares = squares if squares.rank else reshape(squares, (Dim(1),))
    squares = compressed(build, build.broadcast(is_over, squares.dims), squares, 0)
    return found, squares, build.cast(rank, "int32"), values


def least_squares(x: Expr, y: Expr, rcond: float | None) -> tuple[Expr, ...]:
    """``(solution, sums of squared residuals, whether LAPACK returns these, rank, singular values)`` of one matrix. Singular
    values that are at most ``rcond`` times the largest count as 0; None means NumPy's default, -1 LAPACK's."""
    found, values = m.call("lstsq", x, y, rcond=rcond), m.call("svdvals", x)
    rank = m.call("matrix_rank", x) if rcond is None else _rank_of(values, rcond)
    rest = y - m.matmul(x, found)
    rows, columns = (x.b.dim(d) for d in x.dims)
    is_over = x.b.elementwise("logical_and", rows > columns, rank.eq(columns))
    return found, m.sum(rest * rest, (0,)), is_over, rank, values


def _rank_of(values: Expr, share: float) -> Expr:
    share = float(np.finfo(values.dtype).eps) / 2 if share == -1 else share
    return m.sum(_are_above(values, values.b.expr(share)), (0,))


def _matrix_power(b: Builder, a: Any, n: int) -> Expr:
    """``np.linalg.matrix_power`` by repeated squaring; of the inverse for a negative ``n``."""
    x = matrix(b, a, "np.linalg.matrix_power")
    if not isinstance(n, (int, np.integer)):
        raise RuleError("exponent must be an integer", "T201")
    x = x if n < 0 else array(b, a)  # integers stay integers unless the matrix is inverted
    if n == 0:
        return b.broadcast(eye(x), x.dims)
    if n < 0:
        x, n = b.let("inv", x), -n
    if n == 3:
        return matmul(b, matmul(b, x, x), x)
    total: Expr | None = None
    while n:
        n, odd = divmod(n, 2)
        if odd:
            total = x if total is None else matmul(b, total, x)
        if n:
            x = matmul(b, x, x)
    assert total is not None
    return total


def _matrix_rank(b: Builder, A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Expr:
    """``np.linalg.matrix_rank``; of a vector or number 1 unless all elements are 0."""
    if tol is not None and rtol is not None:
        raise RuleError("`tol` and `rtol` can't be both set.", "T131")
    (x,) = floats(b, A)
    if x.rank < 2:
        return b.cast(holds("any", x.ne(0)), "int64")
    x = mirrored(x) if hermitian else x
    if tol is None and rtol is None:
        return b.let("matrix_rank", x)
    values = b.let("svdvals", x)
    if tol is not None:
        return reduce("sum", values > _beside(array(b, tol)), -1)
    return reduce("sum", _are_above(values, array(b, rtol)), -1)


def _cond(b: Builder, x: Any, p: Any = None) -> Expr:
    """``np.linalg.cond``: from the singular values for the orders None, 2 and -2, else with the inverse."""
    a = matrix(b, x, "np.linalg.cond", square=False)
    axes = (a.rank - 2, a.rank - 1)
    if p in (None, 2, -2):
        s = b.let("svdvals", a)
        first, last = reduce("max", s, -1), reduce("min", s, -1)
        return last / first if p == -2 else first / last
    return matrix_norm(a, p, axes, False) * matrix_norm(b.let("inv", a), p, axes, False)


_LINALG: dict[str, Entry] = {
    "norm": Entry(_norm, static=("ord", "axis", "keepdims")),
    "vector_norm": Entry(_vector_norm, static=("ord", "axis", "keepdims")),
    "matrix_norm": Entry(_matrix_norm, static=("keepdims", "ord")),
    "inv": Entry(_square("inv", "np.linalg.inv")),
    "solve": Entry(_solve),
    "det": Entry(_square("det", "np.linalg.det")),
    "slogdet": Entry(_slogdet),
    "cholesky": Entry(_cholesky, static=("upper",)),
    "qr": Entry(_qr, static=("mode",)),
    "svd": Entry(_svd, static=("full_matrices", "compute_uv", "hermitian")),
    "svdvals": Entry(_svdvals),
    "eigh": Entry(_eigh, static=("UPLO",)),
    "eigvalsh": Entry(_eigvalsh, static=("UPLO",)),
    "pinv": Entry(_pinv, static=("hermitian",)),
    "lstsq": Entry(_lstsq, static=("rcond",)),
    "matrix_power": Entry(_matrix_power, static=("n",), memory="place"),
    "tensorinv": Entry(source="library_linalg:tensorinv", static=("ind",)),
    "tensorsolve": Entry(source="library_linalg:tensorsolve", static=("axes",), memory="array"),
    "matrix_rank": Entry(_matrix_rank, static=("hermitian",)),
    "cond": Entry(_cond, static=("p",)),
}
TABLE: dict[str, Entry] = {f"numpy.linalg.{name}": entry for name, entry in _LINALG.items()}
