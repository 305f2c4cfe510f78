"""Rules hold at every order: what says its own derivative, to the third derivative, by each mode of each, beside differences of the
plain function.

Each program is a function of one number, and the same without any rule. A word of letters says the modes from the inside out:
``FR`` is the reverse derivative of the forward one.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import special

import transpile as tp
from transpile import lax, random, tree

POINT, STEP = 0.6, 0.02
A = np.array([[2.0, 0.3, -0.2], [-0.4, 1.7, 0.5], [0.1, -0.3, 2.2]])
B = np.array([0.7, -1.1, 0.4])
KEY = np.array([0, 7], np.uint32)


def stencil(f, order):
    """The derivative of a plain function by a central difference of nine points."""
    k = np.arange(-4, 5)
    rows = np.array([k**p for p in range(9)], float)
    weights = np.linalg.solve(rows, np.eye(9)[order] * float(special.factorial(order)))
    return sum(w * f(POINT + STEP * s) for w, s in zip(weights, k)) / STEP**order


def forward(f):
    return lambda t: tp.jvp(f, (t,), (1.0,))[1]


def derivative(f, word):
    for letter in word:
        f = forward(f) if letter == "F" else tp.grad(f)
    return f


WORDS = ["".join(w) for n in (1, 2, 3) for w in product("FR", repeat=n)]


# ------------------------------------------------------------------------------------------------- linear solutions


def matrix(t):
    return A + t * A.T + t * t * np.eye(3)


def spd(t):
    return A @ A.T + np.exp(t) * np.eye(3)


def side(t):
    return B * np.exp(0.5 * t)


def explicit(matvec, b):
    """As JAX's documentation writes it."""
    return lax.stop_gradient(np.linalg.solve(tp.jacfwd(matvec)(b), b))


def through(matvec, b):
    return np.linalg.solve(tp.jacfwd(matvec)(b), b)


def iterated(matvec, b):
    x = np.zeros_like(b)
    while np.sum((matvec(x) - b) ** 2) > 1e-28:
        x = x - 0.2 * (matvec(x) - b)
    return x


def conjugate_gradients(matvec, b):
    x, r = np.zeros_like(b), b
    p, rs = r, r @ r
    while rs > 1e-28:
        step = matvec(p)
        alpha = rs / (p @ step)
        x, r = x + alpha * p, r - alpha * step
        new = r @ r
        p, rs = r + new / rs * p, new
    return x


def solution(solve, transpose=None):
    def f(t):
        a = matrix(t)
        return np.sum(np.sin(lax.custom_linear_solve(lambda v: a @ v, side(t), solve, transpose)))

    return f


def symmetric(solve):
    def f(t):
        x = lax.custom_linear_solve(partial(np.dot, spd(t)), side(t), solve, symmetric=True)
        return np.sum(np.sin(x))

    return f


def read_around(t):
    """`solve` reads the matrix itself, and stops the gradients of it alone."""
    a = matrix(t)
    held = lax.stop_gradient(a)
    x = lax.custom_linear_solve(lambda v: a @ v, side(t), lambda matvec, b: np.linalg.solve(held, b))
    return np.sum(np.sin(x))


def of_a_dict(t):
    """A solution in a container, of a number and a vector, with something auxiliary."""

    def matvec(x):
        return {"u": matrix(t) @ x["u"] + t * x["v"], "v": x["v"] * 3.0 + B @ x["u"]}

    def solve(matvec, b):
        flat, unravel = tree.ravel_pytree(b)
        x = explicit(lambda z: tree.ravel_pytree(matvec(unravel(z)))[0], flat)
        return unravel(x), np.sum(x)

    x, _ = lax.custom_linear_solve(matvec, {"u": side(t), "v": t * t}, solve, solve, has_aux=True)
    return np.sum(np.sin(x["u"])) * x["v"]


def of_a_dict_plainly(t):
    whole = np.zeros((4, 4))
    whole[:3, :3], whole[:3, 3], whole[3, :3], whole[3, 3] = matrix(t), t, B, 3.0
    x = np.linalg.solve(whole, np.append(side(t), t * t))
    return np.sum(np.sin(x[:3])) * x[3]


def nested(t):
    """The linear function solves by itself."""
    a, s = matrix(t), spd(t)

    def matvec(v):
        return a @ lax.custom_linear_solve(lambda w: s @ w, v, explicit, symmetric=True)

    return np.sum(np.sin(lax.custom_linear_solve(matvec, side(t), explicit, explicit)))


