"""Two things of one name: objects of one class, closures of one factory, partials, defaults, loops of one function."""

import functools
from types import SimpleNamespace

import numpy as np

import transpile as tp

from .program import Collection, normal

PROGRAMS = Collection("two objects closure")
program = PROGRAMS.program


class Layer:
    """A layer as most networks have several of."""

    def __init__(self, W, b):
        self.W, self.b = W, b

    def __call__(self, x):
        return np.tanh(x @ self.W + self.b)


NETWORK = [Layer(normal(5, 3), normal(3, seed=1)), Layer(normal(3, 4, seed=2), normal(4, seed=3)),
           Layer(normal(4, 1, seed=4), normal(1, seed=5))]  # fmt: skip


@program(args=lambda: (normal(5),), tags="network")
def layers_of_a_network(x):
    """Three objects of one class, whose arrays have other sizes each."""
    for layer in NETWORK:
        x = layer(x)
    return np.sum(x)


@program(args=lambda: (normal(2),), expect=np.array([3.0, 4.0]))
def lengths_of_two_objects(x):
    first, second = NETWORK[0], NETWORK[1]
    return len(first.b) * x[0] + second.b.shape[0] * x[1]


LONG, SINGLE = SimpleNamespace(a=np.arange(1.0, 4.0)), SimpleNamespace(a=np.array([2.0]))


@program(args=lambda: (normal(2),), expect=np.array([12.0, 0.0]))
def one_stretched_along_the_other(x):
    """Of two namespaces one holds an array of one element."""
    return np.sum(LONG.a * SINGLE.a) * x[0]


def weigher(w, offset):
    def weigh(x):
        return np.sum(w * x[: len(w)]) + offset * len(w)

    return weigh


FIRST, SECOND = weigher(normal(3), 1.0), weigher(normal(4, seed=1), 2.0)


@program(args=lambda: (normal(5),))
def closures_of_one_factory(x):
    return FIRST(x) * SECOND(x)


def scaled(w, x):
    return len(w) * x[0] + np.sum(np.cos(w)) * x[1]


THREE, FOUR = functools.partial(scaled, np.ones(3)), functools.partial(scaled, np.full(4, 0.5))


@program(args=lambda: (normal(2),))
def partials_of_one_function(x):
    return THREE(x) + 10.0 * FOUR(x)


READS = [lambda x, w=w: np.sum(w) * x[len(w) - 3] for w in (np.ones(3), np.full(4, 2.0), np.ones(5))]


@program(args=lambda: (normal(3),), expect=np.array([3.0, 8.0, 5.0]))
def lambdas_with_defaults(x):
    return READS[0](x) + READS[1](x) + READS[2](x)


def descent(rate, last):
    def run(x, steps):
        if steps == 0:
            return last(x)
        return run(x - rate * x, steps - 1)

    return run


SLOW = descent(np.array([0.1, 0.2]), lambda x: np.sum(x * x))
FAST = descent(np.array([0.5]), lambda x: np.sum(np.sin(x)))


@program(args=lambda: (normal(2), 20), tags="recursion")
def recursive_closures_of_one_factory(x, steps):
    """What calls itself is kept as a function: one for each closure."""
    return SLOW(x, steps) + 10.0 * FAST(x, steps)


class Counter:
    def __init__(self, start):
        self.total = start


@program(args=lambda: (normal(4),))
def counters_of_one_class(x):
    """One counts in integers, the other adds up numbers; what the loop learns of the one is not so of the other."""
    count, total = Counter(0), Counter(0)
    for k in range(len(x)):
        count.total = count.total + 1
        total.total = total.total + 0.5 * x[k]
    return total.total * (count.total // 3) * 2 ** (count.total % 3), count.total // 3


def accumulated(x, step):
    total = 0
    for _ in range(len(x)):
        total = total + step
    return total


@program(args=lambda: (normal(5),))
def one_helper_in_integers_and_floats(x):
    """A loop of one place in the source runs for several types."""
    floats, count, single = map(lambda step: accumulated(x, step), (x[0], 1, 0.5))
    return floats * (count // 2) + single, count // 2


def shortened(x, last):
    if len(x) == last:
        return np.sum(x * x)
    return np.sum(x[:last]) * x[-1]


@program(args=lambda: (normal(3), normal(5, seed=1)), wrt=(0, 1))
def one_helper_at_two_sizes(x, y):
    return shortened(x, 3) + shortened(y, 3)


@program(args=lambda: (2, {"b": 3}, normal(4)), wrt=2)
def integers_of_one_printed_name(a_b, a, x):
    """``a_b`` and the part ``b`` of ``a`` are two numbers."""
    return np.sum(x[:a_b]) + 10.0 * np.sum(x[: a["b"]]) + np.sum(np.ones(a["b"])) + np.sum(np.ones(a_b)) * x[0]


def halved(v):
    return np.sum(v * v) / 2.0


def halved_often(x, steps):
    """A gradient inside a function that is kept."""
    if steps == 0:
        return np.sum(np.sin(tp.grad(halved)(x)))
    return halved_often(x * 0.9, steps - 1) + x[0]


@program(args=lambda: (normal(3), 11), tags="recursion transforms")
def gradient_inside_recursion(x, steps):
    return halved_often(x, steps)


@program(args=lambda: (normal(4, 2), normal(3, 2, seed=1)), wrt=(0, 1), tags="loop index")
def nearest_of_each(points, queries):
    """An integer that a loop carries is the loop's index, and is recorded."""
    out = np.zeros((len(queries), 2))
    for j in range(len(queries)):
        best, k = np.inf, -1
        for i in range(len(points)):
            distance = np.sum((points[i] - queries[j]) ** 2)
            if distance < best:
                best, k = distance, i
        if k >= 0:
            out[j] = best * np.sin(points[k])
    return np.sum(out**2)
