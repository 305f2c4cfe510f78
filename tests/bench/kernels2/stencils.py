"""Stencils on grids, in place."""

from __future__ import annotations

import numpy as np
from corpus.program import normal, uniform

from bench.kernels2.kernel import Kernel


def jacobi_1d(A, B, steps):
    A = A.copy()
    B = B.copy()
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return np.sum(A) + np.sum(B)


def jacobi_1d_args(n: int, steps: int) -> tuple:
    return normal(n), normal(n, seed=1), steps


def jacobi_2d(A, B, steps):
    A = A.copy()
    B = B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A) + np.sum(B)


def jacobi_2d_args(n: int, steps: int) -> tuple:
    return normal(n, n), normal(n, n, seed=1), steps


def heat(A):
    """One step of diffusion of the inner points."""
    centre = A[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * centre + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * centre + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * centre + A[1:-1, 1:-1, :-2])
        + centre
    )


def heat_3d(A, B, steps):
    A = A.copy()
    B = B.copy()
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = heat(A)
        A[1:-1, 1:-1, 1:-1] = heat(B)
    return np.sum(A) + np.sum(B)


def heat_3d_args(n: int, steps: int) -> tuple:
    return normal(n, n, n), normal(n, n, n, seed=1), steps


def seidel_2d(A, steps):
    """Each point takes the mean of nine, of which four are new."""
    A = A.copy()
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )
            for j in range(1, A.shape[1] - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A)


def seidel_2d_args(n: int, steps: int) -> tuple:
    return normal(n, n), steps


def fdtd_2d(source, ex, ey, hz):
    """Maxwell's equations in two dimensions; the source drives one edge."""
    ex = ex.copy()
    ey = ey.copy()
    hz = hz.copy()
    for t in range(source.shape[0]):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(ex) + np.sum(ey) + np.sum(hz)


def fdtd_2d_args(nx: int, ny: int, steps: int) -> tuple:
    return np.linspace(0.0, 1.0, steps), normal(nx, ny), normal(nx, ny, seed=1), normal(nx, ny, seed=2)


def hdiff(field, coeff):
    """Horizontal diffusion of a weather model, with limited fluxes."""
    inner = field[1:-1, 1:-1]
    lap = 4.0 * inner - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = np.where(flux * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0.0, 0.0, flux)
    flux = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = np.where(flux * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0.0, 0.0, flux)
    return np.sum(field[2:-2, 2:-2] - coeff * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1]))


def hdiff_args(ni: int, nj: int, nk: int) -> tuple:
    return normal(ni + 4, nj + 4, nk), uniform(0.0, 0.2, ni, nj, nk, seed=1)


KERNELS = (
    Kernel(jacobi_1d, jacobi_1d_args, (7, 3), (8000, 500)),
    Kernel(jacobi_2d, jacobi_2d_args, (5, 3), (150, 100)),
    Kernel(heat_3d, heat_3d_args, (4, 2), (40, 20)),
    Kernel(seidel_2d, seidel_2d_args, (5, 2), (100, 20)),
    Kernel(fdtd_2d, fdtd_2d_args, (4, 5, 3), (150, 160, 50)),
    Kernel(hdiff, hdiff_args, (3, 2, 2), (64, 64, 64)),
)
