"""Products of matrices and vectors in compiled code: exact for every form, and one call where one is enough."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from scalarise import scalarised

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
rng = np.random.default_rng(0)


def normal(*shape: int, dtype: type = np.float64) -> np.ndarray:
    return rng.normal(size=shape).astype(dtype)


# ------------------------------------------------------------------------------------------ what is called at run time


def lies(m: int, n: int, dtype: type) -> Iterator[np.ndarray]:
    """A matrix in all the ways in which one lies in memory."""
    yield normal(m, n, dtype=dtype)
    yield normal(n, m, dtype=dtype).T
    yield normal(m + 3, n + 4, dtype=dtype)[1 : 1 + m, 2 : 2 + n]
    yield normal(n + 3, m + 4, dtype=dtype)[1 : 1 + n, 2 : 2 + m].T
    yield normal(m, n, 3, dtype=dtype)[:, :, 1]
    yield normal(m, 2, n, dtype=dtype)[:, 1]


FACTORS = ((1.0, 0.0), (1.0, 1.0), (0.5, -2.0), (0.0, 1.5), (-1.0, 0.0))
SIZES = (
    (0, 2, 3),
    (2, 0, 3),
    (2, 3, 0),
    (1, 1, 1),
    (3, 4, 5),
    (1, 20, 30),
    (20, 30, 1),
    (7, 20, 30),
    (20, 1, 20),
    (33, 40, 17),
)


@pytest.fixture(scope="module")
def run():
    """The functions of the runtime as Python functions, for arrays that lie anyhow."""
    from numba import njit

    from transpile_runtime.compiled import blas

    def gemm(alpha, a, b, beta, c):
        blas.gemm(alpha, a, b, beta, c)

    def gemv(alpha, a, x, beta, y):
        blas.gemv(alpha, a, x, beta, y)

    def kept(beta, c):
        return blas.kept(beta, c)

    real = "{0}[:, :], {0}[:, :], {0}, {0}[:, :]"
    line = "{0}[:, :], {0}[:], {0}, {0}[:]"
    both = ("float64", "float32")
    return {
        "gemm": njit([f"void({d}, {real.format(d)})" for d in both])(gemm),
        "gemv": njit([f"void({d}, {line.format(d)})" for d in both])(gemv),
        "kept": njit("float64(float64, float64[:, :])")(kept),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrix_by_matrix(run, dtype):
    tol = 1e-12 if dtype == np.float64 else 1e-4
    for m, k, n in SIZES:
        for a, b, c in itertools.product(lies(m, k, dtype), lies(k, n, dtype), lies(m, n, dtype)):
            for alpha, beta in FACTORS:
                wanted = alpha * (a @ b) + (beta * c if beta else 0)
                if beta == 0:
                    c[...] = np.nan  # it is not read
                run["gemm"](alpha, a, b, beta, c)
                np.testing.assert_allclose(c, wanted, rtol=tol, atol=tol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrix_by_vector(run, dtype):
    tol = 1e-11 if dtype == np.float64 else 2e-3
    for m, n in ((0, 3), (3, 0), (1, 1), (2, 3), (7, 9), (40, 50), (600, 700)):
        columns = [x[:, 0] for x in lies(n, 1, dtype)] + [normal(n, dtype=dtype)[::-1]]
        for a, x, y in itertools.product(lies(m, n, dtype), columns, [y[:, 0] for y in lies(m, 1, dtype)]):
            for alpha, beta in FACTORS:
                wanted = alpha * (a @ x) + (beta * y if beta else 0)
                if beta == 0:
                    y[...] = np.nan
                run["gemv"](alpha, a, x, beta, y)
                np.testing.assert_allclose(y, wanted, rtol=tol, atol=tol)


def test_a_matrix_by_its_transpose_is_symmetric(run):
    for a in lies(30, 20, np.float64):
        for into in (np.full((30, 30), np.nan), np.full((30, 30), np.nan).T):
            run["gemm"](2.0, a, a.T, 0.0, into)
            np.testing.assert_allclose(
                into, 2.0 * a @ a.T, rtol=1e-12, atol=1e-13
            )  # entries near 0 are sums that cancel
            assert np.array_equal(into, into.T)


def test_no_factor_hides_what_is_not_finite(run):
    for n in (2, 30):
        a, b, c = normal(n, n), normal(n, n), normal(n, n)
        a[0, 1], b[1, 0], c[1, 1] = np.nan, np.inf, np.nan
        with np.errstate(invalid="ignore"):
            wanted = 0.0 * (a @ b) + 0.0 * c
        beta = run["kept"](0.0, c)
        run["gemm"](0.0, a, b, beta, c)
        np.testing.assert_array_equal(c, wanted)
        y = normal(n)
        run["gemv"](0.0, a, np.ones(n), 0.0, y)
        assert np.isnan(y[0])
        np.testing.assert_array_equal(y[1:], 0.0)


def test_sizes_that_do_not_agree_are_refused(run):
    with pytest.raises(ValueError, match="sizes"):
        run["gemm"](1.0, normal(2, 3), normal(4, 2), 0.0, normal(2, 2))
    with pytest.raises(ValueError, match="sizes"):
        run["gemv"](1.0, normal(2, 3), normal(3), 0.0, normal(3))


# ------------------------------------------------------------------------------------------------ programs, and calls

PROGRAMS: dict[str, tuple[Callable, tuple, int, str]] = {}


def program(*args, calls: int, fn: str = "gemm"):
    """Notes a function, fresh arguments for it, and how many calls of BLAS its loops hold."""

    def add(f):
        PROGRAMS[f.__name__] = (f, args, calls, fn)
        return f

    return add


A, B, C = normal(6, 4), normal(4, 5), normal(6, 5)
STACK, OTHER = normal(3, 6, 4), normal(3, 4, 5)


@program(A, B, normal(6, 4), normal(5, 4), calls=5)
def transposes(a, b, c, d):
    return a @ b, c.T @ a, a @ d.T, a.T @ c @ b


@program(A, B, C, 1.5, -0.5, calls=1)
def blas_form(a, b, c, alpha, beta):
    c[:] = alpha * a @ b + beta * c
    return c


@program(A, B, C, 0.25, calls=1)
def blas_form_last(a, b, c, alpha):
    c[:] = c - alpha * (a @ b)
    return c


@program(A, normal(6, 5), normal(4, 5), calls=1)
def accumulated_transpose(a, b, c):
    c += a.T @ b
    return c


@program(STACK, OTHER, normal(3, 6, 5), calls=1)
def rows_of_stacks(a, b, c):
    for i in range(3):
        c[i] += a[i] @ b[i]
    return c


@program(normal(3, 4, 6), normal(4, 3, 5), normal(3, 6, 7), calls=1)
def parts_of_stacks(a, b, c):
    for i in range(3):
        c[i, :, 1:6] -= a[i].T @ b[:, i]
    return c


@program(normal(7, 6), normal(6, 8), normal(9, 9), calls=2)
def slices(a, b, c):
    c[1:4, 2:7] = a[2:5, :4] @ b[1:5, 3:]
    c[5:, -4:] += a[-4:, 1:3] @ b[:2, ::-1][:, :4]
    return c


@program(A, normal(4), normal(6), normal(6), calls=4, fn="gemv")
def vectors(a, x, y, z):
    z += a @ x
    return x @ a.T * 2.0, y @ a, z, 0.5 * (a.T @ z) + x


@program(normal(3, 6, 4), normal(4, 3), calls=1, fn="gemv")
def columns_and_rows(a, x):
    out = np.zeros((3, 6))
    for i in range(3):
        out[i] += a[i] @ x[:, i]
    return out


@program(STACK, OTHER, calls=1)
def batched(a, b):
    return a @ b


@program(STACK, B, calls=1)
def shared_right(a, b):
    return a @ b


@program(A, OTHER, calls=1)
def shared_left(a, b):
    return np.matmul(a, b)


@program(normal(2, 1, 6, 4), OTHER, calls=1)
def broadcast_batch(a, b):
    return np.matmul(a, b)


@program(normal(1, 4), B, normal(6, 1), C, calls=2, fn="gem")
def one_row_or_column(x, b, y, c):
    return x @ b, y.T @ c


@program(STACK, normal(3, 6, 5), calls=1)
def tensordot_of_two_axes(a, b):
    return np.tensordot(a, b, ((0, 1), (0, 1)))


@program(normal(2, 3, 4), normal(4, 3, 5), calls=1)
def tensordot_turned(a, b):
    return np.tensordot(a, b, ((1, 2), (1, 0)))


@program(A, B, calls=4)
def einsums(a, b):
    return (
        np.einsum("ij,jk->ik", a, b), np.einsum("ij,jk->ki", a, b), np.einsum("ji,jk->ik", a, a), np.einsum("ij,kj", a, a),
    )  # fmt: skip


@program(normal(2, 3, 4), normal(3, 4, 5), normal(2, 5), calls=2)
def einsum_batched(a, b, c):
    return np.einsum("bij,ijk->bk", a, b) + c, np.einsum("ijk,jkl->kil", a, b)


@program(normal(3, 6, 4), normal(3, 5, 4), normal(2, 6, 3), normal(3, 5, 6), calls=3)
def stacks_added_up(a, b, c, d):
    return np.sum(a @ b.swapaxes(1, 2), axis=0), np.einsum("ijk,klj->il", c, d), np.sum(a.mT @ d.mT, 0, keepdims=True)


@program(A, B, normal(5, 3), calls=2)
def einsum_chain(a, b, c):
    return np.einsum("ij,jk,kl->il", a, b, c)


@program(normal(6), A, calls=2, fn="gemv")
def weighted_sums(w, a):
    return np.sum(w[:, None] * a, axis=0), np.mean(a * w[:, None], axis=0, keepdims=True)


@program(A, normal(4), calls=1, fn="gemv")
def weighted_rows(a, x):
    return np.sum(a * x, axis=1)


@program(A, normal(6, 5), calls=1)
def outer_products_summed(a, b):
    return np.sum(a[:, :, None] * b[:, None, :], axis=0)


@program(A, normal(5, 4), calls=1)
def all_pairs(a, b):
    return np.sum(a[:, None, :] * b[None, :, :], axis=2)


@program(normal(5, 5), normal(5, 5), calls=3)
def what_is_written_is_read(c, b):
    c += c @ b
    c[:] = c @ c
    c[:2] += b[:2] @ c
    return c


@program(normal(5, 5), normal(5, 5), calls=1)
def result_over_operand(c, b):
    view = c.T
    b[:] = view @ b
    return b


@program(np.full((6, 7), np.nan), normal(6, 5), normal(5, 7), 0.0, calls=1)
def zero_times_nan(c, a, b, beta):
    c[:] = a @ b + beta * c
    return c


@program(normal(3, 0), normal(0, 2), normal(3, 2), normal(0), calls=2, fn="gem")
def nothing_to_sum(a, b, c, x):
    c += a @ b
    return c, a @ x


@program(normal(0, 3), normal(3, 5), normal(2, 0, 3), calls=2)
def nothing_to_give(a, b, c):
    return a @ b, c @ b


@program(normal(9, 4), normal(4, 3), normal(9, 3), normal(0, 4), calls=1)  # of many columns
def few_columns(a, b, c, none):
    c -= 2.0 * a @ b
    return c, a @ b[:, :2], none @ b, b.T @ a[2:].T


@program(A.astype(np.float32), B.astype(np.float32), C.astype(np.float32), calls=1)
def single_precision(a, b, c):
    c += 2.0 * a @ b
    return c


@program(A.astype(np.float32), normal(4).astype(np.float32), calls=1, fn="gemv")
def single_precision_vector(a, x):
    return a @ x


@program(np.arange(6).reshape(2, 3), np.arange(3), calls=0)
def integers(a, x):
    return a @ x, a @ a.T


@program(normal(4), normal(4), calls=0)
def dots(x, y):
    return x @ y, np.outer(x, y), np.einsum("i,i->i", x, y)


@program(normal(5, 3), normal(5, 4), calls=1)
def sum_of_a_product_and_a_scale(a, b):
    total = np.zeros((3, 4))
    for k in range(3):
        total = 0.5 * total + a.T @ b
    return total


def copied(args: tuple) -> tuple:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)


def leaves(value) -> tuple:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(3)
def test_programs(name):
    f, args, _, _ = PROGRAMS[name]
    ours, theirs = copied(args), copied(args)
    found, wanted = leaves(tp.jit(f)(*ours)), leaves(f(*theirs))
    for x, y in [*zip(found, wanted, strict=True), *zip(ours, theirs, strict=True)]:
        assert np.shape(x) == np.shape(y)
        assert np.result_type(x) == np.result_type(y)
        tol = 1e-5 if np.result_type(y) == np.float32 else 1e-12
        np.testing.assert_allclose(x, y, rtol=tol, atol=tol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls(name):
    f, args, calls, fn = PROGRAMS[name]
    text = tp.source(f, *copied(args), stage="loops")
    assert text.count(f"blas.{fn}") == text.count("blas.gem") == calls, text


EXACT = [n for n in PROGRAMS if n not in ("integers", "zero_times_nan", "single_precision", "single_precision_vector")]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.sampled(8)
def test_gradients(name, tmp_path):
    """Of the sum of all results with weights: compiled as interpreted, with the products in the adjoints as calls too."""
    f, args, calls, _ = PROGRAMS[name]
    total = scalarised(f, args, f(*copied(args)), tmp_path, name=f"weighted_{name}")
    gradient = tp.grad(total, argnums=tuple(k for k, a in enumerate(args) if isinstance(a, (float, np.ndarray))))
    found, wanted = tp.jit(gradient)(*copied(args)), gradient(*copied(args))
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)
    if calls and name != "weighted_sums":  # there the sum and the outer product share a loop
        assert "blas.gem" in tp.source(gradient, *copied(args), stage="loops")


# ------------------------------------------------------------------------------------------------------- adjoints


def test_accumulating_gradient_is_one_call():
    """The adjoint of a matrix that a loop uses is added to in place."""

    def f(w, x):
        total = 0.0
        for k in range(x.shape[0]):
            total += np.sum((x[k] @ w) ** 2)
        return total

    args = normal(4, 5), normal(3, 6, 4)
    gradient = tp.grad(f)
    text = tp.source(gradient, *args, stage="loops")
    assert "blas.gemm(1.0, x[k].T" in text
    assert ", 1.0, w_bar)" in text
    np.testing.assert_allclose(tp.jit(gradient)(*args), gradient(*args), rtol=1e-12)
