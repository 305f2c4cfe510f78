"""Functions that call themselves, by themselves and by way of others."""

import math

import numpy as np

from .program import Collection, normal, positive, uniform

PROGRAMS = Collection("recursion")
program = PROGRAMS.program

SHIFTS = np.array([0.3, -0.2, 0.1])


# ------------------------------------------------------------------------------------------------------ arrays


def det(a):
    """By minors, as the definition says it."""
    n = len(a)
    if n == 1:
        return a[0, 0]
    total = 0.0
    sign = 1.0
    for j in range(n):
        minor = np.empty((n - 1, n - 1))
        minor[:, :j] = a[1:, :j]
        minor[:, j:] = a[1:, j + 1 :]
        total += sign * a[0, j] * det(minor)
        sign = -sign
    return total


@program(args=lambda: (normal(4, 4),), tags="matrix loop")
def determinant(a):
    """A loop around a recursive call, on arrays that shrink."""
    return det(a)


@program(args=lambda: (normal(3, 3), 0.7), wrt=(0, 1), tags="matrix")
def log_determinant_ratio(a, x):
    """Two calls with arrays of other sizes."""
    return np.log(np.abs(det(a + x * np.eye(3)))) - np.log(np.abs(det(a[:2, :2])))


def halves(x):
    n = len(x)
    if n == 1:
        return np.sin(x[0])
    m = n // 2
    return halves(x[:m]) * 0.9 + halves(x[m:])


@program(args=lambda: (normal(7),))
def tree_sum(x):
    """Binary tree sum: two calls, on views."""
    return halves(x)


def products(x):
    if len(x) == 1:
        return x[0]
    m = len(x) // 2
    left, right = products(x[:m]), products(x[m:])
    return left * right + 0.1 * left


@program(args=lambda: (positive(6),))
def tree_product(x):
    """The adjoint of each call is the value of the other."""
    return products(x)


def horner(c, x):
    if len(c) == 0:
        return 0.0
    return c[0] + x * horner(c[1:], x)


@program(args=lambda: (normal(5), 0.8), wrt=(0, 1))
def polynomial(c, x):
    """Horner's rule; the base case is a Python number."""
    return horner(c, x)


