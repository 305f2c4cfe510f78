"""Linear equations, determinants and triangular factors of one matrix of any memory order, into existing memory.

The routines are LAPACK's, called as NumPy calls them, so that the same matrices are singular, and NaN and infinity propagate in
the same way. A matrix of at most 16 rows that is far from singular is factored by loops, in a third to two thirds of the time.
"""

import math

import numpy as np

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.layout import has_columns, in_rows, put_turned, turned
from transpile_runtime.compiled.options import inner
from transpile_runtime.compiled.symbols import routine

_getrf = routine("getrf", "m n a lda ipiv info")
_potrf = routine("potrf", "UPLO n a lda info")
_trsm = routine("trsm", "SIDE UPLO TRANSA DIAG m n alpha a lda b ldb")
_NO, _YES, _LOWER, _UPPER, _RIGHT, _UNIT = ord("N"), ord("T"), ord("L"), ord("U"), ord("R"), ord("U")
_SMALL = 4
_SHORT = 8  # rows and right-hand sides up to which loops are faster than the library (and sums along rows than along columns)
_FEW = 16  # rows up to which loops are faster than the library


# ------------------------------------------------------------------------------------------------------ factors


@apart("int64(real[:, ::1], int64[::1])", False)
def factor(columns, pivots):
    """Replaces the columns of a matrix by its LU factors; ``pivots`` gets, for each row in order, the row exchanged with it.

    The result is 0, or the number (from 1) of the first column without a pivot.
    """
    n, m = columns.shape
    count = min(m, n)
    if count == 0:  # the library rejects a leading dimension of 0
        return 0
    pivots[:count] = 0
    info = _getrf(m, n, columns, m, pivots)
    if count < 2 or pivots[0] < 2**32:
        for k in range(count):
            pivots[k] -= 1
    else:  # the library's integers have 32 bits: two of them are in one of ours
        for k in range(count - 1, -1, -1):
            pivots[k] = (pivots[k // 2] >> (32 * (k % 2))) % 2**32 - 1
    return info


@inner
def substitute(columns, pivots, transposed, out):
    """Replaces the right-hand sides in ``out`` by the solutions, using the factors and pivots from `factor`.

    With ``transposed`` the solutions are those of the transpose. The two loops that exchange rows are written out: one function
    for both took 4 % of the time of a system of eight rows.
    """
    n, width = out.shape
    if not transposed:
        for k in range(n):
            other = pivots[k]
            if other != k:
                for c in range(width):
                    out[k, c], out[other, c] = out[other, c], out[k, c]
    is_short = max(n, width) <= _SHORT
    if transposed and (is_short or width == 1):
        _substitute_transposed(columns, out)
    elif is_short:
        _substitute_few(columns, out)
    elif width == 1:
        _substitute_one(columns, out)
    else:
        one, ld = out.dtype.type(1), max(width, 1)
        if transposed:
            _trsm(_RIGHT, _UPPER, _NO, _NO, width, n, one, columns, n, out, ld)
            _trsm(_RIGHT, _LOWER, _NO, _UNIT, width, n, one, columns, n, out, ld)
        else:
            _trsm(_RIGHT, _LOWER, _YES, _UNIT, width, n, one, columns, n, out, ld)
            _trsm(_RIGHT, _UPPER, _YES, _NO, width, n, one, columns, n, out, ld)
    if transposed:
        for k in range(n - 1, -1, -1):
            other = pivots[k]
            if other != k:
                for c in range(width):
                    out[k, c], out[other, c] = out[other, c], out[k, c]


@inner
def _substitute_one(columns, out):
    """Replaces the one right-hand side in ``out`` by the solution for the factors ``columns``, rows exchanged already, by loops
    along the columns.

    A library call is slower up to a hundred rows, and no faster above.
    """
    n = out.shape[0]
    for k in range(n):
        x = out[k, 0]
        for i in range(k + 1, n):
            out[i, 0] -= columns[k, i] * x
    for k in range(n - 1, -1, -1):
        x = out[k, 0] / columns[k, k]
        out[k, 0] = x
        for i in range(k):
            out[i, 0] -= columns[k, i] * x


@inner
def _substitute_few(columns, out):
    """Replaces the right-hand sides in ``out`` by the solutions for the factors ``columns``, rows exchanged already, by sums
    along the rows.

    The latest value comes last in each sum, so that the rest of the sum does not wait for it.
    """
    n = out.shape[0]
    for c in range(out.shape[1]):
        for i in range(n):
            total = out[i, c]
            for k in range(i):
                total -= columns[k, i] * out[k, c]
            out[i, c] = total
        for i in range(n - 1, -1, -1):
            total = out[i, c]
            for k in range(n - 1, i, -1):
                total -= columns[k, i] * out[k, c]
            out[i, c] = total / columns[i, i]


@inner
def _substitute_transposed(columns, out):
    """Replaces the right-hand sides in ``out`` by the solutions for the transpose of the factors ``columns``, whose rows are
    not exchanged yet, by sums along the columns."""
    n = out.shape[0]
    for c in range(out.shape[1]):
        for i in range(n):
            total = out[i, c]
            for k in range(i):
                total -= columns[i, k] * out[k, c]
            out[i, c] = total / columns[i, i]
        for i in range(n - 1, -1, -1):
            total = out[i, c]
            for k in range(n - 1, i, -1):
                total -= columns[i, k] * out[k, c]
            out[i, c] = total


# ---------------------------------------------------------------------------------- by factors that are kept


@apart("void(real[:, :], real[:, ::1], int64[::1])")
def lu_factor(a, columns, pivots):
    """Fills ``columns`` with the factors of the square matrix ``a``, by columns, and ``pivots``, whose last element is nonzero
    if the matrix is singular."""
    n = columns.shape[0]
    if a.shape[0] != n or a.shape[1] != n or pivots.shape[0] != n + 1:
        raise ValueError("lu_factor: the sizes do not agree")
    put_turned(a, columns)
    if n <= _FEW:
        if _far_from_singular(columns, pivots):
            pivots[n] = 0
            return
        put_turned(a, columns)
    pivots[n] = factor(columns, pivots)


@inner
def _far_from_singular(columns, pivots):
    """Replaces the columns of a square matrix by its factors and fills ``pivots``; True if it is so far from singular that the
    library finds each pivot too.

    The library adds in another order: where it could meet a zero, or NaN, only the library itself decides. Its pivots differ by
    rounding errors of the other factors (Golub and Van Loan, Matrix Computations, 3.3); half of the digits are left for them.
    """
    n, one = columns.shape[0], columns.dtype.type(1)
    least = total = columns.dtype.type(0)
    for k in range(n):
        column = columns[k]
        best, size = k, abs(column[k])
        for i in range(k + 1, n):
            other = abs(column[i])
            if other > size:
                best, size = i, other
        pivots[k] = best
        if best != k:
            for j in range(n):
                columns[j, k], columns[j, best] = columns[j, best], columns[j, k]
        least = size if k == 0 or size < least else least
        inverse = one / column[k]
        for i in range(k + 1, n):
            column[i] *= inverse
        for j in range(k, n):
            total += abs(columns[j, k])
        for i in range(k + 1, n - 1, 2):  # two rows at once: each element of row k is read for both
            first, second = column[i], column[i + 1]
            for j in range(k + 1, n):
                columns[j, i] -= first * columns[j, k]
                columns[j, i + 1] -= second * columns[j, k]
        if (n - k) % 2 == 0:
            for j in range(k + 1, n):
                columns[j, n - 1] -= column[n - 1] * columns[j, k]
    return least > total * math.sqrt(np.finfo(columns.dtype).eps)


@apart("void(real[:, ::1], int64[::1], boolean, real[:, :], real[:, ::1])")
def lu_solve(columns, pivots, transposed, b, out):
    """Fills ``out`` with the solution of ``a @ out = b``, or if ``transposed`` of ``a.T @ out = b``, from the factors of ``a``;
    LinAlgError if it is singular."""
    n, width = out.shape
    if columns.shape[0] != n or b.shape[0] != n or b.shape[1] != width:
        raise ValueError("solve: the sizes do not agree")
    if pivots[n] != 0:
        raise np.linalg.LinAlgError("Singular matrix")
    for i in range(n):
        for c in range(width):
            out[i, c] = b[i, c]
    substitute(columns, pivots, transposed, out)


@apart("void(real[:, ::1], int64[::1], boolean, real[:, ::1])")
def lu_inv(columns, pivots, transposed, out):
    """Fills ``out`` with the inverse, or with ``transposed`` its transpose, from the factors; LinAlgError if the matrix is
    singular."""
    n = out.shape[0]
    if pivots[n] != 0:
        raise np.linalg.LinAlgError("Singular matrix")
    for i in range(n):
        for j in range(n):
            out[i, j] = 1 if i == j else 0
    substitute(columns, pivots, transposed, out)


@apart("UniTuple(real, 2)(real[:, ::1], int64[::1])")
def lu_slogdet(columns, pivots):
    """From the factors, the sign of the determinant and the logarithm of its absolute value; 0 and -inf if the matrix is
    singular."""
    n = columns.shape[0]
    sign, size = columns.dtype.type(1), columns.dtype.type(0)
    if pivots[n] > 0:
        return columns.dtype.type(0), columns.dtype.type(-math.inf)
    for k in range(n):
        value = columns[k, k]
        if (pivots[k] != k) != (value < 0):
            sign = -sign
        size += math.log(abs(value))
    return sign, size


@apart("real(real[:, ::1], int64[::1])")
def lu_det(columns, pivots):
    sign, size = lu_slogdet(columns, pivots)
    return sign * math.exp(size)


# ----------------------------------------------------------------------------------------------- at once


@apart("void(real[:, :], real[:, :], real[:, ::1])")
def solve(a, b, out):
    """Fills ``out`` with the solution of ``a @ out = b``; LinAlgError if ``a`` is singular."""
    n = out.shape[0]
    columns, pivots = np.empty((n, n), a.dtype), np.empty(n + 1, np.int64)
    lu_factor(a, columns, pivots)
    lu_solve(columns, pivots, False, b, out)


@apart("void(real[:, :], real[:, ::1])")
def inv(a, out):
    n = out.shape[0]
    columns, pivots = np.empty((n, n), a.dtype), np.empty(n + 1, np.int64)
    lu_factor(a, columns, pivots)
    lu_inv(columns, pivots, False, out)


@apart("UniTuple(real, 2)(real[:, :])")
def slogdet(a):
    """The sign of the determinant and the logarithm of its absolute value; 0 and -inf if the matrix is singular."""
    n = a.shape[0]
    columns, pivots = np.empty((n, n), a.dtype), np.empty(n + 1, np.int64)
    lu_factor(a, columns, pivots)
    return lu_slogdet(columns, pivots)


@apart("real(real[:, :])")
def det(a):
    sign, size = slogdet(a)
    return sign * math.exp(size)


@apart("void(real[:, :], real[:, ::1], real[:, ::1], real[:, ::1])")
def lu(a, permutation, lower, upper):
    """Fills the three matrices so that ``a = permutation @ lower @ upper``, with partial pivoting."""
    m, n = a.shape
    columns, pivots = turned(a), np.empty(min(m, n), np.int64)
    factor(columns, pivots)
    order = np.arange(m)
    for k in range(min(m, n)):
        other = pivots[k]
        order[k], order[other] = order[other], order[k]
    for i in range(m):
        for j in range(m):
            permutation[j, i] = 1 if order[i] == j else 0
        for j in range(min(m, n)):
            lower[i, j] = columns[j, i] if j < i else 1 if j == i else 0
    for i in range(min(m, n)):
        for j in range(n):
            upper[i, j] = columns[j, i] if j >= i else 0


@apart("void(real[:, :], boolean, real[:, ::1])", False)
def cholesky(a, upper, out):
    """Fills ``out`` with the Cholesky factor, lower or ``upper``, of a symmetric matrix, of which only that triangle is read;
    LinAlgError unless it is positive definite."""
    n, one = out.shape[0], out.dtype.type(1)
    columns = turned(a)
    info = 0
    if n > _SMALL:
        info = _potrf(_UPPER if upper else _LOWER, n, columns, n)
    else:
        low = columns if upper else columns.T
        for j in range(n):
            for i in range(j, n):
                total = out.dtype.type(0)
                for k in range(j):
                    total += low[i, k] * low[j, k]
                low[i, j] -= total
                if i > j:
                    low[i, j] *= one / low[j, j]
                elif low[j, j] <= 0:  # LAPACK accepts NaN
                    info = 1
                else:
                    low[j, j] = math.sqrt(low[j, j])
    if info > 0:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    for i in range(n):
        for j in range(n):
            out[i, j] = columns[j, i] if i == j or (i < j) == upper else 0


# ---------------------------------------------------------------------------------------------------- triangles


@apart("void(real[:, :], real[:, :], boolean, boolean, boolean, real[:, ::1])", {"contract", "reassoc"})
def solve_triangular(a, b, lower, transposed, unit, out):
    """Fills ``out`` with the solution of ``a @ out = b``, or if ``transposed`` of ``a.T @ out = b``, for a triangular ``a``, by
    substitution.

    Only the ``lower`` or upper triangle is read. With ``unit`` the diagonal counts as 1; otherwise LinAlgError if it has a
    zero.
    """
    n, width = out.shape
    if a.shape[0] != n or a.shape[1] != n or b.shape[0] != n or b.shape[1] != width:
        raise ValueError("solve_triangular: the sizes do not agree")
    if has_columns(a) and n > 1:  # rows of the transpose
        a, lower, transposed = a.T, not lower, not transposed
    else:
        a = turned(a.T)
    for i in range(n):
        if not unit and a[i, i] == 0:
            raise np.linalg.LinAlgError("singular matrix: a diagonal element is zero")
    put_turned(b.T, out)
    rows = in_rows(a)
    if width > 1 and n > 2 * _SMALL:
        side, turn = (_UPPER if lower else _LOWER), (_YES if transposed else _NO)
        one = out.dtype.type(1)
        _trsm(_RIGHT, side, turn, _UNIT if unit else _NO, width, n, one, rows, rows.shape[1], out, width)
        return
    forward = lower != transposed
    for step in range(n):
        i = step if forward else n - 1 - step
        low, high = (0, i) if lower else (i + 1, n)
        for c in range(width):
            if transposed:  # column by column of the transpose
                if not unit:
                    out[i, c] /= rows[i, i]
                for j in range(low, high):
                    out[j, c] -= rows[i, j] * out[i, c]
            else:
                total = out.dtype.type(0)
                for j in range(low, high):
                    total += rows[i, j] * out[j, c]
                out[i, c] = (out[i, c] - total) / (1 if unit else rows[i, i])
