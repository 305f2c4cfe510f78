"""What works with one transform works with all: texts of `jvp`, `vjp`, `hvp`; arguments of other libraries; functions of NumPy."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.special

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


def nested(x, n, y):
    x_dot, none, y_dot = tp.hvp(powered, (x, n, y), (V, 0, np.zeros(3)))
    assert none is None
    return np.sum(x_dot) + np.sum(y_dot)


def test_hvp_inside_a_function_takes_integers():
    y = np.array([2.0, 1.0, 3.0])
    assert np.isclose(tp.vjp(nested, X, 3, y)[0], nested(X, 3, y))
    wanted = [(nested(X + h, 3, y) - nested(X - h, 3, y)) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(tp.grad(nested)(X, 3, y), wanted, rtol=1e-6)


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
        (Wrapped(X, device=2), "is on another device"),
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


# ---------------------------------------------------------------------------------------------- functions of NumPy

A = np.array([[2.0, 0.5], [0.3, 1.5]])
FUNCTIONS = {
    "np.sum": (np.sum, (A,), {}),
    "np.sum with an axis": (np.sum, (A,), {"axis": 1}),
    "partial": (functools.partial(np.sum, axis=0, keepdims=True), (A,), {}),
    "partial of partial": (functools.partial(functools.partial(np.tensordot, A), axes=1), (A,), {}),
    "np.sin": (np.sin, (A,), {}),
    "np.hypot": (np.hypot, (A, 1.5), {}),
    "np.linalg.det": (np.linalg.det, (A,), {}),
    "np.linalg.norm": (np.linalg.norm, (A,), {"ord": "fro"}),
    "np.dot": (np.dot, (A, A), {}),
    "np.where": (np.where, (True, A, A.T), {}),
    "math.sin": (math.sin, (0.5,), {}),
    "scipy.special.logsumexp": (scipy.special.logsumexp, (A,), {"axis": 0}),
    "scipy.special.gammaln": (scipy.special.gammaln, (A,), {}),
    "scipy.linalg.expm": (scipy.linalg.expm, (A,), {}),
    "np.add.outer": (lambda x: np.add.outer(x, x), (A[0],), {}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy_are_functions_to_transform(name):
    f, args, options = FUNCTIONS[name]
    args = tuple(a for a in args if a is not True)
    call = functools.partial(f, True, **options) if name == "np.where" else functools.partial(f, **options)
    tp.check_grads(call, args, order=2)
    text = tp.source(tp.jvp, call, args, args)
    assert text.count("def ") == 1 and "args" not in text.partition("\n")[0]


def test_options_of_the_call():
    np.testing.assert_allclose(tp.jacrev(np.sum)(A, axis=1)[0], [[1.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(tp.grad(np.dot, argnums=1)(A[0], A[1]), A[0])
    assert "def det_grad(a):" in tp.source(tp.grad(np.linalg.det), A)


@pytest.mark.numba
def test_functions_of_numpy_compiled(cache_directory):
    np.testing.assert_array_equal(tp.jit(np.sort)(A), np.sort(A))
    np.testing.assert_allclose(tp.jit(tp.grad(np.linalg.det))(A), np.linalg.det(A) * np.linalg.inv(A).T)


@pytest.mark.parametrize(
    ("f", "code"), [(np.fft.fft, "T130"), (np.random.normal, "T130"), (len, "T402"), (np.float64, "T411")]
)
def test_functions_that_are_not_known(f, code):
    with pytest.raises(tp.TranspileError) as refused:
        tp.grad(f)(A)
    assert refused.value.codes == (code,)
