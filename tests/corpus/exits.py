"""Leaving loops: break, continue, loop else, return from inside."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("exit")
program = PROGRAMS.program


@program(args=lambda: (positive(6),), tags="for break")
def break_when_full(x):
    """The number of trips depends on the data."""
    total = 0.0
    for v in x:
        total += v * v
        if total > 3.0:
            break
    return total


@program(args=lambda: (positive(6),), tags="for break")
def break_before_update(x):
    """The break comes first: the last trip is half a trip."""
    total = 1.0
    for i in range(len(x)):
        step = x[i] * total
        if step > 3.0:
            break
        total += step
    return total * step


@program(args=lambda: (normal(6),), tags="for continue")
def skip_negative(x):
    """Some trips add nothing."""
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        total += x[i] ** 3
    return total


@program(args=lambda: (0.5,), tags="while continue scalar")
def continue_in_while(x):
    """The counter moves before the continue."""
    i, y = 0, 1.0
    while i < 7:
        i += 1
        if i % 3 == 0:
            continue
        y = math.sin(y) + x * i
    return y


@program(args=lambda: (1.1,), tags="while break scalar")
def endless(x):
    """`while True` with two ways out."""
    y, k = x, 0
    while True:
        y = y * y * 0.5 + x
        k += 1
        if y > 50.0:
            break
        if k == 4:
            y = y + 1.0
            break
    return y


@program(args=lambda: (positive(5),), tags="for return")
def return_from_loop(x):
    """The value is returned from inside; the end of the function is not reached."""
    product = 1.0
    for i in range(len(x)):
        product *= x[i]
        if product < 0.8:
            return product * x[i]
    return product


@program(args=lambda: (positive(5),), tags="for return")
def return_not_taken(x):
    """The inner return is not taken."""
    product = 1.0
    for v in x:
        product *= v
        if product > 1e3:
            return v
    return math.log(product)


@program(args=lambda: (1.6,), tags="while return scalar")
def return_from_while(x):
    """The only way out of the loop is a return."""
    y = x
    n = 0
    while True:
        y = y * x
        n += 1
        if y > 10.0:
            return y / n


@program(args=lambda: (normal(3, 4),), tags="for nested return")
def return_from_nest(a):
    """Two loops are left at once."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] ** 2
            if total > 2.0:
                return total * a[i, j]
    return total


@program(args=lambda: (normal(3, 4),), tags="for nested break")
def break_inner(a):
    """Only the inner loop ends."""
    total = 0.0
    for row in a:
        part = 0.0
        for v in row:
            if part > 0.5:
                break
            part += v * v
        total += part * row[0]
    return total


@program(args=lambda: (normal(4, 3),), tags="for nested continue")
def continue_outer(a):
    """A trip of the outer loop ends after its inner loop."""
    total = 0.0
    for i in range(len(a)):
        s = 0.0
        for j in range(3):
            s += a[i, j]
        if s > 0.0:
            continue
        total += s * s * a[i, 0]
    return total


@program(args=lambda: (positive(4),), tags="for else")
def else_taken(x):
    """The loop ends by itself, so its else runs."""
    y = 1.0
    for v in x:
        y += v
        if y > 100.0:
            break
    else:
        y = y * y
    return y


@program(args=lambda: (positive(4),), tags="for else break")
def else_not_taken(x):
    """The loop breaks, so its else does not run."""
    y = 1.0
    for v in x:
        y = y + v * v
        if y > 1.5:
            y = math.sqrt(y)
            break
    else:
        y = 0.0
    return y * x[0]


@program(args=lambda: (2.5,), tags="while else scalar")
def while_else(x):
    """The else of a while loop."""
    y = x
    while y > 0.2:
        y = 0.5 * y
        if y < 0.0:
            break
    else:
        y = y * x
    return y


@program(args=lambda: (positive(5),), tags="for break continue if")
def every_exit(x):
    """continue, break and a plain end of the body in one loop."""
    total = 0.0
    for i in range(len(x)):
        if i == 1:
            continue
        total += math.log(x[i]) + total * x[i]
        if i == 3:
            break
        total = total * 0.9
    return total


@program(args=lambda: (normal(5),), tags="for break else index")
def first_crossing(x):
    """A search; what it found is used after the loop."""
    for i in range(1, len(x)):
        if x[i - 1] * x[i] < 0.0:
            break
    else:
        i = 0
    return x[i] / (x[i] - x[i - 1])


@program(args=lambda: (normal(4),), tags="for break inplace")
def break_after_write(x):
    """The trip that breaks has already written."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i] + (y[i - 1] if i > 0 else 0.0)
        if y[i] > 0.3:
            break
    return y


@program(args=lambda: (1.9, 4), tags="return early for scalar")
def return_before_loop(x, n):
    """A return in front of the loop and one in it."""
    if n == 0:
        return x
    for i in range(n):
        x = x * 0.8
        if x < 1.0:
            return x * i
    return x**2
