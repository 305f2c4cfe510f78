"""Products of matrices and vectors into existing memory: operands may be transposes, slices, or rows of a stack.

The output must not overlap an operand. A factor ``beta`` of 0 overwrites: the old content is not read, as in BLAS; use `kept`
if 0 times NaN must be NaN. A factor ``alpha`` of 0 hides no NaN.
"""

import numpy as np

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.layout import has_columns, has_rows, in_rows
from transpile_runtime.compiled.options import FAST
from transpile_runtime.compiled.symbols import routine

_TINY = 64  # multiplications of a matrix product that loops do in the time of a BLAS call
_STRIP = 32  # number of rows that `part` multiplies together, where their parts agree
_LARGE = 2**18  # elements of a matrix from which BLAS is as fast as these loops, and may use threads

_gemm = routine("gemm", "TRANSA TRANSB m n k alpha a lda b ldb beta c ldc")
_gemv = routine("gemv", "TRANS m n alpha a lda x incx beta y incy")
_syrk = routine("syrk", "UPLO TRANS n k alpha a lda beta c ldc")
_NO, _YES, _UPPER = ord("N"), ord("T"), ord("U")


# ---------------------------------------------------------------------------------------------- matrix by matrix
# No function is split: Numba would compile its parts twice.


@apart("void(real, real[:, :], real[:, :], real, real[:, :])")
def gemm(alpha, a, b, beta, c):
    """Sets ``c = alpha * a @ b + beta * c``, for matrices; ValueError if sizes do not agree."""
    if a.shape[0] != c.shape[0] or b.shape[0] != a.shape[1] or b.shape[1] != c.shape[1]:
        raise ValueError("gemm: the sizes do not agree")
    if c.shape[1] == 1:
        gemv(alpha, a, b[:, 0], beta, c[:, 0])
        return
    if not has_rows(c):
        a, b, c = b.T, a.T, c.T
    m, n, k = c.shape[0], c.shape[1], a.shape[1]
    rows_a, rows_b, size = has_rows(a), has_rows(b), a.itemsize
    lie_well = (rows_a or has_columns(a)) and (rows_b or has_columns(b)) and has_rows(c)
    if m == 1:
        gemv(alpha, b.T, a[0], beta, c[0])
    elif m * n * k > _TINY and alpha != 0 and lie_well:
        # the distance of rows, in elements; for a single row BLAS requires at least its length
        lda = max(a.strides[0] // size, k) if rows_a else max(a.strides[1] // size, m)
        ldb = max(b.strides[0] // size, n) if rows_b else max(b.strides[1] // size, k)
        ldc = max(c.strides[0] // size, n)
        same = a.ctypes.data == b.ctypes.data and a.strides[0] == b.strides[1] and a.strides[1] == b.strides[0]
        if same and m == n and beta == 0:
            # one triangle; the other is equal
            _syrk(_UPPER, _YES if rows_a else _NO, n, k, alpha, a, lda, beta, c, ldc)
            for i in range(n):
                for j in range(i):
                    c[j, i] = c[i, j]
        else:  # a row-major array is the transpose of a column-major one, which BLAS expects: c' = b' a'
            turn_a, turn_b = _NO if rows_a else _YES, _NO if rows_b else _YES
            _gemm(turn_b, turn_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc)
    else:
        total = a.dtype.type(alpha)
        if alpha == 0:  # matters only if an element is not finite
            for i in range(m):
                for p in range(k):
                    total += 0 * a[i, p]
            for p in range(k):
                for j in range(n):
                    total += 0 * b[p, j]
        for i in range(m):
            for j in range(n):
                c[i, j] = 0 if beta == 0 else beta * c[i, j]
                for p in range(k if total != 0 else 0):
                    c[i, j] += alpha * a[i, p] * b[p, j]


@apart("void(real, real[:, :], real[:, :], real[:, :], int64, boolean, boolean)", FAST)
def part(alpha, a, b, c, offset, from_there, of_target):
    """Adds ``alpha * a @ b`` to ``c``, with a part of ``a``: in its row ``i`` the columns before ``i + offset``, or with
    ``from_there`` those from there on.

    With ``of_target`` the part is of ``c``, and no other element of it is changed. Omitted elements do not act as 0: a NaN in
    ``b`` that meets only such elements has no effect.
    """
    zero, one = c.dtype.type(0), c.dtype.type(1)
    n, m = c.shape[0], c.shape[1] if of_target else a.shape[1]
    if of_target:
        for start in range(0, n, _STRIP):
            stop = min(start + _STRIP, n)
            low, high = min(max(start + offset, 0), m), min(max(stop - 1 + offset, 0), m)  # where rows' parts differ
            first, last = (high, m) if from_there else (0, low)
            if first < last:
                gemm(alpha, a[start:stop], b[:, first:last], one, c[start:stop, first:last])
            if low < high:
                block = np.empty((stop - start, high - low), c.dtype)
                gemm(alpha, a[start:stop], b[:, low:high], zero, block)
                for i in range(stop - start):
                    end = min(max(start + i + offset, low), high) - low
                    for j in range(end, high - low) if from_there else range(end):
                        c[start + i, low + j] += block[i, j]
        return
    for start in range(0, m, _STRIP):
        stop = min(start + _STRIP, m)
        low, high = min(max(start - offset + 1, 0), n), min(max(stop - offset, 0), n)  # rows whose parts differ
        first, last = (0, low) if from_there else (high, n)
        strip = b[start:stop]
        if first < last:
            gemm(alpha, a[first:last, start:stop], strip, one, c[first:last])
        if low < high:
            block = np.zeros((high - low, stop - start), c.dtype)
            for i in range(high - low):
                end = min(max(low + i + offset, start), stop) - start
                for k in range(end, stop - start) if from_there else range(end):
                    block[i, k] = a[low + i, start + k]
            excess = zero
            lines = in_rows(strip) if has_rows(strip) else in_rows(strip.T)
            wide, long = strip.shape if has_rows(strip) else strip.T.shape
            if not (has_rows(strip) or has_columns(strip)):
                wide, excess = 0, excess + np.nan
            for k in range(wide):
                for j in range(long):
                    excess += 0 * lines[k, j]
            if excess == 0:
                gemm(alpha, block, strip, one, c[low:high])
                continue
            for i in range(high - low):
                end = min(max(low + i + offset, start), stop) - start
                for k in range(end, stop - start) if from_there else range(end):
                    for j in range(b.shape[1]):
                        c[low + i, j] += alpha * block[i, k] * strip[k, j]


@apart("real(real, real[:, :])")
def kept(beta, c):
    """The ``beta`` for a following `gemm` in which the old content of ``c`` counts even if ``beta`` is 0: NaN stays NaN.

    If ``beta`` is 0, ``c`` is multiplied by it here, in place, and the result is 1; else the result is ``beta``.
    """
    if beta != 0:
        return beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
    return c.dtype.type(1)


# ---------------------------------------------------------------------------------------------- matrix by vector


@apart("void(real, real[:, :], real[:], real, real[:])", FAST)
def gemv(alpha, a, x, beta, y):
    """Sets ``y = alpha * a @ x + beta * y``: loops over four rows at a time, faster than BLAS except for large matrices;
    ValueError if sizes do not agree."""
    (m, n), size = a.shape, a.itemsize
    if x.shape[0] != n or y.shape[0] != m:
        raise ValueError("gemv: the sizes do not agree")
    rows, columns = has_rows(a), has_columns(a)
    close_x, close_y = x.strides[0] == size or n == 1, y.strides[0] == size or m == 1
    by_blas = (rows or columns) and x.strides[0] > 0 and y.strides[0] > 0 and alpha != 0 and m > 0 and n > 0
    if by_blas and (m * n >= _LARGE or not (rows and close_x or columns and close_y)):
        lda = max(a.strides[0] // size, n) if rows else max(a.strides[1] // size, m)
        first, second, turn = (n, m, _YES) if rows else (m, n, _NO)
        _gemv(turn, first, second, alpha, a, lda, x, x.strides[0] // size, beta, y, y.strides[0] // size)
        return
    for i in range(m):
        y[i] = 0 if beta == 0 else beta * y[i]
    if rows and close_x:  # an element is the product of a row with x
        lines, line = in_rows(a), in_rows(x)
        block = m - m % 4
        for start in range(0, block, 4):
            i = np.uint64(start)
            i1, i2, i3 = i + np.uint64(1), i + np.uint64(2), i + np.uint64(3)
            t = t1 = t2 = t3 = y.dtype.type(0)
            for k in range(n):
                f = line[k]
                t += lines[i, k] * f
                t1 += lines[i1, k] * f
                t2 += lines[i2, k] * f
                t3 += lines[i3, k] * f
            y[i] += alpha * t
            y[i1] += alpha * t1
            y[i2] += alpha * t2
            y[i3] += alpha * t3
        for i in range(block, m):
            t = y.dtype.type(0)
            for k in range(n):
                t += lines[i, k] * line[k]
            y[i] += alpha * t
    elif columns and close_y:  # the sum of the columns, with the elements of x as factors
        lines, line = in_rows(a.T), in_rows(y)
        block = n - n % 4
        for start in range(0, block, 4):
            k = np.uint64(start)
            k1, k2, k3 = k + np.uint64(1), k + np.uint64(2), k + np.uint64(3)
            f, f1, f2, f3 = alpha * x[k], alpha * x[k1], alpha * x[k2], alpha * x[k3]
            for i in range(m):
                line[i] += f * lines[k, i] + f1 * lines[k1, i] + f2 * lines[k2, i] + f3 * lines[k3, i]
        for k in range(block, n):
            f = alpha * x[k]
            for i in range(m):
                line[i] += f * lines[k, i]
    else:
        for i in range(m):
            for k in range(n):
                y[i] += alpha * a[i, k] * x[k]
