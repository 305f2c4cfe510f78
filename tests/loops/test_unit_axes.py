"""Loops that see through views of size 1, and nests of three loops in the order of memory."""

import numpy as np
from test_loops import READY, A, X, agree, stays, text

import transpile as tp
from transpile.loops.interchange import interchange_loops
from transpile.loops.unit_axes import drop_unit_axes


def column(x):
    y = np.exp(x)
    total = 0.0
    tall = y.reshape((len(x), 1))
    for i in range(tall.shape[0]):
        total += tall[i, 0] * x[i]
    return total


def flat(a):
    return np.sum(np.exp(a).reshape(-1) * 2.0)


def folded(x):
    """Another shape of as many elements is no view of size 1."""
    b = np.exp(x).reshape((2, 2))
    return b[0, 1] + b[1, 0] * x[0]


def product(a, b):
    """By ``b``, each column of the adjoint is the sum of the rows of ``a``: a column, taken as a matrix of one."""
    return np.sum(2.0 * a @ b)


def test_a_column_is_seen_through():
    gradient = tp.grad(product, argnums=1)
    before, after = (text(gradient, (A, A.T), *READY, *more) for more in ((), (drop_unit_axes,)))
    assert ".reshape((" in before and ", 0]" in before
    assert ", 0]" not in after
    agree(gradient, (A, A.T), (A[:1], A.T), (A, A.T[:, :1]))


def test_a_column_is_read_as_what_it_is_of():
    assert "y[i] * x[i]" in text(column, (X,), *READY)
    agree(column, (X,), (X[:1],), (X[:0],))


def test_other_shapes_are_not():
    stays(drop_unit_axes, folded, (X,), *READY)
    agree(folded, (X,), (np.exp(X),))
    agree(flat, (A,), (A[:1],), (A[:, :1],), (A[:0],))


def nearest(centroids, points):
    offsets = points[:, None, :] - centroids[None, :, :]
    return np.sum(np.min(np.sum(offsets * offsets, axis=2), axis=1))


def test_the_gradient_of_distances_is_one_pass():
    """What is made for a point is used at once: no array of all points by all centroids is left."""
    points, centroids = np.arange(30.0).reshape(10, 3) % 7, np.arange(6.0).reshape(2, 3)
    loops = tp.source(tp.jit(tp.value_and_grad(nearest)), centroids, points, stage="loops")
    assert "np.empty((m, n, d)" not in loops and loops.count("points.shape[0]):") == 1
    agree(tp.grad(nearest), (centroids, points), (centroids[:1], points), (centroids, points[:1]))


def accumulate(a, b):
    """``i`` is the first axis of the great array, so it becomes the outer loop."""
    out = np.zeros((a.shape[1], a.shape[2]))
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            for k in range(a.shape[2]):
                out[j, k] += a[i, j, k] * b[i]
    return out


def settle(a, b):
    """Each trip of ``j`` reads what the one before has written for all ``i``: the order stays."""
    out = np.zeros((a.shape[1] + 1, a.shape[2]))
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            for k in range(a.shape[2]):
                out[j + 1, k] = out[j, k] * 0.5 + a[i, j, k] * b[i] + out[j + 1, k]
    return out


CUBE, B = np.linspace(-1, 1, 30).reshape(5, 2, 3), np.linspace(1, 2, 5)


def nest(loops):
    """The indices of the loops around the last access of the great array."""
    lines = loops[: loops.index("a[i, j, k_2]")].splitlines()
    return [line.split()[1] for line in lines if line.strip().startswith("for ")][-3:]


def test_three_loops_in_the_order_of_memory():
    before, after = (text(accumulate, (CUBE, B), *READY, *more) for more in ((), (interchange_loops,)))
    assert nest(before) == ["j", "i", "k_2"] and nest(after) == ["i", "j", "k_2"]
    agree(accumulate, (CUBE, B), (CUBE[:0], B[:0]), (CUBE[:, :0], B), (CUBE[:, :, :1], B), (CUBE, B[:4]))


def test_loops_that_wait_for_each_other_keep_their_order():
    stays(interchange_loops, settle, (CUBE, B), *READY)
    agree(settle, (CUBE, B), (CUBE[:1], B[:1]))
