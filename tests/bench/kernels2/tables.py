"""Statistics, graphs and elementwise work on tables of data."""

from __future__ import annotations

import numpy as np
from corpus.program import normal, uniform

from bench.kernels2.kernel import Kernel


def covariance(data):
    n, m = data.shape
    data = data - np.sum(data, axis=0) / n
    cov = np.zeros((m, m))
    for i in range(m):
        row = data[:, i] @ data[:, i:] / (n - 1.0)
        cov[i, i:] = row
        cov[i:, i] = row
    return np.sum(cov)


def correlation(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data = (data - mean) / (np.sqrt(n) * deviation)
    corr = np.eye(m)
    for i in range(m - 1):
        row = data[:, i + 1 :].T @ data[:, i]
        corr[i, i + 1 :] = row
        corr[i + 1 :, i] = row
    return np.sum(corr)


def data_args(n: int, m: int) -> tuple:
    return (normal(n, m) + normal(n, 1, seed=1),)


def softmax(x, weights):
    """Over the last axis; weighted, as a plain sum of the outputs is constant."""
    top = np.max(x, axis=-1, keepdims=True)
    out = np.exp(x - top)
    out /= np.sum(out, axis=-1, keepdims=True)
    return np.sum(out * weights)


def softmax_args(batch: int, heads: int, n: int) -> tuple:
    return normal(batch, heads, n, n), normal(batch, heads, n, n, seed=1)


def azimint(data, radius, npt):
    """The mean of the data in rings of equal width."""
    rmax = np.max(radius)
    res = np.zeros(npt)
    for i in range(npt):
        inner = rmax * i / npt
        outer = rmax * (i + 1) / npt
        mask = (inner <= radius) & (radius < outer)
        res[i] = np.mean(data[mask])
    return np.sum(res)


def azimint_args(n: int, npt: int) -> tuple:
    return normal(n), (np.arange(n) + 0.5) * npt / n + uniform(-0.1, 0.1, n, seed=1), npt


def spmv(starts, columns, values, x):
    """A sparse matrix in compressed rows times a vector."""
    y = np.empty(starts.size - 1)
    for i in range(y.size):
        begin, end = starts[i], starts[i + 1]
        y[i] = values[begin:end] @ x[columns[begin:end]]
    return np.sum(y)


def spmv_args(m: int, n: int, per_row: int) -> tuple:
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 2 * per_row, size=m))])
    columns = rng.integers(0, n, size=starts[-1])
    return starts, columns, rng.normal(size=starts[-1]), rng.normal(size=n)


def floyd_warshall(path):
    path = path.copy()
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k, :]))
    return np.sum(path)


def floyd_warshall_args(n: int) -> tuple:
    return (uniform(0.1, 10.0, n, n),)


def compute(x, y, a, b, c):
    return np.sum(np.clip(x, 2.0, 10.0) * a + y * b + c)


def compute_args(m: int, n: int) -> tuple:
    return uniform(0.0, 12.0, m, n), normal(m, n, seed=1), 1.3, 0.7, 2.0


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return np.sum(a + trace)


def go_fast_args(n: int) -> tuple:
    return (normal(n, n),)


def arc_distance(theta1, phi1, theta2, phi2):
    """Between pairs of points on the unit sphere."""
    chord = np.sin((theta2 - theta1) / 2) ** 2 + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2
    return np.sum(2 * np.arctan2(np.sqrt(chord), np.sqrt(1 - chord)))


def arc_distance_args(n: int) -> tuple:
    return tuple(uniform(-1.2, 1.2, n, seed=k) for k in range(4))


KERNELS = (
    Kernel(covariance, data_args, (6, 4), (300, 240)),
    Kernel(correlation, data_args, (6, 4), (300, 240), numba_ok=False),
    Kernel(softmax, softmax_args, (2, 2, 3), (8, 8, 64), numba_ok=False),
    Kernel(azimint, azimint_args, (12, 3), (100_000, 50)),
    Kernel(spmv, spmv_args, (6, 5, 2), (30_000, 20_000, 20)),
    Kernel(floyd_warshall, floyd_warshall_args, (5,), (160,), numba_ok=False),
    Kernel(compute, compute_args, (4, 5), (1000, 1000)),
    Kernel(go_fast, go_fast_args, (4,), (1500,)),
    Kernel(arc_distance, arc_distance_args, (6,), (100_000,)),
)
