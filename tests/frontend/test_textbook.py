"""Textbook algorithms on lists of tuples and lists of lists: right in value and derivatives, or refused by a code."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import transpile as tp
from transpile.errors import TranspileError


def chain(x):
    n = len(x) // 2
    pts = [(x[2 * k], x[2 * k + 1]) for k in range(n)]
    pts = sorted(pts)
    lower = []
    for p in pts:
        while (
            len(lower) >= 2
            and (lower[-1][0] - lower[-2][0]) * (p[1] - lower[-2][1])
            - (lower[-1][1] - lower[-2][1]) * (p[0] - lower[-2][0])
            <= 0
        ):
            lower.pop()
        lower.append(p)
    upper = []
    for p in reversed(pts):
        while (
            len(upper) >= 2
            and (upper[-1][0] - upper[-2][0]) * (p[1] - upper[-2][1])
            - (upper[-1][1] - upper[-2][1]) * (p[0] - upper[-2][0])
            <= 0
        ):
            upper.pop()
        upper.append(p)
    hull = lower[:-1] + upper[:-1]
    total = 0.0
    for k in range(len(hull)):
        a = hull[k]
        b = hull[(k + 1) % len(hull)]
        total += a[0] * b[1] - a[1] * b[0]
    return 0.5 * total


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def chain2(P):
    order = np.lexsort((P[:, 1], P[:, 0]))
    hull = []
    for k in order:
        p = (P[k, 0], P[k, 1])
        while len(hull) > 1 and cross(hull[-2], hull[-1], p) <= 0:
            hull.pop()
        hull.append(p)
    s = 0.0
    for (x0, y0), (x1, y1) in zip(hull, hull[1:]):
        s += math.hypot(x1 - x0, y1 - y0)
    return s


def chain3(P):
    hull = []
    for k in range(P.shape[0]):
        p = P[k]
        while len(hull) > 1 and cross(hull[-2], hull[-1], p) <= 0:
            hull.pop()
        hull.append(p)
    s = 0.0
    for k in range(len(hull) - 1):
        s += hull[k][0] * hull[k + 1][1]
    return s


def graham(xs, ys):
    n = len(xs)
    pts = [(xs[i], ys[i]) for i in range(n)]
    o = min(pts, key=lambda p: (p[1], p[0]))
    pts.sort(key=lambda p: math.atan2(p[1] - o[1], p[0] - o[0]))
    stack = []
    for p in pts:
        while len(stack) >= 2 and cross(stack[-2], stack[-1], p) <= 0:
            stack.pop()
        stack.append(p)
    area = 0.0
    for i in range(len(stack)):
        j = (i + 1) % len(stack)
        area += stack[i][0] * stack[j][1] - stack[j][0] * stack[i][1]
    return abs(area) / 2


def graham2(xs, ys):
    order = np.argsort(np.arctan2(ys - ys.min(), xs - xs[np.argmin(ys)]))
    stack = []
    for i in order:
        while len(stack) >= 2:
            a, b = stack[-2], stack[-1]
            if (xs[b] - xs[a]) * (ys[i] - ys[a]) - (ys[b] - ys[a]) * (xs[i] - xs[a]) <= 0:
                stack.pop()
            else:
                break
        stack.append(i)
    t = 0.0
    for k in range(len(stack)):
        t += xs[stack[k]] * ys[stack[k - 1]]
    return t


def lcs(a, b):
    m, n = len(a), len(b)
    t = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                t[i][j] = t[i - 1][j - 1] + 1
            else:
                t[i][j] = max(t[i - 1][j], t[i][j - 1])
    return t[m][n] * 1.0


def edit(a, b):
    m, n = len(a), len(b)
    d = [[0.0] * (n + 1) for _ in range(m + 1)]
    for i in range(m + 1):
        d[i][0] = float(i)
    for j in range(n + 1):
        d[0][j] = float(j)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            c = abs(a[i - 1] - b[j - 1])
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + c)
    return d[m][n]


def edit_rows(a, b):
    prev = list(range(len(b) + 1))
    for i, p in enumerate(a):
        cur = [i + 1]
        for j, q in enumerate(b):
            cur.append(min(prev[j + 1] + 1, cur[j] + 1, prev[j] + abs(p - q)))
        prev = cur
    return prev[-1]


def edit_append(a, b):
    table = []
    table.append([0.5 * j for j in range(len(b) + 1)])
    for i in range(len(a)):
        row = [0.5 * (i + 1)]
        for j in range(len(b)):
            row.append(min(table[i][j + 1] + 0.5, row[j] + 0.5, table[i][j] + abs(a[i] - b[j])))
        table.append(row)
    return table[-1][-1]


def knapsack(values, weights, capacity):
    n = len(values)
    K = [[0.0 for _ in range(capacity + 1)] for _ in range(n + 1)]
    for i in range(n + 1):
        for w in range(capacity + 1):
            if i == 0 or w == 0:
                K[i][w] = 0.0
            elif weights[i - 1] <= w:
                K[i][w] = max(values[i - 1] + K[i - 1][w - weights[i - 1]], K[i - 1][w])
            else:
                K[i][w] = K[i - 1][w]
    return K[n][capacity]


def knap1(values, weights, capacity):
    dp = [0.0] * (capacity + 1)
    for v, w in zip(values, weights):
        for c in range(capacity, w - 1, -1):
            dp[c] = max(dp[c], dp[c - w] + v)
    return dp[capacity]


def matchain(p):
    n = len(p) - 1
    m = [[0.0] * n for _ in range(n)]
    for L in range(2, n + 1):
        for i in range(n - L + 1):
            j = i + L - 1
            m[i][j] = math.inf
            for k in range(i, j):
                q = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1]
                if q < m[i][j]:
                    m[i][j] = q
    return m[0][n - 1]


def lis(x):
    n = len(x)
    best = [[v] for v in x]
    tails = [x[k] for k in range(n)]
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and tails[j] + x[i] > tails[i]:
                tails[i] = tails[j] + x[i]
                best[i] = best[j] + [x[i]]
    return max(tails)


def lis2(x):
    tails = []
    for v in x:
        lo, hi = 0, len(tails)
        while lo < hi:
            mid = (lo + hi) // 2
            if tails[mid] < v:
                lo = mid + 1
            else:
                hi = mid
        if lo == len(tails):
            tails.append(v)
        else:
            tails[lo] = v
    return sum(tails)


def intervals(s, e):
    items = [(s[k], e[k]) for k in range(len(s))]
    items.sort()
    merged = []
    for it in items:
        if merged and merged[-1][1] >= it[0]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], it[1]))
        else:
            merged.append(it)
    return sum(b - a for a, b in merged)


def tri(x, n_):
    rows = [[x[0]]]
    for k in range(1, n_):
        prev = rows[-1]
        rows.append([x[k]] + [prev[j] + prev[j + 1] for j in range(k - 1)] + [x[k]])
    return rows[-1][n_ // 2]


RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(9, 2))
XS, YS, A, B = RNG.normal(size=8), RNG.normal(size=8), RNG.normal(size=5), RNG.normal(size=6)
COSTS, WEIGHTS = RNG.uniform(1.0, 3.0, size=5), np.array([1, 3, 2, 2, 4])
CASES = {  # the arguments, of which the first has the derivative, and the code of the refusal, if it is one
    "chain": (chain, (RNG.normal(size=16),), ""),
    "chain2": (chain2, (POINTS,), ""),
    "chain3": (chain3, (POINTS[np.argsort(POINTS[:, 0])],), ""),
    "graham": (graham, (XS, YS), ""),
    "graham2": (graham2, (XS, YS), ""),
    "lcs": (lcs, (np.array([1.0, 2.0, 3.0, 2.0]), np.array([2.0, 3.0, 1.0])), "T119"),
    "edit": (edit, (A, B), "T119"),
    "edit of lists": (edit, ([0.3, 1.2], [0.5, 0.1, 2.0]), ""),
    "edit_rows": (edit_rows, (A, B), "T119"),
    "edit_append": (edit_append, (A, B), "T119"),
    "knapsack": (knapsack, (COSTS, WEIGHTS, 6), "T119"),
    "knapsack of lists": (knapsack, ([float(v) for v in COSTS], [1, 3, 2, 2, 4], 6), ""),
    "knap1": (knap1, (COSTS, WEIGHTS, 6), "T210"),
    "matchain": (matchain, (np.array([3.0, 2.0, 5.0, 4.0, 2.0]),), "T119"),
    "matchain of a list": (matchain, ([3.0, 2.0, 5.0, 4.0],), ""),
    "lis": (lis, (XS,), "T119"),
    "lis2": (lis2, (XS,), "T210"),
    "intervals": (intervals, (XS, XS + 0.4), ""),
    "tri": (tri, (A, 5), "T119"),
}


def moved(x, direction, step):
    return [a + step * t for a, t in zip(x, direction)] if isinstance(x, list) else x + step * direction


def along(f, args):
    """A direction of the first argument, and the derivative along it by differences."""
    first = args[0]
    direction = np.cos(np.arange(np.size(first)) + 0.5).reshape(np.shape(first))
    up, down = (f(moved(first, direction, step), *args[1:]) for step in (1e-6, -1e-6))
    return direction, (up - down) / 2e-6


def tried(run):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return run()
    except TranspileError as e:
        return e.diagnostics[0].code


def agrees(found, wanted, code):
    assert found == code if code else np.allclose(found, wanted, rtol=1e-5, atol=1e-6), (found, wanted, code)


@pytest.mark.parametrize("name", CASES)
def test_interpreted(name):
    f, args, code = CASES[name]
    direction, slope = along(f, args)
    seed = list(direction) if isinstance(args[0], list) else direction

    def forward():
        value, dot = tp.jvp(lambda first: f(first, *args[1:]), (args[0],), (seed,))
        agrees(value, f(*args), "")
        return dot

    agrees(tried(forward), slope, code)
    agrees(tried(lambda: np.sum(np.array(tp.grad(f)(*args)) * direction)), slope, code)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("name", CASES)
def test_compiled(name):
    f, args, code = CASES[name]
    direction, slope = along(f, args)
    agrees(tried(lambda: tp.jit(f)(*args)), f(*args), code)
    agrees(tried(lambda: np.sum(np.array(tp.jit(tp.grad(f))(*args)) * direction)), slope, code)
