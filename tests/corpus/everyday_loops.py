"""Programs as scientists write them, with loops that step, stop and write."""

from functools import partial

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("everyday")
program = PROGRAMS.program


@program(args=lambda: (normal(3, 4),))
def ndi(a):
    """np.ndindex and np.ndenumerate, with writes."""
    b = np.zeros((3, 4))
    for i, j in np.ndindex(a.shape):
        b[i, j] = a[i, j] * a[j % 3, i]
    for idx, v in np.ndenumerate(b):
        b[idx] = v * (1 + idx[0])
    for idx in np.ndindex(2, 2):
        b[idx] += 1.0
    return np.sum(b**2)


@program(args=lambda: (normal(3, 2, 2),))
def ndi3(a):
    """A product of three ranges, numbered."""
    s = 0.0
    for k, (i, j, l) in enumerate(np.ndindex(*a.shape)):
        s += a[i, j, l] * k
    for i, row in np.ndenumerate(a[0, 0]):
        s += row * row
    return s


@program(args=lambda: (normal(6), 2), wrt=0)
def slices_neg(x, k):
    """Slices whose length only the run knows."""
    a = x[-3:]
    b = x[:-k]
    c = x[k:-1:2]
    d = x[::-2]
    e = x[-1:0:-1]
    f = x[5:2:-1]
    g = x[slice(1, None)]
    s = slice(None, -1)
    return a.sum() * b.sum() + c @ c + d[0] * d[-1] + e.mean() + f @ np.arange(3.0) + g[0] + x[s].prod()


@program(args=lambda: (normal(4, 2), 3), wrt=0)
def kmeans_like(X, k):
    """Means of masked rows."""
    C = X[:2].copy()
    for _ in range(k):
        d = ((X[:, None, :] - C[None]) ** 2).sum(-1)
        lab = d.argmin(1)
        for c in range(2):
            m = lab == c
            if m.any():
                C[c] = X[m].mean(axis=0)
    return (C**2).sum()


@program(args=lambda: (normal(4),))
def alias_list(x):
    """Arrays that a list shares."""
    rows = [x * 1, x * 2]
    r = rows[0]
    r += 1
    rows[1][0] = 5 * x[1]
    rows.append(rows[0])
    rows[2][1] = 7 * x[0]
    a, b, c = rows
    b[:] = a + c
    return np.sum(rows[0]) + np.sum(rows[1] ** 2) + np.sum(np.stack(rows)[2])


@program(args=lambda: (normal(4),))
def func_mutates(x):
    """Inner functions that write into what they are given."""

    def scale(v, k):
        v *= k
        v[0] += 1.0

    def ret_view(v):
        return v[1:]

    y = x.copy()
    scale(y, 2.0)
    w = ret_view(y)
    w[0] = y[0] * 3
    scale(y[2:], x[0])
    return np.sum(y**2)


@program(args=lambda: (normal(8),))
def while_nested_break(x):
    """while within while, break and else."""
    n = len(x)
    i = total = 0
    while i < n:
        j = i
        while True:
            j += 1
            if j >= n or x[j] < x[i]:
                break
            total = total + x[j] * x[i]
        else:
            total = total * 0
        if total > 50:
            break
        i = j if j > i + 1 else i + 1
    return total * 1.0 + x[0]


@program(args=lambda: (normal(3),))
def closures_deep(x):
    """Closures that read names that are bound again."""
    k = 1.0

    def outer(a):
        m = a * 2

        def inner(b):
            nonlocal m
            m = m + b * k
            return m

        r = inner(a) + inner(1.0)
        return r + m

    k = x[0]
    y = outer(x[1])
    k = 5.0
    return y + outer(x[2])


@program(args=lambda: (normal(3),))
def compose(x):
    """Functions composed."""

    def comp(*fs):
        def run(v):
            for f in fs:
                v = f(v)
            return v

        return run

    g = comp(np.sin, lambda v: v * 2, partial(np.power, 2.0), np.sum)
    return g(x)


@program(args=lambda: (normal(3),))
def str_ops(x):
    """Keys made of text."""
    names = "a b c".split()
    d = dict(zip(names, x))
    key = "A".lower()
    cols = {n.upper(): d[n] for n in names}
    s = 0.0
    for n in sorted(d, reverse=True):
        s = s * 0.5 + d[n]
    if key.startswith("a") and "b" in names and len(names) == 3:
        s += cols["B"]
    return s + d["{}".format("c")] + d[f"{'a'}"] + cols["%s" % "C"]


@program(args=lambda: (np.array([0.3, -0.2]),))
def adaptive(y0):
    """Steps that are rejected."""
    t, h, y = 0.0, 0.2, y0
    n_rej = 0
    while t < 1.0:
        h = min(h, 1.0 - t)
        k1 = -(y**3) + y
        k2 = -((y + h * k1) ** 3) + (y + h * k1)
        err = np.max(np.abs(h / 2 * (k2 - k1)))
        if err > 0.01:
            h *= 0.5
            n_rej += 1
            continue
        t += h
        y = y + h / 2 * (k1 + k2)
        if err < 0.001:
            h *= 1.5
    return y @ y


@program(args=lambda: (np.array([1.2, 0.3]), np.linspace(0.1, 1, 6)))
def rk4_decay(p_, ts):
    """Kinetics by Runge and Kutta."""
    k1, k2 = p_

    def rhs(t, y):
        A, B, C = y
        return np.array([-k1 * A, k1 * A - k2 * B, k2 * B])

    y = np.array([1.0, 0.0, 0.0])
    out = np.zeros((len(ts), 3))
    t_prev = 0.0
    for i, t in enumerate(ts):
        h = t - t_prev
        s1 = rhs(t, y)
        s2 = rhs(t + h / 2, y + h / 2 * s1)
        s3 = rhs(t + h / 2, y + h / 2 * s2)
        s4 = rhs(t + h, y + h * s3)
        y = y + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
        out[i] = y
        t_prev = t
    return np.sum(out[:, 1] ** 2) + out[-1, 2]


@program(args=lambda: (normal(5), 1.5), wrt=(0, 1))
def early_nested(x, a):
    """An inner function that returns from its loop."""

    def find(v, lo):
        for i, e in enumerate(v):
            if e > lo:
                return i, e * a
        return -1, 0.0

    i, e = find(x, 0.0)
    j, f = find(x[::-1], 99.0)
    if i < 0:
        return a
    if j >= 0:
        return f
    return e * x[i] + f * a
