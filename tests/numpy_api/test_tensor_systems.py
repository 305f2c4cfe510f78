"""`np.linalg.tensorsolve` and `tensorinv`: of any ranks and axes, and what NumPy refuses."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

SHAPES = [
    ((2, 3), (6,), None),
    ((4,), (2, 2), None),
    ((2, 3), (3, 1, 2), None),
    ((2, 3), (6,), (1,)),
    ((2, 3), (2, 3), (0, 2)),
]


def system(shape, inner, axes):
    rng = np.random.default_rng(5)
    count = int(np.prod(shape))
    a = (rng.normal(size=(count, count)) + 4.0 * np.eye(count)).reshape(*shape, *inner)
    if axes is not None:  # they go to the end again
        a = np.moveaxis(a, range(-len(axes), 0), axes)
    return a, rng.normal(size=shape)


@pytest.mark.parametrize(("shape", "inner", "axes"), SHAPES)
@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tp.jit(f, cache=False)], ids=["interpreted", "compiled"])
def test_a_system(shape, inner, axes, wrap):
    a, b = system(shape, inner, axes)

    text = f"def f(a, b):\n    return np.sum(np.sin(np.linalg.tensorsolve(a, b, axes={axes})))\n"
    f = tp.from_source(text, {"np": np})
    value, (a_bar, b_bar) = wrap(tp.value_and_grad(f, argnums=(0, 1)))(a, b)
    assert value == pytest.approx(f(a, b), rel=1e-12)
    da, db = np.random.default_rng(6).normal(size=a.shape), np.random.default_rng(7).normal(size=b.shape)
    slope = (f(a + 1e-6 * da, b + 1e-6 * db) - f(a - 1e-6 * da, b - 1e-6 * db)) / 2e-6
    assert np.sum(a_bar * da) + np.sum(b_bar * db) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("ind", [1, 2, 3])
def test_an_inverse(ind):
    a = np.random.default_rng(5).normal(size={1: (6, 2, 3), 2: (2, 3, 6), 3: (1, 2, 3, 3, 2)}[ind])

    def f(a):
        return np.linalg.tensorinv(a, ind=ind)

    np.testing.assert_allclose(tp.jit(f, cache=False)(a), f(a), rtol=1e-12)
    np.testing.assert_allclose(tp.jvp(f, (a,), (a,))[1], -f(a), rtol=1e-9)  # of the inverse of (1 + t) a


@pytest.mark.parametrize(
    "wrap", [lambda f: tp.grad(f), lambda f: tp.jit(tp.grad(f), cache=False)], ids=["interpreted", "compiled"]
)
def test_what_does_not_fit(wrap):
    def f(a, b):
        return np.sum(np.linalg.tensorsolve(a, b))

    with pytest.raises((np.linalg.LinAlgError, ValueError)):
        wrap(f)(np.ones((2, 3, 5)), np.ones((2, 3)))


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: tp.jit(f, cache=False)], ids=["interpreted", "compiled"])
def test_an_exception_of_numpy(wrap):
    def f(x):
        if x < 0.0:
            raise np.linalg.LinAlgError("not positive")
        return x * x

    assert wrap(tp.grad(f))(3.0) == 6.0
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        wrap(tp.grad(f))(-1.0)
