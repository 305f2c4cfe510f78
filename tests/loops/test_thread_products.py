"""Products of large matrices in shares: each thread makes a part of the result, as BLAS makes the whole."""

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import CORES
from thread_calls import flat, same

import transpile as tp
from transpile import api
from transpile.driver import compiling

pytestmark = pytest.mark.numba

RNG = np.random.default_rng(13)


@pytest.fixture(scope="module")
def shares():
    """The functions of the runtime as Python functions."""
    from numba import njit

    from transpile_runtime.compiled import shares

    def matrix(alpha, a, b, beta, c, share, count):
        shares.matrix(alpha, a, b, beta, c, share, count)

    def vector(alpha, a, x, beta, y, share, count):
        shares.vector(alpha, a, x, beta, y, share, count)

    def of_matrix(a, b, c, threads, least):
        return shares.of_matrix(a, b, c, threads, least)

    def of_vector(a, x, y, threads, least):
        return shares.of_vector(a, x, y, threads, least)

    def part(alpha, a, b, c, offset, from_there, of_target, share, count):
        shares.part(alpha, a, b, c, offset, from_there, of_target, share, count)

    return {f.__name__: njit(f) for f in (matrix, vector, part, of_matrix, of_vector)}


def forms(a):
    """The matrix, as it lies in memory in several ways."""
    wide = np.zeros((a.shape[0] + 1, 2 * a.shape[1] + 1), a.dtype)
    wide[1:, 1::2] = a
    return a, np.asfortranarray(a), wide[1:, 1::2]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "sizes", [(40, 17, 9), (9, 17, 40), (16, 16, 16), (1, 5, 33), (33, 5, 1), (0, 3, 4), (20, 0, 20)]
)
@pytest.mark.sampled(3)
def test_matrices(sizes, dtype, shares):
    m, k, n = sizes
    a, b = RNG.normal(size=(m, k)).astype(dtype), RNG.normal(size=(k, n)).astype(dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    real = np.dtype(dtype).type
    for left in forms(a):
        for right in forms(b):
            for alpha, beta in ((1.0, 0.0), (-0.5, 1.0), (2.0, -1.5)):
                start = RNG.normal(size=(m, n)).astype(dtype)
                for count in (1, 2, 3, 7):
                    c = start.copy()
                    for share in reversed(range(count)):
                        shares["matrix"](real(alpha), left, right, real(beta), c, share, count)
                    np.testing.assert_allclose(c, alpha * a @ b + beta * start, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("size", [1, 7, 8, 31, 64, 100])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_half_of_what_is_symmetric(size, count, shares):
    a, b = RNG.normal(size=(size, 13)), RNG.normal(size=(13, size))
    for left, right in ((a, a.T), (b.T, b)):
        c = np.full((size, size), np.nan)
        for share in reversed(range(count)):
            shares["matrix"](1.0, left, right, 0.0, c, share, count)
        np.testing.assert_allclose(c, left @ right, rtol=1e-12, atol=1e-12)
        assert np.array_equal(c, c.T)


@pytest.mark.parametrize("shape", [(40, 17), (5, 60), (1, 1), (0, 4), (4, 0)])
def test_vectors(shape, shares):
    a, x, start = RNG.normal(size=shape), RNG.normal(size=shape[1]), RNG.normal(size=shape[0])
    for left in forms(a):
        for count in (1, 2, 5):
            y = start.copy()
            for share in reversed(range(count)):
                shares["vector"](0.5, left, x, 2.0, y, share, count)
            np.testing.assert_allclose(y, 0.5 * a @ x + 2.0 * start, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("of_target", [False, True])
@pytest.mark.parametrize("from_there", [False, True])
@pytest.mark.parametrize("offset", [-40, -3, 0, 1, 25, 90])
def test_parts(offset, from_there, of_target, shares):
    m, k, n = (50, 20, 70) if of_target else (50, 70, 20)
    a, b, start = RNG.normal(size=(m, k)), RNG.normal(size=(k, n)), RNG.normal(size=(m, n))
    columns, rows = np.arange(70), np.arange(50)[:, None]
    kept = columns >= rows + offset if from_there else columns < rows + offset
    wanted = start + (np.where(kept, 0.5 * a @ b, 0.0) if of_target else 0.5 * (a * kept) @ b)
    for count in (1, 2, 3, 9):
        c = start.copy()
        for share in reversed(range(count)):
            shares["part"](0.5, a, b, c, offset, from_there, of_target, share, count)
        np.testing.assert_allclose(c, wanted, rtol=1e-12, atol=1e-12)


def test_how_many(shares):
    """So many that each has work enough; one where BLAS has threads, which the tests see to."""
    a, b, c = np.zeros((64, 10)), np.zeros((10, 20)), np.zeros((64, 20))
    work = 64 * 10 * 20
    for threads, least, wanted in ((4, 1, 4), (4, work, 1), (4, work // 2, 2), (4, work // 3, 3), (99, 1, 8)):
        assert shares["of_matrix"](a, b, c, threads, least) == wanted
    assert shares["of_matrix"](a, b, np.zeros((64, 21)), 4, 1) == 1
    assert shares["of_vector"](a, np.zeros(10), np.zeros(64), 4, 1) == 4
    assert shares["of_vector"](a, np.zeros(11), np.zeros(64), 4, 1) == 1


def network(x, w, v):
    h = np.tanh(x @ w)
    return np.sum((h @ v) ** 2) + np.sum((h.T @ h) ** 2)


def triangle(a):
    """Half of a product that is symmetric."""
    half = np.zeros((a.shape[1], a.shape[1]))
    for i in range(a.shape[1]):
        half[i, i:] = a[:, i] @ a[:, i:]
    return np.sum(half * half * half)


@pytest.mark.parametrize("size", [0, 1, 40])
def test_gradients_of_a_triangle(size, always, forks):
    api._kept.cache_clear()
    a = RNG.normal(size=(30, size))
    gradient = tp.value_and_grad(triangle)
    call = tp.jit(gradient, cache=False, parallel=True)
    same(call(a), gradient(a))
    if size == 40:
        assert "shares.part(" in tp.source(call, a, stage="loops")
        assert 2 in forks


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("size", [0, 1, 30])
@pytest.mark.sampled(3)
def test_gradients(size, threads, always, forks, monkeypatch):
    monkeypatch.setattr(compiling, "threads_of", lambda level: threads if level.parallel else 0)
    api._kept.cache_clear()
    args = RNG.normal(size=(size, 12)), RNG.normal(size=(12, 24)), RNG.normal(size=24)
    gradient = tp.value_and_grad(network, argnums=(0, 1, 2))
    call = tp.jit(gradient, cache=False, parallel=True)
    assert "shares." in tp.source(call, *args, stage="loops")
    found = call(*args)
    same(found, gradient(*args))
    for x, y in zip(flat(found), flat(call(*args)), strict=True):
        assert np.array_equal(x, y)


PROGRAM = """
import numpy as np
from numba import njit
from transpile_runtime.compiled import shares
a = np.zeros((500, 500))
print(njit(lambda a: shares.of_matrix(a, a, a, 2, 1000))(a))
"""


@pytest.mark.parametrize(("threads", "wanted"), [("1", "2"), ("2", "1")])
def test_threads_of_blas_are_left_alone(threads, wanted, tmp_path):
    if CORES < 2:
        pytest.skip("BLAS has one thread")
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    env["PYTHONPATH"] = os.pathsep.join([os.getcwd(), env.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, env=env)
    assert done.stdout.split() == [wanted], done.stderr
