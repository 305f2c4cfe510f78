"""Products of large matrices by several threads: each makes some rows, or some columns, of the result.

BLAS may have threads of its own. Then it is left to them, as it is where nobody says how many it has.
"""

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.blas import gemm, gemv
from transpile_runtime.compiled.blas import part as whole_part
from transpile_runtime.compiled.options import inner
from transpile_runtime.compiled.symbols import blas_threads

_STEP = 8  # rows of the result that BLAS makes at once, about: where one share ends, the next one begins at a multiple


@inner
def _start(size, share, shares):
    """The first of the rows of a share; `size` for the one after the last."""
    return size if share == shares else size * share // shares // _STEP * _STEP


@inner
def _same(a, b):
    """Whether ``b`` is the transpose of ``a``, in one memory: `gemm` makes half of the product then."""
    return a.ctypes.data == b.ctypes.data and a.strides[0] == b.strides[1] and a.strides[1] == b.strides[0]


@apart("int64(real[:, :], real[:, :], real[:, :], int64, int64)")
def of_matrix(a, b, c, threads, least):
    """How many shares ``c = a @ b`` should have: so many that each is ``least`` multiplications, and no more than threads."""
    fits = a.shape[0] == c.shape[0] and b.shape[0] == a.shape[1] and b.shape[1] == c.shape[1]
    work = a.shape[0] * a.shape[1] * b.shape[1]
    if not fits or work < 2 * least or blas_threads() != 1:
        return 1  # what does not fit raises in `gemm`
    return min(threads, work // least, max(c.shape[0], c.shape[1]) // _STEP)


@apart("int64(real[:, :], real[:], real[:], int64, int64)")
def of_vector(a, x, y, threads, least):
    """How many shares ``y = a @ x`` should have."""
    work = a.shape[0] * a.shape[1]
    if a.shape[0] != y.shape[0] or a.shape[1] != x.shape[0] or work < 2 * least or blas_threads() != 1:
        return 1
    return min(threads, work // least, y.shape[0] // _STEP)


@apart("void(real, real[:, :], real[:, :], real, real[:, :], int64, int64)")
def matrix(alpha, a, b, beta, c, share, shares):
    """One share of ``c = alpha * a @ b + beta * c``."""
    m, n = c.shape
    if _same(a, b) and m == n and beta == 0:
        low, high = 0, 0  # the lower triangle: the rows down to some are as much work as their number squared
        for k in range(share, share + 2):
            low, high = high, m if k == shares else int(m * (k / shares) ** 0.5) // _STEP * _STEP
        rows = a[low:high]
        if low > 0 and high > low:
            gemm(alpha, rows, b[:, :low], beta, c[low:high, :low])
            for i in range(low):
                for j in range(low, high):
                    c[i, j] = c[j, i]
        if high > low:
            gemm(alpha, rows, b[:, low:high], beta, c[low:high, low:high])
    elif m >= n:
        low, high = _start(m, share, shares), _start(m, share + 1, shares)
        gemm(alpha, a[low:high], b, beta, c[low:high])
    else:
        low, high = _start(n, share, shares), _start(n, share + 1, shares)
        gemm(alpha, a, b[:, low:high], beta, c[:, low:high])


@apart("void(real, real[:, :], real[:], real, real[:], int64, int64)")
def vector(alpha, a, x, beta, y, share, shares):
    """One share of ``y = alpha * a @ x + beta * y``."""
    m = y.shape[0]
    low, high = _start(m, share, shares), _start(m, share + 1, shares)
    gemv(alpha, a[low:high], x, beta, y[low:high])


# ------------------------------------------------------------------------------------------ products of parts


@inner
def _length(i, m, offset, from_there):
    """How many columns of a row the part has."""
    before = min(max(i + offset, 0), m)
    return m - before if from_there else before


@inner
def _row(n, m, offset, from_there, share, shares):
    """The first row of a share; the rows before it have that share of what is counted."""
    total = 0
    for i in range(n):
        total += _length(i, m, offset, from_there)
    row = done = 0
    while row < n and (share == shares or done * shares < total * share):
        done += _length(row, m, offset, from_there)
        row += 1
    return row


@apart("int64(real[:, :], real[:, :], real[:, :], int64, boolean, boolean, int64, int64)")
def of_part(a, b, c, offset, from_there, of_target, threads, least):
    """How many shares the product of a part should have (`compiled.blas.part`): about half of it is to be done."""
    work = a.shape[0] * a.shape[1] * b.shape[1] // 2
    if work < 2 * least or blas_threads() != 1:
        return 1
    return min(threads, work // least, (c.shape[0] if of_target else c.shape[1]) // _STEP)


@apart("void(real, real[:, :], real[:, :], real[:, :], int64, boolean, boolean, int64, int64)")
def part(alpha, a, b, c, offset, from_there, of_target, share, shares):
    """One share of it: some columns of the result, or rows with as much of the part as those of the others."""
    n, m = c.shape
    if not of_target:
        low, high = _start(m, share, shares), _start(m, share + 1, shares)
        whole_part(alpha, a, b[:, low:high], c[:, low:high], offset, from_there, of_target)
        return
    low, high = _row(n, m, offset, from_there, share, shares), _row(n, m, offset, from_there, share + 1, shares)
    whole_part(alpha, a[low:high], b, c[low:high], offset + low, from_there, of_target)
