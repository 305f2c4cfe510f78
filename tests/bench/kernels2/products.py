"""Chains of products of matrices and vectors."""

from __future__ import annotations

import numpy as np
from corpus.program import normal

from bench.kernels2.kernel import Kernel


def gemm(alpha, beta, C, A, B):
    D = alpha * A @ B + beta * C
    return np.sum(D)


def gemm_args(ni: int, nj: int, nk: int) -> tuple:
    return 1.5, 1.2, normal(ni, nj), normal(ni, nk, seed=1) / nk, normal(nk, nj, seed=2)


def k2mm(alpha, beta, A, B, C, D):
    E = alpha * A @ B @ C + beta * D
    return np.sum(E)


def k2mm_args(ni: int, nj: int, nk: int, nl: int) -> tuple:
    return 1.5, 1.2, normal(ni, nk) / nk, normal(nk, nj, seed=1) / nj, normal(nj, nl, seed=2), normal(ni, nl, seed=3)


def k3mm(A, B, C, D):
    return np.sum(A @ B @ C @ D)


def k3mm_args(ni: int, nj: int, nk: int, nl: int, nm: int) -> tuple:
    return normal(ni, nk) / nk, normal(nk, nj, seed=1) / nj, normal(nj, nm, seed=2) / nm, normal(nm, nl, seed=3)


def atax(A, x):
    return np.sum((A @ x) @ A)


def atax_args(m: int, n: int) -> tuple:
    return normal(m, n) / n, normal(n, seed=1)


def bicg(A, p, r):
    s = r @ A
    q = A @ p
    return np.sum(s) + np.sum(q)


def bicg_args(m: int, n: int) -> tuple:
    return normal(m, n) / n, normal(n, seed=1), normal(m, seed=2)


def mvt(x1, x2, y1, y2, A):
    x1 = x1.copy()
    x2 = x2.copy()
    x1 += A @ y1
    x2 += y2 @ A
    return np.sum(x1) + np.sum(x2)


def mvt_args(n: int) -> tuple:
    return normal(n), normal(n, seed=1), normal(n, seed=2), normal(n, seed=3), normal(n, n, seed=4) / n


def gemver(alpha, beta, A, u1, v1, u2, v2, x, y, z, w):
    A = A.copy()
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x = x + beta * (y @ A) + z
    w = w + alpha * (A @ x)
    return np.sum(A) + np.sum(x) + np.sum(w)


def gemver_args(n: int) -> tuple:
    vectors = [normal(n, seed=k) for k in range(8)]
    u1, v1, u2, v2, x, y, z, w = vectors
    return 1.5, 1.2, normal(n, n, seed=9) / n, u1 / n, v1, u2 / n, v2, x, y, z, w


def gesummv(alpha, beta, A, B, x):
    return np.sum(alpha * (A @ x) + beta * (B @ x))


def gesummv_args(n: int) -> tuple:
    return 1.5, 1.2, normal(n, n) / n, normal(n, n, seed=1) / n, normal(n, seed=2)


def doitgen(A, C4):
    A = A.copy()
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            A[r, q, :] = A[r, q, :] @ C4
    return np.sum(A)


def doitgen_args(nr: int, nq: int, np_: int) -> tuple:
    return normal(nr, nq, np_), normal(np_, np_, seed=1) / np_


def conjugate_gradient(A, b, steps):
    """A fixed number of steps towards the solution of `A x = b`."""
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rr = r @ r
    for _ in range(steps):
        Ap = A @ p
        alpha = rr / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        p *= new / rr
        p += r
        rr = new
    return np.sum(x)


def conjugate_gradient_args(n: int, steps: int) -> tuple:
    A = normal(n, n) / n
    return A + A.T + 2.0 * np.eye(n), normal(n, seed=1), steps


KERNELS = (
    Kernel(gemm, gemm_args, (3, 4, 5), (400, 450, 500)),
    Kernel(k2mm, k2mm_args, (3, 4, 5, 6), (300, 320, 340, 360)),
    Kernel(k3mm, k3mm_args, (3, 4, 5, 6, 7), (240, 260, 280, 300, 320)),
    Kernel(atax, atax_args, (4, 5), (1200, 1500)),
    Kernel(bicg, bicg_args, (4, 5), (1200, 1500)),
    Kernel(mvt, mvt_args, (5,), (1500,)),
    Kernel(gemver, gemver_args, (5,), (1000,)),
    Kernel(gesummv, gesummv_args, (5,), (1000,)),
    Kernel(doitgen, doitgen_args, (3, 4, 5), (40, 50, 60)),
    Kernel(conjugate_gradient, conjugate_gradient_args, (6, 3), (500, 30)),
)
