"""What no ``np.where`` lets through brings in no NaN, also where several let through different parts of one value."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

pytestmark = pytest.mark.sampled(8)

INNER = {
    "sqrt": lambda x: np.sqrt(x - 0.5),
    "power": lambda x: (x - 0.5) ** 1.3,
    "arccosh": lambda x: np.arccosh(x + 0.5),
    "arctanh of a root": lambda x: np.arctanh(np.sqrt(x - 0.5)),
}

OUTER = {
    "one mask": lambda x, s: np.where(x > 0.5, s * s * s, x),
    "two masks": lambda x, s: np.where(x > 0.5, s, 0.0) * np.where(x > 0.6, s, 1.0),
    "two that part": lambda x, s: np.where(x > 0.65, s, 0.0) + np.where((x > 0.5) & (x < 0.6), s * x, 1.0),
    "one in another": lambda x, s: np.where(x > 0.5, s + np.where(x > 0.6, s * s, x), x * x),
    "three": lambda x, s: np.where(x > 0.5, s, x) * np.where(x > 0.6, s, 1.0) - np.where(x < 0.5, x, s),
    "read twice": lambda x, s: np.where(x > 0.5, s, 0.0) ** 2 + 2.0 * np.where(x > 0.6, -s, 0.0),
}

X = np.array([0.7, 0.41, 0.55, 0.8])


def program(inner, outer):
    def f(x):
        return np.sum(OUTER[outer](x, INNER[inner](x)))

    return f


def differences(f, x):
    """The slopes along each element, one a row."""
    steps = 1e-6 * np.eye(len(x))
    return np.stack([(np.asarray(f(x + h)) - f(x - h)) / 2e-6 for h in steps])


CASES = [(inner, outer) for inner in INNER for outer in OUTER]


@pytest.mark.parametrize(("inner", "outer"), CASES)
def test_first_and_second_derivatives(inner, outer):
    f = program(inner, outer)
    with np.errstate(all="ignore"):
        expected = differences(f, X)
    gradient = tp.grad(f)
    assert np.allclose(gradient(X), expected, rtol=1e-6, atol=1e-6)
    second = differences(gradient, X)
    for twice in (tp.jacfwd(gradient), tp.jacrev(gradient), tp.jacrev(tp.jacfwd(f))):
        assert np.allclose(twice(X), second, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("inner", ["sqrt", "power"])
def test_in_lanes(inner):
    f = program(inner, "two that part")
    expected = [tp.grad(f)(x) for x in (X, X + 0.05)]
    assert np.all(np.isfinite(expected))
    assert np.allclose(tp.vmap(tp.grad(f))(np.stack([X, X + 0.05])), expected)


@pytest.mark.parametrize("outer", ["two masks", "one in another"])
def test_compiled(outer):
    f = program("sqrt", outer)
    assert np.allclose(tp.jit(tp.grad(f), cache=False)(X), tp.grad(f)(X))
    assert np.allclose(tp.jit(tp.jacrev(tp.grad(f)), cache=False)(X), tp.hessian(f)(X))
