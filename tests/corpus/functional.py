"""Functional updates: what is written is a new array, and the old one stays."""

import numpy as np

import transpile as tp

from .program import Collection, normal, positive

PROGRAMS = Collection("functional indexing")
program = PROGRAMS.program


@program(args=lambda: (normal(5), 6), tags="for inplace")
def recurrence(x, n):
    """The old array is read no more: one is written in place, and the last trip writes nothing."""
    for k in range(n):
        x = tp.at(x)[k].set(np.sin(x[k - 1]) + 0.5)
    return x


@program(args=lambda: (positive(4), positive(3)), wrt=(0, 1), tags="gather")
def repeated(x, v):
    """Of repeated indices all count; one is out of range."""
    k = np.array([1, 1, 7])
    return tp.at(tp.at(x)[k].multiply(v))[k].add(v * v) * np.sum(tp.at(x)[k].get())


@program(args=lambda: (normal(3, 4), normal(3)), wrt=(0, 1), tags="gather")
def columns(a, v):
    """Columns by an array that clips, elements by pairs that drop."""
    b = tp.at(a)[:, np.array([0, 9])].set(v[:, None], mode="clip")
    return tp.at(b)[np.array([0, 5, 2]), np.array([1, 1, -1])].set(v) * a


@program(args=lambda: (positive(5), 1.2), wrt=(0, 1), tags="branch for")
def by_branch(x, c):
    """Only some trips write; the old array is read after the update."""
    t = 0.0
    for k in range(5):
        if x[k] > c:
            old, x = x, tp.at(x)[k].power(2.0)
            t = t + old[k] * x[k]
        else:
            x = tp.at(x)[k - 1].apply(np.cos)
    return x * t
