"""Subscripts, axes, shapes and orders as public code gives them: from outside, apart, in another order."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("indexing")
program = PROGRAMS.program

FRONT, BACK = np.array([0, 1]), np.array([1, 0])


@program(args=lambda: (normal(2, 4, 2),), tags="gather")
def ellipsis_between_index_arrays(x):
    """The ellipsis stands for no axis, and keeps the arrays apart: their axis is the first."""
    y = x[:, FRONT, ..., BACK]
    return np.sum(y * y * np.array([[1.0, 2.0], [3.0, 4.0]]))


@program(args=lambda: (normal(2, 4, 2), normal(2, 2, seed=1)), wrt=(0, 1), tags="gather inplace")
def written_between_index_arrays(x, v):
    """The same place, written, and added to."""
    y = x.copy()
    y[:, FRONT, ..., BACK] = v * v
    y[0, ..., 1, BACK] += v[0]
    return np.sum(y * y * y)


@program(args=lambda: (normal(3, 2),), tags="gather")
def truth_value_as_index(x):
    """A truth value has an axis of its own, of one entry or of none."""
    y = x[True, FRONT] * x[x[0, 0] < 9.0, ..., 1:][0, :2]
    return np.sum(y * x[:, np.array([True, False]), None, True][:2, 0]) + np.sum(x[False])


@program(args=lambda: (normal(3, 4),), tags="gather mask")
def masks_of_one_and_of_many(x):
    """A mask that holds at one place broadcasts with one that holds at many."""
    row, columns = np.arange(3) == 1, np.arange(4) > 1
    return np.sum(x[row, columns] ** 3)
