"""Objects that a class of the user's calls equal are not one: each call goes by the object that it is given, or that is there."""

import dataclasses
import functools

import pytest

import transpile as tp


class Named:
    """Equal to all of its name, whatever else it holds."""

    def __init__(self, kind, rate):
        self.name, self.kind, self.rate = "model", kind, rate

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def loss(self, x):
        return self.rate * (x * x if self.kind == "square" else x * x * x)

    __call__ = loss


@dataclasses.dataclass(frozen=True)
class Compared:
    """A frozen dataclass of which a field takes no part in what is equal."""

    name: str = "model"
    kind: str = dataclasses.field(default="square", compare=False)
    rate: float = dataclasses.field(default=1.0, compare=False)
    loss = Named.loss
    __call__ = Named.loss


def others(cls):
    if cls is Named:
        return Named("square", 1.0), Named("cube", 1.0), Named("square", 3.0)
    return Compared(), Compared(kind="cube"), Compared(rate=3.0)


HELD = None


def of_global(x):
    return HELD.loss(x)


def of_argument(x, held):
    return held.loss(x)


def _by_global(transform):
    derivative = transform(of_global)

    def call(held, x):
        globals()["HELD"] = held
        return derivative(x)

    return call


def _by_cell(transform):
    held = None

    def f(x):
        return held.loss(x)

    derivative = transform(f)

    def call(other, x):
        nonlocal held
        held = other
        return derivative(x)

    return call


def _by_list(transform):
    held = [None, 2.0]

    def f(x):
        return held[0].loss(x) * held[1] / 2.0

    derivative = transform(f)

    def call(other, x):
        held[0] = other
        return derivative(x)

    return call


WAYS = {
    "argument": lambda transform: (lambda derivative: lambda held, x: derivative(x, held))(transform(of_argument)),
    "in a list": lambda transform: (lambda derivative: lambda held, x: derivative(x, [held]))(
        transform(lambda x, several: several[0].loss(x))
    ),
    "global": _by_global,
    "cell": _by_cell,
    "in a list outside": _by_list,
    "partial": lambda transform: lambda held, x: transform(functools.partial(of_argument, held=held))(x),
    "method": lambda transform: lambda held, x: transform(held.loss)(x),
    "itself": lambda transform: lambda held, x: transform(held)(x),
}


@pytest.mark.parametrize("cls", [Named, Compared])
@pytest.mark.parametrize("way", WAYS)
def test_each_call_goes_by_its_own(way, cls):
    call = WAYS[way](tp.grad)
    first, second, third = others(cls)
    for held, expected in ((first, 4.0), (second, 12.0), (third, 12.0)) * 2:
        for _ in range(3):  # the third goes the short way
            assert call(held, 2.0) == expected


def test_what_is_changed_in_place_of_one_of_them():
    one, other = Named("square", 1.0), Named("square", 1.0)
    derivative = tp.grad(of_argument)
    assert [derivative(2.0, one) for _ in range(3)] == [derivative(2.0, other) for _ in range(3)] == [4.0] * 3
    other.kind = "cube"
    assert derivative(2.0, other) == 12.0 and derivative(2.0, one) == 4.0


def weighed(x, held):
    for key in held:
        if isinstance(key, bool):
            return x * x * held[key]
    return 5.0 * x * held[key]


def test_keys_that_are_equal_and_of_another_type():
    derivative = tp.grad(weighed)
    for _ in range(4):
        assert derivative(2.0, {1: 1.0}) == 5.0
        assert derivative(2.0, {True: 1.0}) == 4.0


def of_kinds(x, held):
    return x * x if any(isinstance(k, bool) for k in held) else 5.0 * x


def test_sets_of_what_is_equal_and_of_another_type():
    derivative = tp.grad(of_kinds)
    assert [derivative(2.0, frozenset(s)) for s in ({1}, {True}, {1})] == [5.0, 4.0, 5.0]
