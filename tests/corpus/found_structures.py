"""What belongs to the structure of an argument: lists, dicts, arrays and objects beside the children of a registered class, classes
that derive from list or dict, named tuples that are called."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

import transpile as tp

from .program import Collection, normal

PROGRAMS = Collection("beyond")
program = PROGRAMS.program


class Scaled:
    """Its scale is an array beside its children, which is no leaf."""

    def __init__(self, x, scale):
        self.x, self.scale = x, scale


class Labelled:
    """What it has beside its children is a dict that is made anew each time."""

    def __init__(self, x, names, powers):
        self.x, self.names, self.powers = x, names, powers


class Parts(list):
    def weighted(self):
        return self[0] + 2.0 * self[1]


class Named(dict):
    rate = 3.0

    def total(self):
        return self["a"] * self.rate + self["b"]


tp.tree.register_node(Scaled, lambda s: ((s.x,), s.scale), lambda scale, c: Scaled(c[0], scale))
tp.tree.register_node(
    Labelled,
    lambda s: ((s.x,), {"names": s.names, "powers": s.powers}),
    lambda beside, c: Labelled(c[0], beside["names"], beside["powers"]),
)
tp.tree.register_node(Parts, lambda p: (list(p), None), lambda _, children: Parts(children))
tp.tree.register_node(Named, lambda n: (tuple(n.values()), tuple(n)), lambda keys, c: Named(zip(keys, c)))


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float
    kinds: tuple = ("square",)

    @functools.cached_property
    def half(self):
        return self.rate / 2.0

    def scaled(self, x):
        return self.rate * (x * x if self.kinds[0] == "square" else x)


@tp.tree.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    config: Any = dataclasses.field(metadata={"static": True})


class Line(NamedTuple):
    slope: Any
    start: Any

    def __call__(self, x):
        return self.slope * x + self.start


@program(args=lambda: (Scaled(normal(3), np.array([1.0, 2.0, -3.0])),), expect=np.array([1.0, 4.0, 27.0]))
def array_beside_children(s):
    return np.sum(s.x * s.scale * np.array([1.0, 2.0, -9.0]))


@program(args=lambda: (Scaled(normal(3), [np.array(2.0), {"n": 2}]), normal(3, seed=1)), wrt=(0, 1))
def list_beside_children(s, y):
    """A rank-0 array and a dict in a list: the one computes, the other decides."""
    out = s.x * y
    for _ in range(s.scale[1]["n"]):
        out = np.sin(out) * s.scale[0]
    return np.sum(out)


@program(args=lambda: (Labelled(normal(2), ["sin", "exp"], [2, 3]),))
def strings_beside_children(s):
    total = 0.0
    for name, power in zip(s.names, s.powers):
        total = total + np.sum((np.sin(s.x) if name == "sin" else np.exp(s.x)) ** power)
    return total


@program(args=lambda: (Layer(normal(3), Config(0.5)),))
def object_in_a_field(layer):
    return np.sum(layer.config.scaled(layer.w)) * layer.config.half


@program(args=lambda: (2.0,), tags="scalar", expect=12.0)
def object_carried_by_scan(x):
    """The field of the carry is an equal object each time."""

    def step(c, _):
        return Layer(c.w * x, Config(0.5)), None

    return tp.lax.scan(step, Layer(x, Config(0.5)), None, length=2)[0].w


@program(args=lambda: (Layer(normal(3), [1, 2]), Layer(normal(3, seed=1), [1, 2])), wrt=(0, 1))
def map_of_equal_structures(a, b):
    made = tp.tree.map(lambda p, q: p * np.cos(q), a, b)
    return np.sum(made.w) * made.config[1]


@program(args=lambda: (Parts([1.5, -0.5]),), tags="scalar", expect=[-0.5, -0.5])
def derived_from_list(p):
    """(a + 2 b) b."""
    return p.weighted() * p[1] if isinstance(p, Parts) else p[0]


@program(args=lambda: (Parts([normal(2), normal(2, seed=1)]),))
def derived_from_list_mapped(p):
    return np.sum(tp.tree.map(lambda x: np.tanh(x) * x, p).weighted())


@program(args=lambda: (Named(a=2.0, b=5.0),), tags="scalar")
def derived_from_dict(n):
    return n.total() * n["b"]


@program(args=lambda: (Line(2.0, 3.0), 1.5), wrt=(0, 1), tags="scalar")
def named_tuple_called(line, x):
    """An argument and one that is made here."""
    return line(x) * Line(x, 1.0)(line.start)
