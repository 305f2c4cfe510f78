"""Functions of one lane with collectives, as people write them: (function, arguments of all lanes, in_axes)."""

from __future__ import annotations

import numpy as np

import transpile as tp
from transpile import lax

RNG = np.random.default_rng(3)
V, X, P, C = (
    RNG.standard_normal(4),
    RNG.standard_normal((4, 3)),
    RNG.random((4, 3)) + 0.5,
    RNG.standard_normal((4, 2, 3)),
)
W = RNG.standard_normal((3, 3))
CASES: dict[str, tuple] = {}


def case(*args, in_axes=0):
    def keep(f):
        CASES[f.__name__] = (f, args, in_axes)
        return f

    return keep


@case(P)
def normalised(x):
    return x / lax.psum(x, "i")


@case(X)
def standardised(x):
    mean = lax.pmean(x, "i")
    return (x - mean) / np.sqrt(lax.pmean((x - mean) ** 2, "i") + 1e-5)


@case(X)
def softmax_over_lanes(x):
    e = np.exp(x - lax.pmax(x, "i"))
    return e / lax.psum(e, "i")


@case(X)
def span(x):
    return lax.pmax(x, "i") - lax.pmin(x, "i")


@case(X, W, in_axes=(0, None))
def attention(x, w):
    keys = lax.all_gather(x, "i")
    weights = np.exp(keys @ (w @ x))
    return (weights / np.sum(weights)) @ keys


@case(X)
def gathered_behind(x):
    return lax.all_gather(x, "i", axis=1) * np.arange(4.0)


@case(X)
def gathered_last(x):
    return lax.all_gather(np.sin(x), "i", axis=-1)


@case(C)
def tiled(x):
    return lax.all_gather(x, "i", axis=1, tiled=True)


@case(RNG.standard_normal((4, 4, 2)))
def own_share(x):
    return lax.psum_scatter(x**2, "i")


@case(RNG.standard_normal((4, 2, 8)))
def own_tile(x):
    return lax.psum_scatter(x**2, "i", scatter_dimension=1, tiled=True)


@case(X)
def shifted(x):
    n = lax.axis_size("i")
    return x * lax.ppermute(x, "i", [(k, (k + 1) % n) for k in range(n)])


@case(V)
def chain(x):
    return np.sin(x) * lax.ppermute(x**2, "i", [(0, 1), (1, 2), (2, 3)])


@case(V, np.array([[2, 0], [0, 3], [1, 1]]), in_axes=(0, None))
def permuted_by_data(x, perm):
    return x * lax.ppermute(x, "i", perm)


@case(V)
def heat_with_halos(u):
    n, k = lax.axis_size("i"), lax.axis_index("i")
    for _ in range(3):
        left = lax.ppermute(u, "i", [(0, 1), (1, 2), (2, 3)])
        right = lax.ppermute(u, "i", [(1, 0), (2, 1), (3, 2)])
        u = u + 0.1 * (left - 2 * u + right) * (k > 0) * (k < n - 1)
    return u


@case(V)
def numbered(x):
    return x * lax.axis_index("i") + lax.axis_size("i") + lax.psum(1, "i")


@case({"w": X, "b": V}, V)
def tree_of_means(p, y):
    mean = lax.pmean(p, "i")
    return {"w": p["w"] - mean["w"], "b": mean["b"] * y}


@case(np.array([3.0, -2.0, 0.5, 7.0]))
def each_its_loop(x):
    y = x
    while abs(y) > 1.0:  # the trip count differs between lanes
        y = y * 0.5
    return y * lax.psum(y * y, "i")


@case(V)
def regions_around(x):
    y = np.exp(x) if x > 0.0 else x * x
    s = lax.psum(y, "i")
    return s * y if y > 0.5 else s + y


@case(V)
def repeated(x):
    for k in range(5):
        x = x - 0.1 * k * lax.pmean(x * x, "i")
    return x


@case(X)
def in_a_scan(x):
    def step(carry, row):
        carry = carry + lax.pmean(row * carry, "i")
        return carry, lax.psum(carry, "i")

    return lax.scan(step, 1.0, x)


@case(V)
def until_all_are_done(x):
    steps = 0
    while lax.pmax(abs(x), "i") > 0.1:
        x = 0.7 * x
        steps = steps + 1
    return x * steps


@case(V)
def by_a_function(x):
    def deviation(v):
        return v - lax.pmean(v, "i")

    return deviation(deviation(x) ** 2)


@case(V, 0.3, in_axes=(0, None))
def shared_too(x, a):
    return x * lax.psum(a * a, "i") + lax.pmax(a, "i")


@case(np.arange(4), V)
def integers(k, x):
    return lax.psum(k, "i") * x, lax.pmax(k, "i"), lax.psum(k > 1, "i")


