"""Linear algebra of stacks of matrices (batch, rows, columns) by LAPACK, and the product of two matrices by BLAS."""

import numpy as np

from runtime.compiled.options import njit


@njit
def matmul(a, b, out):
    """``out = a @ b``; either may be a transpose. Tiny products as loops: BLAS costs more than they do."""
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    if b.shape[0] != k:
        raise ValueError("matmul: the inner sizes differ")
    if m * n * k <= 64:
        for i in range(m):
            for j in range(n):
                total = a.dtype.type(0)
                for p in range(k):
                    total += a[i, p] * b[p, j]
                out[i, j] = total
    elif m and n and k:
        np.dot(a, b, out)
    else:
        out[:] = 0
    return 0


# Numba's functions refuse NaN and infinity, and arrays without entries, which NumPy's pass on: those are treated here.


@njit
def is_finite(a):
    """Whether all entries of a matrix are."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] - a[i, j] != 0:  # NaN too
                return False
    return True


@njit
def _pivot(work, j):
    """Brings the largest entry of column ``j`` on the diagonal and eliminates below it; the row that it came from."""
    m, n = work.shape
    best = j
    for i in range(j + 1, m):
        if abs(work[i, j]) > abs(work[best, j]):
            best = i
    if best != j:
        for c in range(n):
            work[j, c], work[best, c] = work[best, c], work[j, c]
    if work[j, j] != 0:
        for i in range(j + 1, m):
            work[i, j] /= work[j, j]
            for c in range(j + 1, n):
                work[i, c] -= work[i, j] * work[j, c]
    return best


@njit
def _eliminate(a, b):
    """The solution of ``a x = b`` by loops."""
    work, out = a.copy(), b.copy()
    n, width = b.shape
    for j in range(n):
        other = _pivot(work, j)
        if work[j, j] == 0:
            raise np.linalg.LinAlgError("Singular matrix")
        for c in range(width):
            out[j, c], out[other, c] = out[other, c], out[j, c]
            for i in range(j + 1, n):
                out[i, c] -= work[i, j] * out[j, c]
    for i in range(n - 1, -1, -1):
        for c in range(width):
            for j in range(i + 1, n):
                out[i, c] -= work[i, j] * out[j, c]
            out[i, c] /= work[i, i]
    return out


@njit
def inv(a):
    out = np.empty(a.shape, a.dtype)
    for k in range(a.shape[0]):
        if is_finite(a[k]):
            out[k] = np.linalg.inv(a[k])
        else:
            out[k] = _eliminate(a[k], np.eye(a.shape[1], dtype=a.dtype))
    return out


@njit
def det(a):
    out = np.empty(a.shape[0], a.dtype)
    for k in range(a.shape[0]):
        if is_finite(a[k]):
            out[k] = np.linalg.det(a[k])
        else:
            sign, size = _slogdet(a[k])
            out[k] = sign * np.exp(size)
    return out


@njit
def _slogdet(a):
    work = a.copy()
    sign, size = a.dtype.type(1), a.dtype.type(0)
    for j in range(a.shape[0]):
        if _pivot(work, j) != j:
            sign = -sign
        if work[j, j] < 0:
            sign = -sign
        size += np.log(abs(work[j, j]))
    return sign, size


@njit
def slogdet(a):
    sign = np.empty(a.shape[0], a.dtype)
    size = np.empty(a.shape[0], a.dtype)
    for k in range(a.shape[0]):
        s, v = np.linalg.slogdet(a[k]) if is_finite(a[k]) else _slogdet(a[k])
        sign[k] = s
        size[k] = v
    return sign, size


@njit
def solve(a, b):
    out = np.empty(b.shape, b.dtype)
    for k in range(a.shape[0]):
        out[k] = np.linalg.solve(a[k], b[k]) if is_finite(a[k]) and is_finite(b[k]) else _eliminate(a[k], b[k])
    return out


@njit
def solve_triangular(a, b, lower, transposed, unit):
    """By substitution; SciPy's error where the diagonal has a zero."""
    out = b.copy()
    n, width = b.shape[1], b.shape[2]
    forward = lower != transposed
    for k in range(a.shape[0]):
        for step in range(n):
            i = step if forward else n - 1 - step
            low, high = (0, i) if forward else (i + 1, n)
            for j in range(low, high):
                f = a[k, j, i] if transposed else a[k, i, j]
                for c in range(width):
                    out[k, i, c] -= f * out[k, j, c]
            if not unit:
                if a[k, i, i] == 0:
                    raise np.linalg.LinAlgError("singular matrix: a diagonal element is zero")
                for c in range(width):
                    out[k, i, c] /= a[k, i, i]
    return out


@njit
def _lower(a, upper):
    """The symmetric matrix of the triangle that is read."""
    out = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            if upper:
                out[i, j] = a[j, i]
            else:
                out[j, i] = a[i, j]
    return out


@njit
def _converges(a):
    """Whether a symmetric matrix has eigenvalues; those of a small one with NaN are NaN, as LAPACK has it."""
    if is_finite(a):
        return True
    if a.shape[0] > 2:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return False


@njit
def cholesky(a, upper):
    out = np.empty(a.shape, a.dtype)
    for k in range(a.shape[0]):
        found = np.linalg.cholesky(_lower(a[k], upper))
        out[k] = found.T if upper else found
    return out


@njit
def eigh(a, upper):
    values = np.empty(a.shape[:2], a.dtype)
    vectors = np.empty(a.shape, a.dtype)
    for k in range(a.shape[0]):
        found = _lower(a[k], upper)
        if _converges(found):
            w, v = np.linalg.eigh(found)
            values[k] = w
            vectors[k] = v
        else:
            values[k] = np.nan
            vectors[k] = np.nan
    return values, vectors


