"""Derivatives that rules of the user's and formulas with large or singular values were found to get wrong."""

import numpy as np

import transpile as tp
from transpile import lax

from .program import Collection

PROGRAMS = Collection("found-rules")
program = PROGRAMS.program


@program(args=lambda: (400.0,), tags="overflow scalar transforms", expect=0.0)
def curvature_of_softplus(x):
    """The square of the exponential overflows, and its quotient does not."""
    return tp.grad(lambda y: np.log1p(np.exp(y)))(x)


def _explicit(matvec, b):
    return lax.stop_gradient(np.linalg.solve(tp.jacfwd(matvec)(b), b))


@program(
    args=lambda: (np.array([[2.0, 0.3], [-0.4, 1.5]]), np.array([0.7, -1.1])),
    wrt=(0, 1),
    tags="custom_linear_solve",
)
def solution_that_stops_gradients(a, b):
    """The solution is a constant to whoever differentiates through it; its rule holds at every order."""
    return np.sum(lax.custom_linear_solve(lambda x: a @ x, b, _explicit, _explicit) ** 2)


@program(args=lambda: (np.array([[2.0, 0.3], [-0.4, 1.5]]),), tags="custom_linear_solve transforms")
def slope_of_such_a_solution(a):
    """The same within a derivative, without a transpose."""

    def f(t):
        return lax.custom_linear_solve(lambda x: (a + t * np.eye(2)) @ x, a[0] * t, _explicit)

    return np.sum(tp.jvp(f, (0.5,), (1.0,))[1] ** 2)


@program(args=lambda: (np.zeros(2),), tags="norm transforms", expect=np.array([2.0, 2.0]))
def slope_of_a_squared_norm(x):
    """The square of a norm is smooth where the norm is not: its second derivative at 0 is twice the identity."""
    return np.sum(tp.grad(lambda y: np.linalg.norm(y) ** 2)(x))


@tp.custom_vjp
def _cubed(x):
    return x**3


def _cube(x):
    return x**3


_cubed.defvjp(lambda x: tp.vjp(_cube, x), lambda pull, g: pull(g))


@program(args=lambda: (np.array([0.5, -1.5]),), tags="custom_vjp vjp")
def pullback_that_is_kept(x):
    """The forward rule keeps the pullback, which the backward rule calls."""
    return np.sum(tp.grad(lambda y: np.sum(_cubed(y) * y))(x) ** 2)


@program(args=lambda: (2.0,), tags="vjp transforms objects", expect=24.0)
def pullback_of_what_changes(x):
    """A pullback is of the function as it was, whatever the function holds later."""
    k = np.full(2, 2.0)
    _, pull = tp.vjp(tp.jit(lambda v: v**3 * k[0]), x)
    k[0] = 100.0
    return pull(1.0)[0]
