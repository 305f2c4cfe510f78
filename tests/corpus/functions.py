"""Functions that call functions: closures, defaults, keywords, stars, partials, methods."""

import math
from functools import partial, reduce

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("call")
program = PROGRAMS.program


def square(x):
    """A small function."""
    return x * x


def decay(x, rate=0.5, *, power=1):
    """A default and a keyword-only parameter."""
    return math.exp(-rate * x) ** power


def layer(x, w, b, activation=np.tanh):
    """A function as a default value."""
    return activation(x @ w + b)


def integrate(f, low, high, n):
    """Trapezoids: a function that takes a function."""
    h = (high - low) / n
    total = 0.5 * (f(low) + f(high))
    for i in range(1, n):
        total += f(low + i * h)
    return total * h


class Spring:
    """An object whose methods are called; its numbers are no arguments."""

    def __init__(self, stiffness, rest):
        self.stiffness = stiffness
        self.rest = rest

    def energy(self, x):
        """Of one spring."""
        stretch = self.stretch(x)
        return 0.5 * self.stiffness * stretch * stretch

    def stretch(self, x):
        """A method that another calls."""
        return x - self.rest


SPRING = Spring(3.0, 0.4)
DAMPED = partial(decay, rate=0.3)


@program(args=lambda: (1.3,), tags="scalar")
def called_twice(x):
    """One function at two places."""
    return square(square(x)) + square(x + 1.0)


@program(args=lambda: (1.3, 0.2), wrt=(0, 1), tags="default keyword scalar")
def defaults_and_keywords(x, r):
    """Defaults, keywords and keyword-only parameters."""
    return decay(x) + decay(x, r) * decay(rate=r, x=x, power=2) + decay(r, power=3)


@program(args=lambda: (0.7, 1.1), wrt=(0, 1), tags="closure lambda scalar")
def closures(x, y):
    """An inner function and a lambda read differentiated names around them."""

    def inner(t):
        return t * y + x

    scale = lambda t: t * x  # noqa: E731
    return inner(scale(2.0)) * scale(y)


@program(args=lambda: (0.7,), tags="closure late scalar")
def late_binding(x):
    """A closure reads the value that its name has when it is called."""
    factor = 2.0

    def scaled(t):
        return factor * t

    a = scaled(x)
    factor = x
    return a * scaled(x)


@program(args=lambda: (0.2, 1.4), wrt=(0, 1), tags="higher for lambda scalar")
def function_as_argument(a, b):
    """A function that is given a lambda that closes over the arguments."""
    return integrate(lambda t: math.sin(a * t) * t, a, b, 5) + integrate(square, 0.0, b, 3)


@program(args=lambda: (normal(3), normal(3, 2, seed=1)), wrt=(0, 1), tags="higher default array")
def function_as_default(x, w):
    """The default is a function, and another is handed over."""
    h = layer(x, w, 0.1)
    return layer(h, w.T, x, activation=np.sin)


def total_of(first, *rest, scale=1.0, **named):
    """Stars of both kinds."""
    total = first
    for k, value in enumerate(rest):
        total = total + (k + 1) * value
    return scale * total * named.get("offset", 1.0) + named["bias"]


@program(args=lambda: (0.4, 1.2, -0.8), wrt=(0, 1, 2), tags="star kwargs scalar")
def star_arguments(x, y, z):
    """*args and **kwargs of fixed shape, on both sides of a call."""
    pair = (y, z)
    options = {"scale": x, "bias": y * z}
    return total_of(x, *pair, **options) + total_of(z, x * y, bias=x, offset=2.0)


@program(args=lambda: (0.4, 1.2, -0.8), wrt=(0, 1, 2), tags="star scalar")
def star_parameters(*values):
    """The differentiated function itself takes a star."""
    first, second, third = values
    return first * second - third * len(values) * first


@program(args=lambda: (1.1, 0.6), wrt=(0, 1), tags="partial scalar")
def partials(x, y):
    """functools.partial, made outside and inside."""
    halved = partial(decay, power=2)
    return DAMPED(x) * halved(y, rate=x) + partial(integrate, square)(x, y, 4)


@program(args=lambda: (1.1,), tags="method object scalar")
def bound_methods(x):
    """Methods of an object from outside."""
    energy = SPRING.energy
    return energy(x) * SPRING.stretch(2.0 * x) + SPRING.stiffness * x


def _double(x):
    return 2.0 * x


def _double_then_square(x):
    return square(_double(x))


@program(args=lambda: (0.9,), tags="nested scalar")
def chain_of_calls(x):
    """Calls within calls within a loop."""
    y = x
    for _ in range(3):
        y = 0.2 * _double_then_square(y) + x
    return y


def split(x):
    """More than one result."""
    return math.sin(x), math.cos(x), {"both": math.sin(x) * math.cos(x)}


@program(args=lambda: (0.9,), tags="tuple results scalar")
def several_results(x):
    """Results are a tuple with a dictionary; one of them is not used."""
    s, _, named = split(x)
    _, c, _ = split(x * x)
    return s * c + named["both"]


