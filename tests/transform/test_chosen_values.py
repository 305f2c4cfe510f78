"""Where a slope is chosen by convention and the function is no plane there, the next derivative is NaN, in every mode."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from core_eval import evaluate

import transpile as tp
from transpile.core.builder import Builder
from transpile.core.nodes import Block, Function, Var
from transpile.core.types import FLOAT64
from transpile.ops.tables import prims
from transpile.transform.jvp import jvp

ROOTS = {
    "sqrt": lambda x: np.sqrt(np.sum(x * x)),
    "norm": lambda x: np.linalg.norm(x),
    "norm of rows": lambda x: np.sum(np.linalg.norm(np.stack((x, 2.0 * x)), axis=1)),
    "norm 3": lambda x: np.linalg.norm(x, 3),
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "arctan2": lambda x: np.arctan2(x[0], x[1]),
    "std": lambda x: np.std(x),
    "nanstd": lambda x: np.nanstd(x),
    "in a loop": lambda x: sum(np.sqrt(x[k] * x[k]) for k in range(2)),
    "masked": lambda x: np.sum(np.where(np.array([True, False]), np.sqrt(x * x), 1.0)),
}
WORDS = ["".join(w) for w in product("FR", repeat=2)]


def derivative(f, word):
    for letter in word:
        f = tp.jacfwd(f) if letter == "F" else tp.jacrev(f)
    return f


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_at_the_point(name, word):
    f = ROOTS[name]
    first, second = derivative(f, word[0]), derivative(f, word)
    for run in (lambda g: g, tp.jit):
        np.testing.assert_array_equal(run(first)(np.zeros(2)), 0.0)
        found = run(second)(np.zeros(2))
        assert np.isnan(found if name != "masked" else found[0, 0]).all()
        assert name != "masked" or found[1, 1] == 0.0  # what is not taken brings in no NaN


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.sampled(8)
def test_beside_it(name, word):
    x, h = np.array([0.3, -0.8]), 1e-5
    first = derivative(ROOTS[name], word[0])
    wanted = np.stack([(first(x + d) - first(x - d)) / (2 * h) for d in h * np.eye(2)], axis=-1)
    second = derivative(ROOTS[name], word)
    np.testing.assert_allclose(second(x), wanted, atol=1e-8)
    lanes = tp.vmap(second)(np.stack((x, np.zeros(2))))
    np.testing.assert_allclose(lanes[0], wanted, atol=1e-8)
    assert np.isnan(lanes[1]).any()


@pytest.mark.parametrize(
    "prim, first, second", [("chosen", np.nan, np.nan), ("flat", 0.0, np.nan), ("undefined", np.nan, np.nan)]
)
def test_primitives(prim, first, second):
    x = Var("x", FLOAT64)
    b = Builder(prims())
    params = {} if prim == "undefined" else {"value": 2.0}
    with b.into(Block()) as block:
        block.yields = (b.elementwise(prim, x, **params).op,)
    fn = Function("f", (x,), block, {})
    once = jvp(fn, [0], value=False)
    np.testing.assert_equal(evaluate(once, np.float64(0.0), np.float64(1.0))[0], first)
    twice = jvp(once, [0], value=False)
    np.testing.assert_equal(evaluate(twice, np.float64(0.0), np.float64(1.0), np.float64(1.0))[0], second)


@pytest.mark.parametrize("f", [lambda x: np.sum(np.abs(x)), lambda x: np.max(x), lambda x: np.linalg.norm(x, 1)])
def test_planes_have_the_second_derivative_zero(f):
    np.testing.assert_array_equal(tp.hessian(f)(np.zeros(2)), 0.0)


SQUARES = {
    "norm": (lambda x: np.linalg.norm(x) ** 2, 2.0),
    "sqrt": (lambda x: np.exp(-(np.sqrt(np.sum(x * x)) ** 2)), -2.0),
    "product": (lambda x: (lambda y: y * y)(np.hypot(x[0], x[1])), 2.0),
    "square": (lambda x: np.sum(np.square(np.linalg.norm(np.stack((x, x)), axis=1))), 4.0),
    "abs": (lambda x: np.sum(np.abs(x) ** 2), 2.0),
    "in a loop": (lambda x: sum(np.sqrt(x[k] * x[k]) ** 2 for k in range(2)), 2.0),
}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name", SQUARES)
@pytest.mark.sampled(6)
def test_squares_are_smooth(name, word):
    f, curvature = SQUARES[name]
    g = derivative(f, word)
    for run in (g, tp.jit(g), lambda x: tp.vmap(g)(np.stack((x, x)))[1]):
        np.testing.assert_allclose(run(np.zeros(2)), curvature * np.eye(2), atol=1e-14)
    x, h = np.array([0.3, -0.8]), 1e-4
    wanted = [(f(x + d) - 2 * f(x) + f(x - d)) / h**2 for d in h * np.eye(2)]
    np.testing.assert_allclose(np.diag(g(x)), wanted, atol=1e-6)
    assert tp.value_and_grad(f)(x)[0] == f(x)
