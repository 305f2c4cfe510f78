"""Powers with a small constant exponent are products and roots in compiled code, and are what NumPy's powers are."""

import math

import numpy as np
import pytest

import transpile as tp

pytestmark = pytest.mark.numba

INF = np.inf


def whole(x):
    return x**2, x**3, x**5, x**8, x**16, x**-1, x**-2, x**-3, x**-7, x**-16


def halves(x):
    return x**0.5, x**1.5, x**2.5, x**3.5, x**-0.5, x**-1.5, x**-2.5


def other(x):
    return x**17 + x**0.3 + x**7.5


def of_squares(x, y):
    return (x * x + y**2) ** -1.5


def _points(kind):
    limits = np.finfo(kind)
    some = [0.0, limits.smallest_subnormal, limits.tiny, 1e-20, 0.3, 1.0, 1.7, 2.0, 33.0, 1e20, limits.max, INF]
    return np.array([*some, *(-v for v in some), np.nan], kind)


@pytest.mark.parametrize("kind", [np.float64, np.float32], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("f", [whole, halves])
def test_products_are_powers(f, kind):
    x = _points(kind)
    with np.errstate(all="ignore"):
        right = f(x)
        # NumPy's root of minus infinity is not its power 0.5
        np.testing.assert_equal(np.sqrt(x), right[0]) if f is halves else None
        for k, (ours, wanted) in enumerate(zip(tp.jit(f)(x), right)):
            limits = np.finfo(kind)
            np.testing.assert_allclose(
                ours, wanted, rtol=20 * limits.eps, atol=2 * limits.smallest_subnormal, err_msg=f"{k}"
            )
            np.testing.assert_array_equal(np.signbit(ours), np.signbit(wanted), err_msg=f"{k}")


def test_which_are_products():
    x = np.linspace(0.5, 2.0, 9)
    assert "pow" not in tp.source(whole, x, stage="loops") and "pow" not in tp.source(halves, x, stage="loops")
    text = tp.source(other, x, stage="loops")
    assert text.count("vector.pow(") == text.count("vector.pow_moderate(") == 3 and "**" not in text
    text = tp.source(of_squares, x, x, stage="loops")
    assert "1.0 / (" in text and "sqrt(" in text and " if " not in text.partition("for i")[2]


def root(t: float) -> float:
    return t**0.5


@pytest.mark.parametrize("t", [0.0, -0.0, 2.0, INF, -INF])
def test_root_of_a_number(t):
    found = tp.jit(root)(t)
    assert found == root(t) and math.copysign(1, found) == math.copysign(1, root(t))


def test_gradient_of_an_inverse_distance():
    x, y = np.random.default_rng(0).uniform(0.2, 2.0, (2, 40))

    def energy(x, y):
        return np.sum((x * x + y * y) ** -0.5)

    for ours, wanted in zip(tp.jit(tp.grad(energy, argnums=(0, 1)))(x, y), (x, y)):
        np.testing.assert_allclose(ours, -wanted * (x * x + y * y) ** -1.5, rtol=1e-14)
