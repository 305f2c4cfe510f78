"""Numbers of NumPy's: constants that are rounded, narrow integers, truth values, numbers that are indexed."""

import numpy as np

import transpile as tp

from .program import Collection, normal

PROGRAMS = Collection("found-numbers")
program = PROGRAMS.program


TENTH = float(np.float32(0.1))


@program(args=lambda: (normal(2),), tags="float32 constant", expect=np.full(2, TENTH))
def constant_of_float32(x):
    """A constant of float32 is rounded before it meets float64."""
    return np.sum(x * np.float32(0.1))


@program(args=lambda: (normal(2),), tags="float32 constant full", expect=np.array([TENTH, TENTH + 1.0]))
def filled_with_float32(x):
    """An array of float32 that holds one constant, beside float64; an integer that float32 has not."""
    y = np.zeros(2)
    y[:] = np.array(0.1, np.float32)
    return x[0] * y[0] + np.sum(x[1:] * np.full(1, 0.1, np.float32)) + x[1] * (np.float32(16777217) - 16777215)


@program(args=lambda: (normal(2, 3), np.array([[1, 1, 100], [200, 3, 7]], np.uint8)), tags="uint8 bool matmul vmap")
def inner_products_of_lanes(x, n):
    """The inner products of lanes wrap round in narrow integers, and are truth values of truth values."""
    whole = tp.vmap(lambda a: a @ a)(n)
    either = tp.vmap(lambda a: np.dot(a, a))(n > 150)
    return np.sum(x[:, 0] * whole) + np.sum(np.where(either, x[:, 1], 2.0 * x[:, 2]))


@program(args=lambda: (normal(3), np.array([True, False, True])), tags="bool power")
def powers_of_truth_values(x, t):
    """A square of truth values is int8, which wraps round; other powers of them have 64 bits."""
    narrow = (t**2) * np.int8(100) * np.int8(2)
    wide = np.power(t, 2) * np.int8(100) * np.int8(2)
    return np.sum(x * narrow + x * wide) + x[1] * (t[0] ** 2 * 300)


@program(args=lambda: (normal(3), np.array([6, 3, -4], np.int8)), tags="int8 sum generator")
def sums_of_narrow_integers(x, n):
    """Python's sum of narrow integers is one of them."""
    return x[0] * sum(n) + x[1] * sum(v * 2 for v in n if v > 3) + x[2] * sum(v * w for v in n for w in n)


@program(args=lambda: (normal(4),), tags="newaxis scalar concatenate")
def numbers_with_axes(x):
    """NumPy's numbers are indexed with None, ..., () and True, as arrays of rank 0 are."""
    shifted = np.concatenate([x[1:], (x[0] * x[1])[None]])
    scaled = np.mean(x)[None, None] * x + np.sum(x)[...]
    return np.sum(shifted * scaled) + np.sum(np.linalg.norm(x)[True]) + np.dot(x, x)[()]


@program(args=lambda: (normal(3),), tags="iinfo finfo")
def limits_of_dtypes(x):
    """What the dtypes hold."""
    return np.sum(np.clip(x * 1e10, np.iinfo(np.int32).min, np.iinfo(np.int32).max)) / np.iinfo(np.int32).max + (
        np.sum(x) / (1.0 + np.finfo(x[0]).eps)
    )


@program(args=lambda: (normal(3),), tags="seterr")
def reactions_put_back(x):
    """What floating-point errors do is set, and set back."""
    old = np.seterr(over="ignore")
    y = np.exp(x)
    np.seterr(**old)
    return np.sum(y)


@program(args=lambda: (normal(3), np.array([2, 5, 200], np.uint8)), tags="float16 uint8", tol=1e-6)
def roots_of_small_integers(x, image):
    """The square root of a uint8 is a float16."""
    return np.sum(x * np.sqrt(image)) + x[0] * np.hypot(image[0], image[1])
