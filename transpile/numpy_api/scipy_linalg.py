"""The functions of ``scipy.linalg``, by dotted name."""

from __future__ import annotations

from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import INT
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, floats, numeric, one_of
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_linalg import (
    _fits,
    _norm,
    _pinv,
    _qr,
    _square,
    _svd,
    _svdvals,
    general,
    inverse_above,
    items,
    least_squares,
    matrix,
    rounding,
    stacked,
)
from transpile.numpy_api.numpy_reduction import holds
from transpile.numpy_api.numpy_shape import reshape
from transpile.numpy_api.numpy_sorting import compressed
from transpile.ops import language as m
from transpile.ops.factorisations import mirrored
from transpile.ops.linalg import solve_triangular, t
from transpile.ops.slicing import raise_if, slice_axis, smaller


def _trans(trans: Any) -> int:
    """1 if the matrix is to be transposed, else 0; T201 for a value that SciPy does not take."""
    found = {0: 0, "N": 0, 1: 1, "T": 1, 2: 1, "C": 1}.get(trans)
    if found is None:
        raise RuleError(f"trans={trans!r} is not one of 0, 1, 2, 'N', 'T', 'C'", "T201")
    return found


def _refuse_stack(name: str, *operands: Expr) -> None:
    """Raises T131 for an operand of rank above 2 before SciPy 1.16, which takes one matrix, treats further axes of a right side
    as columns, and never broadcasts."""
    import scipy

    takes_stacks = tuple(int(p) for p in scipy.__version__.split(".")[:2]) >= (1, 16)
    if not takes_stacks and any(x.rank > 2 for x in operands):
        raise RuleError(
            f"scipy.linalg.{name} of a stack, which SciPy takes from 1.16 on", "T131", "use np.linalg.solve"
        )


