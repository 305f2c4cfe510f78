"""Names with two underscores in classes."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("objects found")
program = PROGRAMS.program


class Curve:
    __order = 2.0

    def __init__(self, h):
        self.__h = h

    def __slope(self, x):
        return x * self.__order / self.__h

    def base(self, x):
        return self.__slope(x)


class Spline(Curve):
    __order = 3.0

    def __init__(self, h):
        super().__init__(2.0 * h)
        self.__h = h

    def __slope(self, x):
        return x**self.__order / self.__h

    def value(self, x):
        return 1.0 + self.__slope(x) * self.base(x)


@program(args=lambda: (normal(3), 2.0), wrt=(0, 1), tags="objects")
def private_methods(x, h):
    """Methods and attributes of one private name in a class and in its base are two."""
    return Spline(h).value(x)


FIXED = Spline(1.5)


@program(args=lambda: (normal(3),), tags="objects captured")
def private_methods_of_a_global(x):
    """The same of an object that is made outside."""
    return FIXED.value(x) + FIXED.base(x)


def parameters():
    return {"W0": np.array([[0.4, 0.1], [-0.2, 0.3]]), "W1": np.array([[0.5, 0.2]])}


@program(args=lambda: (parameters(), normal(2)), wrt=(0, 1), tags="trees loops")
def layers_by_name(p, x):
    """The keys of a dict that a loop over known numbers counts."""
    for i in range(2):
        x = np.tanh(p[f"W{i}"] @ x)
    return np.sum(x)


@program(args=lambda: (parameters(), normal(3)), wrt=(0, 1), tags="trees loops")
def layers_beside_an_array(p, x):
    """The same beside entries of an array, which has enough."""
    s = 1.0
    for i, v in zip(range(2), x):
        s = s * v + np.sum(p["W" + str(i)] ** 2)
    return s