@case(X)
def written(x):
    out = np.zeros(3)
    for k in range(3):
        out[k] = lax.psum(x[k] * x[k - 1], "i")
    out[1:] += x[1:]
    return out


@case(X)
def lanes_in_lanes(row):
    def inner(x):
        return x / lax.psum(x * x, ("i", "j")) + lax.psum(x, "j") * lax.pmax(x, "i")

    return tp.vmap(inner, axis_name="j")(row)


@case(X)
def numbers_in_numbers(row):
    def inner(x):
        both = lax.all_gather(x, ("i", "j"))
        return both[0] * x + lax.axis_index(("i", "j")) * lax.axis_size(("i", "j")) + lax.axis_index("j")

    return tp.vmap(inner, axis_name="j")(row)


@case(X)
def one_name_twice(row):
    return tp.vmap(lambda x: x * lax.psum(x, "i"), axis_name="i")(row) + lax.psum(row, "i")


@case(X)
def outer_axis_of_a_region(row):
    def inner(x):
        y = x
        while abs(y) > 0.6:
            y = 0.5 * y
        return y + lax.psum(x, "i")

    return tp.vmap(inner)(row)


@case(V)
def with_nan(x):
    return lax.pmax(np.log(x + 0.5), "i") * x


@case(np.array([1.0, 3.0, 3.0, 2.0]))
def ties(x):
    return lax.pmax(x, "i") * x


@case(V, V * 2, in_axes=(0, None))
def by_number(x, table):
    return table[lax.axis_index("i")] * x + lax.all_gather(x, "i")[lax.axis_index("i") - 1]


@case(V)
def recurrence(x):
    out = np.zeros(5)
    out[0] = x
    for k in range(1, 5):
        out[k] = 0.5 * out[k - 1] + lax.psum(out[k - 1], "i") * lax.psum(out[:k].sum(), "i") / 10
    return out


@case(V)
def appended(x):
    found = []
    for k in range(3):
        found.append(lax.psum(x * k, "i"))
        x = x * 0.5
    return np.array(found) * x


@case(V)
def all_return_early(x):
    for k in range(10):
        s = lax.psum(x * x, "i")
        if s < 0.3:
            return x * k
        x = x * 0.8
    return x


@case(3 * X)
def loops_before_and_behind(x):
    y = x
    while np.sum(y * y) > 1.0:
        y = y * 0.5
    m = lax.pmean(y, "i")
    z = y
    while np.sum(z * z) > 0.1:
        z = z * 0.7 - 0.01 * m
    return z * lax.psum(z, "i")


@case(V, 3, in_axes=(0, None))
def under_a_shared_test(x, k):
    return lax.psum(x, "i") * x if k > 2 else x * x


@case(C)
def gathered_outside(rows):
    return tp.vmap(lambda x: lax.all_gather(x * x, "i", axis=1) @ np.arange(4.0) * x)(rows)


@case(V)
def overwritten_behind(x):
    a = np.array([x, 2.0 * x])
    y = x
    while abs(y) > 0.3:
        y = y * 0.5 * np.cos(a[0] * y)
    s = lax.psum(y * y, "i")
    a[0] = s
    return y * a[0] * np.sin(a[1])


@case(W[:2], X, V[:, None] * np.ones(2), in_axes=(None, 0, 0))
def mean_gradient_by_example(w, x, y):
    g = tp.grad(lambda w: np.sum((np.tanh(w @ x) - y) ** 2))(w)
    return w - 0.1 * lax.pmean(g, "i")


@case(W[0], RNG.standard_normal((4, 5, 3)), RNG.standard_normal((4, 5)), in_axes=(None, 0, 0))
def mean_gradient_by_batch(w, x, y):
    return w - 0.1 * lax.psum(x.T @ (x @ w - y), "i")


@case(RNG.standard_normal((4, 5, 3)), RNG.standard_normal((4, 3, 2)), X)
def sums_of_products(a, b, v):
    return lax.psum(a @ b, "i"), lax.psum(v @ b, "i"), lax.psum(np.outer(v, v), "i")


@case(V)
def numbered_by_data(x):
    """The number of a lane needs no other lane, so it may be read in branches and loops that data decide."""
    y = x * lax.axis_index("i") if x > 0.3 else np.sin(x + lax.axis_index("i"))
    while abs(y) < lax.axis_index("i") + 0.5:
        y = 1.5 * y + 0.1 * lax.axis_index("i") + 0.2
    return (y * lax.axis_index("i") if y > 1.0 else y * y) + lax.axis_index("i")


@case(X)
def numbered_in_lanes_of_lanes(x):
    def own(v):
        return v * lax.axis_index(("i", "j")) if v > 0.0 else v + lax.axis_index("i") - 2.0 * lax.axis_index("j")

    return tp.vmap(own, axis_name="j")(x)
