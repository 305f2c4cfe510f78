"""Writes in place: elements, slices, augmented, overlapping, repeated, of arguments."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("inplace")
program = PROGRAMS.program


@program(args=lambda: (normal(4),), tags="element for")
def fill_elements(x):
    """A buffer is written element by element."""
    y = np.zeros(4)
    for i in range(4):
        y[i] = math.sin(x[i]) * x[0]
    return y


@program(args=lambda: (normal(5),), tags="element for recurrence")
def recurrence(x):
    """Each element is computed from the one before: the buffer is its own record."""
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = math.tanh(y[i - 1]) + x[i] * y[i - 1]
    return y[-1] * y[2]


@program(args=lambda: (normal(5),), tags="element overwrite mutates")
def square_in_place(y):
    """The argument is overwritten; the old element is needed."""
    for i in range(len(y)):
        y[i] = y[i] * y[i]
    return np.sum(y)


@program(args=lambda: (normal(4),), tags="element augmented")
def augmented_elements(x):
    """Every augmented operator on elements."""
    y = x.copy()
    y[0] += x[1] * x[1]
    y[1] -= y[0]
    y[2] *= y[1] + x[2]
    y[3] /= 2.0 + y[2] ** 2
    y[0] **= 2
    return y


@program(args=lambda: (normal(5),), tags="slice")
def slice_writes(x):
    """Slices receive arrays and scalars."""
    y = np.zeros(5)
    y[1:4] = x[:3] * x[2:]
    y[::2] = 0.5
    y[-1:] = x[0]
    y[1] = x[1]
    return y * x


@program(args=lambda: (normal(5),), tags="slice augmented")
def slice_updates(x):
    """Slices are updated in place."""
    y = x * 1.0
    y[1:] += x[:-1] ** 2
    y[:2] *= x[3:]
    y[::2] -= y[0] * x[1]
    return y


@program(args=lambda: (normal(6),), tags="slice overlap")
def shifted_add(x):
    """Overlapping slices of one buffer: the right side is read before it is written."""
    y = x * x
    y[1:] += y[:-1]
    y[:-2] = y[2:]
    return y


@program(args=lambda: (normal(3, 3),), tags="overlap transpose")
def add_transpose(x):
    """A matrix plus its own transpose, in place."""
    a = np.sin(x)
    a += a.T
    return a * x


@program(args=lambda: (normal(6),), tags="slice overlap negative step")
def reversed_onto_itself(x):
    """The reversed slice of a buffer is written over the buffer."""
    y = x.copy()
    y[:] = y[::-1] * x
    return y


@program(args=lambda: (normal(3, 4),), tags="rows columns")
def rows_and_columns(a):
    """Rows, columns and blocks of a matrix are written."""
    b = np.zeros((3, 4))
    b[0] = a[1] * a[2]
    b[:, 1] = a[:, 0] ** 2
    b[1:, 2:] = a[:2, :2]
    b[2] += b[0]
    return b


@program(args=lambda: (normal(3, 3),), tags="overwrite for")
def overwrite_what_is_needed(a):
    """Each row is overwritten after it was read by a product."""
    b = a.copy()
    total = 0.0
    for i in range(3):
        total += b[i, 0] * b[i, 1] * b[i, 2]
        b[i, :] = b[i, :] * b[(i + 1) % 3, :]
    return total + np.sum(b * b)


@program(args=lambda: (normal(4), 3), tags="for carried")
def repeated_overwrite(x, n):
    """One buffer is overwritten in every trip; each old value is needed once."""
    y = x.copy()
    for _ in range(n):
        for i in range(len(y)):
            y[i] = math.sin(y[i] + 1.0) * y[i - 1]
    return y


@program(args=lambda: (normal(5),), tags="for linear")
def linear_smoothing(x):
    """A linear update in place records nothing."""
    u = x.copy()
    for _ in range(4):
        for i in range(1, 4):
            u[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
    return u


@program(args=lambda: (normal(3), 2.0), wrt=(0, 1), tags="mutates argument")
def writes_into_argument(x, s):
    """The caller's array is changed by the function, never by a derivative."""
    x *= s
    x[0] = x[1] * x[2]
    return np.sum(x * x)


