"""The adjoint of a Cholesky factor, block by block: twice the work of the factorisation.

Products with the inverse of the factor would take twelve times as much. Source: I. Murray, *Differentiation of the Cholesky
decomposition* (2016), section 4. With the rows and columns of a block, of the blocks before it and of those after it, the
factorisation is

    [d  .]      d d' = (the matrix there) - r r'        r: the block's rows, in the columns before
    [c  .]      c d' = (the matrix there) - b r'        b: the rows below, in the columns before

and the statements below are the adjoints of these two, for the last block first.
"""

import numpy as np

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.blas import gemm
from transpile_runtime.compiled.layout import in_rows, put_turned
from transpile_runtime.compiled.options import fast
from transpile_runtime.compiled.symbols import routine

_trsm = routine("trsm", "SIDE UPLO TRANSA DIAG m n alpha a lda b ldb")
_NO, _LEFT, _UPPER = ord("N"), ord("L"), ord("U")
_BLOCK = 48


@apart("void(real[:, :], real[:, :], real[:, ::1])")
def cholesky_adjoint(factor, given, out):
    """Fills ``out`` with the adjoint of the matrix's lower triangle, zeros above it, from ``given``, the adjoint of the lower
    factor.

    ``factor`` is the transpose of the lower factor.
    """
    n, one = out.shape[0], out.dtype.type(1)
    if factor.shape[0] != n or factor.shape[1] != n or given.shape[0] != n or given.shape[1] != n:
        raise ValueError("cholesky_adjoint: the sizes do not agree")
    low = np.empty((n, n), out.dtype)
    put_turned(factor, low)
    put_turned(given.T, out)
    for i in range(n):
        out[i, i + 1 :] = 0
    both = np.empty((_BLOCK, _BLOCK), out.dtype)
    for start in range((n - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        stop = min(start + _BLOCK, n)
        size, rest = stop - start, n - stop
        here = out[start:stop, start:stop]
        if rest > 0:
            below, below_bar = low[stop:, start:stop], out[stop:, start:stop]
            diagonal, right = in_rows(low[start:stop, start:stop]), in_rows(below_bar)
            _trsm(_LEFT, _UPPER, _NO, _NO, size, rest, one, diagonal, n, right, n)
            gemm(-one, below_bar.T, below, one, here)
            if start > 0:
                gemm(-one, below_bar, low[start:stop, :start], one, out[stop:, :start])
                gemm(-one, below_bar.T, low[stop:, :start], one, out[start:stop, :start])
        _one_block(low[start:stop, start:stop], here)
        for i in range(size):
            for j in range(i + 1):
                both[i, j] = here[i, j]
                both[j, i] = here[i, j]
            both[i, i] = 2 * here[i, i]
        if start > 0:
            gemm(-one, both[:size, :size], low[start:stop, :start], one, out[start:stop, :start])


@fast
def _one_block(low, bar):
    """Replaces ``bar``, the adjoint of the Cholesky factor ``low``, by that of the matrix, row by row; elements above the
    diagonal become 0."""
    n = low.shape[0]
    for j in range(n - 1, -1, -1):
        inverse = 1 / low[j, j]
        total = bar[j, j]
        for i in range(j + 1, n):
            bar[i, j] *= inverse
            value = bar[i, j]
            total -= value * low[i, j]
            for c in range(j):
                bar[i, c] -= value * low[j, c]
                bar[j, c] -= value * low[i, c]
            bar[j, i] = 0
        bar[j, j] = total * inverse / 2
        twice = 2 * bar[j, j]
        for c in range(j):
            bar[j, c] -= twice * low[j, c]
