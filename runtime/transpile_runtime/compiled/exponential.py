"""The exponential of a matrix.

Higham (2005), The scaling and squaring method for the matrix exponential revisited: the [13/13] Pade approximant.
"""

import math

import numpy as np

from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.blas import gemm
from transpile_runtime.compiled.equations import solve

_LIMIT = 5.371920351148152  # the norm up to which the approximant is accurate
_ODD = np.array([
    32382376266240000.0, 1187353796428800.0, 10559470521600.0, 33522128640.0, 40840800.0, 16380.0, 1.0,
])  # fmt: skip
_EVEN = np.array([
    64764752532480000.0, 7771770303897600.0, 129060195264000.0, 670442572800.0, 1323241920.0, 960960.0, 182.0,
])  # fmt: skip


@apart("void(real[:, :], real[:, ::1])")
def expm(a, out):
    """Fills ``out`` with the exponential of the square matrix ``a``; with NaN if an element is not finite."""
    n = a.shape[0]
    one, norm = a.dtype.type(1), 0.0
    for j in range(n):
        total = 0.0
        for i in range(n):
            total += abs(a[i, j])
        if not total <= norm:  # NaN too
            norm = total
    if not norm < math.inf:
        for i in range(n):
            for j in range(n):
                out[i, j] = math.nan
        return
    squarings = max(math.ceil(math.log2(norm / _LIMIT)), 0) if norm > 0 else 0
    scaled = np.empty((n, n), a.dtype)
    powers = np.empty((4, n, n), a.dtype)  # 1, a^2, a^4, a^6
    for i in range(n):
        for j in range(n):
            scaled[i, j] = a[i, j] * a.dtype.type(0.5**squarings)
            powers[0, i, j] = 1 if i == j else 0
    gemm(one, scaled, scaled, 0 * one, powers[1])
    for k in range(2, 4):
        gemm(one, powers[1], powers[k - 1], 0 * one, powers[k])
    parts = np.empty((4, n, n), a.dtype)  # odd polynomial / a: low, high part; even one: low, high
    for i in range(n):
        for j in range(n):
            for part in range(4):
                factors, start = _ODD if part < 2 else _EVEN, 3 * (part % 2)
                value = 0.0
                for k in range(1 if part % 2 else 0, 4):
                    value += factors[start + k] * powers[k, i, j]
                parts[part, i, j] = value
    gemm(one, powers[3], parts[1], one, parts[0])
    gemm(one, powers[3], parts[3], one, parts[2])
    odd, even = powers[1], parts[2]
    gemm(one, scaled, parts[0], 0 * one, odd)
    for i in range(n):
        for j in range(n):
            high, low = even[i, j] + odd[i, j], even[i, j] - odd[i, j]
            parts[0, i, j], parts[1, i, j] = low, high
    solve(parts[0], parts[1], out)
    for _ in range(squarings):
        gemm(one, out, out, 0 * one, scaled)
        for i in range(n):
            for j in range(n):
                out[i, j] = scaled[i, j]