def transform(re, im):
    n = len(re)
    if n == 1:
        return re, im
    er, ei = transform(re[0::2], im[0::2])
    dr, di = transform(re[1::2], im[1::2])
    angle = -2.0 * np.pi * np.arange(n // 2) / n
    c, s = np.cos(angle), np.sin(angle)
    tr, ti = c * dr - s * di, s * dr + c * di
    return np.concatenate((er + tr, er - tr)), np.concatenate((ei + ti, ei - ti))


@program(args=lambda: (normal(8), normal(8, seed=1)), wrt=(0, 1), tags="tuple")
def fourier(re, im):
    """The fast Fourier transform: tuples of arrays that are put together, strided views."""
    a, b = transform(re, im)
    return np.sum(np.sqrt(a * a + b * b + 0.1))


def merge(x):
    n = len(x)
    if n <= 1:
        return x
    m = n // 2
    left, right = merge(x[:m]), merge(x[m:])
    out = np.empty(n)
    i = 0
    j = 0
    for k in range(n):
        if j >= len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@program(args=lambda: (normal(7),), second=False)
def merge_sort(x):
    """The result may be the argument itself; loops with branches that depend on the data."""
    return np.sum(merge(x) * np.arange(len(x)))


def haar(x, out):
    n = len(x)
    if n == 1:
        out[0] = x[0]
        return
    m = n // 2
    out[m:] = (x[0::2] - x[1::2]) * 0.5
    haar((x[0::2] + x[1::2]) * 0.5, out[:m])


@program(args=lambda: (normal(8),))
def wavelet(x):
    """Writes into an array that it was given, and hands a view of it on."""
    out = np.zeros(8)
    haar(x, out)
    return np.sum(out**3)


def sift(x, low, high, depth):
    if high - low <= 1:
        return 0.0
    pivot = x[low]
    i = low
    for k in range(low + 1, high):
        if x[k] < pivot:
            i += 1
            t = x[k]
            x[k] = x[i]
            x[i] = t
    x[low] = x[i]
    x[i] = pivot
    return 0.1 * depth + sift(x, low, i, depth + 1.0) + sift(x, i + 1, high, depth + 1.0)


@program(args=lambda: (normal(6),), second=False)
def quick_sort(x):
    """Swaps in place, in an array that is handed down whole."""
    y = x * 2.0
    depth = sift(y, 0, len(y), 0.0)
    return depth + np.sum(y * np.arange(len(y)))


def lower_solve(l, b):
    n = len(b)
    if n == 1:
        return b / l[0, 0]
    m = n // 2
    top = lower_solve(l[:m, :m], b[:m])
    bottom = lower_solve(l[m:, m:], b[m:] - l[m:, :m] @ top)
    return np.concatenate((top, bottom))


@program(args=lambda: (np.tril(normal(5, 5)) + 3.0 * np.eye(5), normal(5)), wrt=(0, 1), tags="matrix")
def block_solve(l, b):
    """A triangular system by blocks: the second call reads the result of the first."""
    return np.sum(lower_solve(l, b) ** 2)


def power(a, k):
    if k == 0:
        return np.eye(len(a))
    if k % 2 == 1:
        return a @ power(a, k - 1)
    half = power(a, k // 2)
    return half @ half


@program(args=lambda: (0.5 * normal(3, 3), 5), tags="matrix int")
def matrix_power(a, k):
    """By squaring: early returns, an integer that ends it."""
    return np.sum(power(a, k))


# ------------------------------------------------------------------------------------------------------ numbers


def fibonacci(w, n):
    if n < 2:
        return w[n]
    return w[2] * fibonacci(w, n - 1) + w[3] * fibonacci(w, n - 2) * 0.5


@program(args=lambda: (positive(4), 6))
def weighted_fibonacci(w, n):
    """The same array in all calls; its adjoints add up."""
    return fibonacci(w, n)


def is_even(x, n):
    if n == 0:
        return x
    return is_odd(np.sin(x) + 0.1, n - 1)


def is_odd(x, n):
    if n == 0:
        return 2.0 * x
    return is_even(x * x, n - 1)


@program(args=lambda: (0.7, 9), tags="scalar")
def even_odd(x, n):
    """Two functions that call each other."""
    return is_even(x, n)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program(args=lambda: (1.2, 2, 2), tags="int scalar")
def counted(x, m, n):
    """A recursion of integers gives a trip count."""
    for _ in range(ackermann(m, n)):
        x = np.sin(x) + 0.3
    return x


def simpson(f, a, b, fa, fm, fb, whole, tolerance):
    m = 0.5 * (a + b)
    left, right = f(0.5 * (a + m)), f(0.5 * (m + b))
    first = (m - a) / 6.0 * (fa + 4.0 * left + fm)
    second = (b - m) / 6.0 * (fm + 4.0 * right + fb)
    error = first + second - whole
    if abs(error) < 15.0 * tolerance:
        return first + second + error / 15.0
    return simpson(f, a, m, fa, left, fm, first, 0.5 * tolerance) + simpson(
        f, m, b, fm, right, fb, second, 0.5 * tolerance
    )


@program(args=lambda: (1.5, 2.0), wrt=(0, 1), tags="scalar closure")
def quadrature(w, high):
    """Adaptive Simpson quadrature of a closure: the data decide where it ends."""

    def f(x):
        return math.exp(-w * x) * math.sin(3.0 * x)

    fa, fm, fb = f(0.0), f(0.5 * high), f(high)
    return simpson(f, 0.0, high, fa, fm, fb, high / 6.0 * (fa + 4.0 * fm + fb), 1e-6)


def bisect(f, low, high, depth):
    middle = 0.5 * (low + high)
    if depth == 0:
        return middle
    return bisect(f, middle, high, depth - 1) if f(middle) < 0.0 else bisect(f, low, middle, depth - 1)


@program(args=lambda: (0.2, 1.1, 8), wrt=(0, 1), tags="scalar lambda")
def bisection(low, high, depth):
    """A conditional expression of calls; a lambda that is handed on."""
    return bisect(lambda x: x * x - 0.5, low, high, depth) ** 2


@program(args=lambda: (uniform(0.2, 0.8, 3), 5), tags="closure nested")
def inner_recursion(x, depth):
    """A function inside that calls itself and reads what is around it."""
    scale = np.sum(x) * 0.5

    def walk(y, k):
        if k == 0:
            return np.sum(y * x)
        return scale * walk(np.cos(y) * x, k - 1)

    return walk(x * 2.0, depth)


def shifted(x, k):
    if k == 0:
        return x
    return shifted(np.tanh(x + SHIFTS), k - 1)


@program(args=lambda: (normal(3), 6))
def global_array(x, k):
    """An array from outside, read in every call."""
    return np.sum(shifted(x, k) ** 2)


def pair(x, y, k):
    if k == 0:
        return {"x": x, "y": (y, x * y)}
    found = pair(y, np.sin(x), k - 1)
    return {"x": found["x"] * 0.5, "y": (found["y"][0], found["y"][1] + x)}


@program(args=lambda: (0.4, 1.3, 7), wrt=(0, 1), tags="dict scalar")
def structures(x, y, k):
    """Dictionaries and tuples as results."""
    found = pair(x, y, k)
    return found["x"] * found["y"][0] + found["y"][1]


def walk(x, step, mode, k=6):
    if k == 0:
        return x
    if mode == "up":
        return walk(x + step * x, step, mode, k=k - 1)
    return walk(x - step, step, mode, k=k - 1) if x > 0.0 else x


@program(args=lambda: (0.9, 0.2), wrt=(0, 1), tags="scalar static")
def modes(x, step):
    """Strings, defaults and keywords: known in each call."""
    return walk(x, step, "up") + walk(x, step, "down", k=9)


def countdown(x, k):
    while k > 0:
        if x > 3.0:
            return countdown(x - 2.5, k - 1)
        x = x * 1.5
        k -= 1
    return x * x


@program(args=lambda: (0.8, 8), tags="scalar while")
def from_a_loop(x, k):
    """A call that leaves a loop."""
    return countdown(x, k)


def collatz(x, n, steps):
    if n == 1 or steps == 20:
        return x + 0.01 * steps
    if n % 2 == 0:
        return collatz(x * 0.9, n // 2, steps + 1)
    return collatz(np.sqrt(x + 1.0), 3 * n + 1, steps + 1)


@program(args=lambda: (1.3, 7), tags="scalar int")
def data_dependent_end(x, n):
    """Integers decide; tail calls of two kinds."""
    return collatz(x, n, 0)


def newton(x, a, tolerance):
    step = (x * x - a) / (2.0 * x)
    if abs(step) < tolerance:
        return x - step
    return newton(x - step, a, tolerance)


@program(args=lambda: (3.0, 2.0), wrt=1, tags="scalar")
def root(x, a):
    """Ends when it has converged."""
    return newton(x, a, 1e-9) + a


def rows(a, k):
    if k == len(a):
        return np.zeros(a.shape[1])
    below = rows(a, k + 1)
    below += np.tanh(a[k] + 0.5 * below)
    return below


@program(args=lambda: (normal(4, 3),), tags="inplace")
def written_result(a):
    """What a call gives is written in place."""
    return np.sum(rows(a, 0) ** 2)


def rod(n, prices):
    if n == 0:
        return 0
    best = float("-inf")
    for i in range(1, n + 1):
        best = max(best, prices[i - 1] + rod(n - i, prices))
    return best


@program(
    args=lambda: (5, [1.0, 5.0, 8.0, 9.0, 10.0]), wrt=1, expect=([0.0, 1.0, 1.0, 0.0, 0.0],), smooth=False, tags="list"
)
def cut_rod(n, prices):
    """A count that must be known tells routines apart that have one name: each call is one of its own."""
    return rod(n, prices)


def change(n, coins, x):
    if n == 0:
        return x
    if n < 0 or len(coins) == 0:
        return 0.0
    return x * change(n - coins[0], coins, x) + 2.0 * change(n, coins[1:], x)


@program(args=lambda: (8, (1, 2, 5), 0.9), wrt=2, tags="scalar static")
def ways_of_changing(n, coins, x):
    """What is known of a test decides it, though it stands behind an *or* with something that is not."""
    return change(n, coins, x)


def down(x, n):
    if n == 0:
        return x, 1.0
    y, s = down(x, n - 1)
    return y, s + 1.0


@program(args=lambda: (normal(3), 2), tags="for call inplace")
def array_that_comes_back(x, n):
    """What comes back from a recursion is read a trip later, when the array that went in is filled anew."""
    out = np.zeros(3)
    before = np.zeros(3)
    for i in range(4):
        t = np.empty(3)
        t[:] = x * i
        r, s = down(t, n)
        out += r * before * s
        before = r
    return np.sum(out * out)


@program(args=lambda: (normal(2), 3), tags="call static")
def names_around_a_recursion(x, n):
    """What a function that calls itself reads of the function around has changed when it is called again."""
    rate = 0.5

    def decayed(v, m, then):
        return then(v) * rate if m == 0 else decayed(v * v, m - 1, then) * rate

    first = decayed(x[0], n, lambda v, *, by=2.0: v * by)
    rate = 0.9
    return first + decayed(x[1], n, lambda v, *, by=3.0: v * by)
