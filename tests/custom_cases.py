"""Functions with custom rules, for `tests/transform/test_vmap_calls.py`.

Most rules are wrong on purpose (three times the true derivative, or a derivative where there is none), so that a derivative of
the function itself would be noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import transpile as tp
from transpile import lax

RNG = np.random.default_rng(3)
A, B = RNG.uniform(0.5, 1.5, (5, 3)), RNG.uniform(0.5, 1.5, (5, 3))
S, T = RNG.uniform(0.5, 1.5, 5), RNG.uniform(0.5, 1.5, 5)
M = RNG.uniform(-0.3, 0.3, (5, 3, 3)) + 2.0 * np.eye(3)


@tp.custom_jvp
def scaled(x, w):
    return np.sin(x) * w


@scaled.defjvp
def _(primals, tangents):
    (x, w), (x_dot, w_dot) = primals, tangents
    return np.sin(x) * w, 3.0 * np.cos(x) * w * x_dot + 5.0 * np.sum(np.sin(x) * w_dot)


def of_scaled(x, w):
    return np.sum(scaled(x, w) ** 2)


def of_scaled_rule(x, w):
    y_bar = 2.0 * np.sin(x) * w
    return 3.0 * np.cos(x) * w * y_bar, 5.0 * np.sin(x) * np.sum(y_bar)


@tp.custom_jvp
def several(x, k):
    """Two results of floating point and one integer."""
    return x * k, np.floor(np.sum(x)), k + 1


@several.defjvp
def _(primals, tangents):
    (x, k), (x_dot, _) = primals, tangents
    return (x * k, np.floor(np.sum(x)), k + 1), (3.0 * k * x_dot, np.sum(x_dot), None)


def of_several(x, k):
    y, z, n = several(x, k)
    return np.sum(y * z) * n


def of_several_rule(x, k):
    z = np.floor(np.sum(x))
    return ((3.0 * k * z + np.sum(x * k) * np.ones(3)) * (k + 1),)


@tp.custom_vjp
def product(x, w):
    return x @ w


def _product_forward(x, w):
    return x @ w, (x, w)


def _product_backward(kept, y_bar):
    x, w = kept
    return 3.0 * y_bar * w, 5.0 * y_bar * x


product.defvjp(_product_forward, _product_backward)


def of_product(x, w):
    return product(x, w) ** 2


def of_product_rule(x, w):
    return 6.0 * (x @ w) * w, 10.0 * (x @ w) * x


@partial(tp.custom_vjp, nondiff_argnums=(0, 3))
def powered(k, x, y, flag):
    """Arguments that are not differentiated, two results, and control flow that differs between lanes."""
    z = x
    while np.sum(z) > 2.0:
        z = z * 0.5
    return z**k, y * flag


def _powered_forward(k, x, y, flag):
    return powered(k, x, y, flag), (x, y, {"n": k + 1})


def _powered_backward(k, flag, kept, bars):
    x, y, more = kept
    z_bar, s_bar = bars
    return k * x * z_bar * more["n"], flag * s_bar * 7.0


powered.defvjp(_powered_forward, _powered_backward)


def of_powered(k, x, y, flag):
    z, s = powered(k, x, y, flag)
    return np.sum(z) * s


def of_powered_rule(k, x, y, flag):
    z, s = powered(k, x, y, flag)
    return k * x * s * (k + 1), flag * np.sum(z) * 7.0


@tp.custom_vjp
def rounded(x, w):
    """A function without a derivative; its rule gives one argument none."""
    return np.round(x * 8.0) / 8.0 + w * 0.0


def _rounded_forward(x, w):
    return rounded(x, w), None


def _rounded_backward(kept, y_bar):
    return 3.0 * y_bar, None


rounded.defvjp(_rounded_forward, _rounded_backward)


def of_rounded(x, w):
    return np.sum(rounded(x, w) * np.arange(3.0))


def of_rounded_rule(x, w):
    return 3.0 * np.arange(3.0), 0.0


@tp.custom_vjp
def chosen(x, w):
    """Control flow depends on the lane, in the function and in its rule."""
    if x > w:
        return x * x
    return 2.0 * w


def _chosen_forward(x, w):
    return chosen(x, w), x - w


def _chosen_backward(gap, y_bar):
    if gap > 0.0:
        return 3.0 * y_bar, -y_bar
    n = 0.0
    while gap < 0.0:
        gap, n = gap + 0.3, n + 1.0
    return n * y_bar, 5.0 * y_bar


chosen.defvjp(_chosen_forward, _chosen_backward)


def of_chosen(x, w):
    return chosen(x, w) ** 2


def of_chosen_rule(x, w):
    y = chosen(x, w)
    return tuple(2.0 * y * g for g in _chosen_backward(x - w, 1.0))


@tp.custom_vjp
def picked(x):
    """The recorded values have a size of the lane's own."""
    return np.sum(x[x > 1.0])


def _picked_forward(x):
    return np.sum(x[x > 1.0]), (x, x[x > 1.0])


def _picked_backward(kept, y_bar):
    x, y = kept
    return (np.where(x > 1.0, 3.0, np.sum(y)) * y_bar,)


