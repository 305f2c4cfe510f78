"""Flattening and unflattening of every kind of container."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from transpile.aggregates import (
    Leaf,
    Node,
    Static,
    flatten,
    leaf_numbers,
    map_leaves,
    number_leaves,
    structure_text,
    unflatten,
)

pytestmark = pytest.mark.quick


class Layer(NamedTuple):
    w: object
    b: object


@dataclass
class Body:
    mass: float
    name: str
    parts: list = field(default_factory=list)

    def __post_init__(self):
        if isinstance(self.mass, float) and self.mass < 0:
            raise ValueError("negative mass")


@dataclass(frozen=True)
class Frozen:
    x: float


def same(a, b):
    return type(a) is type(b) and (a == b if not isinstance(a, np.ndarray) else a is b)


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        3,
        np.float32(2),
        (),
        [],
        {},
        (1.0,),
        [1.0, [2.0, (3.0, None)]],
        {"b": 1, "a": [2.0]},
        {1: 2.0, ("t", 1): 3.0},
        Layer(1.0, (2.0, 3)),
        Body(1.0, "m", [2.0, 3.0]),
        Frozen(2.0),
        OrderedDict(z=1.0, a=2.0),
        None,
        "relu",
        True,
        (True, 1.0, len, np.float64, np.dtype("float32")),
    ],
)
def test_round_trip(value):
    leaves, tree = flatten(value)
    assert same(unflatten(tree, leaves), value)
    assert leaf_numbers(tree) == tuple(range(len(leaves)))
    assert hash(tree) == hash(flatten(value)[1])
    assert tree == flatten(value)[1]


def test_arrays_are_leaves_and_flags_are_not():
    x = np.ones(3)
    leaves, tree = flatten([x, True, np.True_, 0, None])
    assert leaves[0] is x and len(leaves) == 3
    assert tree.children[1] == Static(True) and tree.children[4] == Static(None)


def test_static_values_differ_by_type():
    assert Static(1) != Static(True) != Static(1.0)
    assert Static(0.0) != Static(-0.0)
    assert Static(float("nan")) == Static(float("nan"))
    unhashable = bytearray(b"ab")
    assert Static(unhashable) == Static(unhashable) != Static(bytearray(b"ab"))
    assert Static({1, 2}) == Static({2, 1}) != Static({1})
    assert Static(slice(1, None)) == Static(slice(1, None)) != Static(slice(2, None))


def test_a_dataclass_is_rebuilt_without_its_checks():
    _, tree = flatten(Body(1.0, "m"))
    assert unflatten(tree, [-1.0]).mass == -1.0


def test_structures_of_different_shape_differ():
    assert flatten((1.0, 2.0))[1] != flatten([1.0, 2.0])[1]
    assert flatten({"a": 1.0})[1] != flatten({"b": 1.0})[1]
    assert flatten(Layer(1.0, 2.0))[1] != flatten((1.0, 2.0))[1]


def test_numbering_and_mapping():
    trees, old = number_leaves([flatten((1.0, 2.0))[1], flatten(3.0)[1]], start=4)
    assert trees == [Node("tuple", (Leaf(4), Leaf(5))), Leaf(6)] and len(old) == 3
    doubled = map_leaves(trees[0], lambda leaf: Node("tuple", (leaf, leaf)))
    assert leaf_numbers(doubled) == (4, 4, 5, 5)


def test_text():
    assert structure_text(flatten({"w": 1.0, "b": (2.0, None)})[1]) == "{'w': *, 'b': (*, None)}"
    assert structure_text(flatten([Layer(1.0, (2.0,))])[1]) == "[Layer(w=*, b=(*,))]"