def in_a_scan(solve, transpose=None):
    def f(t):
        def step(c, k):
            a = matrix(t) + k * c[0] * np.eye(3)
            return lax.custom_linear_solve(lambda v: a @ v, side(t) + c, solve, transpose), c[1]

        last, seconds = lax.scan(step, np.ones(3), np.array([0.5, 1.0]))
        return np.sum(np.sin(last)) + np.sum(seconds)

    return f


def in_a_scan_plainly(t):
    c, total = np.ones(3), 0.0
    for k in (0.5, 1.0):
        total += c[1]
        c = np.linalg.solve(matrix(t) + k * c[0] * np.eye(3), side(t) + c)
    return np.sum(np.sin(c)) + total


def solved(a, b):
    return np.sum(np.sin(np.linalg.solve(a, b)))


def plain(t):
    return solved(matrix(t), side(t))


def plain_symmetric(t):
    return solved(spd(t), side(t))


# ------------------------------------------------------------------------------------------------------------ roots


def newton(f, x):
    return lax.while_loop(lambda x: abs(f(x)) > 1e-13, lambda x: x - f(x) / tp.grad(f)(x), x)


def cube_root(t):
    return lax.custom_root(lambda x: x**3 - t, 1.0, newton, lambda g, y: y / g(1.0))


def stopped_root(t):
    return lax.custom_root(lambda x: x**3 - t, 1.0, newton, lambda g, y: lax.stop_gradient(y / g(1.0)))


def fixed_point(f, x):
    for _ in range(80):
        x = x - 0.5 * f(x)
    return x


def vector_root(tangent_solve):
    def f(t):
        a = 0.2 * matrix(t)
        return np.sum(lax.custom_root(lambda x: x - np.tanh(a @ x + side(t)), np.zeros(3), fixed_point, tangent_solve))

    return f


def vector_root_plainly(t):
    x = np.zeros(3)
    for _ in range(200):
        x = np.tanh(0.2 * matrix(t) @ x + side(t))
    return np.sum(x)


def root_of_a_root(t):
    return lax.custom_root(lambda x: x**3 - cube_root(t + x), 1.0, newton, lambda g, y: explicit_number(g, y))


def explicit_number(g, y):
    return lax.stop_gradient(y / g(1.0))


def root_of_a_root_plainly(t):
    x = 1.0
    for _ in range(200):
        x = np.cbrt(np.cbrt(t + x))
    return x


# ---------------------------------------------------------------------------------------------------- rules of one's own


@tp.custom_jvp
def logarithm(x):
    """By iterations that have no derivative."""
    return lax.stop_gradient(newton(lambda y: np.exp(y) - x, 0.0))


@logarithm.defjvp
def _(primals, tangents):
    return logarithm(*primals), tangents[0] / primals[0]


@tp.custom_jvp
def exponential(x):
    return lax.stop_gradient(np.exp(x))


@exponential.defjvp
def _(primals, tangents):
    y = exponential(*primals)
    return y, y * tangents[0]


@tp.custom_vjp
def tan(x):
    return lax.stop_gradient(np.tan(x))


def _tan_forward(x):
    y = tan(x)
    return y, y


tan.defvjp(_tan_forward, lambda y, g: (g * (1.0 + y * y),))


@tp.custom_jvp
def power(x, p):
    return lax.stop_gradient(x**p)


@power.defjvp
def _(primals, tangents):
    (x, p), (x_dot, p_dot) = primals, tangents
    return power(x, p), p * power(x, p - 1.0) * x_dot + power(x, p) * logarithm(x) * p_dot


@partial(tp.custom_jvp, nondiff_argnums=0)
def bessel(n, x):
    return lax.stop_gradient(special.jv(1.0 * n, x))


