"""Names with two underscores in classes."""

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
