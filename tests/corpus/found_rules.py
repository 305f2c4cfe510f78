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
