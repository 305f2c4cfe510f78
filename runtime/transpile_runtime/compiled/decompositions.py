"""Eigenvalues, singular values, orthogonal factors and functions of them, for one matrix, into existing memory, by LAPACK."""

import math

import numpy as np

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.blas import gemm
from transpile_runtime.compiled.layout import put_turned, turned
from transpile_runtime.compiled.symbols import routine

_syevd = routine("syevd", "JOBZ UPLO n a lda w work lwork iwork liwork info")
_syevr = routine("syevr", "JOBZ RANGE UPLO n a lda vl vu il iu abstol m w z ldz isuppz work lwork iwork liwork info")
_gesdd = routine("gesdd", "JOBZ m n a lda s u ldu vt ldvt work lwork iwork info")
_geqrf = routine("geqrf", "m n a lda tau work lwork info")
_orgqr = routine("orgqr", "m n k a lda tau work lwork info")
_gelsd = routine("gelsd", "m n nrhs a lda b ldb s rcond rank work lwork iwork info")
_NONE, _SOME, _ALL, _VECTORS, _LOWER, _UPPER = ord("N"), ord("S"), ord("A"), ord("V"), ord("L"), ord("U")


# -------------------------------------------------------------------------------------------------- eigenvalues


@apart("void(real[:, ::1], boolean, real[::1], boolean)")
def eigen(columns, upper, values, wants_vectors):
    """Fills ``values`` with the eigenvalues, ascending, of a symmetric matrix given by its columns; with ``wants_vectors`` the
    eigenvectors replace these.

    Only the ``upper`` or lower triangle is read; ``columns`` is overwritten. LinAlgError, or up to size 2 NaN, if an element is
    not finite.
    """
    n = columns.shape[0]
    for j in range(n):
        for i in range(0 if upper else j, j + 1 if upper else n):
            if columns[j, i] - columns[j, i] != 0:  # LAPACK may not terminate
                if n > 2:
                    raise np.linalg.LinAlgError("Eigenvalues did not converge")
                values[:], columns[:] = math.nan, math.nan
                return
    kind, side = (_VECTORS if wants_vectors else _NONE), (_UPPER if upper else _LOWER)
    work, more = np.zeros(1, values.dtype), np.zeros(1, np.int64)
    _syevd(kind, side, n, columns, max(n, 1), values, work, -1, more, -1)
    size, count = int(work[0]), more[0]
    work, more = np.empty(size, values.dtype), np.empty(count, np.int64)
    if _syevd(kind, side, n, columns, max(n, 1), values, work, size, more, count) != 0:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")


@apart("void(real[:, :], boolean, real[::1], real[:, ::1])")
def eigh(a, upper, values, vectors):
    """Fills ``values`` with the eigenvalues of a symmetric matrix, ascending, and the columns of ``vectors`` with the
    eigenvectors. Only the upper or lower triangle of ``a`` is read. Raises LinAlgError if LAPACK fails."""
    columns = turned(a)
    eigen(columns, upper, values, True)
    put_turned(columns, vectors)


@apart("void(real[:, :], boolean, real[::1], real[:, ::1])")
def robust_eigh(a, upper, values, vectors):
    """Fills ``values`` and ``vectors`` as `eigh` does, but by relatively robust representations, SciPy's way: the signs of the
    vectors may differ from NumPy's."""
    n = a.shape[0]
    if n == 0:
        return
    for i in range(n):
        for j in range(i if upper else 0, n if upper else i + 1):
            if a[i, j] - a[i, j] != 0:  # LAPACK may not terminate
                raise np.linalg.LinAlgError("Internal Error.")
    columns, found, side, zero = turned(a), np.empty((n, n), a.dtype), (_UPPER if upper else _LOWER), a.dtype.type(0)
    count, support = np.zeros(1, np.int64), np.zeros(2 * n, np.int64)
    work, more = np.zeros(1, a.dtype), np.zeros(1, np.int64)
    _syevr(
        _VECTORS, _ALL, side, n, columns, n, zero, zero, 1, n, zero, count, values, found, n, support, work, -1, more, -1
    )  # fmt: skip
    size, places = int(work[0]), more[0]
    work, more = np.empty(size, a.dtype), np.empty(places, np.int64)
    if _syevr(
        _VECTORS, _ALL, side, n, columns, n, zero, zero, 1, n, zero, count, values, found, n, support, work, size, more, places
    ) != 0:  # fmt: skip
        raise np.linalg.LinAlgError("Internal Error.")
    put_turned(found, vectors)


@apart("void(real[:, :], boolean, real[::1])")
def eigvalsh(a, upper, values):
    """Fills ``values`` with the eigenvalues of a symmetric matrix, ascending; only the ``upper`` or lower triangle is read."""
    eigen(turned(a), upper, values, False)


# ---------------------------------------------------------------------------------------------- singular values


@apart("void(real[:, ::1], int64, real[:, ::1], real[::1], real[:, ::1])")
def singular(columns, kind, u, values, vt):
    """Fills ``values`` with the singular values, descending, of a matrix given by its columns, which are overwritten; ``u`` and
    ``vt`` are filled by columns too.

    ``kind`` is LAPACK's option: the letter N for no vectors, S for the reduced and A for all of them. LinAlgError if an element
    is not finite.
    """
    n, m = columns.shape
    small = min(m, n)
    for j in range(n):
        for i in range(m):
            if columns[j, i] - columns[j, i] != 0:  # LAPACK may not terminate
                raise np.linalg.LinAlgError("SVD did not converge")
    work, more = np.zeros(1, values.dtype), np.empty(8 * small, np.int64)
    ldu, ldvt = max(u.shape[1], 1), max(vt.shape[1], 1)
    _gesdd(kind, m, n, columns, max(m, 1), values, u, ldu, vt, ldvt, work, -1, more)
    size = int(work[0])
    work = np.empty(size, values.dtype)
    if _gesdd(kind, m, n, columns, max(m, 1), values, u, ldu, vt, ldvt, work, size, more) != 0:
        raise np.linalg.LinAlgError("SVD did not converge")


