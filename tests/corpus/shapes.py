"""Shapes: reshaping, permuting, broadcasting, repeating, padding."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("shape")
program = PROGRAMS.program


@program(args=lambda: (normal(2, 6),), tags="reshape")
def reshapes(a):
    """reshape by function, by method, with an inferred size; ravel and flatten."""
    b = np.reshape(a, (3, 4)) * a.reshape(3, -1)[::-1]
    return b.flatten()[2:8] * np.ravel(a)[:6] + a.reshape(4, 3)[1, 2]


@program(args=lambda: (normal(2, 3, 4),), tags="transpose")
def permutations(a):
    """transpose, T, swapaxes and moveaxis."""
    b = a.transpose(2, 0, 1) * np.moveaxis(a, -1, 0)
    c = np.swapaxes(a, 0, 2)[:, :, 0] @ a[0]
    return b[:, 0, 0] * c[0] + a[0].T[:, 1] * a[1, 2]


@program(args=lambda: (normal(3),), tags="newaxis squeeze")
def added_and_dropped_axes(x):
    """expand_dims, squeeze and new axes."""
    a = np.expand_dims(x, 0) * x[:, np.newaxis]
    b = np.squeeze(a[:1] * 2.0, axis=0)
    return b + np.atleast_2d(x).squeeze() * np.expand_dims(a, (0, 2)).squeeze()[1]


@program(args=lambda: (normal(3), normal(2, 1, seed=1)), wrt=(0, 1), tags="broadcast")
def explicit_broadcast(x, y):
    """broadcast_to, and arrays that broadcast against each other."""
    a = np.broadcast_to(x, (2, 3)) * y
    b, c = np.broadcast_arrays(x, y)
    return a * b + c


@program(args=lambda: (normal(2, 3),), tags="tile repeat")
def repeats(a):
    """tile and repeat."""
    b = np.tile(a, (2, 1)) * np.repeat(a, 2, axis=0)
    return b + np.tile(a[0], 4).reshape(4, 3) * np.repeat(a[:, 0], [1, 3])[:, None]


@program(args=lambda: (normal(2, 3),), tags="flip roll")
def flips_and_rolls(a):
    """flip, roll and rot90."""
    b = np.flip(a, axis=1) * np.roll(a, 1, axis=0) + np.roll(a, -2)
    return b * np.fliplr(a) + np.rot90(a).T * np.flipud(a)


@program(args=lambda: (normal(2, 3),), tags="pad")
def padding(a):
    """Pads with zeros, with a value, with the edge and by wrapping."""
    b = np.pad(a, ((1, 0), (0, 1))) * np.pad(a, ((1, 0), (0, 1)), mode="edge")
    c = np.pad(a, 1, constant_values=2.0)[1:, 1:]
    return b + c[:3, :4] + np.pad(a[0], (2, 0), mode="wrap")[:4]


@program(args=lambda: (normal(3, 3),), tags="triangle diagonal")
def triangles(a):
    """tril, triu, diag of both kinds, trace."""
    lower = np.tril(a, -1) @ np.triu(a)
    d = np.diag(a)
    return lower * np.diag(d * d) + np.trace(a, offset=1) * np.diag(d[:2], 1)


@program(args=lambda: (normal(4), normal(3, seed=1)), wrt=(0, 1), tags="meshgrid")
def grids(x, y):
    """meshgrid, by both indexings."""
    a, b = np.meshgrid(x, y)
    c, d = np.meshgrid(x, y, indexing="ij")
    return np.sin(a) * b + (c * d).T


@program(args=lambda: (0.5, 2.0), wrt=(0, 1), tags="linspace")
def linspace_of_active_ends(low, high):
    """The ends of a linspace are differentiated."""
    t = np.linspace(low, high, 5)
    return t * t * np.linspace(0.0, 1.0, 5)


@program(args=lambda: (normal(3), 1.5), wrt=(0, 1), tags="create")
def creation(x, s):
    """Arrays that are made: full, full_like, eye, ones, zeros, arange, array of scalars."""
    a = np.full((3, 3), s) * np.eye(3) + np.ones((3, 3)) * x
    b = np.full_like(x, s) * np.arange(3) + np.zeros(3)
    return a @ b + np.array([s, x[0], 1.0]) * np.array([[x[1], s, 2]])[0]


@program(args=lambda: (normal(6),), tags="runtime shape")
def shapes_at_runtime(x):
    """Sizes are computed from a size."""
    n = x.shape[0] // 2
    a = x.reshape(n, x.size // n)
    b = np.zeros((n, a.ndim))
    b[:, 0] = a[:, 1] * n
    return b * a


@program(args=lambda: (normal(3, 1), normal(1, 4, seed=1)), wrt=(0, 1), tags="one broadcast")
def dimensions_of_one(a, b):
    """Axes of length one stretch; the adjoints shrink again."""
    c = a * b
    return c / (1.0 + a**2) + b, a + b.T[:1] * a


@program(args=lambda: (normal(2, 2), normal(2, 2, seed=1)), wrt=(0, 1), tags="block kron")
def kron_and_block(a, b):
    """np.kron and np.block."""
    return np.kron(a, b) * np.block([[a, b], [b.T, a * 2.0]])
