"""Indexing: basic, negative, ellipsis, new axes, integer arrays, masks, repeated indices."""

import numpy as np

from .program import Collection, normal, positive, spread

PROGRAMS = Collection("index")
program = PROGRAMS.program

ORDER = np.array([2, 0, 1])


@program(args=lambda: (normal(5),), tags="basic negative slice")
def basic_indices(x):
    """Points and slices from both ends."""
    return x[-1] * x[1:-1] + x[::2] * x[-2] + x[:3] * x[4:1:-1]


@program(args=lambda: (normal(3, 4),), tags="rank2")
def mixed_basic(a):
    """Points and slices in two dimensions."""
    return a[1] * a[-1, 0] + a[:, 2].sum() * a[0, ::-1] + a[-2:, 1:3][0, 1]


@program(args=lambda: (normal(2, 3, 2),), tags="ellipsis newaxis")
def ellipsis_and_none(a):
    """Ellipses and new axes."""
    outer = a[..., 0][:, None, :] * a[:, :, None, 1]
    return outer + a[0, ..., None][:, 1] * a[None, 1, 0, 0]


@program(args=lambda: (normal(5),), tags="gather repeated")
def gather(x):
    """Repeated indices in a gather: the adjoint adds them all."""
    index = np.array([0, 3, 3, 1, 3])
    return x[index] * x[[4, 0, 0, 2, -1]]


@program(args=lambda: (normal(4, 3),), tags="gather rows columns")
def gather_rows_and_columns(a):
    """Integer arrays on one axis of two."""
    return a[ORDER] @ a[:, [1, 1]][:3] + a[ORDER[:, None], 0]


@program(args=lambda: (normal(4, 3),), tags="gather several")
def several_integer_arrays(a):
    """Integer arrays on both axes, broadcast against each other."""
    i = np.array([[0], [2], [3]])
    j = np.array([2, 0])
    return a[i, j] * a[[0, 1], [2, 2]] + a[1, [0, 1]]


@program(args=lambda: (normal(3, 2, 4),), tags="gather several slice")
def integer_arrays_around_slice(a):
    """Integer arrays with a slice between them: their axis comes first."""
    p = a[[0, 2, 2], :, [1, 1, 3]]
    q = a[:, [1, 0], [2, 3]]
    return p * q


@program(args=lambda: (normal(4, 3), np.array([[0, 2], [1, 1]])), tags="gather rank2")
def gather_by_matrix(a, index):
    """An index array of two dimensions that is an argument."""
    return np.sum(a[index] ** 2, axis=2)


@program(args=lambda: (spread(6),), tags="mask")
def mask_read(x):
    """A mask that depends on the data selects elements."""
    return np.sum(x[x > 0.0] ** 3) - np.prod(x[(x < 0.0) & (x > -2.0)])


@program(args=lambda: (spread(3, 3),), tags="mask rank2")
def mask_rank_two(a):
    """A mask of rank two reads, and another writes."""
    b = a.copy()
    b[a < 0.0] = 0.0
    b[b > 1.0] *= a[0, 0]
    return b * a, np.sum(a[a > 0.0] ** 2)


@program(args=lambda: (normal(4, 3),), tags="mask rows")
def mask_of_rows(a):
    """A mask over the first axis only, of known values."""
    keep = np.array([True, False, True, True])
    b = a[keep]
    return b * b[0]


@program(args=lambda: (normal(4, 3),), tags="mask rows columns")
def mask_beside_indices(a):
    """A mask beside a number, a range, an integer array, and another mask."""
    keep, odd = a[:, 0] < 0.5, np.array([True, False, True])
    column = a[keep, 1]
    block = a[a[:, 2] > -9.0, 1:] ** 2
    return np.sum(column**2) + np.sum(a[::2, odd] ** 3), block, a[-1, odd] * 2.0, a[[3, 0], odd]


