"""Factorisations and recursions of linear algebra, by hand and in place."""

from __future__ import annotations

import numpy as np
from corpus.program import definite, normal, uniform

from bench.kernels2.kernel import Kernel


def cholesky(A):
    A = A.copy()
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[j, :j]
            A[i, j] /= A[j, j]
        A[i, i] -= A[i, :i] @ A[i, :i]
        A[i, i] = np.sqrt(A[i, i])
    return np.sum(A)


def cholesky2(A):
    """The factor in the lower triangle, the matrix itself above."""
    return np.sum(np.linalg.cholesky(A) + np.triu(A, 1))


def definite_args(n: int) -> tuple:
    return (definite(n) + np.eye(n),)


def decompose(A):
    """Lower and upper factor in the place of the matrix, without pivots."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


def lu(A):
    A = A.copy()
    decompose(A)
    return np.sum(A)


def dominant_args(n: int) -> tuple:
    return (normal(n, n) / n + 2.0 * np.eye(n),)


def ludcmp(A, b):
    A = A.copy()
    decompose(A)
    n = A.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x) + np.sum(y)


def ludcmp_args(n: int) -> tuple:
    return *dominant_args(n), normal(n, seed=1)


def gramschmidt(A):
    A = A.copy()
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(Q) + np.sum(R)


def gramschmidt_args(m: int, n: int) -> tuple:
    return (normal(m, n) / np.sqrt(m) + np.eye(m, n),)


def durbin(r):
    """The solution of a Toeplitz system by Durbin's recursion."""
    y = np.empty_like(r)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.flip(r[:k]) @ y[:k]) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y)


def durbin_args(n: int) -> tuple:
    return (uniform(-0.5, 0.5, n) / np.sqrt(n),)


KERNELS = (
    Kernel(cholesky, definite_args, (5,), (220,)),
    Kernel(cholesky2, definite_args, (5,), (400,)),
    Kernel(lu, dominant_args, (5,), (160,)),
    Kernel(ludcmp, ludcmp_args, (5,), (160,)),
    Kernel(gramschmidt, gramschmidt_args, (6, 4), (160, 120)),
    Kernel(durbin, durbin_args, (7,), (1500,)),
)
