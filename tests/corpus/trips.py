"""Loops whose trips are nests of their own: what a trip computes inside may run again in the reverse sweep."""

import math

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("for nested trips")
program = PROGRAMS.program


@program(args=lambda: (normal(4, 3),), tags="inner")
def sum_of_norms(x):
    """A trip carries nothing that is read: it runs again."""
    total = 0.0
    for i in range(x.shape[0]):
        square = 0.0
        for j in range(x.shape[1]):
            square += x[i, j] * x[i, j]
        total += math.sqrt(square)
    return total


@program(args=lambda: (normal(4, 3),), tags="alloc")
def row_of_its_own(x):
    """A trip fills an array of its own and reads it twice."""
    n, m = x.shape
    total = 0.0
    for i in range(n):
        row = np.zeros(m)
        for j in range(m):
            row[j] = math.sin(x[i, j])
        for j in range(1, m):
            row[j] = row[j] * row[j - 1]
        total += np.sum(row) ** 2
    return total


@program(args=lambda: (normal(4, 3),), tags="inplace")
def row_for_all(x):
    """All trips write one array: it holds the last trip's values when the reverse sweep begins."""
    n, m = x.shape
    row = np.zeros(m)
    total = 0.0
    for i in range(n):
        for j in range(m):
            row[j] = row[j] + math.sin(x[i, j])
        square = 0.0
        for j in range(m):
            square += row[j] * row[j] * row[m - 1 - j]
        total += square * square
    return total


@program(args=lambda: (positive(3), 0.4), wrt=(0, 1), tags="while newton")
def roots_of_each(x, shift):
    """A while loop in each trip."""
    total = 0.0
    for a in x:
        r = a
        while abs(r * r * r - a - shift) > 1e-12:
            r = r - (r * r * r - a - shift) / (3.0 * r * r)
        total += r * math.exp(-r)
    return total


@program(args=lambda: (normal(5, 4),), tags="break continue else")
def first_large_of_each(x):
    """break, continue and else of an inner loop."""
    n, m = x.shape
    total = 0.0
    for i in range(n):
        found = 1.0
        partial = 0.0
        for j in range(m):
            if x[i, j] < -1.0:
                continue
            partial += x[i, j] ** 2
            if partial > 1.5:
                found = partial * x[i, j]
                break
        else:
            found = math.cos(partial)
        total += found * found
    return total


@program(args=lambda: (normal(4, 3), normal(3, seed=1)), wrt=(0, 1), tags="recurrence inplace")
def rows_from_rows(x, start):
    """A trip reads the row that the trip before wrote: it is still there."""
    n, m = x.shape
    u = np.zeros((n + 1, m))
    u[0] = start
    for i in range(n):
        norm = 0.0
        for j in range(m):
            norm += u[i, j] * u[i, j]
        for j in range(m):
            u[i + 1, j] = math.tanh(x[i, j] + u[i, j] / (1.0 + norm))
    return np.sum(u[n] ** 2)


@program(args=lambda: (normal(3), normal(4, 3, seed=1)), wrt=(0, 1), tags="inplace state")
def state_through_time(u, force):
    """The state is overwritten in each trip, and the trips need it: it is what is recorded."""
    state = u.copy()
    m = state.shape[0]
    for t in range(force.shape[0]):
        energy = 0.0
        for j in range(m):
            energy += state[j] * state[j]
        scale = 1.0 / (1.0 + energy)
        for j in range(m):
            pull = math.sin(state[j]) * scale
            state[j] = state[j] - 0.1 * pull + force[t, j] * pull
    return np.sum(state * state)


@program(args=lambda: (normal(5), normal(5, seed=2)), wrt=(0, 1), tags="slices")
def longer_and_longer(x, y):
    """Arrays in a trip whose length is the trip's number."""
    total = 0.0
    for i in range(1, x.shape[0] + 1):
        head = x[:i] * y[i - 1]
        part = np.zeros(i)
        for j in range(i):
            part[j] = head[j] * head[i - 1 - j] + math.cos(head[j])
        total += np.sum(part * part)
    return total


@program(args=lambda: (normal(4, 5),), tags="mask")
def positive_of_each(x):
    """Arrays in a trip whose length the data decides."""
    total = 0.0
    for i in range(x.shape[0]):
        chosen = x[i][x[i] > 0.0]
        s = 0.0
        for v in chosen:
            s = s * v + math.exp(v)
        total += s * s
    return total


