"""Products and solves with symmetric and triangular matrices, row by row."""

from __future__ import annotations

import numpy as np
from corpus.program import normal

from bench.kernels2.kernel import Kernel


def syrk(alpha, beta, C, A):
    C = C.copy()
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C)


def syrk_args(n: int, m: int) -> tuple:
    return 1.5, 1.2, normal(n, n), normal(n, m, seed=1)


def syr2k(alpha, beta, C, A, B):
    C = C.copy()
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]
    return np.sum(C)


def syr2k_args(n: int, m: int) -> tuple:
    return 1.5, 1.2, normal(n, n), normal(n, m, seed=1), normal(n, m, seed=2)


def symm(alpha, beta, C, A, B):
    """A product with a symmetric matrix of which only the lower triangle is read."""
    C = C.copy()
    C *= beta
    for i in range(C.shape[0]):
        C[:i] += alpha * np.outer(A[i, :i], B[i])
        C[i] += alpha * (B[i] * A[i, i] + A[i, :i] @ B[:i])
    return np.sum(C)


def symm_args(m: int, n: int) -> tuple:
    return 1.5, 1.2, normal(m, n), normal(m, m, seed=1), normal(m, n, seed=2)


def trmm(alpha, A, B):
    """A product with the transpose of a unit lower triangular matrix."""
    B = B.copy()
    for i in range(B.shape[0]):
        B[i] += A[i + 1 :, i] @ B[i + 1 :]
    B *= alpha
    return np.sum(B)


def trmm_args(m: int, n: int) -> tuple:
    return 1.5, normal(m, m), normal(m, n, seed=1)


def trisolv(L, b):
    x = np.empty_like(b)
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x)


def trisolv_args(n: int) -> tuple:
    return normal(n, n) / n + 2.0 * np.eye(n), normal(n, seed=1)


KERNELS = (
    Kernel(syrk, syrk_args, (5, 4), (180, 150)),
    Kernel(syr2k, syr2k_args, (5, 4), (140, 120)),
    Kernel(symm, symm_args, (5, 4), (180, 200)),
    Kernel(trmm, trmm_args, (5, 4), (180, 200)),
    Kernel(trisolv, trisolv_args, (6,), (2000,)),
)