@program(args=lambda: (normal(2, 4, 3),), tags="mask rank2 inplace")
def mask_of_last_axes(a):
    """A mask of rank two behind a number and a range, read, written and added to."""
    mask = np.abs(a[0]) > 0.4
    b = a * a
    b[1, mask] = a[0, mask] * 3.0
    b[1:, mask] += a[:1, mask]
    b[0, mask[:, 0], 1] *= a[1, 0, 0]
    return b


@program(args=lambda: (normal(5),), tags="mask inplace")
def mask_write_array(x):
    """An array is written where the mask is true."""
    mask = np.array([True, False, True, False, True])
    y = x * x
    y[mask] = x[:3]
    y[~mask] += x[1] * x[2]
    return y


@program(args=lambda: (normal(5),), tags="scatter inplace")
def scatter(x):
    """Integer arrays as targets."""
    y = np.zeros(6)
    y[[4, 0, 2]] = x[:3] * x[2:]
    y[[0, 1]] += x[3]
    return y


@program(args=lambda: (normal(3), normal(2, seed=1)), wrt=(0, 1), tags="scatter rank2 inplace")
def scatter_rows(x, y):
    """Rows by integer array, elements by two."""
    a = np.ones((4, 3))
    a[[3, 1]] = x * y[:, None]
    a[[0, 2], [1, 1]] = y
    a[ORDER, ORDER] *= x
    return a


@program(args=lambda: (normal(4), np.array([1, 1, 0, 3, 1])), tags="add.at scatter repeated")
def scatter_add(x, index):
    """np.add.at counts repeated indices."""
    y = np.zeros(4)
    np.add.at(y, index, x[index] ** 2)
    return y * x


@program(args=lambda: (normal(3, 3),), tags="take")
def take_forms(a):
    """take, with and without an axis, and take_along_axis."""
    flat = np.take(a, [0, 4, 4])
    rows = np.take(a, [2, 0], axis=0)
    along = np.take_along_axis(a, np.argsort(a, axis=1), axis=1)
    return flat * rows, along * a


@program(args=lambda: (normal(4), 2), tags="runtime index")
def runtime_slices(x, k):
    """Bounds that are known when the function runs."""
    return x[:k].sum() * x[k:].sum() + x[k - 1] * x[-k]


@program(args=lambda: (spread(5),), tags="argmax")
def index_from_data(x):
    """The index is found in the data; it has no derivative itself."""
    k = np.argmax(x)
    low = int(np.argmin(x))
    return x[k] ** 2 + x[low] * x[k - 1]


@program(args=lambda: (positive(2, 3),), tags="ix_ nonzero beyond")
def index_helpers(a):
    """np.ix_, nonzero and where with one argument."""
    block = a[np.ix_([1, 0], [0, 2])]
    rows, columns = np.nonzero(a > 0.0)
    (where,) = np.where(a[0] > 0.0)
    return np.sum(block**2) + np.sum(a[rows, columns] * 3.0) * np.prod(a[1][where])


@program(args=lambda: (normal(3, 3),), tags="diag triangle")
def diagonal_by_index(a):
    """A range on both axes is the diagonal."""
    n = np.arange(3)
    b = a.copy()
    b[n, n] = a[n, ::-1][:, 0] ** 2
    return b, a[n, n] * a[n[::-1], n]


@program(args=lambda: (normal(2, 3),), tags="flat")
def whole_and_empty(a):
    """The whole array and an empty part of it."""
    return a[:] * a[...] + np.sum(a[2:]) + a[()][0, 0]


@program(args=lambda: (normal(4, 3), 1.5), wrt=(0, 1), tags="inplace mask")
def filled_with_a_number(x, v):
    """Where a mask says so, a number that is differentiated, and constants."""
    y = x * 1.0
    y[y > 0.3] = v
    y[np.sum(x, axis=1) > 1.0] = 0.5
    y[y < -1.0] = 0.0
    return np.sum(np.sin(y))
