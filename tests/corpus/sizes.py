"""Sizes of one: known by their form, by the example, or when the function runs."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("sizes")
program = PROGRAMS.program


@program(args=lambda: (np.abs(normal(3, 3)),), smooth=False, tags="loops broadcast")
def shortest_paths(w):
    """Floyd and Warshall: a column and a row, each kept as an axis of one."""
    d = w.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return d


@program(args=lambda: (normal(3, 4), 1), tags="broadcast")
def column_times_row(w, k):
    """Slices of one by an integer argument: only the run knows that they have one entry."""
    return w[:, k : k + 1] * w[k : k + 1, :]


@program(args=lambda: (normal(5), normal(5, seed=1), 1, 2, 1, 4), wrt=(0, 1), tags="broadcast")
def one_of_two_parts(x, y, a, b, c, d):
    """The first part has one entry, the second three."""
    return np.sin(x[a:b]) * y[c:d] + x[c:d]


@program(args=lambda: (normal(5), normal(5, seed=1), 1, 4, 2, 3), wrt=(0, 1), tags="broadcast")
def other_of_two_parts(x, y, a, b, c, d):
    """The second part has one entry, the first three."""
    return np.sin(x[a:b]) * y[c:d] + x[a:b]


@program(args=lambda: (normal(5), normal(5, seed=1), 1, 4), wrt=(0, 1), tags="broadcast")
def parts_of_one_size(x, y, a, b):
    """The same bounds: no question is asked."""
    return np.sin(x[a:b]) * y[a:b]


@program(args=lambda: (normal(5), normal(5, seed=1), 1, 2, 4), wrt=(0, 1), tags="broadcast")
def parts_of_one_begin(x, y, a, b, c):
    """They begin alike, and end elsewhere."""
    return np.sin(x[a:b]) * y[a:c] + x[a:c]


@program(args=lambda: (normal(5), normal(3, seed=1), 2.0), wrt=(0, 1), tags="broadcast mask", smooth=False)
def largest_only(x, y, share):
    """What a mask lets through is one entry."""
    return x[x >= np.max(x)] * y * share


@program(args=lambda: (normal(4), 2, 3), tags="broadcast writes")
def written_and_added(x, a, b):
    """One entry fills an array, and is added to all of another."""
    y = np.zeros(4)
    y[:] = x[a:b]
    y += x[a:b] ** 2
    y[1:3] *= x[a:b]
    return y * x


@program(args=lambda: (normal(4, 3),), tags="broadcast loops")
def shrinking_parts(x):
    """Parts of shrinking size meet a row; at last one is left."""
    total = np.zeros(3)
    for i in range(1, 4):
        total = total + np.sum(x[i:] * x[3:4], axis=0)
    return total


@program(args=lambda: (normal(6),), tags="broadcast slices")
def backward_parts(x):
    """Steps that go back, with sizes that are known by their form."""
    return x[4:1:-1] * x[::-2] + x[2:0:-2] + x[:-4:-1]


def halves(x, y):
    """Calls itself with parts of an array, at last with one entry."""
    if len(x) <= 1:
        return np.sum(np.sin(x) * y)
    h = len(x) // 2
    return halves(x[:h], y[1:] + x[:1]) + halves(x[h:], y * x[0])


@program(args=lambda: (normal(4), normal(3, seed=1)), wrt=(0, 1), tags="recursion broadcast", second=False)
def recursion_down_to_one(x, y):
    """The sizes of what a function that calls itself is given are others in each call."""
    return halves(x, y)


@program(args=lambda: (normal(4), normal(3, seed=1)), wrt=(0, 1), tags="branches broadcast")
def branch_for_other_sizes(x, y):
    """What does not fit the sizes stands in a branch that is for others."""
    if len(x) == 3:
        return np.sum(x * y)
    return np.sum(x) * np.sum(y)