@njit
def eigvalsh(a, upper):
    values = np.empty(a.shape[:2], a.dtype)
    for k in range(a.shape[0]):
        found = _lower(a[k], upper)
        if _converges(found):
            values[k] = np.linalg.eigvalsh(found)
        else:
            values[k] = np.nan
    return values


@njit
def qr(a):
    m, n = a.shape[1], a.shape[2]
    q = np.empty((a.shape[0], m, min(m, n)), a.dtype)
    r = np.zeros((a.shape[0], min(m, n), n), a.dtype)
    for k in range(a.shape[0] if m and n else 0):
        if is_finite(a[k]):
            left, right = np.linalg.qr(a[k])
            q[k] = left
            r[k] = right
        else:
            q[k] = np.nan
            for i in range(min(m, n)):
                r[k, i, i:] = np.nan
    return q, r


@njit
def qr_r(a):
    return qr(a)[1]


@njit
def svd(a):
    m, n = a.shape[1], a.shape[2]
    u = np.empty((a.shape[0], m, min(m, n)), a.dtype)
    s = np.empty((a.shape[0], min(m, n)), a.dtype)
    v = np.empty((a.shape[0], min(m, n), n), a.dtype)
    for k in range(a.shape[0] if m and n else 0):
        left, values, right = np.linalg.svd(a[k], full_matrices=False)
        u[k] = left
        s[k] = values
        v[k] = right
    return u, s, v


@njit
def svd_full(a):
    m, n = a.shape[1], a.shape[2]
    u = np.empty((a.shape[0], m, m), a.dtype)
    s = np.empty((a.shape[0], min(m, n)), a.dtype)
    v = np.empty((a.shape[0], n, n), a.dtype)
    for k in range(a.shape[0]):
        if m and n:
            left, values, right = np.linalg.svd(a[k], full_matrices=True)
            u[k] = left
            s[k] = values
            v[k] = right
        else:
            u[k] = np.eye(m, dtype=a.dtype)
            v[k] = np.eye(n, dtype=a.dtype)
    return u, s, v


@njit
def svdvals(a):
    return svd(a)[1]


@njit
def pinv(a):
    out = np.empty((a.shape[0], a.shape[2], a.shape[1]), a.dtype)
    for k in range(a.shape[0] if a.shape[1] and a.shape[2] else 0):
        out[k] = np.linalg.pinv(a[k])
    return out


@njit
def matrix_rank(a):
    out = np.zeros(a.shape[0], np.int64)
    for k in range(a.shape[0] if a.shape[1] and a.shape[2] else 0):
        out[k] = np.linalg.matrix_rank(a[k])
    return out


@njit
def lstsq(a, b, rcond):
    """The solution alone; ``rcond`` -2 stands for NumPy's default, machine precision times the larger size."""
    out = np.zeros((b.shape[0], a.shape[2], b.shape[2]), b.dtype)
    if rcond == -2.0:
        rcond = np.finfo(a.dtype).eps * max(a.shape[1], a.shape[2])
    for k in range(a.shape[0] if a.shape[1] and a.shape[2] else 0):
        out[k] = np.linalg.lstsq(a[k], b[k], rcond)[0]
    return out


@njit
def lu(a):
    """Permutation, unit lower and upper factor, with partial pivoting."""
    m, n = a.shape[1], a.shape[2]
    small = min(m, n)
    p = np.zeros((a.shape[0], m, m), a.dtype)
    low = np.zeros((a.shape[0], m, small), a.dtype)
    up = np.zeros((a.shape[0], small, n), a.dtype)
    for k in range(a.shape[0]):
        work = a[k].copy()
        order = np.arange(m)
        for j in range(small):
            best = _pivot(work, j)
            order[j], order[best] = order[best], order[j]
        for i in range(m):
            p[k, order[i], i] = 1
            for j in range(small):
                low[k, i, j] = work[i, j] if j < i else 1.0 * (i == j)
        for i in range(small):
            for j in range(i, n):
                up[k, i, j] = work[i, j]
    return p, low, up


# Higham (2005), The scaling and squaring method for the matrix exponential revisited: the [13/13] Pade approximant
_PADE = np.array([
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
])  # fmt: skip


@njit
def _expm(a):
    n = a.shape[0]
    norm = 0.0
    for j in range(n):
        total = 0.0
        for i in range(n):
            total += abs(a[i, j])
        norm = max(norm, total)
    squarings = 0
    if norm > 5.371920351148152:
        squarings = int(np.ceil(np.log2(norm / 5.371920351148152)))
    a = a / a.dtype.type(2.0**squarings)
    one = np.eye(n, dtype=a.dtype)
    a2 = np.dot(a, a)
    a4 = np.dot(a2, a2)
    a6 = np.dot(a4, a2)
    c = _PADE.astype(a.dtype)
    u = np.dot(a, np.dot(a6, c[13] * a6 + c[11] * a4 + c[9] * a2) + c[7] * a6 + c[5] * a4 + c[3] * a2 + c[1] * one)
    v = np.dot(a6, c[12] * a6 + c[10] * a4 + c[8] * a2) + c[6] * a6 + c[4] * a4 + c[2] * a2 + c[0] * one
    found = np.ascontiguousarray(np.linalg.solve(v - u, v + u))
    for _ in range(squarings):
        found = np.dot(found, found)
    return found


@njit
def expm(a):
    out = np.empty(a.shape, a.dtype)
    for k in range(a.shape[0]):
        if is_finite(a[k]):
            out[k] = _expm(a[k])
        else:
            out[k] = np.nan
    return out
