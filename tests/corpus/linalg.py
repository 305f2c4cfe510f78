"""Linear algebra: solving, factoring, determinants, norms; of single matrices and of stacks."""

import numpy as np
from scipy.linalg import cho_solve, expm, solve_triangular

from .program import Collection, definite, normal

PROGRAMS = Collection("linalg")
program = PROGRAMS.program


@program(args=lambda: (definite(3), normal(3, seed=1)), wrt=(0, 1), tags="solve")
def solve_vector(a, b):
    """A linear system with one right side."""
    x = np.linalg.solve(a, b)
    return x * b


@program(args=lambda: (definite(3), normal(3, 2, seed=1)), wrt=(0, 1), tags="solve inv")
def solve_matrix(a, b):
    """Several right sides, and the inverse."""
    return np.linalg.solve(a, b) + np.linalg.inv(a) @ b


@program(args=lambda: (definite(3),), tags="det slogdet")
def determinants(a):
    """det and slogdet."""
    sign, logdet = np.linalg.slogdet(a)
    return sign * logdet * np.linalg.det(a)


@program(args=lambda: (definite(4), normal(4, seed=1)), wrt=(0, 1), tags="cholesky")
def gaussian_density(cov, x):
    """The log density of a normal distribution through the Cholesky factor."""
    low = np.linalg.cholesky(cov)
    z = np.linalg.solve(low, x)
    return -0.5 * np.sum(z * z) - np.sum(np.log(np.diag(low)))


@program(args=lambda: (normal(4, 3),), tags="qr", tol=1e-5)
def qr_factors(a):
    """The triangular factor and a projection by the orthogonal one."""
    q, r = np.linalg.qr(a)
    return np.sum(np.abs(r) * np.arange(1.0, 4.0)) + np.sum((q @ q.T)[0])


@program(args=lambda: (normal(4, 3),), tags="svd", tol=1e-5)
def singular_values(a):
    """Singular values, and the product of all factors with changed values."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return (u * s**2) @ vt + np.sum(s)


@program(args=lambda: (definite(3),), tags="eigh", tol=1e-5)
def spectral_function(a):
    """The logarithm of a symmetric matrix by its eigenvalues."""
    w, v = np.linalg.eigh(0.5 * (a + a.T))
    return (v * np.log(w)) @ v.T + w


@program(args=lambda: (normal(4, 2), normal(4, seed=1)), wrt=(0, 1), tags="lstsq pinv", tol=1e-5)
def least_squares(a, b):
    """lstsq and the pseudo-inverse give the same solution."""
    x = np.linalg.lstsq(a, b, rcond=None)[0]
    return x * (np.linalg.pinv(a) @ b) + np.sum((a @ x - b) ** 2)


@program(args=lambda: (normal(3, 3),), tags="matrix_power")
def matrix_powers(a):
    """Whole powers of a matrix, negative ones too."""
    b = a + 3.0 * np.eye(3)
    return np.linalg.matrix_power(b, 3) @ np.linalg.matrix_power(b, -1) / 10.0


@program(args=lambda: (normal(3, 3),), tags="norm")
def matrix_norms(a):
    """Norms by order, of matrices and vectors."""
    v = a[0]
    return np.linalg.norm(a, "fro") + np.linalg.norm(v, 1) * np.linalg.norm(v, np.inf)


@program(
    args=lambda: (np.stack([definite(2, k) for k in range(3)]), normal(3, 2, seed=9)),
    wrt=(0, 1),
    tags="batched",
)
def batched_solve(a, b):
    """Stacks of matrices."""
    x = np.linalg.solve(a, b[:, :, None])[:, :, 0]
    return x * np.linalg.det(a)[:, None] + np.linalg.inv(a)[:, 0]


@program(args=lambda: (np.stack([definite(2, k) for k in range(3)]),), tags="batched cholesky")
def batched_cholesky(a):
    """Factors of a stack of matrices."""
    low = np.linalg.cholesky(a)
    return low @ low.swapaxes(-1, -2) * low, np.linalg.slogdet(a)[1]


@program(args=lambda: (definite(3), normal(3, seed=1)), wrt=(0, 1), tags="loop solve")
def implicit_steps(a, x):
    """A linear system in each step of a loop."""
    for _ in range(3):
        x = np.linalg.solve(a + np.eye(3), x + 0.1 * x**2)
    return x


@program(args=lambda: (definite(3), normal(3, seed=1)), wrt=(0, 1), tags="scipy")
def triangular_solves(a, b):
    """solve_triangular, cho_factor and cho_solve of SciPy."""
    low = np.linalg.cholesky(a)
    y = solve_triangular(low, b, lower=True)
    return y * solve_triangular(low, b, lower=True, trans="T") + cho_solve((low, True), b)


@program(args=lambda: (normal(3, 3),), tags="scipy expm", tol=1e-5)
def matrix_exponential(a):
    """The exponential of a matrix."""
    return expm(0.3 * a) @ a[0]


@program(
    args=lambda: (np.array([[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]], 2.0 * np.eye(3), np.zeros((3, 3))]),),
    tags="det singular",
    second=False,
)
def determinants_of_singular(a):
    """The determinant has a derivative where the inverse does not exist."""
    return np.sum(np.linalg.det(a) ** 2 + np.sin(np.linalg.det(a)))


@program(args=lambda: (normal(5, 3), normal(5, 2, seed=1), definite(3)), wrt=(0, 1), tags="lstsq", tol=1e-5)
def what_least_squares_leave(a, b, q):
    """Sums of squares of what is left: none of a system that has as many rows as columns."""
    solution, left, rank, values = np.linalg.lstsq(a, b, rcond=None)
    nothing = np.linalg.lstsq(q, b[:3], rcond=None)[1]
    return np.sum(left) * len(left) + np.sum(nothing) + len(nothing) + np.sum(solution)


@program(args=lambda: (definite(6).reshape(2, 3, 6), normal(2, 3, seed=1)), wrt=(0, 1), tags="tensorsolve tensorinv")
def tensor_systems(a, b):
    """Systems whose unknowns are arrays, and the inverse of such a map."""
    x = np.linalg.tensorsolve(a, b)
    return x * np.tensordot(np.linalg.tensorinv(a, ind=2), b, 2)


@program(args=lambda: (definite(3),), tags="eigh", tol=1e-5)
def lower_triangle_in_a_small_letter(a):
    """UPLO="l" is the lower triangle too, which alone has a derivative."""
    w, v = np.linalg.eigh(a, UPLO="l")
    return np.sum(np.linalg.eigvalsh(a, "l") ** 2) + np.sum(np.exp(0.1 * w) * v[0] ** 2)
