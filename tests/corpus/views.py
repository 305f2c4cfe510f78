"""Views: rows, columns, transposes and slices that are names for parts of a buffer."""

import math

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("view")
program = PROGRAMS.program


@program(args=lambda: (normal(3, 3),), tags="row inplace")
def write_through_row(a):
    """A row is a name for part of the matrix."""
    b = a * 1.0
    row = b[1]
    row[0] = row[1] * row[2]
    row += b[0]
    return b


@program(args=lambda: (normal(3, 3),), tags="column inplace")
def write_through_column(a):
    """A column, and the matrix is read afterwards."""
    b = a.copy()
    column = b[:, 2]
    column *= a[:, 0]
    column[1] = 0.0
    return np.sum(b * b) + column[0]


@program(args=lambda: (normal(3, 2),), tags="transpose inplace")
def write_through_transpose(a):
    """Writes into the transpose reach the matrix."""
    b = a.copy()
    t = b.T
    t[0] = a[:, 1] ** 2
    t[1, 2] = b[0, 0]
    return b


@program(args=lambda: (normal(6),), tags="slice inplace nested")
def view_of_view(x):
    """A slice of a slice of a slice."""
    y = x.copy()
    middle = y[1:5]
    odd = middle[::2]
    odd[:] = odd * middle[1::2]
    odd[1:][0] = y[0] * y[5]
    return y


@program(args=lambda: (normal(4),), tags="read inplace")
def read_after_base_write(x):
    """The view sees what is written into its base later."""
    y = x * x
    tail = y[2:]
    before = tail[0] * 1.0
    y[2] = y[0] * y[1]
    return tail * before


@program(args=lambda: (normal(3, 3),), tags="for rows inplace")
def rows_as_loop_names(a):
    """The loop's name is a row of the buffer."""
    b = a.copy()
    for row in b:
        row *= row[0]
        row[2] += row[1] ** 2
    return b


@program(args=lambda: (normal(3, 2), normal(3, seed=1)), wrt=(0, 1), tags="for zip inplace")
def zipped_rows(a, s):
    """zip of the rows of a buffer and of factors."""
    b = np.zeros((3, 2))
    for target, source, factor in zip(b, a, s):
        target[:] = source * factor
        target[0] += factor**2
    return b


def scale_tail(part, factor):
    """Change what it is given, from the second element on."""
    part[1:] *= factor
    part[0] += part[1]


@program(args=lambda: (normal(3, 4),), tags="call inplace")
def callee_writes(a):
    """A called function writes into a view that it is given."""
    b = a.copy()
    scale_tail(b[1], a[0, 0])
    scale_tail(b[:, 3], a[2, 2])
    return b


@program(args=lambda: (normal(4),), tags="newaxis inplace")
def write_through_new_axis(x):
    """A new axis is a view, too."""
    y = x.copy()
    column = y[:, None]
    column[1, 0] = x[0] * x[2]
    column *= 2.0
    return y * y


@program(args=lambda: (normal(2, 3),), tags="reversed inplace")
def negative_steps(a):
    """Views that run backwards."""
    b = a.copy()
    flipped = b[::-1, ::-1]
    flipped[0] = a[0] ** 2
    flipped[1, :2] += b[1, 1:]
    return b


@program(args=lambda: (normal(2, 3, 2),), tags="ellipsis inplace")
def ellipsis_view(a):
    """An ellipsis, then a point."""
    b = a.copy()
    last = b[..., -1]
    last[0] = last[1] * a[0, :, 0]
    last[:, 1] = 0.0
    return b * a


@program(args=lambda: (normal(2, 3),), tags="swapaxes inplace")
def permuted_view(a):
    """swapaxes and np.transpose give views."""
    b = np.sin(a)
    p = b.swapaxes(0, 1)
    p[0] = b[:, 1] * b[:, 2]
    q = np.transpose(p)
    q[1, 1] = 2.0 * a[0, 0]
    return b


@program(args=lambda: (normal(2, 3),), tags="reshape ravel")
def reshaped_reads(a):
    """Reshaped arrays are only read: view or copy is the same."""
    flat = a.ravel()
    back = flat.reshape(3, 2)
    wide = back.reshape((-1,))
    return back @ a * wide[0] + flat[3]


@program(args=lambda: (normal(3, 3),), tags="diagonal")
def diagonal_read(a):
    """The diagonal is a read-only view."""
    d = np.diagonal(a)
    return np.sum(d * d) * a[0, 1] + a.diagonal(1)[0]


@program(args=lambda: (normal(3, 3),), tags="for inplace index")
def moving_view(a):
    """Which row the name stands for changes in each trip."""
    b = a.copy()
    for i in range(1, 3):
        above, here = b[i - 1], b[i]
        here[:i] = above[:i] * here[i]
        above[0] = math.sin(here[0])
    return b


@program(args=lambda: (normal(4),), tags="return copy")
def view_in_result(x):
    """Result and part of the result are given back together."""
    y = x * x
    part = y[1:3]
    part[0] = x[0]
    return y, part


