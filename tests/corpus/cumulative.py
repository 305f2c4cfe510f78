"""Cumulative functions, differences, interpolation, convolution and polynomials."""

import numpy as np

from .program import Collection, normal, positive, spread, uniform

PROGRAMS = Collection("cumulative")
program = PROGRAMS.program


@program(args=lambda: (normal(5),), tags="cumsum")
def running_sum(x):
    """cumsum of a vector, by function and by method."""
    return np.cumsum(x * x) * x.cumsum()[::-1]


@program(args=lambda: (normal(3, 4),), tags="cumsum axis")
def running_sum_of_rows(a):
    """cumsum along both axes."""
    return np.cumsum(a, axis=1) * np.cumsum(a, axis=0) + np.cumsum(a)[5]


@program(args=lambda: (positive(5),), tags="cumprod")
def running_product(x):
    """cumprod without zeros."""
    return np.cumprod(x) * x


@program(args=lambda: (np.array([1.2, 0.0, -0.7, 2.0]),), tags="cumprod zero")
def running_product_with_zero(x):
    """cumprod with a zero in the middle: no division by it."""
    return np.cumprod(x) + np.cumprod(x[::-1])


@program(args=lambda: (spread(6),), tags="maximum.accumulate")
def running_maximum(x):
    """The largest so far: the gradient goes to where it was reached."""
    top = np.maximum.accumulate(x)
    return np.sum((top - x) ** 2) + np.minimum.accumulate(x)[3]


@program(args=lambda: (normal(6),), tags="diff")
def differences(x):
    """First and second differences."""
    return np.diff(x)[1:] * np.diff(x, n=2) + np.ediff1d(x)[:4]


@program(args=lambda: (uniform(0.3, 3.7, 4), normal(5, seed=1)), wrt=(0, 1), tags="interp")
def interpolation(t, y):
    """np.interp with active points and active values."""
    grid = np.arange(5.0)
    return np.interp(t, grid, y) * t + np.interp(-2.0, grid, y)


@program(args=lambda: (normal(5), normal(3, seed=1)), wrt=(0, 1), tags="convolve correlate beyond")
def convolutions(x, k):
    """All three modes."""
    full = np.convolve(x, k)
    same = np.convolve(x, k, mode="same")
    valid = np.convolve(x, k, "valid")
    return full[1:-1] * same + np.sum(valid) + np.correlate(x, k)[0]


@program(args=lambda: (normal(4), 0.7), wrt=(0, 1), tags="polyval vander beyond")
def polynomials(c, t):
    """polyval and a Vandermonde matrix."""
    grid = np.array([0.5, t, 2.0])
    return np.polyval(c, grid) + np.vander(grid, 4) @ c * t


@program(args=lambda: (normal(7),), tags="searchsorted digitize inactive")
def lookup(x):
    """Positions in a table are integers without derivative."""
    table = np.array([-1.0, 0.0, 0.9])
    bins = np.searchsorted(table, x)
    heights = np.array([1.0, -0.5, 2.0, 0.3])
    return heights[bins] * x**2 + np.bincount(bins, minlength=4)[0] * x


@program(args=lambda: (normal(5), np.array([0, 2, 1, 2, 0])), tags="bincount weights")
def grouped_sum(x, group):
    """bincount with active weights is a sum by groups."""
    totals = np.bincount(group, weights=x * x, minlength=3)
    return totals * np.bincount(group) + totals[group][:3]


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="cross")
def cross_products(x, y):
    """The cross product of vectors and of rows."""
    z = np.cross(x, y)
    rows = np.stack([x, y])
    return np.cross(z, x) * y + np.cross(rows, rows[::-1])[0]


@program(args=lambda: (normal(4),), tags="unwrap round inactive")
def rounded(x):
    """Rounding is locally constant."""
    return np.round(x, 1) * x + np.floor(x) * x**2 + np.rint(3.0 * x) + np.trunc(x) * x


@program(args=lambda: (normal(5),), tags="sinc i0 angles beyond")
def other_elementwise(x):
    """Elementwise functions that are seldom used."""
    a = np.sinc(x) + np.i0(x) * np.deg2rad(x) + np.rad2deg(x) / 50.0
    b = np.nan_to_num(x) * np.exp2(x) + np.reciprocal(x + 5.0) + np.positive(x)
    return a * b + np.ldexp(x, 2) + np.modf(x + 0.1)[0]


@program(args=lambda: (normal(3, 4),), tags="gradient beyond")
def slopes_in_the_order_asked_for(a):
    """np.gradient gives them in the order of the axes, each with its spacing."""
    across, down = np.gradient(a, 0.5, 2.0, axis=(1, 0))
    return across * down + np.exp(down)


@program(args=lambda: (normal(6),), tags="piecewise mask beyond")
def pieces_of_entries(x):
    """A function of np.piecewise gets the entries where its condition holds, and no others."""
    return np.piecewise(x, [x < 0.0, x > 1.0], [lambda t: t - np.mean(t), np.cumsum, lambda t: t * t[0]])