@program(args=lambda: (normal(4),), tags="whole array")
def whole_array(x):
    """Augmented assignment of whole arrays writes in place."""
    y = np.ones(4)
    y *= x
    y += np.cos(x)
    y /= 1.0 + x * x
    y **= 2
    y -= x
    return y


@program(args=lambda: (positive(4),), tags="out ufunc")
def ufunc_out(x):
    """`out=` writes the result into a buffer."""
    y = np.empty(4)
    np.log(x, out=y)
    np.multiply(y, x, out=y)
    np.add(y[:2], y[2:], out=y[:2])
    return y


@program(args=lambda: (normal(4),), tags="fill")
def filled(x):
    """Buffers are filled: what was there is forgotten."""
    y = x * x
    z = y.copy()
    y.fill(3.0)
    z[:] = z[0]
    y[2] = z[1] * x[2]
    return np.sum(y * z)


@program(args=lambda: (normal(4),), tags="element overwrite twice")
def last_write_wins(x):
    """A write that is overwritten unread contributes nothing."""
    y = np.zeros(2)
    y[0] = x[0] ** 2
    y[0] = x[1] ** 2
    y[1] = y[0] * x[2]
    y[0] = x[3]
    return y


@program(args=lambda: (normal(5),), tags="read after write")
def version_between_writes(x):
    """A value read between two writes belongs to the first."""
    y = x.copy()
    a = y[2] * y[2]
    y[2] = 1.0
    b = y * a
    y[2] = b[0]
    return np.sum(b) + y[2] * a


@program(args=lambda: (normal(5), 0.5), wrt=(0, 1), tags="if element")
def conditional_store(x, limit):
    """Only some elements are written."""
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] = x[i] ** 2 * limit
        elif x[i] < -0.5:
            y[0] += x[i] * limit
    return y


@program(args=lambda: (normal(2), np.zeros((2, 3))), wrt=(0, 1), tags="broadcast")
def broadcast_store(x, b):
    """A smaller array is written into a larger one."""
    c = b.copy()
    c[:, :] = x[:, None]
    c[0] += x[1]
    c[:, 2] *= x
    return c * c


@program(args=lambda: (normal(3),), tags="integer inactive")
def integer_buffer(x):
    """An integer buffer beside an active one."""
    count = np.zeros(3, dtype=int)
    y = np.zeros(3)
    for i in range(5):
        count[i % 3] += 1
        y[i % 3] += x[i % 3] ** 2
    return y / count


@program(args=lambda: (normal(3),), tags="augmented view")
def view_before_its_value(x):
    """The right side writes into the view that the left side has read."""
    y = np.stack((x, x * x))

    def overwritten(v):
        y[0, 1] = 3.0 * v
        return v

    y[0] *= overwritten(x[2])
    y[0, 1] += overwritten(x[0])
    return y


@program(
    args=lambda: (np.array([0.3, -0.8, 1.2, 0.5]), np.array([0.2, 0.6, -0.4, 0.9, 0.1])), wrt=(0, 1), tags="slices"
)
def exchange_with_both_neighbours(u, k):
    """A value of which two overlapping parts are added to."""
    rhs = u * (1.0 - k[:-1])
    rhs[1:] += k[1:-1] * u[:-1]
    rhs[:-1] += k[1:-1] * u[1:]
    return np.sum(rhs**2)


@program(args=lambda: (np.array([0.3, -0.8, 1.2, 0.5]),), tags="slices copies")
def copies_of_one_value(x):
    """Two copies of one value, each written into, and the value read between them and afterwards."""
    y = np.sin(x)
    a = y.copy()
    a[1:] += y[:-1] * 2.0
    s = np.sum(y * a)
    b = y.copy()
    b[0] = a[1]
    b[2:] *= y[2:]
    return s + np.sum(a * b) + np.sum(y**2)
