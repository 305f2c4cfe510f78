"""Joining and splitting arrays."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("join")
program = PROGRAMS.program


@program(args=lambda: (normal(2, 3), normal(1, 3, seed=1)), wrt=(0, 1), tags="concatenate")
def concatenations(a, b):
    """concatenate along both axes, one operand twice."""
    rows = np.concatenate([a, b, a])
    columns = np.concatenate((a, a * a), axis=1)
    return rows[1:3] @ a.T @ columns


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="stack")
def stacks(x, y):
    """stack in front and behind."""
    return np.stack((x, y)) @ np.stack((x, y * y), axis=1) * x[0]


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="hstack vstack")
def stack_by_direction(x, y):
    """hstack, vstack, column_stack, dstack and append."""
    flat = np.hstack([x, y])
    rows = np.vstack([x, y, x * y])
    columns = np.column_stack([x, y])
    return rows @ columns + flat[2:4] * np.append(x, 1.0)[2:] + np.dstack([x, y])[0, 1]


@program(args=lambda: (normal(7),), tags="split")
def splits(x):
    """split into equal and unequal parts."""
    a, b, c = np.split(x, [2, 5])
    d, e = np.array_split(x, 2)
    return a * c * np.sum(b) + d[:2] * e[1:]


@program(args=lambda: (normal(4, 4),), tags="split hsplit vsplit")
def splits_of_matrix(a):
    """Quarters of a matrix."""
    top, bottom = np.vsplit(a, 2)
    left, right = np.hsplit(top, 2)
    return left @ right + np.split(bottom, 2, axis=1)[1]


@program(args=lambda: (normal(3), 2.0), wrt=(0, 1), tags="array scalar")
def array_of_scalars(x, s):
    """np.array of nested lists of active and constant numbers."""
    rotation = np.array([[np.cos(s), -np.sin(s)], [np.sin(s), np.cos(s)]])
    return rotation @ np.array([x[0], x[1] * x[2]]) + np.array([1, 2])


@program(args=lambda: (normal(3),), tags="concatenate loop")
def grows_by_concatenation(x):
    """An array becomes longer; each step has a type of its own length."""
    y = np.concatenate([x, np.array([1.0])])
    y = np.concatenate([y[:2] * y[2:], y])
    return np.concatenate([y, [x[0], 2.0], np.zeros(1)]) ** 2


@program(args=lambda: (normal(5),), tags="delete insert beyond")
def deletions(x):
    """delete and insert at known positions."""
    y = np.delete(x, 2)
    z = np.insert(x, 1, x[0] * x[4])
    return y * z[:4] + np.delete(z, [0, 5])


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="where select beyond")
def choices(x, y):
    """where, select, choose and a where of scalars."""
    a = np.where(x > y, x * x, y)
    b = np.select([x > 1.0, y > 0.0], [x, x * y], default=y)
    c = np.where(np.array([True, False, True]), x, 0.5)
    return a * b + c * np.where(x[0] > 0.0, y[0], x[1])


@program(args=lambda: (normal(4), normal(4, seed=1)), wrt=(0, 1), tags="r_ loop stack")
def list_of_rows(x, y):
    """Rows from a comprehension, joined."""
    rows = [x[i] * y for i in range(3)]
    return np.stack(rows, axis=1) + np.vstack(rows).T * np.concatenate(rows)[:3]


@program(args=lambda: (normal(2, 3), normal(2, 1, seed=1)), wrt=(0, 1), tags="insert beyond")
def columns_put_in(a, c):
    """At a number the first axis of what is put in is that of the place, at a list of one it is not."""
    return np.insert(a, 1, c, axis=1) @ np.insert(a, [1, 1, 2], c, axis=1)[:, :5].T, np.insert(a, [1], c, axis=1)
