"""Products of large matrices on several threads: each computes some rows, or some columns, of the result.

If BLAS has several threads, or its number of threads is unknown, the product is left to BLAS.
"""

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.blas import gemm, gemv
from transpile_runtime.compiled.blas import part as whole_part
from transpile_runtime.compiled.options import inner
from transpile_runtime.compiled.symbols import blas_threads

_STEP = 8  # about the number of rows that BLAS computes at once: shares begin at multiples of it


@inner
def _start(size, share, shares):
    """The first row of share number ``share`` of ``shares`` over ``size`` rows, a multiple of 8; ``size`` if ``share`` is their
    number."""
    return size if share == shares else size * share // shares // _STEP * _STEP


@inner
def _same(a, b):
    """True if ``b`` is the transpose of ``a`` in the same memory: `gemm` then computes half of the product."""
    return a.ctypes.data == b.ctypes.data and a.strides[0] == b.strides[1] and a.strides[1] == b.strides[0]


@apart("int64(real[:, :], real[:, :], real[:, :], int64, int64)")
def of_matrix(a, b, c, threads, least):
    """The number of shares of ``c = a @ b``: at least ``least`` multiplications each, and no more shares than ``threads``.

    1 if BLAS has threads of its own, the work is too small, or sizes do not agree.
    """
    fits = a.shape[0] == c.shape[0] and b.shape[0] == a.shape[1] and b.shape[1] == c.shape[1]
    work = a.shape[0] * a.shape[1] * b.shape[1]
    if not fits or work < 2 * least or blas_threads() != 1:
        return 1  # sizes that do not agree raise in `gemm`
    return min(threads, work // least, max(c.shape[0], c.shape[1]) // _STEP)


@apart("int64(real[:, :], real[:], real[:], int64, int64)")
def of_vector(a, x, y, threads, least):
    """The number of shares of ``y = a @ x``: at least ``least`` multiplications each, and no more than ``threads``; 1 in the
    cases of `of_matrix`."""
    work = a.shape[0] * a.shape[1]
    if a.shape[0] != y.shape[0] or a.shape[1] != x.shape[0] or work < 2 * least or blas_threads() != 1:
        return 1
    return min(threads, work // least, y.shape[0] // _STEP)


@apart("void(real, real[:, :], real[:, :], real, real[:, :], int64, int64)")
def matrix(alpha, a, b, beta, c, share, shares):
    """Computes share number ``share``, from 0, of ``c = alpha * a @ b + beta * c``, in place: some rows of ``c``, or some
    columns if it has more of these.

    If ``b`` is the transpose of ``a`` and ``beta`` is 0, a share is some rows of the lower triangle and their mirror image.
    """
    m, n = c.shape
    if _same(a, b) and m == n and beta == 0:
        low, high = 0, 0  # the lower triangle: the work of the first rows is the square of their number
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
    """Computes share number ``share``, from 0, of ``y = alpha * a @ x + beta * y``, in place: some elements of ``y``."""
    m = y.shape[0]
    low, high = _start(m, share, shares), _start(m, share + 1, shares)
    gemv(alpha, a[low:high], x, beta, y[low:high])


# ------------------------------------------------------------------------------------------ products of parts


@inner
def _length(i, m, offset, from_there):
    """The number of columns of row ``i`` in the part of a matrix with ``m`` columns: those before ``i + offset``, or with
    ``from_there`` the others."""
    before = min(max(i + offset, 0), m)
    return m - before if from_there else before


@inner
def _row(n, m, offset, from_there, share, shares):
    """The first row of a share of the part of an ``n`` by ``m`` matrix: the rows before it have the elements of the previous
    shares."""
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
    """The number of shares of the product of a part (`compiled.blas.part`), which has about half of the work of the whole; 1 if
    BLAS has threads of its own or the work is too small."""
    work = a.shape[0] * a.shape[1] * b.shape[1] // 2
    if work < 2 * least or blas_threads() != 1:
        return 1
    return min(threads, work // least, (c.shape[0] if of_target else c.shape[1]) // _STEP)


@apart("void(real, real[:, :], real[:, :], real[:, :], int64, boolean, boolean, int64, int64)")
def part(alpha, a, b, c, offset, from_there, of_target, share, shares):
    """Computes share number ``share``, from 0, of the product of a part (`compiled.blas.part`), in place in ``c``.

    A share has some columns of the result or, with ``of_target``, some rows with as many elements of the part as the other
    shares.
    """
    n, m = c.shape
    if not of_target:
        low, high = _start(m, share, shares), _start(m, share + 1, shares)
        whole_part(alpha, a, b[:, low:high], c[:, low:high], offset, from_there, of_target)
        return
    low, high = _row(n, m, offset, from_there, share, shares), _row(n, m, offset, from_there, share + 1, shares)
    whole_part(alpha, a[low:high], b, c[low:high], offset + low, from_there, of_target)
