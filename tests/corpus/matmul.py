"""Products of matrices and vectors, of every rank."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("matmul")
program = PROGRAMS.program


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="vector")
def vector_by_vector(x, y):
    """Rank 1 by rank 1."""
    return (x @ y) * np.dot(y, y) + x.dot(y)


@program(args=lambda: (normal(2, 3), normal(3, seed=1), normal(2, seed=2)), wrt=(0, 1, 2), tags="matrix vector")
def matrix_by_vector(a, x, y):
    """Rank 2 by rank 1 and rank 1 by rank 2."""
    return (a @ x) * y, y @ a * x


@program(args=lambda: (normal(2, 3), normal(3, 2, seed=1)), wrt=(0, 1), tags="matrix")
def matrix_by_matrix(a, b):
    """Rank 2 by rank 2, with transposes."""
    return a @ b + b.T @ a.T @ np.dot(a, b)


@program(args=lambda: (normal(3, 3),), tags="matrix same")
def matrix_by_itself(a):
    """Both operands are one array."""
    return a @ a + a.T @ a


@program(args=lambda: (normal(2, 3, 4), normal(2, 4, 3, seed=1)), wrt=(0, 1), tags="batched")
def stack_by_stack(a, b):
    """Rank 3 by rank 3."""
    return a @ b + np.matmul(a, a.swapaxes(1, 2))


@program(
    args=lambda: (normal(2, 3, 4), normal(4, 2, seed=1), normal(4, seed=2)),
    wrt=(0, 1, 2),
    tags="batched broadcast",
)
def stack_by_lower_rank(a, b, x):
    """Rank 3 by rank 2 and by rank 1: the adjoints sum over the stack."""
    return a @ b * (a @ x)[:, :, None]


@program(args=lambda: (normal(3), normal(2, 3, 4, seed=1)), wrt=(0, 1), tags="batched broadcast")
def lower_rank_by_stack(x, b):
    """Rank 1 and rank 2 by rank 3."""
    m = x[:, None] * x
    return (x @ b)[:, None, :] * (m @ b)


@program(args=lambda: (normal(2, 1, 2, 3), normal(3, 3, 2, seed=1)), wrt=(0, 1), tags="batched broadcast one")
def stacks_that_broadcast(a, b):
    """Rank 4 by rank 3 with an axis of one."""
    return np.matmul(a, b)


@program(args=lambda: (normal(2, 3, 4), normal(5, 4, 2, seed=1)), wrt=(0, 1), tags="dot rank3")
def dot_of_higher_rank(a, b):
    """dot of rank 3 by rank 3: no broadcasting, all pairs."""
    return np.dot(a, b)


@program(args=lambda: (normal(2, 3), normal(4, 3, seed=1), 1.5), wrt=(0, 1, 2), tags="inner outer vdot")
def other_products(a, b, s):
    """inner, outer, vdot, and dot with a scalar."""
    c = np.inner(a, b) * np.dot(s, 2.0)
    return c * np.outer(a[:, 0], b[:, 1]) + np.vdot(a, a) + np.dot(a[0], s)[0]


@program(args=lambda: (normal(2, 3, 4), normal(4, 3, 2, seed=1)), wrt=(0, 1), tags="tensordot")
def tensor_products(a, b):
    """tensordot over one axis, over two, and named axes."""
    one = np.tensordot(a, b, axes=1)
    two = np.tensordot(a, b, axes=([2, 1], [0, 1]))
    return np.sum(one[:, :, 0]) * two + np.tensordot(a, a, axes=3)


@program(args=lambda: (normal(3, 3), normal(3, seed=1)), wrt=(0, 1), tags="chain vector")
def quadratic_form(a, x):
    """A chain of products."""
    return x @ a @ x + x @ a.T @ a @ x


@program(args=lambda: (normal(2, 3), normal(3, 2, seed=1)), wrt=(0, 1), tags="inplace")
def matmul_in_place(a, b):
    """A product is stored into a buffer, and one multiplies it in place."""
    c = np.empty((2, 2))
    c[:] = a @ b
    c[0] = c @ b[0]
    c @= a @ a.T
    return c


@program(args=lambda: (normal(3, 0), normal(0, 2, seed=1)), wrt=(0, 1), tags="empty")
def empty_inner_dimension(a, b):
    """A product over nothing is zero."""
    return a @ b + 1.0


@program(args=lambda: (normal(3, 3), normal(3, seed=1)), wrt=(0, 1), tags="vecdot beyond")
def inner_along_first_axes(a, x):
    """np.vecdot along an axis of each operand, which have several ranks."""
    return np.vecdot(a, x, axis=0) * x
