"""`while` loops: trip counts that depend on the data."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("while")
program = PROGRAMS.program


@program(args=lambda: (1.5,), tags="scalar trips")
def grow_until(x):
    """The trip count depends on the differentiated value."""
    y = x
    while y < 20.0:
        y = y * x + 1.0
    return y


@program(args=lambda: (7.3,), tags="scalar newton")
def square_root(a):
    """Newton's square root: converges to the derivative of sqrt."""
    x = a
    while abs(x * x - a) > 1e-13 * a:
        x = 0.5 * (x + a / x)
    return x


@program(args=lambda: (0.4,), tags="scalar fixedpoint")
def fixed_point(x):
    """The test reads the difference of two carried values."""
    y, previous = x, x + 1.0
    while abs(y - previous) > 1e-3:
        previous = y
        y = math.cos(y + 0.1 * x)
    return y


@program(args=lambda: (0.7, 6), tags="scalar counter")
def counted_while(x, n):
    """A counter of its own."""
    i = 0
    y = 1.0
    while i < n:
        y = y * math.sin(x + i)
        i += 2
    return y + i


@program(args=lambda: (5.0,), tags="scalar empty", expect=10.0)
def zero_trips(x):
    """The test fails at once."""
    y = x * x
    while y < 0.0:
        y = y + x
    return y


@program(args=lambda: (1.2,), tags="scalar and")
def two_conditions(x):
    """The test has two parts; the second guards the count."""
    total, term, k = 0.0, 1.0, 1
    while abs(term) > 1e-2 and k < 30:
        total += term
        term = term * x / (k + 1)
        k += 1
    return total


@program(args=lambda: (1.3, 0.8), wrt=(0, 1), tags="nested scalar")
def nested_while(x, y):
    """An inner loop whose trips differ in each outer trip."""
    total = 0.0
    outer = x
    while outer < 12.0:
        inner = y
        while inner < outer:
            inner = inner * 1.7 + 0.1 * x
            total += inner * y
        outer = outer * 2.0
    return total


@program(args=lambda: (normal(4),), tags="for nested array")
def while_in_for(x):
    """Each element is brought below one by its own number of trips."""
    total = 0.0
    for i in range(len(x)):
        v = 6.0 * x[i] * x[i]
        while v > 1.0:
            v = 0.4 * v + 0.1 * x[i]
        total += v * v
    return total


@program(args=lambda: (positive(4),), tags="for nested array")
def for_in_while(x):
    """A loop over the array, repeated until the sum is small."""
    y = x
    while np.sum(y) > 1.0:
        total = 0.0
        for v in y:
            total += v
        y = y * y / total
    return y


@program(args=lambda: (2.0, 5.0), wrt=(0, 1), tags="tuple scalar")
def arithmetic_geometric_mean(a, b):
    """Two carried values, each computed from both."""
    while abs(a - b) > 1e-12:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return a


@program(args=lambda: (1.4, 18, 12), tags="integer scalar")
def inactive_while(x, a, b):
    """The loop itself is over integers and needs no adjoint."""
    while b:
        a, b = b, a % b
    return x**a


@program(args=lambda: (normal(5),), tags="array index search")
def advance_index(x):
    """The loop moves an index; the value there is differentiated."""
    i = 0
    while i < len(x) - 1 and x[i] < 0.5:
        i += 1
    return x[i] * x[0] + i


@program(args=lambda: (positive(3),), tags="array carried")
def normalise_until(x):
    """An array is carried through an unknown number of trips."""
    y = x * 4.0
    while np.max(y) > 0.5:
        y = np.sin(0.6 * y)
    return y


@program(args=lambda: (0.3, 1.0), wrt=(0, 1), tags="if scalar")
def branch_in_while(x, y):
    """Which side is taken changes from trip to trip."""
    t = 0.0
    while t < 2.0:
        if y > 1.2:
            y = y - 0.4 * x * y
        else:
            y = y * y + 0.5
        t += 0.3
    return y * t


@program(args=lambda: (0.3,), tags="walrus scalar")
def walrus_test(x):
    """The test binds the name that the body reads."""
    total = x
    while (gap := 5.0 - total) > 0.5:
        total += 0.3 * gap + x
    return total * gap


@program(args=lambda: (normal(4),), tags="inplace array")
def write_in_while(x):
    """The buffer is overwritten until it is small."""
    y = x.copy()
    while np.sum(y * y) > 0.05:
        y[0] = y[0] * y[1]
        y[1:] = 0.5 * y[1:] + 0.1 * x[1:] * y[0]
        y *= 0.7
    return y


@program(args=lambda: (0.7,), tags="walrus break")
def walrus_and_break(x):
    """The test binds its name once a trip, and not again where the loop is left before it."""
    n, total = 5, 0.0
    while (n := n - 1) > 0:
        total += x * n
        if total > 4.0:
            break
    return total * n