picked.defvjp(_picked_forward, _picked_backward)


def of_picked(x):
    return picked(x) * 2.0


def of_picked_rule(x):
    return (np.where(x > 1.0, 6.0, 2.0 * np.sum(x[x > 1.0])),)


OUTSIDE = np.array([0.25, 2.0])


@tp.custom_jvp
def shifted(a, w):
    return a + w + OUTSIDE[0]


@shifted.defjvp
def _(primals, tangents):
    return primals[0] + primals[1] + OUTSIDE[0], 3.0 * primals[1] * tangents[0] * OUTSIDE[1]


def with_outside(x, w):
    """A rule that reads a captured array, in a loop and in a branch that only some lanes take."""
    total = 0.0
    for k in range(3):
        total += shifted(x[k], w) ** 2
    if total > 22.0:
        total += shifted(x[0], w)
    return total


def with_outside_rule(x, w):
    y = x + w + 0.25
    extra = np.array([1.0, 0.0, 0.0]) if np.sum(y**2) > 22.0 else 0.0
    return (6.0 * w * (2.0 * y + extra),)


def newton(f, x):
    for _ in range(60):
        x = x - f(x) / tp.grad(f)(x)
    return x


def newton_by_lane(f, x):
    return lax.while_loop(lambda x: abs(f(x)) > 1e-13, lambda x: x - f(x) / tp.grad(f)(x), x)


def root(a, b):
    """``tangent_solve`` is wrong on purpose: three times the right value."""
    return lax.custom_root(lambda x: x**3 - a * b, 1.0, newton, lambda g, y: 3.0 * y / g(1.0)) ** 2


def root_by_lane(a, b):
    return lax.custom_root(lambda x: x**3 - a * b, 1.0, newton_by_lane, lambda g, y: 3.0 * y / g(1.0)) ** 2


def root_rule(a, b):
    return 2.0 * (a * b) ** (-1 / 3) * b, 2.0 * (a * b) ** (-1 / 3) * a


def solved(a, b):
    def solve(matvec, y):
        return np.linalg.solve(a, tp.stop_gradient(y))

    def transposed(vecmat, y):
        return np.linalg.solve(a.T, y)

    return np.sum(lax.custom_linear_solve(lambda v: a @ v, b, solve, transposed) ** 2)


def solved_rule(a, b):
    x = np.linalg.solve(a, b)
    b_bar = np.linalg.solve(a.T, 2.0 * x)
    return -np.outer(b_bar, x), b_bar


def halves(d, b):
    """Without ``transpose_solve``, and with a trip count that differs between lanes."""

    def solve(matvec, y):
        x = y
        while np.sum((matvec(x) - y) ** 2) > 1e-28:
            x = x + (y - matvec(x)) / d
        return x

    return np.sum(lax.custom_linear_solve(lambda v: d * v, b, solve, symmetric=True) ** 2)


def halves_rule(d, b):
    return -2.0 * b * b / d**3, 2.0 * b / d**2


@dataclass
class Case:
    f: Callable[..., Any]
    rule: Callable[..., Any]  # the derivatives by the rule, one for each of wrt
    args: tuple[Any, ...]  # the arguments of all lanes
    wrt: tuple[int, ...]
    axes: tuple[tuple[int | None, ...], ...]
    forward: bool = True  # whether forward mode has a rule
    whole: bool = True  # whether all of it runs for all lanes at once


CASES = {
    "jvp": Case(of_scaled, of_scaled_rule, (A, B), (0, 1), ((0, 0), (0, None), (None, 0))),
    "several": Case(of_several, of_several_rule, (A, np.arange(1, 6)), (0,), ((0, 0), (0, None), (None, 0))),
    "vjp": Case(of_product, of_product_rule, (A, B), (0, 1), ((0, 0), (0, None), (None, 0)), False),
    "nondiff": Case(of_powered, of_powered_rule, (np.arange(2, 7), A * 3, S, T), (1, 2),
                    ((0, 0, 0, 0), (None, 0, None, None), (None, None, 0, None), (0, None, None, 0)), False, False),
    "none": Case(of_rounded, of_rounded_rule, (A, S), (0, 1), ((0, 0), (0, None), (None, 0)), False),
    "chosen": Case(of_chosen, of_chosen_rule, (S, T), (0, 1), ((0, 0), (0, None), (None, 0)), False, False),
    "picked": Case(of_picked, of_picked_rule, (A,), (0,), ((0,),), False, False),
    "outside": Case(with_outside, with_outside_rule, (A * 2.0, S), (0,), ((0, 0), (0, None), (None, 0)), True, False),
    "root": Case(root, root_rule, (S, T), (0, 1), ((0, 0), (0, None), (None, 0))),
    "root_by_lane": Case(root_by_lane, root_rule, (S, T), (0, 1), ((0, 0), (0, None), (None, 0)), True, False),
    "solved": Case(solved, solved_rule, (M, A), (0, 1), ((0, 0), (0, None), (None, 0))),
    "halves": Case(halves, halves_rule, (A, B), (0, 1), ((0, 0), (0, None), (None, 0)), True, False),
}  # fmt: skip
