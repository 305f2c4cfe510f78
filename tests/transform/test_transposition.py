"""The transpose of linear functions: against their matrices, and what is not linear."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

rng = np.random.default_rng(3)
A = rng.normal(size=(5, 4))


def product(x):
    return A @ x


def differences(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] += x[i + 1] - 2.0 * x[i]
    return y


def running(x):
    s = 0.0
    out = np.empty(len(x))
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        out[i] = s
    return out


def permuted(x):
    return x[np.array([3, 0, 0])] * 2.0


def picked(x):
    """A branch on what is no argument."""
    return x * 2.0 if A[0, 0] > 0.0 else -x


def in_place(x):
    y = x.copy()
    y[1:] -= 0.5 * y[:-1]
    return y[::-1]


LINEAR = (product, differences, running, permuted, picked, in_place)
names = lambda f: f.__name__  # noqa: E731


def matrix(f, n: int) -> np.ndarray:
    return np.stack([f(e) for e in np.eye(n)], axis=1)


@pytest.mark.parametrize("f", LINEAR, ids=names)
def test_against_the_matrix(f):
    wanted = matrix(f, 4).T
    y = rng.normal(size=wanted.shape[1])
    transposed = tp.linear_transpose(f, np.full(4, np.nan))  # of the argument only the shape counts
    (found,) = transposed(y)
    np.testing.assert_allclose(found, wanted @ y, rtol=1e-13)
    (found,) = transposed(2.0 * y)
    np.testing.assert_allclose(found, wanted @ (2.0 * y), rtol=1e-13)


@pytest.mark.parametrize("f", LINEAR, ids=names)
def test_the_transpose_is_linear(f):
    """Transposed again it is the function; its derivative is itself."""
    y = rng.normal(size=len(f(np.ones(4))))
    transposed = tp.linear_transpose(f, np.zeros(4))
    x = rng.normal(size=4)
    np.testing.assert_allclose(tp.linear_transpose(lambda y: transposed(y)[0], y)(x)[0], f(x), rtol=1e-13)
    np.testing.assert_allclose(tp.jvp(lambda y: transposed(y)[0], (y,), (y,))[1], transposed(y)[0], rtol=1e-13)


def test_several_arguments_and_trees():
    def f(p, k, x):
        return {"sum": p["a"] * k + x, "first": x[:2]}

    given = {"a": np.zeros(3)}, 2, np.zeros(3)
    p, k, x = tp.linear_transpose(f, *given)({"sum": np.arange(3.0), "first": np.ones(2)})
    np.testing.assert_array_equal(p["a"], 2.0 * np.arange(3.0))
    assert k is None
    np.testing.assert_array_equal(x, [1.0, 2.0, 2.0])


def test_single_precision():
    (found,) = tp.linear_transpose(lambda x: x[:2] * np.float32(3.0), np.zeros(3, np.float32))(np.ones(2, np.float32))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [3.0, 3.0, 0.0])


def test_the_source_reads_no_argument():
    text = tp.source(tp.linear_transpose, product, np.zeros(4))
    assert text.rstrip().endswith("return (A.T @ product_bar,)") or "A.T @" in text, text
    assert "def product_transpose(" in text


@pytest.mark.parametrize(
    "f",
    (
        lambda x: x * x,
        np.sin,
        lambda x: np.maximum(x, 0.0),
        lambda x: x if x[0] > 0.0 else 2.0 * x,
        lambda x: x / np.sum(x),
    ),
)
def test_what_is_not_linear(f):
    def g(x):
        return f(x)

    with pytest.raises(tp.TranspileError, match="not linear in 'x'") as e:
        tp.linear_transpose(g, np.ones(4))(np.ones(4))
    assert e.value.codes == ("T312",)


def test_a_cotangent_that_does_not_fit():
    with pytest.raises(tp.TranspileError) as e:
        tp.linear_transpose(product, np.zeros(4))(np.ones(4))
    assert e.value.codes == ("T309",)


@pytest.mark.numba
def test_compiled(cache_directory):
    y = rng.normal(size=5)
    transposed = tp.jit(lambda y: tp.linear_transpose(product, np.zeros(4))(y)[0])
    np.testing.assert_allclose(transposed(y), A.T @ y, rtol=1e-13)
