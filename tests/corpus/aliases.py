"""Aliases: two names for one array, and rebinding against mutation."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("alias")
program = PROGRAMS.program


@program(args=lambda: (normal(3),), tags="inplace")
def second_name(x):
    """A write through one name is seen through the other."""
    y = x.copy()
    z = y
    z[0] = y[1] * y[2]
    return y * z


@program(args=lambda: (normal(3),), tags="inplace augmented")
def mutation_is_seen(x):
    """+= on an array changes it under every name."""
    a = x * x
    b = a
    b += x
    return a * b


@program(args=lambda: (normal(3),), tags="rebinding")
def rebinding_is_not_seen(x):
    """a = a + x gives a new array; the old name keeps the old one."""
    a = x * x
    b = a
    a = a + x
    return a * b


@program(args=lambda: (1.2,), tags="scalar augmented")
def scalars_never_alias(x):
    """+= on a number rebinds."""
    a = x * x
    b = a
    a += x
    a *= a
    return a * b


@program(args=lambda: (normal(3),), tags="mixed augmented inplace for")
def rebound_then_mutated(x):
    """One name is rebound once and then written into."""
    y = x
    y = y * 2.0
    kept = y
    for i in range(3):
        y[i] *= x[i - 1]
    y = y + kept
    y[0] = 0.0
    return y * kept


def blend(p, q):
    """Read both, write neither."""
    return p * q + p


@program(args=lambda: (normal(3),), tags="call")
def same_argument_twice(x):
    """One array for two parameters."""
    y = np.sin(x)
    return blend(y, y) + blend(x, y)


@program(args=lambda: (normal(3),), tags="result tuple")
def aliases_in_result(x):
    """One array twice in the result, and the argument beside it."""
    y = x * x
    return y, x, y


def first_plus(values, amount):
    """Write and give back the same array."""
    values[0] += amount
    return values


@program(args=lambda: (normal(3),), tags="call inplace")
def callee_returns_argument(x):
    """A called function gives back the array that it has written."""
    y = x.copy()
    z = first_plus(y, x[1] ** 2)
    z[2] = y[0] * x[2]
    return y


@program(args=lambda: (normal(3),), tags="list inplace")
def alias_in_list(x):
    """An array in a list is the same array."""
    y = x.copy()
    pair = [y, x]
    pair[0][1] = x[0] * x[2]
    y[2] = pair[0][1] ** 2
    return y


@program(args=lambda: (normal(3), normal(3, seed=1), True), wrt=(0, 1), tags="if flag inplace")
def chosen_alias(x, y, first):
    """Which array the name stands for is chosen by a flag."""
    a, b = x.copy(), y.copy()
    chosen = a if first else b
    chosen[0] = a[1] * b[2]
    return a * b


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="if read")
def chosen_for_reading(x, y):
    """Which array the name stands for depends on the data; it is only read."""
    if x[0] > y[0]:
        z = x
    else:
        z = y
    return z * z + x * y


@program(args=lambda: (normal(3),), tags="for carried")
def carried_name(x):
    """The carried name begins as the argument and must not write into it."""
    y = x
    for i in range(3):
        y = y * 0.5 + x
        y[i] = y[i] * x[0]
    return y + x


@program(args=lambda: (normal(3),), tags="asarray")
def conversion_keeps_array(x):
    """np.asarray of an array is the array; np.array is a copy."""
    y = np.array(x)
    z = np.asarray(y)
    z[0] = x[1] ** 2
    return y * x
