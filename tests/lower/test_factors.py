"""Factors of matrices in compiled code: shared by the statements that want them, found again by other processes."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
rng = np.random.default_rng(0)
ROOT = Path(__file__).parents[2]


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def mahalanobis(m, s, x):
    d = x - m
    return np.sum(d * np.linalg.solve(s, d.T).T) + np.linalg.slogdet(s)[1]


def stacks(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.slogdet(a)[1])


def one_for_a_stack(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.linalg.slogdet(a.T)[1]


def vector_and_transpose(a, b):
    return np.sum(np.linalg.solve(a.T, b) ** 2) + np.sum(np.linalg.inv(a) * np.arange(25.0).reshape(5, 5))


def changing(a, b):
    total = 0.0
    for k in range(3):
        a = a + 0.5 * np.eye(5)
        total += np.sum(np.linalg.solve(a, b))
    return total


def either(a, b):
    if b[0] > 100.0:
        return np.linalg.slogdet(a)[1]
    return np.sum(np.linalg.inv(a) @ b)


def near_one(*shape: int) -> np.ndarray:
    return 0.2 * normal(*shape) + np.eye(shape[-1])


SHARED = {
    "mahalanobis": (mahalanobis, (normal(4), near_one(4, 4), normal(6, 4))),
    "stacks": (stacks, (near_one(3, 5, 5), normal(3, 5, 2))),
    "one for a stack": (one_for_a_stack, (near_one(5, 5), normal(3, 5, 2))),
    "vector and transpose": (vector_and_transpose, (near_one(5, 5), normal(5))),
    "changing": (changing, (near_one(5, 5), normal(5))),
    "either": (either, (near_one(5, 5), normal(5))),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_factors(name):
    """A matrix and its transpose are factored once for all that a function and its adjoint want of them."""
    f, args = SHARED[name]
    gradient = tp.grad(f, argnums=tuple(range(len(args))))
    for found, wanted in zip(tp.jit(gradient)(*args), gradient(*args), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    text = tp.source(gradient, *args, stage="loops")
    assert text.count("linalg.lu_factor") == (2 if name == "either" else 1)
    assert "linalg.solve(" not in text


def test_shared_factors_of_a_singular_matrix():
    f = tp.jit(lambda a, b: (np.linalg.det(a), np.linalg.solve(a.T, b)))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        f(np.ones((5, 5)), np.ones(5))
    assert tp.jit(lambda a: np.linalg.det(a) + np.linalg.slogdet(a)[0])(np.ones((5, 5))) == 0.0


def definite(x):
    return x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1])


def by_cholesky(x, b):
    low = np.linalg.cholesky(definite(x))
    return np.sum(np.linalg.solve(low, b) ** 2) + np.sum(np.linalg.solve(low.T, b))


def by_upper_cholesky(x, b):
    up = np.linalg.cholesky(definite(x), upper=True)
    return np.sum(np.linalg.solve(up, b) ** 2) + np.sum(np.linalg.solve(up.T, b))


def by_cholesky_of_a_stack(x, b):
    return np.sum(np.linalg.solve(np.linalg.cholesky(definite(x)), b) ** 2)


def by_qr(x, b):
    q, r = np.linalg.qr(x)
    return np.sum(np.linalg.solve(r, q.T @ b) ** 2)


TRIANGLES = {
    "cholesky": (by_cholesky, (normal(12, 12), normal(12, 5))),
    "of a vector": (by_cholesky, (normal(5, 5), normal(5))),
    "tiny": (by_cholesky, (normal(2, 2), normal(2, 3))),
    "upper": (by_upper_cholesky, (normal(11, 11), normal(11, 3))),
    "of a stack": (by_cholesky_of_a_stack, (normal(3, 6, 6), normal(3, 6, 2))),
    "qr": (by_qr, (normal(10, 10) + 3.0 * np.eye(10), normal(10, 4))),
}


@pytest.mark.parametrize("name", TRIANGLES)
def test_triangular_factors_are_not_factored_again(name):
    f, args = TRIANGLES[name]
    gradient = tp.value_and_grad(f, argnums=(0, 1))
    (value, found), (wanted_value, wanted) = tp.jit(gradient)(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-9)
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-8)
    text = tp.source(gradient, *args, stage="loops")
    assert "linalg.solve_triangular" in text
    assert "lu_factor" not in text and "linalg.solve(" not in text


# ----------------------------------------------------------------------------------------------- other processes

FRESH = """
import numpy as np
import transpile as tp

def f(a, b):
    return np.linalg.solve(a, b) @ b.T, np.linalg.det(a), b.T @ a @ b

rng = np.random.default_rng(0)
a, b = rng.normal(size=(9, 9)), rng.normal(size=(9, 4))
for found, wanted in zip(tp.jit(f)(a, b), f(a, b)):
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
"""
WITHOUT_NUMPYS = """
import math
from numpy.linalg import _umath_linalg

_umath_linalg.__file__ = math.__file__  # a library with no linear algebra in it, nor behind it
from transpile_runtime.compiled import symbols
assert symbols._in_numpy(symbols._numpy_library(), "dgemm") is None
"""


def fresh(text: str, folder: Path) -> None:
    (folder / "program.py").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "program.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_kernel_from_disk_finds_what_it_calls(tmp_path, monkeypatch):
    """Nothing that it calls is compiled into it: what is behind the symbols is loaded with it."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for _ in range(2):
        fresh(FRESH, tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the library is hidden as Linux finds it")
def test_without_numpys_library(tmp_path, monkeypatch):
    """SciPy's routines, whose integers have 32 bits."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    fresh(WITHOUT_NUMPYS + FRESH, tmp_path)


@pytest.mark.slow
def test_standalone_file_with_factors_and_products(tmp_path):
    """The functions of the runtime are copied into the file, and the registration of the symbols with them."""
    text = (
        "import numpy as np\n\n\ndef f(a, b):\n"
        "    return np.sum(np.linalg.solve(a, b @ b.T) ** 2) + np.linalg.slogdet(a)[1] + np.sum(np.linalg.svd(b, False)[1])\n"
    )
    (tmp_path / "model.py").write_text(text)
    types = ["--arg", "a=float64[n,n]", "--arg", "b=float64[n,d]"]
    command = [sys.executable, "-m", "transpile", "grad", "model.py:f", *types, "--jit", "--standalone", "-o", "out.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, check=True, env=env)
    check = (
        "import sys\nsys.modules.update(transpile=None, transpile_runtime=None)\nimport numpy as np, out\n"
        "rng = np.random.default_rng(0)\na, b = rng.normal(size=(6, 6)) + 3 * np.eye(6), rng.normal(size=(6, 2))\n"
        "print(repr(out.f_grad(a, b).tolist()))\n"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, check=True, capture_output=True, text=True)
    scope: dict = {}
    exec(compile(text, str(tmp_path / "model.py"), "exec"), scope)
    r = np.random.default_rng(0)
    a, b = r.normal(size=(6, 6)) + 3 * np.eye(6), r.normal(size=(6, 2))
    step, found = 1e-6, np.array(eval(done.stdout))
    for i, j in itertools.product(range(6), range(6)):
        e = np.zeros((6, 6))
        e[i, j] = step
        np.testing.assert_allclose(found[i, j], (scope["f"](a + e, b) - scope["f"](a - e, b)) / (2 * step), atol=1e-6)
