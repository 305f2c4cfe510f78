"""Subscripts, axes, shapes and orders as public code gives them: from outside, apart, in another order."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("indexing")
program = PROGRAMS.program

FLAT, AXES, WINDOW, SHAPE = -1, (np.array(0),), slice(np.array(1), np.array(3)), np.array([2, -1])
ORDER, POWER = np.array([2, 0, 1]), 3.0
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


@program(args=lambda: (normal(3, 4),), tags="outside")
def shapes_and_axes_from_outside(x):
    """A shape with -1, an array as shape, an axis of rank 0, a slice whose bounds are arrays."""
    y = x.reshape(2, FLAT) * x.reshape(SHAPE)
    return np.sum(np.sum(x, AXES)[WINDOW] * y[0, :2]) + np.sum(x.reshape(FLAT)[:4] ** 2)


@program(args=lambda: (normal(3, 4),), tags="outside lists")
def list_in_the_order_of_an_array(x):
    """The positions of a list are the entries of an array from outside, the power of a norm is a float from outside."""
    parts = [x[0], np.sin(x[1]), x[2] ** 2]
    parts = [parts[k] for k in ORDER]
    return np.linalg.norm(parts[0] + 2.0 * parts[1] + 3.0 * parts[2], POWER)


@program(args=lambda: (normal(2, 3), np.arange(6.0).reshape(3, 2) + 1.0), wrt=(0, 1), tags="reduction")
def average_over_axes_in_another_order(x, w):
    """The axes of the weights are those that are named, in this order."""
    return np.average(x * x, axis=(1, 0), weights=w)


@program(args=lambda: (normal(1, 3), np.array([[0, 2], [1, 1], [2, 0]])), tags="gather")
def take_along_axis_of_one_row(x, k):
    """One row stands for as many as there are rows of indices."""
    return np.sum(np.take_along_axis(x, k, -1) ** 2 * np.arange(6.0).reshape(3, 2))


@program(args=lambda: (normal(3), np.zeros((0, 4))), tags="sizes")
def resized_from_nothing(x, nothing):
    """Of an array without entries there are zeros."""
    return np.sum(np.resize(nothing, (2, 3)) + x**2) + np.sum(np.resize(x, (2, 2)) ** 3)


@program(args=lambda: (normal(2, 3), normal(2, 3, seed=1)), wrt=(0, 1), tags="contraction")
def einsum_with_every_keyword(x, y):
    """What NumPy takes beside the operands."""
    out = np.zeros((2, 2))
    np.einsum("ij,kj->ik", x, y, out=out, dtype=np.float64, order="C", casting="safe", optimize="greedy")
    return np.sum(out**2) + np.sum(np.einsum("ij,kj->i", x, y, optimize=["einsum_path", (0, 1)], order="F"))