def _solve_triangular(
    build: Builder, a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Expr:
    x, y = floats(build, a, b)
    x = matrix(build, x, "solve_triangular")
    _refuse_stack("solve_triangular", x, y)
    _fits(build, x, y)
    how = bool(lower), _trans(trans), bool(unit_diagonal)
    return stacked(build, x, y, lambda x, y: solve_triangular(x, y, *how))


def _scipy_solve(
    build: Builder, a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False
) -> Expr:
    """``scipy.linalg.solve``: a symmetric matrix is read from one triangle; T131 for other structures."""
    x, y = floats(build, a, b)
    x = matrix(build, x, "solve")
    _refuse_stack("solve", x, y)
    _fits(build, x, y)
    if assume_a in _SYMMETRIC:
        x = mirrored(x) if lower else mirrored(t(x))
    elif assume_a not in (None, "gen", "general"):
        raise RuleError(f"scipy.linalg.solve: assume_a={assume_a!r} is not supported", "T131", "leave it out")
    return general(build, t(x) if transposed else x, y)


_SYMMETRIC = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")
"""The values of ``assume_a`` for which SciPy reads one triangle only."""


def _scipy_cholesky(b: Builder, a: Any, lower: bool = False) -> Expr:
    """The Cholesky factor, lower or upper; SciPy reads the same triangle that it returns."""
    return b.let("cholesky", matrix(b, a, "cholesky"), upper=not lower)


def _cho_factor(b: Builder, a: Any, lower: bool = False) -> tuple[Any, bool]:
    """The Cholesky factor and True if it is the lower one; its other triangle is zero, where SciPy leaves the old values."""
    return _scipy_cholesky(b, a, lower), bool(lower)


def _cho_solve(build: Builder, c_and_lower: Any, b: Any) -> Expr:
    """``scipy.linalg.cho_solve`` with the pair that ``cho_factor`` returns."""
    factor, lower = c_and_lower
    lower = getattr(getattr(lower, "op", None), "value", lower)
    c, y = floats(build, factor, b)
    lower = bool(lower)
    c = matrix(build, c, "cho_solve")
    _refuse_stack("cho_solve", c, y)
    _fits(build, c, y)

    def solution(c: Expr, y: Expr) -> Expr:
        first = solve_triangular(c, y, lower, 0 if lower else 1)
        return solve_triangular(c, first, lower, 1 if lower else 0)

    return stacked(build, c, y, solution)


def _scipy_lu(b: Builder, a: Any, permute_l: bool = False, p_indices: bool = False) -> Any:
    """``scipy.linalg.lu``: (p, l, u), with ``permute_l`` (p @ l, u), with ``p_indices`` p as indices."""
    x = matrix(b, a, "scipy.linalg.lu", square=False)
    p, low, up = _lu(b, x)
    if permute_l:
        return m.matmul(p, low), up
    if p_indices:
        p = b.cast(b.let("argmax", p, axis=p.rank - 1, keepdims=False), "int32")
    return p, low, up


def _lu(b: Builder, x: Expr) -> tuple[Expr, Expr, Expr]:
    """The factors (p, l, u) of each matrix; if it is not square, those of its square part, and the rest by substitution."""
    rows, columns = x.dims[-2:]
    if b.surely(rows, columns):
        p, low, up = items(b.let("lu", x))
        return p, low, up
    k = smaller(rows, columns)
    p = items(b.let("lu", b.elementwise("stop_gradient", x)))[0]
    ordered = m.matmul(t(p), x)
    top, bottom = slice_axis(ordered, -2, 0, k), slice_axis(ordered, -2, k)
    _, low, up = items(b.let("lu", slice_axis(top, -1, 0, k)))
    if k != columns:
        right = solve_triangular(low, slice_axis(top, -1, k), True, 0, True)
        right_of_up = b.let("concatenate", up, right, axis=x.rank - 1)
    if k != rows:
        below = t(solve_triangular(up, t(slice_axis(bottom, -1, 0, k)), False, 1))
        low = b.let("concatenate", low, below, axis=x.rank - 2)
    return p, low, up if k == columns else right_of_up


def _scipy_svd(
    b: Builder, a: Any, full_matrices: bool = True, compute_uv: bool = True, lapack_driver: Any = "gesdd"
) -> Any:
    one_of("scipy.linalg.svd", "lapack_driver", lapack_driver, "gesdd", "gesvd")
    found = _svd(b, a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def _scipy_qr(b: Builder, a: Any, mode: str = "full", pivoting: Any = False) -> Any:
    if mode not in ("economic", "full") or pivoting:
        raise RuleError(f"scipy.linalg.qr with mode={mode!r} is not supported", "T201", "use np.linalg.qr")
    return tuple(_qr(b, a, "reduced" if mode == "economic" else "complete"))


def _scipy_lstsq(build: Builder, a: Any, b: Any, lapack_driver: Any = None) -> Any:
    """``scipy.linalg.lstsq``: solution, sums of squared residuals, rank, singular values."""
    one_of("scipy.linalg.lstsq", "lapack_driver", lapack_driver, None, "gelsd", "gelss")  # gelsy gives other results
    x, y = floats(build, a, b)
    if x.rank != 2 or y.rank not in (1, 2):
        raise RuleError("scipy.linalg.lstsq takes one matrix and a vector or matrix", "T202")
    _fits(build, x, y)
    found, squares, is_over, rank, values = least_squares(x, y, float(np.finfo(x.dtype).eps))
    if found.rank == 1:  # one right side: a number, NaN where SciPy has an empty array
        squares = build.elementwise("where", is_over, squares, float("nan"))
    else:
        squares = compressed(build, build.broadcast(is_over, squares.dims), squares, 0)
    return found, squares, build.cast(rank, INT), values


def _scipy_eigh(build: Builder, a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False) -> Any:
    if b is not None:
        hint = "reduce it to one matrix with the Cholesky factor of b"
        raise RuleError("scipy.linalg.eigh of two matrices is not supported", "T131", hint)
    x = matrix(build, a, "scipy.linalg.eigh")
    side = "L" if lower else "U"
    return build.let("eigvalsh", x, UPLO=side) if eigvals_only else items(build.let("eigh", x, UPLO=side, robust=True))


def _scipy_eigvalsh(build: Builder, a: Any, b: Any = None, *, lower: bool = True) -> Any:
    return _scipy_eigh(build, a, b, lower=lower, eigvals_only=True)


def _scipy_det(b: Builder, a: Any) -> Expr:
    """The determinant as float64, as in SciPy also for float32."""
    return b.let("det", b.cast(matrix(b, a, "det"), "float64"))


def _scipy_norm(b: Builder, a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Expr:
    return _norm(b, a, ord, axis, keepdims)


def _block_diag(b: Builder, *arrs: Any) -> Expr:
    """``scipy.linalg.block_diag``: matrices along the diagonal."""
    parts = [x if x.rank == 2 else reshape(x, [Dim(1)] * (2 - x.rank) + list(x.dims)) for x in numeric(b, *arrs)]
    rows = []
    for k, x in enumerate(parts):
        none = b.cast(0, x.dtype)
        row = [
            b.let("full", none, dims=(x.dims[0], y.dims[1]), dtype=x.dtype) if j != k else x
            for j, y in enumerate(parts)
        ]
        rows.append(row[0] if len(row) == 1 else b.let("concatenate", *row, axis=1))
    return rows[0] if len(rows) == 1 else b.let("concatenate", *rows, axis=0)


def _finite(entry: Entry) -> Entry:
    """A copy of the entry with a check that raises as SciPy does if an operand has an infinity or a NaN, unless the additional
    argument ``check_finite`` is False."""
    build, own = entry.build, entry.takes
    assert build is not None
    operands = [name for name in own.parameters if name in ("a", "b", "c_and_lower")]

    def checked(b: Builder, *args: Any, check_finite: bool = True, **kwargs: Any) -> Any:
        if check_finite:
            given = own.bind(*args, **kwargs).arguments
            found = {name: given[name] for name in operands if given.get(name) is not None}
            _check(b, [array(b, v[0] if name == "c_and_lower" else v) for name, v in found.items()])
        return build(b, *args, **kwargs)

    flag = Parameter("check_finite", Parameter.KEYWORD_ONLY, default=True)
    first = Parameter("build", Parameter.POSITIONAL_ONLY)
    checked.__signature__ = Signature([first, *own.parameters.values(), flag])  # type: ignore[attr-defined]
    return replace(entry, build=checked, static=(*entry.static, "check_finite"))


def _check(b: Builder, operands: list[Expr]) -> None:
    finite = [b.elementwise("isfinite", x) for x in operands if x.type.is_float]
    tests = [holds("all", x) for x in finite]
    if tests:
        passes = tests[0] if len(tests) == 1 else b.elementwise("logical_and", *tests)
        raise_if(m.logical_not(passes), "ValueError", "array must not contain infs or NaNs")


def _scipy_pinv(b: Builder, a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False) -> Any:
    """``scipy.linalg.pinv``: with ``return_rank`` a pair of the pseudoinverse and the rank (for a stack a list)."""
    if atol is None and rtol is None and not return_rank:
        return _pinv(b, a)
    x = matrix(b, a, "scipy.linalg.pinv", square=False)
    share = rounding(x) if rtol is None else array(b, rtol)
    found = inverse_above(x, share, None if atol is None else array(b, atol))
    if return_rank:
        return found if x.rank == 2 else [*found]  # for a stack SciPy returns a list
    return found[0]


_ENTRIES: dict[str, Entry] = {
    "solve_triangular": Entry(_solve_triangular, static=("trans", "lower", "unit_diagonal")),
    "solve": Entry(_scipy_solve, static=("lower", "assume_a", "transposed")),
    "cholesky": Entry(_scipy_cholesky, static=("lower",)),
    "cho_factor": Entry(_cho_factor, static=("lower",)),
    "cho_solve": Entry(_cho_solve),
    "expm": Entry(lambda b, A: _square("expm", "scipy.linalg.expm")(b, A)),
    "lu": Entry(_scipy_lu, static=("permute_l", "p_indices")),
    "inv": Entry(lambda b, a: b.let("inv", matrix(b, a, "inv"))),
    "det": Entry(_scipy_det),
    "svd": Entry(_scipy_svd, static=("full_matrices", "compute_uv", "lapack_driver")),
    "svdvals": Entry(lambda b, a: _svdvals(b, a)),
    "qr": Entry(_scipy_qr, static=("mode", "pivoting"), idle=("lwork",)),
    "pinv": Entry(_scipy_pinv, static=("return_rank",)),
    "lstsq": Entry(_scipy_lstsq, static=("lapack_driver",)),
    "eigh": Entry(_scipy_eigh, static=("lower", "eigvals_only")),
    "eigvalsh": Entry(_scipy_eigvalsh, static=("lower",)),
    "norm": Entry(_scipy_norm, static=("ord", "axis", "keepdims")),
    "block_diag": Entry(_block_diag),
}

_UNCHECKED = ("expm", "block_diag")
TABLE: dict[str, Entry] = {
    f"scipy.linalg.{name}": entry if name in _UNCHECKED else _finite(entry) for name, entry in _ENTRIES.items()
}
