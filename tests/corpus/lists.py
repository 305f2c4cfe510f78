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


# ---------------------------------------------------------------------------- truth, membership, elements, parts


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def running_product(x):
    """The truth of a list decides what is appended to it."""
    out = []
    for v in x:
        p = out[-1] if out else 1.0
        out.append(p * v)
    return sum(out)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def truth_of_growth(x):
    """Truth in a branch, a test, an or, a conditional expression and a comparison."""
    out = []
    for v in x:
        if out and out[-1] < v or not out:
            out.append(v * 2 if out != [] else v)
    none = []
    for v in x:
        if v > 9:
            none.append(v)
    return sum(out) + (sum(none) if none else 7 * x[0]) * (2 if bool(out) else 3)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 0.5]),), smooth=False, expect=np.array([1.8, 1.0, 1.4, 0.0]))
def seen_before(x):
    """Each number once."""
    seen = []
    total = 0.0
    for v in x:
        if v in seen:
            continue
        seen.append(v)
        total += v * v
    return total


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]), 1))
def some_element(x, k):
    """Elements by run-time indices, from the front and from the end."""
    out = []
    for v in x:
        if v > 0.6:
            out.append(v)
    return out[k] * out[-k] + out[-1] + sum(out[1:]) * sum(out[:-1]) + out[::-1][0]


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def appended_now_and_then(x):
    """A branch appends outside any loop."""
    out = []
    if x[0] > 0.6:
        out.append(x[0])
    if not out or x[1] < 0.6:
        out.append(x[1] * 2)
    return sum(out) * len(out) * (2.0 if x[0] in out else 3.0)


@program(args=lambda: (np.array([[0.1, 0.2], [1.0, 0.1], [0.5, 0.6], [1.1, 1.2], [0.2, 1.0], [0.6, 0.3]]),))
def convex_hull(p):
    """Andrew's monotone chain: the area."""

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    points = sorted([(a, b) for a, b in p])
    lower = []
    for q in points:
        while len(lower) >= 2 and cross(lower[-2], lower[-1], q) <= 0:
            lower.pop()
        lower.append(q)
    upper = []
    for q in reversed(points):
        while len(upper) >= 2 and cross(upper[-2], upper[-1], q) <= 0:
            upper.pop()
        upper.append(q)
    hull = lower[:-1] + upper[:-1]
    area = 0.0
    for i in range(len(hull)):
        a = hull[i]
        b = hull[(i + 1) % len(hull)]
        area += a[0] * b[1] - a[1] * b[0]
    return area / 2


@program(args=lambda: (normal(6),))
def sorted_array_is_a_list(x):
    """What `sorted` gives of an array is a list: `+` joins it, `*` repeats it, `==` and `<` are one answer each."""
    a = sorted(x)
    b = a[1:4] * 2 + a + [x[0]]
    total = 0.0
    for k, v in enumerate(b):
        total += v * (k + 1)
    if a == sorted(-x) or a > b:
        total = 0.0
    a.append(x[1] * x[2])
    return total * len(b) + a.pop() * a.pop(0) + np.sum(a)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def monotone_stack(x):
    """A stack of indices."""
    waiting = []
    total = 0.0
    for i in range(len(x)):
        while waiting and x[waiting[-1]] < x[i]:
            j = waiting.pop()
            total += (i - j) * x[j]
        waiting.append(i)
    return total + len(waiting) * x[0]


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def increasing_sum(x):
    """The heaviest increasing subsequence."""
    best = []
    for i in range(len(x)):
        b = x[i]
        for j in range(i):
            if x[j] < x[i]:
                b = max(b, best[j] + x[i])
        best.append(b)
    return max(best)


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def sorted_by_insertion(x):
    """Elements are moved in a list that grows."""
    a = []
    for v in x:
        i = len(a)
        a.append(v)
        while i > 0 and a[i - 1] > v:
            a[i] = a[i - 1]
            i -= 1
        a[i] = v
    return a[0] + 2 * a[1] + 3 * a[2] + 4 * a[3]


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]), 6))
def last_three(x, n):
    """A window of the last slopes."""
    slopes = []
    y = x[0]
    for _ in range(n):
        slopes.append(-y * x[1])
        if len(slopes) > 3:
            slopes.pop(0)
        if len(slopes) < 3:
            y = y + 0.1 * slopes[-1]
        else:
            y = y + 0.1 * (23 * slopes[-1] - 16 * slopes[-2] + 5 * slopes[-3]) / 12
    return y


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def methods_of_growth(x):
    """insert, remove, index, count, reverse, sort, extend, del, +, *."""
    a = []
    for v in x:
        a.append(v)
    a.insert(1, x[0] * x[1])
    b = a + [x[2]]
    b.reverse()
    del b[0]
    c = a[1:3] * 2
    c.sort(reverse=True)
    a.remove(x[1])
    a.extend(b)
    return a[1] * a[-1] + a.index(x[3]) * c[0] + a.count(x[2]) * sum(c) + sum(a) + sorted(b)[0]


# ------------------------------------------------------------------------------------- what changes while it is iterated


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def longer_in_its_loop(x):
    """The body appends to the list that it runs over."""
    items = [x[0], 2.0]
    for v in items:
        if len(items) < 5:
            items.append(v + x[1])
    return sum(items) * x[2]


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),), tags="zip enumerate")
def beads(x):
    """The body writes into the list whose pairs it runs over."""
    s = [x[0], x[1], x[2], x[3]]
    for _ in range(len(s)):
        for i, (upper, lower) in enumerate(zip(s, s[1:])):
            if upper > lower:
                s[i] -= upper - lower
                s[i + 1] += (upper - lower) * 1.1
    return s[0] + 2 * s[1] + 3 * s[2] + 4 * s[3]


@program(args=lambda: (np.array([0.9, 0.5, 0.7, 1.2]),))
def written_ahead(x):
    """The body writes into elements that come later: of a known list, a grown one, an array and a dict."""
    known = [x[0], x[1], x[2]]
    grown = [v for v in x if v > 0.6]
    whole = x.copy()
    table = {"a": x[0], "b": x[1]}
    total = 0.0
    for i, v in enumerate(known):
        if i < 2:
            known[i + 1] += v
        total += v
    for i, v in enumerate(grown):
        if i + 1 < len(grown):
            grown[i + 1] += v * 2
        total += v
    for v in whole:
        whole[3] = whole[3] + v * v
        total += v
    for v in table.values():
        table["b"] = x[2] * 3
        total += v
    return total


@program(args=lambda: (normal(5),))
def delete_slices(x):
    """del of slices, through another name of the list too."""
    a = [x[0], x[1], x[2], x[3], x[4]]
    b, c = a, a + [1.0, x[1], 2.0]
    del a[::2]
    del c[-1:0:-2], c[3:]
    return sum(b) * len(b) + sum(c) * x[0] + len(c)
