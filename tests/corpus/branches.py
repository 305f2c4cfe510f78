"""Branches: joins of values, of definitions and of returns."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("if")
program = PROGRAMS.program


@program(args=lambda: (1.3,), tags="scalar")
def two_sides(x):
    """Each side defines the same name."""
    if x > 1.0:
        y = x * x
    else:
        y = -x
    return y + 1.0


@program(args=lambda: (-0.6,), tags="scalar")
def other_side(x):
    """The side that is taken is the second."""
    if x > 0.0:
        y = math.log(x)
    else:
        y = x**3
    return math.exp(y)


@program(args=lambda: (0.9,), tags="scalar elif")
def ladder(x):
    """A chain of tests."""
    if x < 0.0:
        y = -x
    elif x < 0.5:
        y = x * x
    elif x < 1.0:
        y = math.sin(3.0 * x)
    else:
        y = 1.0 / x
    return y * x


@program(args=lambda: (0.7, -1.2), wrt=(0, 1), tags="scalar nested")
def nested_branches(x, y):
    """Branches within branches, joined twice."""
    z = x * y
    if x > 0.0:
        if y > 0.0:
            z = z + x
        else:
            z = z * x
            w = z - y
            z = z + w * w
    else:
        z = y
    return z * z


@program(args=lambda: (normal(4),), tags="array")
def without_else(x):
    """The side that is not written passes the value on."""
    y = np.sum(x * x)
    if y > 0.1:
        y = y * x[0]
    if y > 1e6:
        y = y * x[1]
    return y


@program(args=lambda: (0.4,), tags="scalar return")
def return_on_both(x):
    """Both sides return."""
    y = math.cos(x)
    if y > 0.5:
        return y * x
    else:
        return y / x


@program(args=lambda: (0.4, 1.5), wrt=(0, 1), tags="scalar return early")
def early_return(x, y):
    """Two returns before the last."""
    if x > y:
        return x * x
    z = x * y
    if z < 10.0:
        return math.exp(z) - y
    return z


@program(args=lambda: (1.4,), tags="ifexp scalar")
def conditional_expressions(x):
    """Conditional expressions, one in the other and as operands."""
    a = x if x > 0.0 else -x
    b = (a * a if a > 2.0 else a + 1.0) if a > 1.0 else 0.0
    return (x if b > a else a * b) * b


@program(args=lambda: (normal(4),), tags="array predicate")
def branch_on_array(x):
    """The test comes from an array, itself not differentiated."""
    if np.any(x > 0.0) and not np.all(x > 0.0):
        y = x * np.abs(x).sum()
    else:
        y = -x
    return y


@program(args=lambda: (1.1, 3), tags="integer scalar")
def branch_on_integer(x, k):
    """The test is of an integer: its outcome is no derivative's business."""
    if k % 2 == 1:
        y = x**k
    else:
        y = x / k
    return y + k * x


@program(args=lambda: (0.8,), tags="weak types scalar")
def joins_int_and_float(x):
    """One side is an int, the other a float."""
    bonus = 0
    if x > 0.5:
        bonus = x * x
    return x + bonus


@program(args=lambda: (0.8, -0.3), wrt=(0, 1), tags="undefined scalar")
def defined_on_one_side(x, y):
    """A name that only one side defines and only that outcome reads."""
    positive_part = x > 0.0
    if positive_part:
        extra = x * y
    z = x + y
    if positive_part:
        z = z * extra
    return z


@program(args=lambda: (1.2, 0.5), wrt=(0, 1), tags="tuple unpack scalar")
def joins_several_names(x, y):
    """Several names join; one is only read, one is swapped."""
    low, high = x, y
    scale = 1.0
    if low > high:
        low, high = high, low
        scale = low * high
    return (high - low) * scale + low**2


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="array")
def joins_arrays(x, y):
    """Arrays join; both sides are read again later."""
    if np.sum(x) > np.sum(y):
        z = x * y
    else:
        z = np.exp(x) - y
    return np.sum(z * x + y)


@program(args=lambda: (normal(4),), tags="inplace array")
def writes_on_one_side(x):
    """Only one side writes into the buffer."""
    y = x.copy()
    if x[0] < 10.0:
        y[1] = y[0] * y[2]
    else:
        y[2] = 0.0
    return np.sum(y * y)


@program(args=lambda: (0.9, True), tags="bool flag scalar")
def branch_on_flag(x, square):
    """A Python bool argument."""
    y = math.sin(x)
    if square:
        y *= y
    return y if not square else y + x


@program(args=lambda: (positive(3),), tags="raise array")
def guarded_by_raise(x):
    """A guard that raises on the side not taken."""
    if np.any(x <= 0.0):
        raise ValueError("x must be positive")
    return np.log(x).sum()


@program(args=lambda: (0.3, 1.2), wrt=(0, 1), tags="and or scalar")
def short_circuit(x, y):
    """The second test would fail if the first did not guard it."""
    if x != 0.0 and 1.0 / x > 2.0:
        z = y / x
    elif x == 0.0 or y / x < 1.0:
        z = y
    else:
        z = x
    return z * z


@program(args=lambda: (0.7, 3), tags="int nan")
def undefined_outside(x, k):
    """An integer, or a number that is none: what is not defined, and a bound that is a fraction."""
    inside = k if abs(k) <= 90 else math.nan
    bound = math.inf if k > 100 else k
    part = k if k < 3.5 else 2.5
    return x * inside + x * x * part + min(bound, 7) * x


@program(args=lambda: (np.array([0.9, 0.5, -0.7]),), tags="if sum")
def truth_values_count(x):
    """What branches make of True and False is added as 0 and 1; NumPy's truth values are joined by `+`."""
    first, second, up = False, False, False
    if x[0] > 0.0:
        first = True
    if x[1] > 0.0:
        second = True
    for k in range(1, len(x)):
        if x[k] < x[k - 1]:
            up = True
    return x * (first + second) + (up + up) * x[0] + ((x[0] > 0.0) + (x[1] > 0.0)) * x[1]