@program(args=lambda: (normal(5),), tags="copy")
def copy_is_no_view(x):
    """A copy and an integer-array read are no views."""
    y = x * 2.0
    picked = y[[0, 1]]
    kept = y[2:].copy()
    picked[0] = 0.0
    kept[0] = x[0] * x[1]
    return np.sum(y * y) + np.sum(picked) * kept[0]


@program(args=lambda: (normal(5), 3), tags="windows read-only for inplace")
def windows_see_the_array(x, n):
    """Windows are a view: a moving average in place reads what it has written."""
    a = x.copy()
    w = np.lib.stride_tricks.sliding_window_view(a, 3)
    for _ in range(n):
        a[1:-1] = w.mean(axis=1) * x[0]
    return a


@program(args=lambda: (normal(3, 3),), tags="diagonal read-only inplace")
def diagonals_see_the_matrix(a):
    """diagonal, np.diag and np.diagonal of a matrix are views that may not be written."""
    b = a * 1.0
    d, e, f = b.diagonal(), np.diag(b), np.diagonal(b, 1)
    before = np.sum(f) * d[1]
    b[0, 0] = a[1, 1] ** 2
    b[0, 1] *= 3.0
    return d * e + np.sum(f) * before


@program(args=lambda: (normal(3),), tags="broadcast read-only inplace")
def a_broadcast_sees_the_array(x):
    """np.broadcast_to is a view."""
    a = x * 1.0
    rows = np.broadcast_to(a, (2, 3))
    first = rows[0]
    a[1] = x[0] * x[2]
    return rows * first


@program(args=lambda: (normal(3, 3),), tags="einsum diagonal inplace")
def einsum_without_a_sum(a):
    """einsum of one operand without a sum is a view: of the diagonal, of the transpose."""
    b = a * 1.0
    np.einsum("ii->i", b)[:] = a[0]
    t = np.einsum("ij->ji", b)
    t[0, 2] = a[1, 1]
    total = np.einsum("ij->i", b)
    b[1] = 0.0
    return t * total


@program(args=lambda: (normal(2, 3, 3),), tags="einsum diagonal inplace")
def einsum_of_a_stack(a):
    """The diagonals of a stack of matrices."""
    b = a * 1.0
    d = np.einsum("kii->ik", b)
    d *= a[:, 0].T
    return b * d[0, 1]


@program(args=lambda: (normal(4),), tags="same inplace")
def nothing_to_do(x):
    """What has nothing to do gives the array itself, and a write through it is seen."""
    a = x * 2.0
    a.real[0] = x[1]
    a.astype(float, copy=False)[1] = x[2]
    np.asfortranarray(a)[2] *= x[0]
    np.diff(a, n=0)[3] = x[0]
    np.real(a)[0] += 1.0
    a.conj()[1] += x[3]
    return a * x


@program(args=lambda: (normal(4),), tags="copy inplace")
def copies_that_look_like_views(x):
    """+a and sum([a]) are new, and so are np.positive, a.conj of numbers, tile by 1, roll by 0."""
    a = x * 2.0
    for y in (
        +a,
        sum([a]),
        np.positive(a),
        np.conj(a),
        np.tile(a, 1),
        np.roll(a, 0),
        np.round(a, 20),
        abs(a),
        a.flatten(),
    ):
        y[0] = 7.0
    return a * x


@program(args=lambda: (normal(4),), tags="copy inplace")
def the_argument_is_left_alone(x):
    """A write into +x does not reach x."""
    y = +x
    y[0] = 3.0
    y *= x
    return x * y


@program(args=lambda: (normal(6),), tags="split inplace")
def parts_are_views(x):
    """np.split, np.flip, np.rot90, np.atleast_2d, np.moveaxis: parts of one array, written."""
    a = x * 1.0
    left, right = np.split(a, 2)
    left *= right
    np.flip(a)[0] = x[0] * x[1]
    m = np.reshape(a, (2, 3))
    np.rot90(m)[0] += x[:2]
    np.atleast_2d(right)[0, 1] = x[5]
    np.moveaxis(m, 0, 1)[2, 0] = x[3] ** 2
    np.ravel(m)[1] *= 2.0
    return a * left[0]


@program(args=lambda: (normal(3), normal(2, seed=1)), wrt=(0, 1), tags="meshgrid inplace")
def grids_without_copies(x, y):
    """meshgrid(copy=False) gives views, np.ix_ reshaped ones."""
    a, b = x * 1.0, y * 1.0
    columns, rows = np.meshgrid(a, b, copy=False)
    thin, _ = np.meshgrid(a, b, sparse=True, copy=False)
    thin[0, 0] = x[1] * x[2]
    b *= 2.0
    return columns * rows


@program(args=lambda: (normal(6), 1, 4), tags="run-time slice windows broadcast flip inplace")
def views_of_parts_of_any_size(x, low, high):
    """Views of slices whose sizes only the run knows."""
    a = x * 1.0
    w = np.lib.stride_tricks.sliding_window_view(a[low:high], 2)
    rows = np.broadcast_to(a[low:high], (2, high - low))
    before = np.sum(w * w)
    left, _ = np.split(a, [low])
    left *= 2.0
    np.flip(a[low:high])[0] = x[1] * x[5]
    return np.sum(w * w) * before + np.sum(rows[0] * rows[1])
