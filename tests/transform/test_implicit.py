"""`custom_root` and `custom_linear_solve`: derivatives of what is solved, of any order, inside anything, and not of the
iterations."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import transpile as tp
from transpile import lax, tree

M = 0.3 * np.array([[0.3, 0.8, 0.3], [-1.3, 0.9, 0.4], [-0.5, 0.6, 0.4]])
B = np.array([0.5, -1.0, 2.0])


def newton(f, x):
    return lax.while_loop(lambda x: abs(f(x)) > 1e-13, lambda x: x - f(x) / tp.grad(f)(x), x)


def root(a):
    return lax.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0))


def iterate(f, x):
    for _ in range(100):
        x = tree.map(lambda x, r: x - 0.5 * r, x, f(x))
    return x


def dense(g, y):
    flat, unravel = tree.ravel_pytree(y)
    return unravel(np.linalg.solve(tp.jacfwd(lambda z: tree.ravel_pytree(g(unravel(z)))[0])(flat), flat))


def fixed_point(a):
    def f(x):
        return {"u": x["u"] - np.tanh(M @ x["u"] + a["b"] * x["v"]), "v": x["v"] - np.cos(a["c"] * x["v"])}

    x = lax.custom_root(f, {"u": np.zeros(3), "v": 0.5}, iterate, dense)
    return np.sum(x["u"] ** 2 * B) * x["v"]


def conjugate_gradients(matvec, b):
    x, r = np.zeros_like(b), b
    p, rs = r, r @ r
    while rs > 1e-26:
        step = matvec(p)
        alpha = rs / (p @ step)
        x, r = x + alpha * p, r - alpha * step
        new = r @ r
        p, rs = r + new / rs * p, new
    return x


def symmetric(d, b):
    x = lax.custom_linear_solve(lambda v: d * v + 0.1 * np.sum(v), b, conjugate_gradients, symmetric=True)
    return np.sum(np.sin(x))


def transposed(a, b):
    x = lax.custom_linear_solve(
        lambda v: a @ v, b, lambda mv, y: np.linalg.solve(a, y), lambda vm, y: np.linalg.solve(a.T, y)
    )
    return np.sum(np.sin(x))


def untransposed(a, b):
    """Without ``transpose_solve``: the reverse derivative goes through what ``solve`` does."""
    return np.sum(lax.custom_linear_solve(lambda v: a * v, b, lambda mv, y: y / mv(np.ones_like(y))) ** 2)


def auxiliary(a, b):
    x, three = lax.custom_linear_solve(
        lambda v: a * v, b, lambda mv, y: (y / mv(1.0), 3.0), symmetric=True, has_aux=True
    )
    y, info = lax.custom_root(lambda x: x * x - a * x - b, 3.0, lambda f, x: (newton(f, x), {"n": 5.0}),
                              lambda g, y: y / g(1.0), has_aux=True)  # fmt: skip
    return x * y * three + info["n"]


def in_a_scan(x):
    last, roots = lax.scan(lambda c, a: (0.1 * c + root(a * c), root(a * c)), 1.0, x)
    return last + np.sum(roots**2)


def of_a_partial(a):
    return lax.custom_root(partial(lambda p, x: x * x - p, 2 * a), 1.0, newton, lambda g, y: y / g(1.0))


SPD = np.eye(3) * 3 + M
PROGRAMS = {
    "root": (root, (8.0,)),
    "fixed_point": (fixed_point, ({"b": np.array([0.1, 0.2, 0.3]), "c": 0.8},)),
    "symmetric": (symmetric, (np.array([1.0, 2.0, 3.0]), B)),
    "transposed": (transposed, (SPD, B)),
    "untransposed": (untransposed, (np.array([1.0, 2.0, 3.0]), B)),
    "auxiliary": (auxiliary, (2.0, 3.0)),
    "in_a_scan": (in_a_scan, (np.array([8.0, 2.0, 3.0]),)),
    "of_a_partial": (of_a_partial, (2.0,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(4)
def test_first_and_second_order(name):
    f, args = PROGRAMS[name]
    tp.check_grads(f, args, order=1 if name == "in_a_scan" else 2)


@pytest.mark.parametrize("name", ["fixed_point", "symmetric"])
def test_compiled(name):
    f, args = PROGRAMS[name]
    for a, b in zip(tree.leaves(tp.jit(tp.grad(f))(*args)), tree.leaves(tp.grad(f)(*args))):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_third_order():
    wanted = (1 / 3) * (-2 / 3) * (-5 / 3) * 8.0 ** (-8 / 3)
    assert tp.grad(tp.grad(tp.grad(root)))(8.0) == pytest.approx(wanted)
    assert tp.jvp(tp.grad(tp.grad(root)), (8.0,), (1.0,))[1] == pytest.approx(wanted)


def test_iterations_are_not_recorded():
    for name in ("root", "symmetric", "fixed_point"):
        f, args = PROGRAMS[name]
        text = tp.source(tp.grad(f), *args)
        assert "tape" not in text and "append" not in text
    text = tp.source(tp.grad(symmetric, (0, 1)), *PROGRAMS["symmetric"][1])
    assert text.count("while") == 2 and "lax/" not in text  # one solution for the value, one for the adjoint


def test_the_guess_and_constants_have_no_derivative():
    def f(a, guess):
        return lax.custom_root(lambda x: x**3 - a, guess, newton, lambda g, y: y / g(1.0))

    gradient = tp.grad(f, (0, 1))(8.0, 1.5)
    assert gradient[0] == pytest.approx(1 / 12) and gradient[1] == 0.0
    assert tp.grad(lambda g: lax.custom_root(lambda x: x**3 - 8.0, g, newton, lambda g, y: y / g(1.0)))(1.5) == 0.0


@pytest.mark.parametrize(
    "code, f",
    [
        ("T307", lambda a: lax.custom_root(lambda x: (x, a), 1.0, lambda f, x: x, lambda g, y: y)),
        ("T308", lambda a: lax.custom_root(lambda x: x - a, 1.0, lambda f, x: x, lambda g, y: y, has_aux=True)[0]),
        ("T302", lambda a: lax.custom_root(lambda x: x - a, 1, lambda f, x: x, lambda g, y: y)),
        ("T132", lambda a: lax.custom_linear_solve(lambda x: x * a, a)),
    ],
)
def test_mistakes(code, f):
    with pytest.raises(tp.TranspileError) as failed:
        tp.grad(f)(2.0)
    assert failed.value.codes == (code,)
    assert "test_implicit.py" in str(failed.value)
