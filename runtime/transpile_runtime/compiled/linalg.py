"""Linear algebra of one matrix, of any memory order, into existing memory."""

from transpile_runtime.compiled.adjoints import cholesky_adjoint
from transpile_runtime.compiled.decompositions import (
    eigh,
    eigvalsh,
    lstsq,
    matrix_rank,
    pinv,
    qr,
    qr_r,
    robust_eigh,
    svd,
    svd_full,
    svdvals,
)
from transpile_runtime.compiled.equations import (
    cholesky,
    det,
    inv,
    lu,
    lu_det,
    lu_factor,
    lu_inv,
    lu_slogdet,
    lu_solve,
    slogdet,
    solve,
    solve_triangular,
)
from transpile_runtime.compiled.exponential import expm

__all__ = [
    "cholesky", "cholesky_adjoint", "det", "eigh", "eigvalsh", "expm", "inv", "lstsq", "lu", "lu_det", "lu_factor",
    "lu_inv", "lu_slogdet", "lu_solve", "matrix_rank", "pinv", "qr", "qr_r", "robust_eigh", "slogdet",
    "solve", "solve_triangular", "svd", "svd_full", "svdvals",
]  # fmt: skip
