"""Programs over `lax`, `random` and lanes that once were refused, or whose gradient was NaN."""

import numpy as np

import transpile as tp

from .program import Collection, normal, positive

PROGRAMS = Collection("lax")
program = PROGRAMS.program

AXIS = 1
KEY = np.array([0, 42], np.uint32)


@program(args=lambda: (positive(4), 0.7), wrt=(0, 1), tags="vmap while")
def numbered_lanes(x, a):
    """The number of a lane, asked for in a loop whose trips the lane's data decide."""

    def lane(v):
        return tp.lax.while_loop(lambda u: u < tp.lax.axis_index("i"), lambda u: u + a * v + 0.5, v)

    return np.sum(tp.vmap(lane, axis_name="i")(x) ** 2)


@program(args=lambda: (normal(3), 1.3), wrt=(0, 1), tags="vmap branch")
def common_result(x, y):
    """What both branches hand on is the same in all lanes."""

    def lane(x, y):
        def keep(x, y):
            return tp.lax.scan(lambda c, _: (c, None), y, None, length=1)[0]

        return tp.lax.cond(x < 0, keep, keep, x, y)

    return np.sin(tp.vmap(lane, in_axes=(0, None), out_axes=None)(x, y)) * np.sum(x * x)


@program(args=lambda: (normal(2, 3),), tags="random sort")
def axis_from_outside(x):
    """An axis that is a variable of the module."""
    return np.sum(tp.random.permutation(KEY, x, AXIS) * np.arange(6.0).reshape(2, 3)) * np.sum(x)


@program(
    args=lambda: (np.array([0.002, 0.5]), np.array([0.001, 3.0])), wrt=(0, 1), tags="random", smooth=False, second=False
)
def tiny_beta(a, b):
    """Of a draw that is 0 or 1 to the last bit nothing moves with the parameters."""
    return np.sum(tp.random.beta(KEY, a, b) * np.array([1.0, 0.0]))
