"""Lists that loops, branches and inner functions append to, one after the other."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("list append")
program = PROGRAMS.program


@program(args=lambda: (normal(4),))
def append_after(x):
    """One more element after the loop."""
    out = []
    for v in x:
        out.append(v * v)
    out.append(x[0])
    return np.sum(np.array(out) * 2)


@program(args=lambda: (normal(4), normal(3)), wrt=(0, 1))
def append_two_loops(x, y):
    """Two loops, one list."""
    out = [1.0]
    for v in x:
        out.append(v * v)
    for v in y:
        out.append(v * out[0])
    return np.sum(np.array(out) ** 2)


@program(args=lambda: (normal(4), normal(3)), wrt=(0, 1))
def append_two_loops_rows(x, y):
    """Rows, appended by loops, a branch and by hand."""
    out = []
    for v in x:
        out.append(v * y)
    out.append(y * 2)
    for v in x:
        if v > 0:
            out.append(v + y)
    out.append(y)
    return np.sum(np.stack(out) ** 2)


@program(args=lambda: (normal(4),))
def append_while_then(x):
    """Appended by a while loop, then by hand."""
    out = [x[0]]
    while out[-1] < 10 and len(out) < 20:
        out.append(out[-1] * 1.5 + 3)
    out.append(x[1])
    out.append(x[2])
    return np.sum(np.array(out))


@program(args=lambda: (normal(4),))
def append_in_branch(x):
    """Either branch appends."""
    out = []
    for v in x:
        out.append(v)
    if x[0] > 0:
        out.append(x[1])
    else:
        out.append(x[2])
    return sum(out) * len(out)


@program(args=lambda: (normal(4),))
def extend_after(x):
    """extend and += after the loop."""
    out = []
    for v in x:
        out.append(v)
    out.extend([x[0], x[1]])
    out += [x[2]]
    return sum(out) * len(out)


@program(args=lambda: (normal(4),))
def widen_growth(x):
    """Integers first, then floats."""
    out = []
    for i in range(len(x)):
        out.append(i)
    out.append(x[0])
    for i in range(len(x)):
        out.append(x[i] * out[i])
    return sum(out)


@program(args=lambda: (normal(4),))
def grow_in_func(x):
    """An inner function appends."""
    out = []

    def add(v):
        for e in v:
            out.append(e * e)
        out.append(1.0)

    add(x)
    add(x[1:])
    for _ in range(2):
        add((x[0], x[1]))
    return sum(out) * len(out)


@program(args=lambda: (normal(4),))
def branch_growth(x):
    """Branches append different numbers of elements."""
    out = []
    for v in x:
        out.append(v)
    if x[0] > 0:
        out.append(x[1])
        out.append(x[2])
    elif x[1] > 0:
        out.append(x[3])
    return np.sum(np.array(out) ** 2) * len(out)


@program(args=lambda: (normal(4),))
def grow_rows_tuple(x):
    """Pairs of a number and an array."""
    hist = []
    t = 0.0
    y = x
    for _ in range(len(x)):
        y = y * 0.9
        t += 0.1
        hist.append((t, y))
    hist.append((t + 1.0, y * 2))
    ts = np.array([h[0] for h in hist])
    ys = np.array([h[1] for h in hist])
    return np.sum(ts) * np.sum(ys**2)


@program(args=lambda: (normal(4),))
def grow_while_twice(x):
    """A list made of another."""
    a = [1.0]
    while a[-1] < 5:
        a.append(a[-1] * 1.7 + x[0] ** 2)
    b = []
    for v in a:
        b.append(v * v)
    b.append(a[-1])
    b += [x[1]]
    if x[2] > -100:
        b.append(x[2])
    return sum(b)


@program(args=lambda: (normal(4),))
def grow_emit_twice(x):
    """An inner function that appends once or twice."""
    out = []

    def emit(v):
        if v > 0:
            out.append(v)
        out.append(v * v)

    for v in x:
        emit(v)
    emit(x[0])
    for v in x:
        emit(v)
        emit(v * 2)
    return sum(out) * len(out)


@program(args=lambda: (normal(5),))
def filt_none(x):
    """filter on values that only the run knows."""
    keep = list(filter(None, [x[0], 0, None, x[1]])) if False else [x[0]]
    pos = np.array(list(filter(lambda v: v > 0, x)))
    return np.sum(pos**2) + keep[0]


@program(args=lambda: (normal(3), normal(2, 3, seed=4)), wrt=(0, 1))
def sums_over_parts(x, a):
    """Generators with tests, over an array of fixed size."""
    y = np.array([x[0], x[1], x[2] * x[0]])
    s = sum(v for v in y if v > 0) + sum(filter(lambda v: v < 0, y))
    s += sum(p * q for p, q in zip(x, a[0]) if p > q)
    s += sum(sum(v for v in row if v > 0) for row in a)
    s += any(v > 100 for v in x) + all(v > -100 for row in a for v in row)
    return s + max([v * v for v in x])