def guarded(x, limit):
    """Returns early or from a loop."""
    if x > limit:
        return limit + 0.1 * (x - limit)
    for _ in range(4):
        x = x * 1.5
        if x > limit:
            return x / 2.0
    return x


@program(args=lambda: (0.9, 2.0), wrt=(0, 1), tags="return exit scalar")
def callee_with_exits(x, limit):
    """The called function has returns of its own."""
    return guarded(x, limit) * guarded(x + 2.0, limit) + guarded(0.01 * x, limit)


@program(args=lambda: (0.7, 1.1), wrt=(0, 1), tags="inner nested closure scalar")
def inner_within_inner(x, y):
    """Functions two deep; the inner one returns a function."""

    def outer(a):
        def inner(b):
            return a * b + x

        return inner

    return outer(y)(x) * outer(2.0)(y)


@program(args=lambda: (positive(4),), tags="reduce map higher beyond")
def map_and_reduce(x):
    """map and functools.reduce over the elements."""
    roots = list(map(math.sqrt, x))
    return reduce(lambda a, b: a * b + 1.0, roots) + sum(map(lambda v: v * v, roots))


@program(args=lambda: (0.8, 3), tags="loop closure scalar")
def closure_in_loop(x, n):
    """The closure reads a carried value."""
    total = x

    def step(t):
        return math.sin(t) * total

    for i in range(n):
        total = step(x + i) + 0.5
    return total


@program(args=lambda: (normal(3), normal(3, seed=1)), wrt=(0, 1), tags="inactive kept")
def inactive_call(x, y):
    """One call of a function is active, another of the same is not."""
    weights = layer(np.ones(3), np.eye(3), 0.5)
    return layer(x, np.eye(3), y) * weights


@program(args=lambda: (normal(4), 0.7), wrt=(0, 1))
def of_iterators(x, s):
    """What gives its items one by one: a generator, a map, an array; all of them, or so many."""
    total = np.sum(np.fromiter((e * s for e in (1.0, 2.0, 3.0)), float))
    for k in range(2):
        total += np.sum(np.fromiter(map(lambda e: e * s, x), float, 3)) * k
        total += np.sum(np.fromiter(x, dtype=float, count=2) ** 2)
    return total * np.fromiter([s, s * s, 3.0], float, count=2)[-1] * np.fromiter(reversed(x), float)[0]


@program(args=lambda: (normal(3), 0.7), wrt=(0, 1))
def options(x, s):
    """Arguments that are given by name, or that change what a call does."""
    products = np.ones((3, 3))
    np.multiply.outer(x, x, out=products)
    sums = np.add.outer(x, x, out=np.zeros((3, 3)), where=products > 0.0)
    for (i,), v in np.ndenumerate(arr=x):
        s = s + i * v
    total = pow(base=s, exp=2) + pow(s, exp=3) * pow(7, 5, mod=4) + int("12", 8) * s + int("0x1f", base=16)
    total += np.sum(np.linspace(-1.0, 1.0, 4, dtype=int) * x[0]) + np.sum(np.diff(x, n=0, prepend=s))
    total += np.sum(x * np.greater(x, 0.3, dtype=bool)) + np.sum(np.ldexp(x, 2, dtype=float))
    return total * np.sum(np.sin(products)) + np.sum(sums**2)


@program(args=lambda: (normal(3),), tags="comprehension generator map")
def items_in_turn(x):
    """An item is made when it is asked for: what was done with the ones before has changed what it is made of."""
    y, seen = [x[0], x[1], x[2]], []

    def step(k, v):
        seen.append(v)
        if k < 2:
            y[k + 1] = y[k + 1] * len(seen) + v
        return v * v

    squares = [step(k, v) for k, v in enumerate(y)]
    total = squares[0] * squares[1] + squares[2]
    for v in (len(seen) * w for w in y):
        seen.append(v)
        total += v
    return total


@program(args=lambda: (normal(3),), tags="lambda partial defaults")
def function_of_the_last_trip(x):
    """What is given to a function goes with it: to the next trip, and out of the loop."""
    before, total = partial(_scaled, by=0.5), 0.0
    for v in x:
        total += before(v)
        before = partial(_scaled, by=v)
        after = lambda w, k=v: w * k * k  # noqa: E731
    return total + after(x[0])


def _scaled(v, by):
    return v * by


@program(args=lambda: (0.7, -0.4), wrt=(0, 1), tags="bool")
def truth_of_two_paths(x, y):
    """True or False by the path is Python's truth: two of them are two."""
    is_large = True if np.abs(x) > 0.5 else False
    return (is_large + is_large) * x + (is_large - True + 1) * y


@program(args=lambda: (0.7, -0.4, 3), wrt=(0, 1), tags="bool")
def truth_of_a_count(x, y, n):
    """What is printed as ``a or b`` gives ``a``: NumPy's truth only where the result is NumPy's."""
    is_either = True if np.abs(x) > 0.5 else n > 5
    is_both = n > 2 if np.abs(y) > 0.5 else False
    return (is_either + is_either) * x + (is_both - 1) * y
