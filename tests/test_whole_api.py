"""What works with one transform works with all: texts of `jvp`, `vjp`, `hvp`; arguments of other libraries; functions of NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import transpile as tp

X, V = np.array([0.5, 1.5, 2.5]), np.array([1.0, -2.0, 0.5])


def weighted(x, w):
    return np.sum(np.sin(x) * w["w"])


def slope(f, x, v, h=1e-6):
    return (np.asarray(f(x + h * v)) - np.asarray(f(x - h * v))) / (2 * h)


def run(text, name, *args):
    scope: dict = {}
    exec(text, scope)
    return scope[name](*args)


W = {"w": V}
ZERO = {"w": np.zeros(3)}


def test_source_of_jvp():
    text = tp.source(tp.jvp, weighted, (X, W), (V, ZERO))
    value, dot = run(text, "weighted_jvp", (X, W), (V, ZERO))
    assert np.isclose(value, weighted(X, W)) and np.isclose(dot, slope(lambda x: weighted(x, W), X, V))
    assert tp.source(tp.jvp, weighted, primals=(X, W), tangents=(V, ZERO)) == text


def test_source_of_vjp():
    text = tp.source(tp.vjp, weighted, X, W)
    x_bar, w_bar = run(text, "weighted_vjp", (X, W), 2.0)
    np.testing.assert_allclose(x_bar, 2.0 * np.cos(X) * V)
    np.testing.assert_allclose(w_bar["w"], 2.0 * np.sin(X))
    text = tp.source(tp.vjp, lambda x: (x * x, np.sum(x)), X, has_aux=True)
    np.testing.assert_allclose(run(text, "function_vjp", (X,), V)[0], 2 * X * V)


def test_source_of_hvp_and_linearize():
    text = tp.source(tp.hvp, lambda x: np.sum(x**3), (X,), (V,))
    np.testing.assert_allclose(run(text, "function_hvp", (X,), (V,)), 6 * X * V)
    text = tp.source(tp.linearize, lambda x: x**3, X)
    np.testing.assert_allclose(run(text, "function_jvp", (X,), (V,)), 3 * X**2 * V)
    assert "@njit" in tp.source(tp.hvp, lambda x: np.sum(x**3), (X,), (V,), stage="loops")


@pytest.mark.parametrize("asks", [tp.source, tp.report], ids=["source", "report"])
@pytest.mark.parametrize("which", [tp.jvp, tp.vjp, tp.hvp, tp.linearize], ids=lambda f: f.__name__)
def test_what_they_do_not_take(asks, which):
    with pytest.raises(tp.TranspileError) as refused:
        asks(which, 3)
    assert refused.value.codes == ("T411",) and f"{asks.__name__}(tp.{which.__name__}, f, ...)" in str(refused.value)
    with pytest.raises(tp.TranspileError) as refused:
        asks(which, weighted, nonsense=3)
    assert refused.value.codes == ("T408",)


def powered(x, n, y):
    return np.sum(x**n * y)


@pytest.mark.parametrize("n", [3, np.int64(3), np.array(3)], ids=["int", "int64", "array"])
def test_hvp_takes_integers_as_jvp_does(n):
    """Their tangents are not read, and their place in the result is None."""
    y = np.array([2.0, 1.0, 3.0])
    for tangent in (1, 0.0, np.int64(2)):
        x_dot, n_dot, y_dot = tp.hvp(powered, (X, n, y), (V, tangent, np.zeros(3)))
        assert n_dot is None
        np.testing.assert_allclose(x_dot, 6 * X * y * V)
        np.testing.assert_allclose(y_dot, 3 * X**2 * V)
        assert tp.jvp(powered, (X, n, y), (V, tangent, np.zeros(3)))[1] == pytest.approx(np.sum(3 * X**2 * y * V))
    (only, none) = tp.hvp(lambda x, k: np.sum(x**3) * k, (X, 2), (V, 0))
    assert none is None
    np.testing.assert_allclose(only, 12 * X * V)


# ----------------------------------------------------------------------------------------------- other libraries


class Wrapped:
    """An array of another library: NumPy's protocol, or DLPack's, on some device."""

    def __init__(self, array, device=1):
        self.array, self.device = np.asarray(array), device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **more):
        return self.array.__dlpack__(**more)

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


class Series:
    """As pandas has them: no DLPack."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.dtype, self.shape = self.array.dtype, self.array.shape

    dtype = shape = None

    def __array__(self, dtype=None, copy=None):
        return self.array


def libraries():
    yield "wrapped", Wrapped
    yield "series", Series
    for name in ("torch", "jax.numpy", "pandas", "xarray"):
        yield name, name


@pytest.mark.parametrize(("name", "make"), libraries(), ids=[name for name, _ in libraries()])
def test_arrays_of_other_libraries(name, make):
    if isinstance(make, str):
        module = pytest.importorskip(make)
        make = {"torch": "tensor", "jax.numpy": "array", "pandas": "Series", "xarray": "DataArray"}[name]
        make = getattr(module, make)
    x, w = make(np.array([0.5, 1.5], np.float32)), {"w": make(np.array([3.0, 4.0], np.float32))}
    plain = np.array([0.5, 1.5], np.float32), {"w": np.array([3.0, 4.0], np.float32)}
    wanted = np.cos(plain[0]) * plain[1]["w"]
    g = tp.grad(weighted)
    for _ in range(3):
        found = g(x, w)
        assert type(found) is np.ndarray and found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(g(x, w=w), wanted, rtol=1e-6)
    np.testing.assert_allclose(tp.vjp(weighted, x, w)[1](1.0)[0], wanted, rtol=1e-6)
    np.testing.assert_allclose(tp.linearize(weighted, x, w)[1](x, w), tp.jvp(weighted, plain, plain)[1], rtol=1e-6)
    np.testing.assert_allclose(tp.jvp(weighted, (x, w), (x, w))[1], tp.jvp(weighted, plain, plain)[1], rtol=1e-6)
    assert tp.source(g, x, w) == tp.source(g, *plain)
    assert tp.report(g, x, w).name == "weighted_grad" and tp.eval_shape(weighted, x, w).shape == ()


@pytest.mark.numba
def test_compiled_code_writes_into_what_is_shared(cache_directory):
    def doubles(x):
        x *= 2.0
        return np.sum(x)

    given = np.ones(3)
    assert tp.jit(doubles)(Wrapped(given)) == 6.0
    np.testing.assert_array_equal(given, [2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Wrapped(X, device=2), "lies on another device"),
        (Series(np.array(["a", None], object)), "dtype object"),
    ],
)
def test_arrays_that_are_not_taken(value, message):
    with pytest.raises(tp.TranspileError, match=message) as refused:
        tp.grad(weighted)(value, W)
    assert refused.value.codes == ("T409",) and "hint" in str(refused.value)


def test_a_tensor_that_wants_its_own_gradient():
    torch = pytest.importorskip("torch")
    with pytest.raises(tp.TranspileError, match="requires grad"):
        tp.grad(weighted)(torch.ones(3, requires_grad=True), W)


assert functools