@bessel.defjvp
def _(n, primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return bessel(n, x), 0.5 * (bessel(n - 1, x) - bessel(n + 1, x)) * x_dot


def reads_around(t):
    """The function and its rule read what stands around them, and the rule calls the function in a loop."""
    scale = np.array([2.0, 0.5])

    @tp.custom_jvp
    def wave(x, phase):
        return lax.stop_gradient(np.sin(x * scale[0] + phase))

    def rule(primals, tangents):
        (x, phase), (x_dot, phase_dot) = primals, tangents
        slope = 0.0
        for _ in range(2):
            slope = slope + scale[1] * wave(x, phase + 0.5 * np.pi)
        return wave(x, phase), slope * (scale[0] * x_dot + phase_dot)

    wave.defjvp(rule)
    return wave(t, 0.3) * wave(0.5 * t, t)


def reads_around_plainly(t):
    return np.sin(2.0 * t + 0.3) * np.sin(2.0 * t)


def of_rules(t):
    return exponential(np.sin(t)) * logarithm(1.0 + t * exponential(t))


def of_rules_plainly(t):
    return np.exp(np.sin(t)) * np.log(1.0 + t * np.exp(t))


def of_rules_in_a_loop(t):
    total = t
    for k in range(3):
        total = exponential(0.3 * total) + logarithm(1.0 + total + k)
    return total


def of_rules_in_a_loop_plainly(t):
    total = t
    for k in range(3):
        total = np.exp(0.3 * total) + np.log(1.0 + total + k)
    return total


# -------------------------------------------------------------------------------------------------------------- draws


def gamma(t):
    return np.sum(np.sin(random.gamma(KEY, 1.5 + t, (2,))))


def quantiles(a):
    """The draws as quantiles of numbers that are held."""
    first = random.gamma(KEY, 1.5 + POINT, (2,))
    return special.gammaincinv(a, special.gammainc(1.5 + POINT, first))


def gamma_plainly(t):
    return np.sum(np.sin(quantiles(1.5 + t)))


def from_gammas(t):
    x = random.gamma(KEY, np.array([1.5 + t, 1.5 + t]))
    return (x[0] / (x[0] + x[1])) ** 2


def from_gammas_plainly(t):
    x = quantiles(1.5 + t)
    return (x[0] / (x[0] + x[1])) ** 2


BOTH, REVERSE = WORDS, [w for w in WORDS if set(w) == {"R"}]
PROGRAMS = {
    "open, stopped": (solution(explicit), plain, BOTH),
    "open, through": (solution(through), plain, BOTH),
    "open, iterated": (solution(iterated), plain, [w for w in BOTH if "R" not in w]),
    "open, read around": (read_around, plain, BOTH),
    "transposed, stopped": (solution(explicit, explicit), plain, BOTH),
    "transposed, iterated": (solution(iterated, iterated), plain, BOTH),
    "symmetric, stopped": (symmetric(explicit), plain_symmetric, BOTH),
    "symmetric, iterated": (symmetric(conjugate_gradients), plain_symmetric, BOTH),
    "of a dict": (of_a_dict, of_a_dict_plainly, BOTH),
    "nested": (nested, lambda t: solved(matrix(t) @ np.linalg.inv(spd(t)), side(t)), BOTH),
    "in a scan": (in_a_scan(explicit, explicit), in_a_scan_plainly, BOTH),
    "in a scan, open": (in_a_scan(explicit), in_a_scan_plainly, BOTH),
    "root": (cube_root, np.cbrt, BOTH),
    "root, stopped": (stopped_root, np.cbrt, BOTH),
    "vector root": (vector_root(through), vector_root_plainly, BOTH),
    "vector root, stopped": (vector_root(explicit), vector_root_plainly, BOTH),
    "root of a root": (root_of_a_root, root_of_a_root_plainly, BOTH),
    "custom_jvp": (of_rules, of_rules_plainly, BOTH),
    "custom_jvp in a loop": (of_rules_in_a_loop, of_rules_in_a_loop_plainly, BOTH),
    "custom_jvp of two": (lambda t: power(1.0 + t, 2.0 * t), lambda t: (1.0 + t) ** (2.0 * t), BOTH),
    "custom_jvp of neighbours": (lambda t: bessel(2, 1.0 + t), lambda t: special.jv(2, 1.0 + t), BOTH),
    "custom_jvp that reads around": (reads_around, reads_around_plainly, BOTH),
    "custom_vjp": (lambda t: tan(0.5 * t) * t, lambda t: np.tan(0.5 * t) * t, REVERSE),
    "gamma": (gamma, gamma_plainly, BOTH),
    "from gammas": (from_gammas, from_gammas_plainly, BOTH),
}
CASES = [(name, word) for name, (_, _, words) in PROGRAMS.items() for word in words]


def expected(name, order):
    return stencil(PROGRAMS[name][1], order)


@pytest.mark.parametrize("name, word", CASES)
@pytest.mark.sampled(40)
def test_beside_differences(name, word):
    f = derivative(PROGRAMS[name][0], word)
    assert f(POINT) == pytest.approx(expected(name, len(word)), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name, word", CASES)
@pytest.mark.sampled(400)
def test_compiled_and_in_lanes(name, word):
    f = derivative(PROGRAMS[name][0], word)
    wanted = pytest.approx(expected(name, len(word)), rel=1e-6, abs=1e-7)
    assert tp.jit(f)(POINT) == wanted
    two = tp.vmap(f)(np.array([POINT, 0.9]))
    assert two[0] == wanted and two[1] == pytest.approx(f(0.9), rel=1e-8, abs=1e-10)
    np.testing.assert_allclose(tp.jit(tp.vmap(f))(np.array([POINT, 0.9])), two, rtol=1e-8, atol=1e-10)