@apart("void(real[:, :], real[:, ::1], real[::1], real[:, ::1])")
def svd(a, u, values, vt):
    """Fills ``u``, ``values`` and ``vt`` with the reduced singular value decomposition of ``a``."""
    m, n = a.shape
    small = min(m, n)
    if small == 0:
        return
    left, right = np.empty((small, m), a.dtype), np.empty((n, small), a.dtype)
    singular(turned(a), _SOME, left, values, right)
    put_turned(left, u)
    put_turned(right, vt)


@apart("void(real[:, :], real[:, ::1], real[::1], real[:, ::1])")
def svd_full(a, u, values, vt):
    """Fills ``u``, ``values`` and ``vt`` with the singular value decomposition of ``a`` with square ``u`` and ``vt``."""
    m, n = a.shape
    left, right = np.eye(m, dtype=a.dtype), np.eye(n, dtype=a.dtype)
    if m > 0 and n > 0:
        singular(turned(a), _ALL, left, values, right)
    put_turned(left, u)
    put_turned(right, vt)


@apart("void(real[:, :], real[::1])")
def svdvals(a, values):
    """Fills ``values`` with the singular values of ``a``, descending."""
    if values.size > 0:
        nothing = np.empty((1, 1), a.dtype)
        singular(turned(a), _NONE, nothing, values, nothing)


@apart("int64(real[:, :])")
def matrix_rank(a):
    """The number of singular values of ``a`` above NumPy's default tolerance."""
    m, n = a.shape
    values = np.empty(min(m, n), a.dtype)
    svdvals(a, values)
    count = 0
    for value in values:
        if value > values[0] * max(m, n) * np.finfo(a.dtype).eps:
            count += 1
    return count


@apart("void(real[:, :], real[:, ::1])")
def pinv(a, out):
    """Fills ``out`` with the pseudo-inverse of ``a``; singular values up to 1e-15 times the largest count as 0."""
    m, n = a.shape
    small = min(m, n)
    if small == 0:
        return
    left, right, values = np.empty((small, m), a.dtype), np.empty((n, small), a.dtype), np.empty(small, a.dtype)
    singular(turned(a), _SOME, left, values, right)
    one = a.dtype.type(1)
    for k in range(small):
        factor = one / values[k] if values[k] > 1e-15 * values[0] else 0 * one
        for i in range(m):
            left[k, i] *= factor
    gemm(one, right, left, 0 * one, out)


# ------------------------------------------------------------------------------------------- orthogonal factors


@apart("void(real[:, :], boolean, real[:, ::1], real[:, ::1])")
def orthogonal(a, wants_q, q, r):
    """Fills ``r`` with that factor of the reduced QR factorisation of ``a``, and with ``wants_q`` also ``q``."""
    m, n = a.shape
    small = min(m, n)
    if small == 0:
        return
    columns, tau, work = turned(a), np.empty(small, a.dtype), np.zeros(1, a.dtype)
    _geqrf(m, n, columns, m, tau, work, -1)
    size = int(work[0])
    _geqrf(m, n, columns, m, tau, np.empty(size, a.dtype), size)
    for i in range(small):
        for j in range(n):
            r[i, j] = columns[j, i] if j >= i else 0
    if wants_q:
        _orgqr(m, small, small, columns, m, tau, work, -1)
        size = int(work[0])
        _orgqr(m, small, small, columns, m, tau, np.empty(size, a.dtype), size)
        put_turned(columns, q)


@apart("void(real[:, :], real[:, ::1], real[:, ::1])")
def qr(a, q, r):
    orthogonal(a, True, q, r)


@apart("void(real[:, :], real[:, ::1])")
def qr_r(a, r):
    orthogonal(a, False, r, r)


@apart("void(real[:, :], real[:, :], float64, real[:, ::1])")
def lstsq(a, b, rcond, out):
    """Fills ``out`` with the least-squares solution of ``a @ out = b``; ``rcond`` -2 means NumPy's default, machine precision
    times the larger size.

    LinAlgError if an element of ``a`` is not finite; ValueError if sizes do not agree.
    """
    (m, n), width = a.shape, out.shape[1]
    if b.shape[0] != m or b.shape[1] != width or out.shape[0] != n:
        raise ValueError("lstsq: the sizes do not agree")
    if rcond == -2.0:
        rcond = np.finfo(a.dtype).eps * max(m, n)
    sides = np.zeros((width, max(m, n)), a.dtype)
    if m > 0 and n > 0:
        for c in range(width):
            for i in range(m):
                sides[c, i] = b[i, c]
        for i in range(m):
            for j in range(n):
                if a[i, j] - a[i, j] != 0:
                    raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
        columns, values, rank = turned(a), np.empty(min(m, n), a.dtype), np.zeros(1, np.int64)
        work, more, least = np.zeros(1, a.dtype), np.zeros(1, np.int64), a.dtype.type(rcond)
        rows = max(m, n)
        _gelsd(m, n, width, columns, m, sides, rows, values, least, rank, work, -1, more)
        size = int(work[0])
        work, more = np.empty(size, a.dtype), np.empty(max(more[0], 1), np.int64)
        if _gelsd(m, n, width, columns, m, sides, rows, values, least, rank, work, size, more) != 0:
            raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")
    put_turned(sides, out)
