"""Reductions: sums, products, extremes, moments, order statistics; over every kind of axis."""

import numpy as np

from .program import Collection, normal, positive, spread

PROGRAMS = Collection("reduction")
program = PROGRAMS.program


@program(args=lambda: (normal(2, 3, 2),), tags="axis")
def sums_over_axes(a):
    """One axis, a negative one, several, none; kept and dropped."""
    b = a * np.sum(a, axis=1, keepdims=True)
    return b.sum(axis=(0, -1)) * np.sum(a, axis=-1)[0] + a.sum()


@program(args=lambda: (normal(3, 4),), tags="axis mean var")
def moments(a):
    """mean, var and std."""
    centred = a - a.mean(axis=0)
    scaled = centred / np.std(a, axis=0, ddof=1)
    return np.sum(scaled[0] * np.var(a, axis=0)) + np.var(a) * a.std()


@program(args=lambda: (spread(3, 3),), tags="axis max min")
def extremes(a):
    """max and min: the gradient goes to the element that was chosen."""
    return np.max(a, axis=0) * a.min(axis=1) + np.max(a) * np.amin(a[1:]) + np.ptp(a, axis=1)


@program(args=lambda: (positive(2, 4),), tags="axis prod")
def products(a):
    """Products over all and over one axis."""
    return np.prod(a, axis=1) * a.prod() + np.prod(a[:, :2], axis=0)


@program(args=lambda: (np.array([1.5, 0.0, -2.0]),), tags="prod zero")
def product_with_zero(x):
    """A product with one factor zero has a gradient all the same."""
    return np.prod(x) + np.prod(np.array([2.0, 3.0]) * x[:2])


@program(args=lambda: (spread(5), spread(4, seed=1)), wrt=(0, 1), tags="median quantile")
def order_statistics(x, y):
    """Medians of odd and even counts, and quantiles."""
    return np.median(x) * np.median(y) + np.quantile(x, 0.3) * np.percentile(y, 60.0)


@program(
    args=lambda: (np.array([0.7, np.nan, -1.2, 2.0]),),
    tags="nan",
    smooth=False,
    expect=np.array([1.0 + 1.5 / 3.0, 0.0, 1.0 + 1.5 / 3.0, 1.0 + 1.5 / 3.0 + 2.0]),
)
def nan_reductions(x):
    """The NaN takes no part; the gradient at its place is zero."""
    return np.nansum(x) + 1.5 * np.nanmean(x) + 2.0 * np.nanmax(x)


@program(args=lambda: (normal(4), positive(4)), wrt=(0, 1), tags="average")
def weighted_average(x, w):
    """np.average with weights."""
    return np.average(x, weights=w) * np.average(x**2)


@program(args=lambda: (spread(3, 4),), tags="sort axis")
def sorting(a):
    """sort along axes, by method and by argsort."""
    rows = np.sort(a, axis=1)
    order = np.argsort(a[:, 0])
    weights = np.arange(1.0, 5.0)
    return rows * weights + np.sort(a, axis=0)[::-1] * a[order]


@program(args=lambda: (spread(6),), tags="partition")
def largest_three(x):
    """The largest three, by partition and by sort."""
    top = np.sort(x)[-3:]
    return np.prod(top) + np.sum(np.partition(x, 3)[3:] ** 2)


@program(args=lambda: (normal(4),), tags="where initial")
def masked_sum(x):
    """where=, initial= and dtype= of a reduction."""
    mask = np.array([True, False, True, True])
    return np.sum(x * x, where=mask, initial=1.0) * np.sum(x, dtype=np.float64)


@program(args=lambda: (normal(3, 3),), tags="count any all inactive")
def inactive_reductions(a):
    """Counts and positions reduce to integers without derivative."""
    count = np.count_nonzero(a > 0.0)
    first = np.argmax(a[0])
    return a[0, first] * count + np.sum(a) * np.any(a > 5.0) + np.trace(a) * len(a)


@program(args=lambda: (normal(3, 4),), tags="ufunc")
def ufunc_methods(a):
    """reduce, accumulate and outer of ufuncs."""
    total = np.add.reduce(a, axis=0)
    running = np.multiply.accumulate(a[0])
    return total * np.add.outer(a[:, 0], running) + np.maximum.reduce(a, axis=1)[:, None]


@program(args=lambda: (normal(3, 4),), tags="norm axis")
def norms(a):
    """Norms of vectors and matrices."""
    rows = np.linalg.norm(a, axis=1, keepdims=True)
    return np.sum(a / rows * a[0]) + np.linalg.norm(a) * np.linalg.norm(a[0], ord=3)


@program(args=lambda: (normal(6),), tags="logsumexp")
def stable_logsumexp(x):
    """Log of a sum of exponentials, shifted by the largest."""
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top))) * x[0]


@program(args=lambda: (normal(5), normal(5, seed=1)), wrt=(0, 1), tags="trapezoid diff")
def integrals(x, y):
    """Trapezoids, differences and a numeric gradient."""
    t = np.cumsum(np.exp(x))
    return np.trapezoid(y, t) + np.sum(np.diff(y) ** 2 * np.diff(t)) + np.gradient(y)[2]


@program(
    args=lambda: (np.array([[1.0, np.nan], [2.0, 2.0], [np.inf, 1.0]]),),
    smooth=False,
    tags="max nan",
    expect=(np.array([[np.nan, np.nan], [0.5, 0.5], [1.0, 0.0]]),),
)
def largest_of_nan(x):
    """No entry attains a maximum that is NaN: its derivative is NaN in all of them."""
    return np.sum(np.max(x, axis=1))


@program(
    args=lambda: (np.array([0.5, np.nan, 2.0]),), smooth=False, tags="max nan", expect=(np.array([2.0, 0.0, 2.0]),)
)
def a_maximum_that_is_not_taken(x):
    """A side of a *where* that is not taken brings in no NaN."""
    return np.sum(np.where(x[0] > 1.0, np.max(x) - np.min(x), 2.0 * np.nan_to_num(x)))


@program(args=lambda: (np.array([0.5, np.nan, 2.0]),), smooth=False, tags="max nan", expect=(np.full(3, np.nan),))
def spread_of_nan(x):
    return np.ptp(x) ** 2 + np.minimum.reduce(x)


@program(args=lambda: (normal(70),), tags="partition")
def parted(x):
    """np.partition of so many entries that np.argpartition orders them in another way."""
    return np.sum(np.sin(np.partition(x, 30)))


@program(args=lambda: (normal(3), np.array([200, 100, 3], "uint8")), tags="average")
def average_of_small_integers(x, n):
    """np.average multiplies in floats, where small integers would wrap."""
    return np.sum(x * np.average(n, weights=n)) + np.average(x, weights=n)
