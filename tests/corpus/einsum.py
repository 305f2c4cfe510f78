"""einsum: every kind of subscript."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("einsum")
program = PROGRAMS.program


@program(args=lambda: (normal(2, 3), normal(3, 4, seed=1)), wrt=(0, 1), tags="product")
def matrix_product(a, b):
    """A product, with and without an arrow."""
    return np.einsum("ij,jk->ik", a, b) + np.einsum("ij,jk", a, b)


@program(args=lambda: (normal(3, 3),), tags="diagonal trace")
def diagonals(a):
    """Repeated subscripts within one operand."""
    return np.einsum("ii->i", a) * np.einsum("ii", a) + np.einsum("ij->j", a)


@program(args=lambda: (normal(2, 3, 4), normal(2, 4, 3, seed=1)), wrt=(0, 1), tags="batched")
def batched_product(a, b):
    """A batch subscript, and a sum over all others."""
    return np.einsum("bij,bjk->bik", a, b) * np.einsum("bij,bji->b", a, b)[:, None, None]


@program(args=lambda: (normal(3), normal(3, 4, seed=1), normal(4, seed=2)), wrt=(0, 1, 2), tags="three")
def three_operands(x, a, y):
    """A bilinear form."""
    return np.einsum("i,ij,j->", x, a, y) + np.einsum("i,ij,j->ij", x, a, y)


@program(args=lambda: (normal(2, 3, 4), normal(4, 2, seed=1)), wrt=(0, 1), tags="ellipsis")
def ellipsis_subscripts(a, b):
    """An ellipsis stands for the axes in front."""
    return np.einsum("...i,ij->...j", a, b) * np.einsum("...i->...", a)[..., None]


@program(args=lambda: (normal(2, 3),), tags="transpose same")
def one_operand(a):
    """A transpose and a product of an array with itself."""
    return np.einsum("ij->ji", a) @ a + np.einsum("ki,kj->ij", a, a)


@program(args=lambda: (normal(3), normal(2, seed=1)), wrt=(0, 1), tags="outer sum")
def outer_subscripts(x, y):
    """No common subscript; one that is summed in a single operand."""
    return np.einsum("i,j->ij", x, y) + np.einsum("i,j->j", x, y)


@program(args=lambda: (normal(4, 3), normal(4, 3, seed=1), 0.5), wrt=(0, 1, 2), tags="scalar rows")
def rowwise_dot(a, b, s):
    """A dot product of each row; an operand without subscripts."""
    return np.einsum("ij,ij->i", a, b) * np.einsum(",i->i", s, a[:, 0])


@program(args=lambda: (normal(2, 2, 3), normal(3, 3, seed=1)), wrt=(0, 1), tags="diagonal contracted")
def repeated_and_contracted(a, b):
    """A diagonal that meets another operand."""
    return np.einsum("iij,jk->ik", a, b) + np.einsum("iij,jj->i", a, b)[:, None]
