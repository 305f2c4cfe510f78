"""Arrays of rank 0: memory that is written in place, and seen through every name and view of it."""

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("zerodim inplace")
program = PROGRAMS.program


@program(args=lambda: (normal(4),), tags="for augmented")
def sum_under_two_names(x):
    """+= on an array of rank 0 writes into it."""
    s = np.zeros(())
    t = s
    for k in range(4):
        s += x[k] * x[k]
    return t * s


@program(args=lambda: (normal(4),), tags="view ellipsis")
def an_element_as_a_view(x):
    """a[..., 0] of a vector is a view of rank 0, a[0] a number."""
    a = x * 1.0
    v, number = a[..., 0], a[0]
    a[0] = x[2] * x[3]
    w = v * x[1] + number
    v[...] = x[2] ** 2
    return a * w


@program(args=lambda: (normal(3),), tags="fill")
def every_way_to_write(x):
    """np.array of a number, and writes by [()], [...], fill and operators."""
    a = np.array(x[0])
    b = a
    b += x[1]
    a[()] = a * x[2]
    b[...] = b * b
    b.fill(b * 2.0)
    return a * x


@program(args=lambda: (normal(4),), tags="for rebinding")
def a_number_after_the_first_trip(x):
    """s + x[k] of an array of rank 0 is a number."""
    s = np.zeros(())
    for k in range(4):
        s = s + x[k] * s + x[k]
    return s * s


@program(args=lambda: (positive(4),), tags="for where")
def an_array_after_the_first_trip(x):
    """np.where of numbers gives an array of rank 0; += rebinds one and writes the other."""
    s = 0.0
    for k in range(4):
        s = np.where(x[k] > 0.9, s + x[k], s * 2.0)
        s += x[0]
    return s * s


@program(args=lambda: (positive(2),), tags="if")
def a_number_or_an_array(x):
    """Which of the two it is depends on the data."""
    s = np.zeros(()) if x[0] > 0.0 else 1.0
    s += x[1] * x[1]
    return s * s


@program(args=lambda: (normal(4),), tags="squeeze reshape view")
def one_element_by_three_names(x):
    """Views of rank 0 of an array of one element."""
    one = x[:1] * 2.0
    q = np.squeeze(one)
    r = one.reshape(())
    one[0] = x[3]
    q += x[1]
    return q * r + one[0]


@program(args=lambda: (normal(3),), tags="newaxis view")
def views_of_rank_one(x):
    """a[None] and np.atleast_1d of an array of rank 0 are views of it."""
    a = np.array(x[0])
    v = a[None]
    v[0] = x[1]
    w = np.atleast_1d(a)
    a += x[2]
    w *= 2.0
    return v[0] * w[0] * a


@program(args=lambda: (positive(1),), tags="while")
def carried_by_a_while(x):
    """It is the test of the loop, and what the loop changes."""
    a = np.ones(())
    b = a
    trips = np.zeros(3)
    i = 0
    while a < 5.0:
        a *= 1.0 + x[0]
        if i < 3:
            trips[i] = b
        i += 1
    return np.sum(trips) * a


@program(args=lambda: (normal(3),), tags="for nested branch")
def written_in_branches(x):
    """Writes on some paths of nested loops."""
    s = np.zeros(())
    for i in range(3):
        for j in range(3):
            if x[i] > x[j]:
                s += x[i] * x[j]
            elif i < j:
                s -= x[j]
    return s


@program(args=lambda: (normal(3),), tags="out")
def results_go_into_it(x):
    """out= of a ufunc and of a reduction."""
    a = np.zeros(())
    np.multiply(x[0], x[1], out=a)
    b = a * 1.0
    np.sum(x * x, out=a)
    return a * b


@program(args=lambda: (normal(2),), tags="function")
def written_by_a_function(x):
    """What a function is given, it writes."""

    def bump(a, by):
        a += by
        a[()] = a * a

    s = np.array(x[0])
    bump(s, x[1])
    bump(s, s)
    return s


@program(args=lambda: (np.array(1.3), normal(2)), wrt=(0, 1), tags="argument")
def an_argument_of_rank_0(s, x):
    """An argument that is one is written; the caller's is left alone by a derivative."""
    t = s * 1.0 + np.zeros(())
    u = np.asarray(t)
    u *= x[0]
    return s * u * x[1]


@program(args=lambda: (normal(2),), tags="result")
def returned(x):
    """It comes back as an array, a number as a number."""
    a = np.array(x[0])
    b = a
    a += x[1] * x[0]
    return b, float(a), a * 1.0


@program(args=lambda: (normal(3),), tags="list tuple")
def in_a_list(x):
    """An element of a list, written through the list and through its name."""
    cells = [np.zeros(()), np.array(x[0])]
    first, second = cells
    for k in range(3):
        cells[1] += x[k] * first
        cells[0][...] = second + x[k]
    return first * second


@program(args=lambda: (normal(3),), tags="read-only")
def copies_of_it(x):
    """.copy(), np.array and +a are new; np.asarray is the array."""
    a = np.array(x[0] * x[1])
    b, c, d, e = a.copy(), np.array(a), +a, np.asarray(a)
    a += x[2]
    return a + 2.0 * b + 3.0 * c + 4.0 * d + 5.0 * e


@program(args=lambda: (normal(4), 2), tags="index")
def an_integer_of_rank_0_as_an_index(x, n):
    """As an index it copies: x[k] of a matrix is no view then."""
    m = np.reshape(x, (2, 2)) * 1.0
    k = np.array(1)
    row = m[k]
    row[0] = 7.0
    for _ in range(np.array(3)):
        m[k, 0] *= x[k]
    return m * row[1]
