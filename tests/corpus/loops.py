"""`for` loops: ranges, arrays, nests, what they carry and what is left after them."""

import math

import numpy as np

from .program import Collection, normal, positive, uniform

PROGRAMS = Collection("for")
program = PROGRAMS.program


@program(args=lambda: (normal(5),), tags="range array")
def sum_of_squares(x):
    """One carried scalar."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


@program(args=lambda: (0.9, normal(4)), wrt=(0, 1), tags="range negative step")
def horner(t, c):
    """A range that counts down; the carried value is multiplied."""
    value = 0.0
    for k in range(len(c) - 1, -1, -1):
        value = value * t + c[k]
    return value


@program(args=lambda: (normal(7),), tags="range step")
def range_with_step(x):
    """Start, stop and step."""
    total = 1.0
    for i in range(1, 7, 2):
        total *= 1.0 + 0.1 * x[i] * x[i - 1]
    return total


@program(args=lambda: (0.8, 5), tags="range runtime trips scalar")
def runtime_trips(x, n):
    """The trip count is an argument."""
    y = x
    for _ in range(n):
        y = math.sin(y) + x
    return y


@program(args=lambda: (0.8, 0), tags="empty scalar")
def no_trips(x, n):
    """A loop whose body never runs."""
    y = x * x
    for i in range(n):
        y = y * x + i
    return y


@program(args=lambda: (normal(4),), tags="array elements")
def over_elements(x):
    """The loop runs over the array itself."""
    y = 1.0
    for element in x:
        y = y * math.cos(element) + element
    return y


@program(args=lambda: (normal(3, 4),), tags="rows")
def over_rows(a):
    """The loop runs over rows."""
    total = 0.0
    for row in a:
        total = total + np.sum(row * row) * row[0]
    return total


@program(args=lambda: (normal(4), normal(4, seed=1)), wrt=(0, 1), tags="zip")
def over_pairs(x, y):
    """zip of two arrays."""
    total = 0.0
    for a, b in zip(x, y):
        total += math.exp(-((a - b) ** 2))
    return total


@program(args=lambda: (normal(4),), tags="enumerate")
def counted(x):
    """enumerate, and with a start."""
    total = 0.0
    for i, value in enumerate(x):
        total += i * value**2
    for i, value in enumerate(x, start=1):
        total *= 1.0 + value / (10.0 * i)
    return total


@program(args=lambda: (normal(4),), tags="reversed")
def backwards(x):
    """reversed, of an array and of a range."""
    y = 0.0
    for value in reversed(x):
        y = 0.5 * y + math.sin(value)
    for i in reversed(range(len(x))):
        y = y * 0.9 + x[i]
    return y


@program(args=lambda: (normal(3, 2), normal(2, 4, seed=1)), wrt=(0, 1), tags="nested inplace")
def product_by_hand(a, b):
    """Three loops around an accumulation into an element."""
    n, m, p = a.shape[0], a.shape[1], b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            for k in range(m):
                c[i, j] += a[i, k] * b[k, j]
    return c


@program(args=lambda: (normal(5),), tags="nested triangular")
def pair_sum(x):
    """The inner bounds depend on the outer index."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            d = x[i] - x[j]
            total += d * d / (1.0 + d * d)
    return total


@program(args=lambda: (0.6, 1.1), wrt=(0, 1), tags="tuple carried scalar")
def fibonacci_like(a, b):
    """Two carried values that change places."""
    for _ in range(6):
        a, b = b, 0.5 * a + math.sin(b)
    return a * b


@program(args=lambda: (normal(6),), tags="if")
def branch_inside(x):
    """Each trip takes its own side."""
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            total += x[i] ** 2
        else:
            total -= math.exp(x[i]) * total
    return total


@program(args=lambda: (normal(5),), tags="last value")
def index_after_loop(x):
    """The loop's names are read after it."""
    for i in range(len(x)):
        last = x[i] * x[0]
    return last * x[i - 1] + i


@program(args=lambda: (normal(4), 3), tags="array carried")
def array_carried(x, n):
    """An array is carried and rebound."""
    y = x
    for _ in range(n):
        y = np.tanh(y + 0.3 * x)
    return y


@program(args=lambda: (normal(3), normal(3, 3, seed=1)), wrt=(0, 1), tags="matmul carried")
def power_steps(x, a):
    """A matrix product in a loop: its operands are needed in reverse."""
    v = x
    for _ in range(3):
        v = a @ v
        v = v / (1.0 + np.sum(v * v))
    return v


@program(args=lambda: (normal(6), np.array([4, 0, 2, 2])), tags="gather")
def over_index_array(x, order):
    """The loop runs over integers that index another array."""
    y = 1.0
    for k in order:
        y = 0.5 * y * y + x[k]
    return y


@program(args=lambda: (normal(4),), tags="invariant")
def loop_invariant(x):
    """What does not change in the loop is read in each trip."""
    scale = math.exp(x[0])
    total = 0.0
    for i in range(1, 4):
        total += scale * x[i] ** i
    return total * scale


@program(args=lambda: (positive(4),), tags="two loops")
def one_after_another(x):
    """Two loops; the second reads what the first left."""
    mean = 0.0
    for v in x:
        mean += v / len(x)
    spread = 0.0
    for v in x:
        spread += (v - mean) ** 2
    return math.sqrt(spread)


@program(args=lambda: (uniform(-1.0, 1.0, 3, 3),), tags="nested recomputed carried")
def nested_carried(a):
    """The inner loop starts from what the outer one carries."""
    state = 0.5
    for i in range(3):
        inner = state
        for j in range(3):
            inner = math.sin(inner) + a[i, j] * inner
        state = state * inner + 0.1
    return state


@program(args=lambda: (1.1, 0.2), wrt=(0, 1), tags="dead scalar")
def dead_in_loop(x, y):
    """A carried value that nobody reads afterwards is dead."""
    unused = 1.0
    z = x
    for i in range(4):
        unused = unused * z
        z = z + y * i
    return z


@program(args=lambda: (normal(4, 3),), tags="tuple rows nested")
def shapes_and_ranges(a):
    """Bounds from a shape, an index expression and a slice in the body."""
    rows, columns = a.shape
    total = 0.0
    for i in range(rows):
        for j in range(i % columns, columns):
            total += a[i, j] * np.sum(a[: i + 1, j])
    return total
