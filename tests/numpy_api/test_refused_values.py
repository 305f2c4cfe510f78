"""What NumPy refuses of truth values and integers, and results in NumPy's own dtype: all entries were run on all dtypes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

TRUTHS = [
    lambda x: np.gradient(x),
    lambda x: np.ediff1d(x),
    lambda x: np.round(x, 1),
    lambda x: x.round(2),
    lambda x: +x,
]


@pytest.mark.parametrize("f", TRUTHS)
def test_truth_values_that_numpy_does_not_subtract(f):
    x = np.array([True, False, True])
    with pytest.raises(TypeError):
        f(x)
    with pytest.raises(TranspileError):
        Transformed(f, Level())(x)
    whole = np.array([3, 1, 2])
    assert np.array_equal(Transformed(f, Level())(whole), f(whole))


def logarithm(x):
    return np.log(x, out=np.zeros(3, int), where=x > 1)


def added(x):
    return np.add(x, 0.5, out=np.zeros(3, int), where=x > 1)


def copied(x):
    o = np.zeros(3, int)
    np.copyto(o, x * 1.5)
    return o


def copied_where(x):
    o = np.zeros(3, int)
    np.copyto(o, x * 1.5, where=x > 1)
    return o


def number(x):
    o = np.zeros_like(x)
    np.copyto(o, 2.5)
    return o


@pytest.mark.parametrize("f", [logarithm, added, copied, copied_where, number])
def test_floats_do_not_go_into_an_array_of_integers(f):
    x = np.array([1, 2, 3])
    with pytest.raises(TypeError):
        f(x)
    with pytest.raises((TranspileError, TypeError)):
        Transformed(f, Level())(x)


def kept(x):
    narrow, small = np.zeros(3, np.float32), np.zeros(3, np.uint8)
    np.copyto(narrow, x)
    np.copyto(small, 7)
    whole = np.zeros(3, int)
    np.copyto(whole, x * 1.5, casting="unsafe")
    return narrow, small, whole


def typed(x):
    return (
        np.piecewise(x, [x > 2, x < 0], [lambda e: e * 0.7, lambda e: e / 2, 5.9]),
        scipy.linalg.block_diag(x, [[1, 2], [3, 4]], x[:1]),
        np.vecdot(x, x),
        np.vecdot(np.outer(x, x), x),
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int8", "bool"])
@pytest.mark.parametrize("make", [lambda f: Transformed(f, Level()), pytest.param(tp.jit, marks=pytest.mark.numba)])
def test_results_have_numpys_dtypes(dtype, make):
    x = np.array([3, -2, 50]).astype(dtype)
    for f in (typed, kept) if dtype != "bool" else (typed,):
        for got, wanted in zip(make(f)(x), f(x)):
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_determinant_of_scipy_is_a_float64(dtype):
    def found(a):
        return scipy.linalg.det(a)

    got = Transformed(found, Level())(np.array([[2, 0.5], [1, 3]], dtype))
    assert got.dtype == np.float64 and abs(got - 5.5) < 1e-6


@pytest.mark.parametrize("make", [lambda f: Transformed(f, Level()), pytest.param(tp.jit, marks=pytest.mark.numba)])
def test_a_first_coefficient_of_0_is_not_multiplied(make):
    def product(p):
        return np.polymul(p, [1.0, 2.0])

    made = make(product)
    for p in ([3.0, -2.0], [1.0, 0.0], [2.0]):
        assert np.array_equal(made(np.array(p)), product(np.array(p)))
    assert product(np.array([0.0, 1.0])).size == 2  # NumPy leaves it out
    with pytest.raises(ValueError, match="first coefficient is 0"):
        made(np.array([0.0, 1.0]))


FRACTIONS = [
    lambda x: np.triu(x, 1.5),
    lambda x: np.tril(x, 0.5),
    lambda x: np.tri(3, 4, 1.5),
    lambda x: np.triu_indices(3, 0.5),
    lambda x: np.eye(3, 4, 1.5),
    lambda x: np.diag(x, 1.5),
    lambda x: np.diagflat(x, 1.5),
    lambda x: np.diagonal(x, 1.5),
    lambda x: np.trace(x, np.float64(1.5)),
    lambda x: np.round(x, 1.0),
    lambda x: np.roll(x, 1.5),
    lambda x: np.ldexp(x, 1.0),
    lambda x: np.histogram(x, 3.0),
    lambda x: np.rot90(x, 1.5),
    lambda x: np.repeat(x, 2.0),
    lambda x: np.delete(x, 1.0),
    lambda x: np.take(x, 1.0),
    lambda x: np.partition(x, 1.0),
    lambda x: np.array_split(x, 2.0)[0],
    lambda x: np.linspace(0.0, 1.0, 3.0),
    lambda x: np.full(3.0, 1.0),
    lambda x: np.sum(x, 0.0),
]


@pytest.mark.parametrize("f", FRACTIONS)
def test_options_that_are_integers(f):
    """NumPy raises, or takes what one function makes of a fraction and another does not."""
    with pytest.raises((TranspileError, TypeError)):
        Transformed(f, Level())(np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("shape", [(2,), (2, 3), (3, 3, 2)])
def test_diagonals_of_what_is_not_square(shape):
    def found(x):
        return x[np.diag_indices_from(x)]

    for f in (found, Transformed(found, Level())):
        with pytest.raises((ValueError, TranspileError), match="equal length|at least 2-d"):
            f(np.ones(shape))
    assert np.array_equal(Transformed(found, Level())(np.eye(3)), np.ones(3))


EINSUMS = [
    lambda x, i: np.einsum("i,i->i", x, x, dtype=np.float32),
    lambda x, i: np.einsum("i,i->i", x, x, dtype=np.float32, casting="same_kind"),
    lambda x, i: np.einsum("i,i->i", x, i, dtype=np.int64, casting="same_kind"),
    lambda x, i: np.einsum("i,i->i", x, i, dtype=np.int64, casting="unsafe"),
    lambda x, i: np.einsum("i,i->i", i, i, dtype=np.float64),
    lambda x, i: np.einsum("i,i->i", x, i, casting="no"),
    lambda x, i: np.einsum("i,i->i", x, x, casting="no"),
]


@pytest.mark.parametrize("f", EINSUMS)
def test_einsum_casts_what_numpy_casts(f):
    x, i = np.array([1.5, 2.5, 3.0]), np.array([1, 2, 3])
    try:
        wanted = f(x, i)
    except TypeError:
        with pytest.raises(TranspileError, match="T212"):
            Transformed(f, Level())(x, i)
        return
    found = Transformed(f, Level())(x, i)
    assert found.dtype == wanted.dtype and np.array_equal(found, wanted)
