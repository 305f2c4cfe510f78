"""Kernels of linear algebra written by hand, as the subjects of the other kernels use them."""

import math

import numpy as np

from .program import Collection, definite, normal

PROGRAMS = Collection("kernel linear")
program = PROGRAMS.program


@program(args=lambda: (definite(4), normal(4, seed=1)), wrt=(0, 1), tags="for nested inplace")
def cholesky_by_hand(a, b):
    """A Cholesky factor element by element, then log determinant and a quadratic form."""
    n = a.shape[0]
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                low[i, i] = math.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    total = 0.0
    z = np.zeros(n)
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= low[i, k] * z[k]
        z[i] = s / low[i, i]
        total += 2.0 * math.log(low[i, i]) + z[i] * z[i]
    return total


@program(
    args=lambda: (normal(4, 4) + 2.0 * np.eye(4), normal(4, seed=1)),
    wrt=(0, 1),
    tags="for nested inplace mutates pivot swap",
)
def gaussian_elimination(a, b):
    """A linear system by elimination with pivots, in place, in the caller's arrays."""
    n = len(b)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if best != k:
            for j in range(k, n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
            b[k], b[best] = b[best], b[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= f * a[k, j]
            b[i] -= f * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]
    return b


@program(args=lambda: (normal(4, 4) + 3.0 * np.eye(4),), tags="for inplace slice outer")
def lu_by_hand(a):
    """Both factors in one matrix, by outer products; then a system is solved with them."""
    lu = a.copy()
    n = len(lu)
    determinant = 1.0
    for k in range(n):
        pivot = lu[k, k]
        if pivot == 0.0:
            raise ZeroDivisionError("the matrix needs pivots")
        determinant *= pivot
        lu[k + 1 :, k] /= pivot
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    x = np.ones(n)
    for i in range(n):
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
    return determinant, lu, x


@program(args=lambda: (normal(4, 3),), tags="for inplace columns norm")
def gram_schmidt(a):
    """Modified Gram-Schmidt: columns are made orthogonal in place."""
    q = a.copy()
    m, n = q.shape
    r = np.zeros((n, n))
    for k in range(n):
        size = 0.0
        for i in range(m):
            size += q[i, k] * q[i, k]
        r[k, k] = math.sqrt(size)
        q[:, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.sum(q[:, k] * q[:, j])
            q[:, j] -= r[k, j] * q[:, k]
    return q, r


@program(args=lambda: (definite(4), normal(4, seed=1)), wrt=(0, 1), tags="while matmul break", second=False)
def conjugate_gradient(a, b):
    """Conjugate gradients until the residue is small; differentiated as it is written."""
    x = np.zeros(len(b))
    r = b.copy()
    p = r.copy()
    size = r @ r
    trips = 0
    while size > 1e-6:
        ap = a @ p
        step = size / (p @ ap)
        x = x + step * p
        r = r - step * ap
        following = r @ r
        p = r + following / size * p
        size = following
        trips += 1
        if trips >= 3:
            break
    residue = b - a @ x
    return x, residue @ residue


@program(args=lambda: (definite(3) + np.diag([0.0, 1.0, 3.0]),), tags="for nested inplace jacobi")
def jacobi_rotations(a):
    """Eigenvalues of a symmetric matrix by sweeps of rotations, in place."""
    s = 0.5 * (a + a.T)
    n = s.shape[0]
    for _ in range(5):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(s[p, q]) < 1e-14:
                    continue
                theta = 0.5 * (s[q, q] - s[p, p]) / s[p, q]
                sign = 1.0 if theta >= 0.0 else -1.0
                t = sign / (abs(theta) + math.sqrt(theta * theta + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                d = t * c
                for k in range(n):
                    x, y = s[k, p], s[k, q]
                    s[k, p], s[k, q] = c * x - d * y, d * x + c * y
                for k in range(n):
                    x, y = s[p, k], s[q, k]
                    s[p, k], s[q, k] = c * x - d * y, d * x + c * y
    return np.diag(s)


@program(args=lambda: (definite(3), normal(3, seed=1)), wrt=(0, 1), tags="while matmul norm")
def power_iteration(a, start):
    """The largest eigenvalue, until it does not change; its derivative is exact at the end."""
    v = start / np.sqrt(start @ start)
    value, previous = 0.0, 1.0
    trips = 0
    while abs(value - previous) > 1e-14 and trips < 500:
        w = a @ v
        previous = value
        value = v @ w
        v = w / np.sqrt(w @ w)
        trips += 1
    return value + 0.5 * (v @ a @ v)


@program(
    args=lambda: (1.5, 0.8, normal(4, 5), normal(4, 3, seed=1), normal(3, 5, seed=2)),
    wrt=(0, 1, 2, 3, 4),
    tags="for nested inplace",
)
def scaled_product(alpha, beta, c, a, b):
    """C <- alpha A B + beta C as three loops, and its norm."""
    c = c.copy()
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]
    return np.sqrt(np.sum(c * c))