@program(args=lambda: (normal(3, 4),), tags="append")
def stacked_in_each(x):
    """A list that grows and is stacked in each trip."""
    total = 0.0
    for i in range(x.shape[0]):
        parts = []
        value = 1.0
        for j in range(x.shape[1]):
            value = value * math.cos(x[i, j])
            parts.append(value)
        row = np.stack(parts)
        total += np.sum(row * row[::-1])
    return total


@program(args=lambda: (normal(3, 4, 2),), tags="deep")
def three_deep(x):
    """Each of three loops may run again or record."""
    n, m, k = x.shape
    total = 0.0
    for a in range(n):
        outer = 0.0
        for b in range(m):
            inner = 1.0
            for c in range(k):
                inner *= 1.0 + x[a, b, c] ** 2
            outer += math.log(inner) * outer + inner
        total += math.sqrt(outer)
    return total


@program(args=lambda: (normal(4, 3), normal(3, seed=1)), wrt=(0, 1), tags="if call")
def penalty_of_each(x, w):
    """Branches in a trip that rest on what an inner loop computed."""

    def score(row, w):
        s = 0.0
        for j in range(len(row)):
            s += row[j] * w[j]
        return s

    total = 0.0
    for row in x:
        s = score(row, w)
        if s > 0.0:
            total += s * score(row * row, w)
        elif s > -1.0:
            total -= math.sin(s)
        else:
            for v in row:
                total += v * v * s
    return total


@program(args=lambda: (normal(4, 3),), tags="product")
def carried_and_inner(x):
    """The trips carry a product that the reverse sweep reads, around an inner loop."""
    product = 1.0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += math.exp(-(x[i, j] ** 2))
        product = product * s + math.sin(product)
    return product


@program(args=lambda: (normal(5), normal(4, seed=1)), wrt=(0, 1), tags="sum")
def one_sum_over_two_loops(x, y):
    """Two loops add to one number, in three ways; each may run forward and backward at once."""
    total = 1.0
    for i in range(len(x)):
        total = x[i] ** 3 + total
    for k in range(len(y)):
        for i in range(k):
            total -= math.sin(y[k] * x[i])
        if y[k] > 0.0:
            total += y[k] ** 2
    return 3.0 * total / (len(x) + len(y))


@program(args=lambda: (normal(5), normal(5, seed=1)), wrt=(0, 1), tags="sum inplace")
def adjoint_known_before(x, w):
    """What the adjoint of the array is, is known before the loop that fills it: sums of parts of it, in turns."""
    y = np.zeros(5)
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] = math.exp(x[i]) * w[i]
        else:
            y[i] = math.sin(x[i])
    return np.sum(y * w) + y[1] - 2.0 * np.sum(y[2:])


@program(args=lambda: (normal(5), normal(5, seed=1)), wrt=(0, 1), tags="sum inplace")
def adjoint_of_what_is_overwritten(x, w):
    """An entry is changed after the loop, by another entry and by the loop's own result."""
    y = np.zeros(5)
    for i in range(len(x)):
        y[i] = math.exp(x[i]) * w[i]
    y[0] = y[1] * 3.0
    y[2] *= w[2]
    return np.sum(y)


@program(args=lambda: (normal(5), normal(5, seed=1)), wrt=(0, 1), tags="sum inplace")
def adjoint_by_two_loops(x, w):
    """The array goes through a second loop, which changes it, and into a sum beside."""
    y = np.zeros(5)
    for i in range(len(x)):
        y[i] = math.exp(x[i]) * w[i]
    z = np.sum(y[1:])
    for i in range(len(x)):
        y[i] = y[i] * math.cos(y[i] + w[i])
    return np.sum(y) + z


@program(args=lambda: (normal(5), normal(5, seed=1)), wrt=(0, 1), tags="sum inplace")
def adjoint_of_the_neighbour(x, w):
    """The loop reads what other trips wrote: its mirror reads what it changes."""
    y = np.ones(6)
    for i in range(len(x)):
        y[i + 1] = math.sin(x[i] * y[i]) + w[i]
    return np.sum(y)


@program(args=lambda: (normal(5),), tags="sum root")
def root_of_a_sum(x):
    """The adjoint of the sum is known only after the loop."""
    total = 0.0
    for v in x:
        total += math.exp(v)
    return math.sqrt(total)


@program(args=lambda: (normal(5), 0.3), wrt=(0, 1), tags="sum carried")
def sum_that_is_read(x, a):
    """The sum is read in the trip: the mirror has to run backwards."""
    total = a
    for v in x:
        total += v * math.tanh(total)
    return total


