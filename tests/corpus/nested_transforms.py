"""Derivatives within the differentiated function, and stop_gradient."""

import math

import numpy as np

import transpile as tp

from .program import Collection, normal

PROGRAMS = Collection("nested-transform")
program = PROGRAMS.program


def potential(x):
    """A double well."""
    return np.sum(0.25 * x**4 - 0.5 * x * x) + x[0] * x[1]


def scalar_well(x):
    """A function of one number."""
    return x**4 / 4.0 - math.cos(x)


@program(args=lambda: (normal(3),), tags="grad")
def gradient_norm(x):
    """The gradient of a function of the module."""
    g = tp.grad(potential)(x)
    return np.sum(g * g)


@program(args=lambda: (0.7,), tags="grad scalar")
def second_order(x):
    """grad of grad of a function of one number."""
    return tp.grad(tp.grad(scalar_well))(x) * x


@program(args=lambda: (0.7, 1.2), wrt=(0, 1), tags="grad closure scalar")
def closes_over_argument(x, y):
    """The inner function reads a name that the outer derivative is taken of."""

    def inner(t):
        return t**3 * y + math.sin(t * x)

    return tp.grad(inner)(x) * y


@program(args=lambda: (0.9,), tags="grad perturbation scalar", expect=1.0)
def perturbation_confusion(x):
    """d/dx of x * d/dy (x + y): the inner derivative is 1."""
    return x * tp.grad(lambda y: x + y)(1.0)


@program(args=lambda: (1.2, 2.5), wrt=(0, 1), tags="grad for scalar")
def newton_steps(x, target):
    """A fixed number of Newton steps by the derivative of the equation."""

    def equation(t):
        return t**3 + t - target

    for _ in range(4):
        x = x - equation(x) / tp.grad(equation)(x)
    return x


@program(args=lambda: (normal(3), 0.1), wrt=(0, 1), tags="grad for")
def descent_steps(x, rate):
    """Gradient descent: the derivative by the step size."""
    for _ in range(3):
        x = x - rate * tp.grad(potential)(x)
    return potential(x)


@program(args=lambda: (normal(3),), tags="value_and_grad")
def value_and_gradient(x):
    """Value and gradient together."""
    value, g = tp.value_and_grad(potential)(x)
    return value * g


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="jvp")
def directional(x, v):
    """A directional derivative of an array function."""
    y, y_dot = tp.jvp(lambda t: np.sin(t) * t[0], (x,), (v,))
    return y * y_dot


SCALES = np.array([2.0, -1.0, 0.5])


def scaled_cubes(x, n):
    """It reads an array of the module."""
    return np.sum(SCALES * x**3) * n


@program(args=lambda: (normal(3), 2, normal(3, seed=1), 0), wrt=(0, 2), tags="jvp grad captured")
def tangent_of_an_integer(x, n, v, zero):
    """The integer's tangent is not taken for what the function reads outside."""
    return tp.jvp(tp.grad(scaled_cubes), (x, n), (v, zero))[1]


@program(args=lambda: (3.0,), tags="stop_gradient scalar", smooth=False, expect=9.0)
def stopped_factor(x):
    """The stopped factor counts as a constant."""
    return x * tp.stop_gradient(x * x)


@program(args=lambda: (np.array([0.3, 1.7]),), tags="stop_gradient", smooth=False, expect=np.array([1.0, 1.0]))
def straight_through(x):
    """Rounding with the derivative of the identity."""
    return np.sum(x + tp.stop_gradient(np.round(x) - x))


@program(args=lambda: (2.0, 3), tags="stop_gradient for scalar", smooth=False, expect=3.0)
def stopped_in_loop(x, n):
    """Only the direct use in each trip counts."""
    y = x
    total = 0.0
    for _ in range(n):
        y = tp.stop_gradient(y) * 2.0
        total = total + x + tp.stop_gradient(total * y)
    return total


@program(args=lambda: (normal(2),), tags="vjp closure")
def pullback_of_before(x):
    """A pullback is of the function as it was when vjp was called."""
    rate = x[1]

    def damped(v):
        return v * v * rate

    y, pull = tp.vjp(damped, x[0])
    rate = 5.0 * x[0]
    return y + rate * pull(1.0)[0]


@tp.custom_vjp
def _of_square(x):
    return np.sin(x * x)


_of_square.defvjp(lambda x: (np.sin(x * x), x), lambda x, y_bar: (2.0 * x * np.cos(x * x) * y_bar,))


@program(args=lambda: (np.array([0.7, -0.4, 1.1]),), tags="custom_vjp transforms")
def slope_of_own_rule(x):
    """The derivative of a derivative of the user's own goes through what the rule keeps."""
    total = 0.0
    for k in range(len(x)):
        total += tp.grad(_of_square)(x[k]) * x[k - 1]
    return total


@program(args=lambda: (np.array([0.74, 1.02, 0.43]),), tags="grad transforms mask for")
def curvature_of_masked_writes(x):
    """A mask is written in loops in a loop: how many it selects is known in each trip alone."""

    def f(x):
        y, mask = x.copy(), x > 0.5
        for _ in range(2):
            for _ in range(2):
                y[mask] = y[mask] ** 2
            y = y * y
        return np.sum(y)

    return np.sum(tp.grad(f)(x) ** 2)
