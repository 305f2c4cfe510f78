"""Higher derivatives of formulas whose intermediate values are large: right, or a NaN, never another number."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import transpile as tp

FORMULAS = {  # with the limits of the second derivative on the left and on the right; that of the third is 0
    "log1p(exp)": (lambda x: np.log1p(np.exp(x)), 0.0, 0.0),
    "log(1 + exp)": (lambda x: np.log(1.0 + np.exp(x)), 0.0, 0.0),
    "log(exp + exp)": (lambda x: np.log(np.exp(x) + np.exp(-x)), 0.0, 0.0),
    "log(cosh)": (lambda x: np.log(np.cosh(x)), 0.0, 0.0),
    "square of a log": (lambda x: np.log1p(np.exp(x)) ** 2, 0.0, 2.0),
    "1 / (1 + exp)": (lambda x: 1.0 / (1.0 + np.exp(-x)), 0.0, 0.0),
    "exp / (1 + exp)": (lambda x: np.exp(x) / (1.0 + np.exp(x)), 0.0, 0.0),
    "x / (1 + exp)": (lambda x: x / (1.0 + np.exp(-x)), 0.0, 0.0),
    "quotient of exps": (lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)), 0.0, 0.0),
    "sinh / cosh": (lambda x: np.sinh(x) / np.cosh(x), 0.0, 0.0),
    "arcsinh(exp)": (lambda x: np.arcsinh(np.exp(x)), 0.0, 0.0),
    "arctan(exp)": (lambda x: np.arctan(np.exp(x)), 0.0, 0.0),
    "1 / (1 + exp**2)": (lambda x: 1.0 / (1.0 + np.exp(x) ** 2), 0.0, 0.0),
    "power of -1": (lambda x: (1.0 + np.exp(-x)) ** -1.0, 0.0, 0.0),
    "power of -1/2": (lambda x: (1.0 + np.exp(x)) ** -0.5, 0.0, 0.0),
}
OVERFLOWS = (
    "arctan(exp)",
    "1 / (1 + exp**2)",
    "power of -1",
    "power of -1/2",
)  # powers that have no number: NaN is seen
POINTS = np.array([-700.0, -400.0, -200.0, 200.0, 400.0, 700.0])


def derivative(f, word):
    for letter in word:
        f = (lambda g: lambda t: tp.jvp(g, (t,), (1.0,))[1])(f) if letter == "F" else tp.grad(f)
    return f


@pytest.mark.parametrize("word", ["".join(w) for n in (2, 3) for w in product("FR", repeat=n)])
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.sampled(25)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_and_third_derivatives(name, word):
    f, left, right = FORMULAS[name]
    g = derivative(f, word)
    compiled = tp.jit(g)
    for x in POINTS:
        wanted = 0.0 if len(word) == 3 else right if x > 0 else left
        for found in (g(x), compiled(x)):
            seen = np.isnan(found) and name in OVERFLOWS
            assert seen or found == pytest.approx(wanted, abs=1e-9), (x, found)
