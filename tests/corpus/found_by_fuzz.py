"""Programs that once came out wrong, as small as they could be made."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection()
program = PROGRAMS.program


@program(args=lambda: (normal(4), 3), tags="for break")
def bound_named_as_counter(x, trips):
    """The printed trip counter must not take the name of the loop's own bound."""
    total = 0.3
    for j in range(trips):
        total += x[j] ** 2
        if total > 100.0:
            break
    return total * total


@program(args=lambda: (normal(3, 3),), tags="inplace rows")
def overwritten_beginning(a):
    """A buffer that begins as tanh(a): its derivative needs tanh(a), which the buffer no longer holds."""
    grid = np.tanh(a)
    for row in grid:
        row += 1.0
    return grid


@program(args=lambda: (1.7, normal(4, 4)), wrt=(0, 1), tags="return for rows")
def recomputed_from_a_branch(s, a):
    """What a loop in a branch recomputes reads a value of that branch."""
    if s > 100.0:
        return np.mean(a)
    row_means = np.mean(a, axis=1)
    total = 0.0
    for j, t in enumerate(row_means):
        total += np.sin(t / s) * (j + 1)
    return total
