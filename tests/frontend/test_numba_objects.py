"""What Numba's decorators make of functions: followed, or refused at the user's line, never with a line of Numba's own files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transpile as tp

numba = pytest.importorskip("numba")
float64, float32, int64 = numba.float64, numba.float32, numba.int64


def cut(x):
    return x * x if x > 0.0 else 0.5 * x


def mixed(x, y):
    return x * y if x > y else y - x


MADE: dict[str, Any] = {
    "njit": numba.njit(cut),
    "jit": numba.jit(nopython=True)(cut),
    "parallel": numba.njit(parallel=True)(cut),
    "vectorize": numba.vectorize(cut),
    "typed": numba.vectorize([float64(float64)])(cut),
    "several": numba.vectorize([float32(float32), float64(float64)])(cut),
    "cfunc": numba.cfunc("float64(float64)")(cut),
}
X = np.array([0.5, -1.5, 2.0])


@pytest.mark.parametrize("name", MADE)
def test_what_is_followed(name: str) -> None:
    made = MADE[name]

    def f(x):
        return made(x[0]) + 2.0 * made(x[1]) + made(1.5)

    value, gradient = tp.value_and_grad(f)(X)
    assert value == cut(0.5) + 2.0 * cut(-1.5) + cut(1.5)
    np.testing.assert_array_equal(gradient, [1.0, 1.0, 0.0])
    assert tp.grad(made)(2.0) == 4.0


@pytest.mark.parametrize("name", ["vectorize", "typed", "several"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_elements(name: str, dtype: str) -> None:
    """Of arrays, in the types of the loop that NumPy takes."""
    made, x = MADE[name], (X * 2).astype(dtype)
    wanted = np.array([cut(v) for v in x]) if name == "vectorize" else made(x)
    for call in (made, lambda x: made(x)):
        got = tp.vmap(call)(x)
        assert np.asarray(got).dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
        if dtype != "int64":
            _, slope = tp.jvp(call, (x,), (np.ones_like(x),))
            np.testing.assert_array_equal(slope, np.where(x > 0, 2.0 * x, 0.5))


def test_two_arguments() -> None:
    made = numba.vectorize([float64(float64, float64)])(mixed)

    def f(x, y):
        return np.sum(made(x[:, None], y) * made(x[0], 1))

    gradient = tp.grad(f)(X, X + 0.25)
    steps = np.eye(3) * 1e-6
    slope = [(f(X + e, X + 0.25) - f(X - e, X + 0.25)) / 2e-6 for e in steps]
    np.testing.assert_allclose(gradient, slope, rtol=1e-7)


def test_prange() -> None:
    @numba.njit(parallel=True)
    def gini(y):
        total = 0.0
        for i in numba.prange(y.shape[0]):
            for j in numba.prange(1, y.shape[0]):
                total += abs(y[i] - y[j])
        return total / (2 * y.shape[0] * y.sum())

    y = np.array([1.0, 2.5, 3.0, 4.5])
    steps = np.eye(4) * 1e-6
    slope = [(gini.py_func(y + e) - gini.py_func(y - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(tp.grad(gini)(y), slope, rtol=1e-6)
    np.testing.assert_allclose(tp.jit(gini)(y), gini.py_func(y))


@numba.guvectorize([(float64[:], float64[:])], "(n)->(n)")
def doubled(x, r):
    for i in range(x.shape[0]):
        r[i] = 2.0 * x[i]


@numba.stencil
def spread(a):
    return 0.5 * (a[-1] + a[1])


PARALLEL = numba.vectorize([float64(float64)], target="parallel")(cut)
REFUSED: dict[str, Any] = {
    "guvectorize": lambda x: np.sum(doubled(x)),
    "stencil": lambda x: np.sum(spread(x)),
    "parallel ufunc": lambda x: np.sum(PARALLEL(x)),
    "reduce": lambda x: MADE["vectorize"].reduce(x),
    "out": lambda x: MADE["typed"](x, out=x),
    "list": lambda x: numba.typed.List(x)[0],
    "inside": lambda x: numba.njit(cut)(x[0]),
    "decorator": lambda x: numba.vectorize(cut)(x),
    "type": lambda x: numba.float64(x[0]),
    "threads": lambda x: x[0] * numba.get_num_threads(),
    "set_threads": lambda x: x[0] + numba.set_num_threads(1),
    "types": lambda x: MADE["typed"].types[0] + x,
    "inspect": lambda x: MADE["njit"].inspect_types(),
    "objmode": lambda x: numba.objmode(x),
    "literally": lambda x: numba.literally(x),
    "carray": lambda x: numba.carray(x, 3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_message_points_into_numba(name: str) -> None:
    """Python's own answer, or a diagnostic whose places are the user's."""
    try:
        tp.jit(REFUSED[name])(X.copy())
    except tp.TranspileError as refused:
        for found in refused.diagnostics:
            loc = found.loc
            while loc is not None:
                assert loc.file == __file__ and loc.line, found
                loc = loc.caller
