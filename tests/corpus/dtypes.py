"""Types of numbers: float32 stays, integers and truth values mix in, casts."""

import math

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("dtype")
program = PROGRAMS.program


def single(*shape, seed=0):
    """Normal numbers in float32."""
    return normal(*shape, seed=seed).astype(np.float32)


def read_only(n):
    """An array that refuses to be written."""
    x = normal(n)
    x.flags.writeable = False
    return x


@program(args=lambda: (single(4),), tags="float32", tol=1e-2)
def stays_float32(x):
    """Python numbers are weak: nothing here is float64."""
    return np.sum(x * 2.0 + np.exp(x) / 3)


@program(args=lambda: (single(4), np.float32(1.5)), wrt=(0, 1), tags="float32 scalar", tol=1e-2)
def float32_scalar(x, s):
    """A float32 scalar beside a float32 array, in a loop."""
    total = np.float32(0.0)
    for i in range(4):
        total += s * x[i] * x[i]
    return total


@program(args=lambda: (single(3), normal(3, seed=1)), wrt=(0, 1), tags="float32 mixed promotion", tol=1e-2)
def float32_meets_float64(x, y):
    """The result is float64; each gradient has the dtype of its argument."""
    return np.sum(x * y + x**2) + np.sum(np.sin(y))


@program(args=lambda: (single(3),), tags="float32 astype cast", tol=1e-2)
def casts(x):
    """Casts there and back."""
    wide = x.astype(np.float64)
    narrow = (wide * wide).astype(x.dtype)
    return np.sum(narrow * x) + np.sum(wide).astype("float32")


@program(args=lambda: (single(4),), tags="float32 inplace", tol=1e-2)
def float32_buffer(x):
    """Buffers of the argument's type, and a float64 value stored into one."""
    y = np.zeros_like(x)
    z = np.zeros(4, dtype=np.float32)
    y[:2] = x[2:] ** 2
    z[1:] = np.array([0.1, 0.2, 0.3]) * y[1:]
    return y + z * x


@program(args=lambda: (normal(3), np.array([3, 1, 2])), tags="integer promotion")
def integers_mix_in(x, k):
    """Integer arrays are promoted and have no gradient."""
    return x * k + x**k - k // 2 + k / 4 * np.sum(x)


@program(args=lambda: (normal(4),), tags="bool promotion")
def masks_as_numbers(x):
    """Truth values are multiplied and summed."""
    up = x > 0.0
    return np.sum(x * up) * up.sum() - np.sum(x * ~up) + (up & (x < 2.0)).mean() * x[0]


@program(args=lambda: (1.3, 3, True), tags="scalar integer bool")
def python_numbers(x, n, flag):
    """int, float and bool arguments in one expression."""
    return x * n + n / 2 * x**n + flag * x + n // 2 * x + n % 2


@program(args=lambda: (np.float64(1.3), normal(2)), wrt=(0, 1), tags="numpy scalar")
def numpy_scalar_argument(s, x):
    """A NumPy scalar is a scalar."""
    return s * x + np.float64(2.0) * s**2


@program(args=lambda: ([0.5, 1.5, 2.5],), tags="list asarray")
def list_of_numbers(values):
    """A list of Python numbers becomes an array inside."""
    x = np.asarray(values)
    return np.sum(x * x) * values[0] + math.fsum(values)


@program(args=lambda: (normal(3, 4).T, normal(6, seed=1)[::-2]), wrt=(0, 1), tags="layout")
def layouts(a, x):
    """A transposed and a backwards strided argument."""
    return a @ x * a[:, 0] + x[0]


@program(args=lambda: (read_only(3),), tags="readonly")
def read_only_argument(x):
    """An argument that must not be written, copied before it is."""
    y = x.copy()
    y[0] = y[1] * 2.0
    return y * x


@program(args=lambda: (normal(4), 2), tags="integer arithmetic")
def integer_arithmetic(x, k):
    """Shifts, bitwise operators, remainders and negative quotients of integers."""
    i = (k << 1) | 1
    j = -7 // k + (i ^ 3) & 6
    return x[i % 4] * i + x[j % 4] ** 2 * (k**3) - x[0] * (~k)


@program(args=lambda: (normal(5),), tags="where weak")
def weak_where(x):
    """Constants of where and of joins take the array's type."""
    y = np.where(x > 0, x, 0)
    z = np.where(x > 0, 1, x * x)
    return y * z


@program(args=lambda: (normal(3).astype(np.float32),), tags="float32 constants")
def constants_of_single_precision(x):
    """Arrays of numbers alone keep the dtype that they are given, and so does what is joined with them."""
    steps = np.array([0.1, 0.7], dtype="float32")
    both = np.concatenate([x, np.array([x[0], 0.3], dtype=np.float32)])
    return np.sum(both) * np.cos(steps) * np.linspace(np.float32(0.1), np.float32(0.7), 2)


@program(args=lambda: (normal(3, 4),), tags="arange")
def range_downwards_to_a_size(x):
    """A step that is negative, and an end that is a size."""
    return np.sum(x) * np.arange(9, x.shape[1], -2) + np.arange(-3, -x.shape[0] - 3, -1)


@program(args=lambda: (normal(6), np.array([0, 2, -1, 1, 2, 0], np.int32), np.uint8(1)), tags="narrow comparison loop")
def sums_by_label(x, labels, first):
    """Narrow labels are compared with Python's integers, -1 among them, which an unsigned one never is."""
    sums = np.zeros(3)
    for k in range(3):
        for i in range(x.shape[0]):
            if labels[i] == k:
                sums[k] += x[i] * x[i] * (k + 1)
    outside = np.sum(x[labels == -1] ** 3)
    return sums * sums[0] + outside * (2.0 if first != -1 else x[0])


@program(args=lambda: (normal(2, 3), np.array([[0, 255, 7], [128, 3, 200]], np.uint8), 300), tags="narrow comparison")
def thresholds(x, image, top):
    """Thresholds that the type of the image has no number for."""
    y = np.where(image < 256, x * x, 5.0) + np.where(image > top, x, 0.0)
    for i in range(2):
        for j in range(3):
            if -1 < image[i, j] < top and image[i, j] != top - 172:
                y[i, j] *= x[i, 0]
    return y


@program(
    args=lambda: (normal(4), np.array([0, 2**63, 5, 2**64 - 1], np.uint64), np.array([-1, 2**63 - 1, 5, -1]), -3),
    tags="unsigned comparison",
)
def keys_of_both_signs(x, keys, others, low):
    """Integers of 64 bits with and without a sign: no type has both."""
    y = np.where(keys > others, x * x, x) + np.where(keys == others, x**3, 0.0)
    return y * np.sum(np.where(keys > low, x, 2.0)) + np.sum(x[(keys >> np.uint64(63)) == 1] ** 2)


@program(
    args=lambda: (np.array([0.5, np.nan, -1.5, np.nan]), np.array([2, -1, -3, 4])), tags="narrow nan", smooth=False
)
def no_less_than_counts(x, counts):
    """NaN gives way to an integer, which is none."""
    least = np.fmax(x, counts)
    return least * least + np.fmin(counts > 0, least)


@program(args=lambda: (single(4),), tags="float32", tol=1e-2)
def selected_float32(x):
    """Choices keep their type beside Python's numbers."""
    y = np.select([x > 0.0, x > -0.5], [x * x, 3.0 * x])
    return np.sum(y * x) + np.concatenate((y, 1.5), axis=None) * x[0]
