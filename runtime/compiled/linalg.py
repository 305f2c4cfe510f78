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