@program(args=lambda: (normal(5), normal(5, seed=1)), wrt=(0, 1), tags="sum inplace")
def sum_and_written_array(x, y):
    """The loop writes an array that is read after it."""
    n = x.shape[0]
    z = np.zeros(n)
    total = 0.0
    for i in range(n):
        z[i] = math.sin(x[i]) * y[i]
        total += z[i] * x[n - 1 - i]
    return total + np.sum(z * z * y)


@program(args=lambda: (normal(6), normal(6, seed=1)), wrt=(0, 1), tags="sum inplace")
def loops_that_share_an_array(x, w):
    """A later loop overwrites what an earlier one has read."""
    u = x * w
    total = 0.0
    for i in range(len(u)):
        total += u[i] ** 2 * w[i]
    for i in range(len(u)):
        u[i] = math.cos(u[i]) * x[i]
    for i in range(1, len(u)):
        total += u[i] * u[i - 1]
    return total


@program(args=lambda: (normal(6), 1.1), wrt=(0, 1), tags="sum break")
def sum_until(x, limit):
    """The loop stops by what it has added up; a second loop begins with its sum."""
    total = 0.0
    for v in x:
        total += v * v
        if total > limit:
            break
    for v in x:
        if v < 0.0:
            total += v**3 * limit
            continue
        total += 2.0 * v
    return total * limit


@program(args=lambda: (normal(4, 3), normal(3, seed=1), normal(3, seed=2)), wrt=(0, 1, 2), tags="sum vector")
def sums_of_vectors(x, a, b):
    """Arrays are added up, one of them scaled by itself."""
    total = np.zeros(3)
    decayed = np.zeros(3)
    for row in x:
        total += np.sin(row * a)
        decayed = 0.5 * decayed + row * b
    return np.sum(total * a) + np.sum(decayed**2)


@program(args=lambda: (normal(4),), tags="sum guard")
def sum_with_a_guard(x):
    """An early return between two sums."""
    total = 0.0
    for v in x:
        total += v**2
    if total > 50.0:
        return total
    for v in x:
        total += math.log(1.0 + v * v)
    return total


@program(args=lambda: (normal(4, 3),), tags="outside fills")
def filled_in_each_trip(x):
    """An array from outside that every trip fills, then reads."""
    terms = np.zeros(3)
    total = 0.0
    for i in range(4):
        for j in range(3):
            terms[j] = math.sin(x[i, j])
        total += np.sum(terms) * terms[1]
    return total


@program(args=lambda: (normal(4, 3),), tags="outside fills while")
def filled_in_each_trip_of_a_while(x):
    """The same with `while`, and a slice that fills it."""
    terms = np.ones(3)
    total = 0.0
    i = 0
    while i < 4:
        terms[:] = np.cos(x[i])
        terms[1] *= terms[0]
        total += np.sum(terms**2)
        i += 1
    return total


@program(args=lambda: (normal(4, 3),), tags="outside")
def read_before_it_is_filled(x):
    """Each trip reads what the one before has left."""
    terms = np.ones(3)
    total = 0.0
    for i in range(4):
        total += terms[2] * x[i, 0]
        for j in range(3):
            terms[j] = x[i, j] ** 2
    return total


@program(args=lambda: (normal(4, 3),), tags="outside")
def filled_but_for_one(x):
    """One element stays from trip to trip."""
    terms = np.ones(3)
    total = 0.0
    for i in range(4):
        for j in range(1, 3):
            terms[j] = x[i, j] * terms[0]
        terms[0] = terms[0] * x[i, 0] + terms[1]
        total += np.sum(terms)
    return total


@program(args=lambda: (normal(4, 3),), tags="outside")
def filled_and_read_after(x):
    """What the last trip has filled is read after the loop."""
    terms = np.ones(3)
    total = 0.0
    for i in range(4):
        for j in range(3):
            terms[j] = x[i, j] ** 3
        total += terms[0]
    return total + np.sum(terms)


@program(args=lambda: (normal(4, 3),), tags="outside if")
def filled_in_some_trips(x):
    """A trip may leave it as it was."""
    terms = np.ones(3)
    total = 0.0
    for i in range(4):
        if x[i, 0] > 0.0:
            for j in range(3):
                terms[j] = x[i, j] ** 2
        total += terms[1] * x[i, 2]
    return total


@program(args=lambda: (normal(3), normal(3, 4), normal(4, 2)), wrt=(0, 1, 2), tags="sum matmul")
def sum_of_products(x, a, b):
    """Adjoints of products that are only summed up."""
    y = x * 2.0
    return np.sum(a @ b) + np.sum(np.outer(y, x)) + np.sum(y @ a) + np.sum(b @ (2.0 * b[0])) + 3.0 * np.sum(a.T @ y)
