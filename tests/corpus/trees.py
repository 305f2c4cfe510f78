"""Trees: tuples, lists, dictionaries, named tuples, dataclasses, comprehensions."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("tree")
program = PROGRAMS.program


class Layer(NamedTuple):
    """Weights and bias."""

    w: np.ndarray
    b: np.ndarray


@dataclass
class Body:
    """A point mass."""

    mass: float
    position: np.ndarray
    velocity: np.ndarray

    def kinetic(self):
        """Its energy of motion."""
        return 0.5 * self.mass * np.sum(self.velocity**2)


def layer(m, n, seed):
    """A layer of random weights."""
    return Layer(normal(m, n, seed=seed), normal(n, seed=seed + 1))


@program(args=lambda: ({"w": normal(3, 2), "b": normal(2, seed=1)}, normal(4, 3, seed=2)), wrt=(0, 1), tags="dict")
def dictionary(params, x):
    """A dictionary of parameters."""
    return np.sum(np.tanh(x @ params["w"] + params["b"]) ** 2)


@program(args=lambda: ([layer(3, 4, 0), layer(4, 2, 5)], normal(3, seed=9)), wrt=(0, 1), tags="list namedtuple for")
def list_of_layers(layers, x):
    """A list of named tuples of unequal shapes: the loop unrolls."""
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return x


@program(args=lambda: ([normal(3, 3, seed=k) for k in range(3)], normal(3, seed=9)), wrt=(0, 1), tags="list for")
def list_of_equal_parameters(weights, x):
    """A list of equal types."""
    for k, w in enumerate(weights):
        x = np.sin(w @ x) + x / (k + 1)
    return x


@program(args=lambda: (Body(1.3, normal(2), normal(2, seed=1)), 0.1), wrt=(0, 1), tags="dataclass method beyond")
def dataclass_argument(body, dt):
    """A dataclass goes in; its method is called; another is made."""
    moved = Body(body.mass, body.position + dt * body.velocity, 0.9 * body.velocity)
    faster = replace(moved, velocity=2.0 * moved.velocity)
    return moved.kinetic() + faster.kinetic() * faster.position[0]


@program(args=lambda: (normal(3), 0.7), wrt=(0, 1), tags="result nested")
def nested_result(x, s):
    """The result is a tree of every kind."""
    y = x * s
    return {"pair": (y, s * s), "list": [np.sum(y), {"x": x}], "layer": Layer(y, x * x)}


@program(args=lambda: ({"a": (1.2, [0.5, 2.0]), "b": {"c": normal(2)}},), tags="nested")
def nested_argument(tree):
    """Trees within trees."""
    first, (second, third) = tree["a"]
    return first * second * tree["b"]["c"] + third


@program(args=lambda: (normal(5),), tags="comprehension stack")
def comprehensions(x):
    """List comprehensions with a test, nested, and of pairs."""
    squares = [v * v for v in x]
    odd = [squares[i] for i in range(5) if i % 2 == 1]
    table = [[a * b for b in odd] for a in squares[:2]]
    return sum(odd) + np.sum(np.array(table)) * sum([a - b for a, b in zip(x, squares)])


@program(args=lambda: (0.6, 4), tags="append stack for")
def append_then_stack(x, n):
    """A list grows in a loop and becomes an array."""
    states = []
    state = np.array([x, 1.0])
    for _ in range(n):
        state = np.array([state[1], state[0] * math.sin(x)]) + 0.1
        states.append(state)
    return np.stack(states)


@program(args=lambda: (1.2,), tags="append while array beyond")
def append_in_while(x):
    """A list whose length depends on the data."""
    values = [x]
    while values[-1] < 10.0:
        values.append(values[-1] * x + 0.3)
    return np.array(values).sum() * values[1]


@program(args=lambda: (normal(4),), tags="unpack star")
def starred_unpacking(x):
    """A star takes what is left."""
    first, *middle, last = [x[0], x[1], x[2], x[3]]
    head, *tail = x
    return first * last + middle[0] * middle[1] + head * len(tail) + tail[-1] ** 2


@program(args=lambda: (normal(3), [0.5, 1.5, -1.0]), wrt=(0, 1), tags="zip enumerate reversed")
def loops_over_lists(x, weights):
    """zip, enumerate and reversed over lists and arrays together."""
    total = 0.0
    for i, (v, w) in enumerate(zip(x, weights)):
        total += w * v**2 + i * v
    for w in reversed(weights):
        total = total * 0.5 + w * w
    return total


@program(args=lambda: ({"b": 1.1, "a": 0.4, "c": 2.0},), tags="dict items for")
def loop_over_dictionary(params):
    """Keys, values and items, in the order in which they were put in."""
    total = 0.0
    for name, value in params.items():
        total = total * 0.5 + (value**2 if name != "a" else value)
    for value in params.values():
        total *= value
    return total * len(params) + params.get("a", 0.0)


@program(args=lambda: (normal(3),), tags="dict build")
def build_dictionary(x):
    """Dictionaries are made, changed, merged and comprehended."""
    d = {"sum": np.sum(x), "x": x}
    d["prod"] = d["sum"] * x[0]
    d["sum"] += 1.0
    e = {**d, "x": d["x"] * 2.0}
    f = {name: value * 2.0 for name, value in e.items()}
    return f["x"] * f["prod"] + e["sum"]


@program(args=lambda: (Layer(normal(2, 2), normal(2, seed=1)),), tags="namedtuple replace beyond")
def named_tuple(p):
    """Fields by name and by position, and _replace."""
    q = p._replace(b=p.b * p[0][0])
    w, b = q
    return Layer(w @ b, q.b * p.b)


@program(args=lambda: (1.2, -0.4), wrt=(0, 1), tags="tuple carried for")
def tuple_carried(x, y):
    """A tuple is carried through a loop."""
    state = (x, y)
    for _ in range(3):
        a, b = state
        state = (a + 0.1 * b, b - 0.2 * math.sin(a))
    return state[0] * state[1]


@program(args=lambda: (1.2, -0.4), wrt=(0, 1), tags="dict carried if for")
def dictionary_carried(x, y):
    """A dictionary is rebound in a loop and in a branch."""
    state = {"p": x, "v": y}
    for i in range(4):
        if i % 2 == 0:
            state = {"p": state["p"] + 0.3 * state["v"], "v": state["v"]}
        else:
            state["v"] = state["v"] - 0.3 * state["p"] ** 2
    return state


@program(args=lambda: ([positive(2), 2.0], (0.5,)), wrt=(0, 1), tags="list mutate beyond")
def list_of_mixed(items, more):
    """Lists: elements set, joined, sliced, repeated, counted."""
    numbers = [items[1], more[0]] + [1.0] * 2
    numbers[2] = numbers[0] * numbers[1]
    numbers.extend([items[0][0], items[0][1]])
    last = numbers.pop()
    return sum(numbers[1:]) * last + len(numbers) * max(numbers)


@program(args=lambda: ((), 1.5), wrt=(0, 1), tags="empty")
def empty_tree(nothing, x):
    """An argument without leaves."""
    for item in nothing:
        x = x * item
    return x * x
