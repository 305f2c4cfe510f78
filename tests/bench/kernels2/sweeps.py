"""Recurrences along one axis of a grid: implicit schemes, filters, dynamic programming."""

from __future__ import annotations

import numpy as np
from corpus.program import normal, uniform

from bench.kernels2.kernel import Kernel


def adi(u, steps):
    """Alternating directions: an implicit half step by columns, one by rows."""
    u = u.copy()
    n = u.shape[0]
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    mul1 = 2.0 * n * n / steps
    mul2 = n * n / steps
    a = -mul1 / 2.0
    b = 1.0 + mul1
    d = -mul2 / 2.0
    e = 1.0 + mul2
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (-d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - d * u[j, 2:] - a * q[1:-1, j - 1]) / (
                a * p[1:-1, j - 1] + b
            )
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -d / (d * p[1:-1, j - 1] + e)
            q[1:-1, j] = (-a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - a * v[2:, j] - d * q[1:-1, j - 1]) / (
                d * p[1:-1, j - 1] + e
            )
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return np.sum(u)


def adi_args(n: int, steps: int) -> tuple:
    return uniform(0.0, 2.0, n, n), steps


def thomas(lower, diagonal, upper, right):
    """Many tridiagonal systems at once, one a column."""
    n = right.shape[0]
    c = np.empty_like(right)
    x = np.empty_like(right)
    c[0] = upper[0] / diagonal[0]
    x[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        x[i] = (right[i] - lower[i] * x[i - 1]) / pivot
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return np.sum(x)


def thomas_args(n: int, m: int) -> tuple:
    return normal(n, m), uniform(6.0, 8.0, n, m, seed=1), normal(n, m, seed=2), normal(n, m, seed=3)


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    """Vertical advection of a weather model: an implicit scheme in each column of air, staggered in the first axis."""
    utens_stage = utens_stage.copy()
    levels = utens_stage.shape[2]
    ccol = np.empty_like(utens_stage)
    dcol = np.empty_like(utens_stage)

    upper = 0.125 * (wcon[1:, :, 1] + wcon[:-1, :, 1])
    correction = -upper * (u_stage[:, :, 1] - u_stage[:, :, 0])
    bcol = dtr_stage - upper
    ccol[:, :, 0] = upper / bcol
    dcol[:, :, 0] = (dtr_stage * u_pos[:, :, 0] + utens[:, :, 0] + utens_stage[:, :, 0] + correction) / bcol

    for k in range(1, levels - 1):
        acol = -0.125 * (wcon[1:, :, k] + wcon[:-1, :, k])
        upper = 0.125 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        correction = -acol * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - upper * (
            u_stage[:, :, k + 1] - u_stage[:, :, k]
        )
        bcol = dtr_stage - acol - upper - ccol[:, :, k - 1] * acol
        right = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        ccol[:, :, k] = upper / bcol
        dcol[:, :, k] = (right - dcol[:, :, k - 1] * acol) / bcol

    k = levels - 1
    acol = -0.125 * (wcon[1:, :, k] + wcon[:-1, :, k])
    correction = -acol * (u_stage[:, :, k - 1] - u_stage[:, :, k])
    bcol = dtr_stage - acol - ccol[:, :, k - 1] * acol
    right = dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
    data = (right - dcol[:, :, k - 1] * acol) / bcol
    utens_stage[:, :, k] = dtr_stage * (data - u_pos[:, :, k])
    for k in range(levels - 2, -1, -1):
        data = dcol[:, :, k] - ccol[:, :, k] * data
        utens_stage[:, :, k] = dtr_stage * (data - u_pos[:, :, k])
    return np.sum(utens_stage)


def vadv_args(ni: int, nj: int, nk: int) -> tuple:
    utens_stage, u_stage, u_pos, utens = (normal(ni, nj, nk, seed=k) for k in range(4))
    return utens_stage, u_stage, normal(ni + 1, nj, nk, seed=4), u_pos, utens, 3.0


def deriche(image, alpha):
    """Smoothing and edges by recursive filters, there and back along each axis."""
    decay = np.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - np.exp(-2.0 * alpha))
    a1 = k
    a2 = k * decay * (alpha - 1.0)
    a3 = k * decay * (alpha + 1.0)
    a4 = -k * decay * decay
    b1 = 2.0 ** (-alpha)
    b2 = -decay * decay
    there = np.empty_like(image)
    back = np.empty_like(image)
    there[:, 0] = a1 * image[:, 0]
    there[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * there[:, 0]
    for j in range(2, image.shape[1]):
        there[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * there[:, j - 1] + b2 * there[:, j - 2]
    back[:, -1] = 0.0
    back[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        back[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    middle = there + back
    there[0, :] = a1 * middle[0, :]
    there[1, :] = a1 * middle[1, :] + a2 * middle[0, :] + b1 * there[0, :]
    for i in range(2, image.shape[0]):
        there[i, :] = a1 * middle[i, :] + a2 * middle[i - 1, :] + b1 * there[i - 1, :] + b2 * there[i - 2, :]
    back[-1, :] = 0.0
    back[-2, :] = a3 * middle[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        back[i, :] = a3 * middle[i + 1, :] + a4 * middle[i + 2, :] + b1 * back[i + 1, :] + b2 * back[i + 2, :]
    return np.sum(there + back)


def deriche_args(w: int, h: int) -> tuple:
    return uniform(0.0, 1.0, w, h), 0.25


def soft_dtw(x, y, gamma):
    """The smooth distance of two series under time warping."""
    n, m = x.shape[0], y.shape[0]
    cost = (x[:, None] - y[None, :]) ** 2
    R = np.full((n + 1, m + 1), 1e10)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a = -R[i - 1, j - 1] / gamma
            b = -R[i - 1, j] / gamma
            c = -R[i, j - 1] / gamma
            top = max(a, b, c)
            R[i, j] = cost[i - 1, j - 1] - gamma * (np.log(np.exp(a - top) + np.exp(b - top) + np.exp(c - top)) + top)
    return R[n, m]


def soft_dtw_args(n: int, m: int) -> tuple:
    return normal(n), normal(m, seed=1), 0.8


KERNELS = (
    Kernel(adi, adi_args, (5, 2), (150, 10)),
    Kernel(thomas, thomas_args, (4, 3), (200, 1000)),
    Kernel(vadv, vadv_args, (2, 3, 4), (64, 64, 50)),
    Kernel(deriche, deriche_args, (5, 6), (500, 400)),
    Kernel(soft_dtw, soft_dtw_args, (4, 3), (250, 260)),
)
