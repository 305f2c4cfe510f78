"""What belongs to a structure is compared by what it holds: equal copies are equal, all else is not, and a copy that is kept
does not change with the value."""

from __future__ import annotations

import dataclasses
import enum
from collections import OrderedDict, defaultdict, deque
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from transpile import tree
from transpile.aggregates import Content, Static, flatten, kept
from transpile.base.content import content, copied, lasts


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: Any
    note: Any = dataclasses.field(default=None, compare=False)


@dataclasses.dataclass
class Open:
    rate: Any


class Own:
    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return type(other) is Own and self.rate == other.rate

    def __hash__(self):
        return hash(self.rate)


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return self.rate == other.rate


class Plain:
    def __init__(self, rate):
        self.rate = rate


class Pair(NamedTuple):
    left: Any
    right: Any


class Mode(enum.Enum):
    FAST, SLOW = 1, 2


def _set_item(at):
    return lambda value: value.__setitem__(at, 9.0)


def _set_rate(value):
    value.rate = 9.0


# how one is made of a number, and how it is changed in place
VALUES = {
    "text": (str, None),
    "int": (int, None),
    "float": (float, None),
    "scalar": (np.float64, None),
    "bytes": (lambda r: bytes([int(r)]), None),
    "tuple": (lambda r: (r, 1), None),
    "named": (lambda r: Pair(r, 1), None),
    "frozenset": (lambda r: frozenset({r}), None),
    "slice": (lambda r: slice(0, int(r)), None),
    "frozen": (Frozen, None),
    "list": (lambda r: [r, 1], _set_item(0)),
    "dict": (lambda r: {"a": r}, _set_item("a")),
    "ordered": (lambda r: OrderedDict(a=r), _set_item("a")),
    "defaultdict": (lambda r: defaultdict(int, a=r), _set_item("a")),
    "deque": (lambda r: deque([r], 3), _set_item(0)),
    "set": (lambda r: {r}, lambda value: value.add(9.0)),
    "bytearray": (lambda r: bytearray([int(r)]), lambda value: value.__setitem__(0, 9)),
    "array": (lambda r: np.array([r, 1.0]), _set_item(0)),
    "rank 0": (lambda r: np.array(r), _set_item(())),
    "objects": (lambda r: np.array([r, "x"], dtype=object), _set_item(0)),
    "open": (Open, _set_rate),
    "own": (Own, _set_rate),
    "slotted": (Slotted, _set_rate),
    "namespace": (lambda r: SimpleNamespace(rate=r), _set_rate),
    "proxy": (lambda r: MappingProxyType({"a": [r]}), lambda value: value["a"].append(9.0)),
    "nested": (lambda r: ({"a": [Own(np.array([r]))]}, "x"), lambda value: value[0]["a"][0].rate.__setitem__(0, 9.0)),
}


@pytest.mark.parametrize("name", VALUES)
def test_equal_if_it_holds_the_same(name):
    make, change = VALUES[name]
    value, other = make(2.0), make(3.0)
    assert content(value) == content(make(2.0)) != content(other)
    assert hash(content(value)) == hash(content(make(2.0)))
    assert lasts(value) == (change is None)
    mine, before = copied(value), content(value)
    assert content(mine) == before and type(mine) is type(value)
    assert (mine is value) == (change is None)
    if change is not None:
        change(value)
        assert content(value) != before == content(mine) == content(make(2.0))


DISTINCT = [
    (1, 1.0), (1, True), (0.0, -0.0), ((1,), (True,)), ([1], (1,)), ([1], [1.0]), ({"a": 1}, OrderedDict(a=1)),
    ({1: 0}, {True: 0}), (np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.zeros(2, np.float32)),
    (np.float64(0.0), np.float64(-0.0)),
    (np.array([0.0]), np.array([-0.0])), (Frozen(1.0, "a"), Frozen(1.0, "b")), (Frozen(1), Frozen(True)), (Own(1), Open(1)),
    (Plain(1.0), Plain(1.0)), (lambda x: x, lambda x: x), (Mode.FAST, Mode.SLOW), ("a", b"a"), (deque([1]), deque([1], 2)),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(DISTINCT)))
def test_what_is_not_the_same(k):
    a, b = DISTINCT[k]
    assert content(a) != content(b) and content(a) == content(a)
    assert Content(a) != Content(b) and Content([a]) != Content([b])


def test_what_is_itself():
    own = Plain(1.0)
    assert content([own]) == content([own]) and copied([own])[0] is own
    assert content(float("nan")) == content(float("nan")) and content(np.array([np.nan])) == content(np.array([np.nan]))
    ring: list[Any] = [1]
    ring.append(ring)
    again: list[Any] = [1]
    again.append(again)
    assert content(ring) == content(again) and not lasts(ring)


@pytest.mark.parametrize(
    "a, b", [((1,), (1.0,)), ((0.0,), (-0.0,)), (np.float64(0.0), np.float64(-0.0)), ((1, (2,)), (1, (2.0,)))]
)
def test_static_values_differ_where_their_types_do(a, b):
    assert Static(a) != Static(b) and Static(a) == Static(a)


class Node:
    def __init__(self, x, beside):
        self.x, self.beside = x, beside


tree.register_node(Node, lambda n: ((n.x,), n.beside), lambda beside, children: Node(children[0], beside))


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    x: Any
    beside: Any = dataclasses.field(metadata={"static": True})


@pytest.mark.parametrize("cls", [Node, Layer])
@pytest.mark.parametrize("name", VALUES)
def test_structures_of_trees(name, cls):
    make, change = VALUES[name]
    one, same, other = (tree.structure(cls(1.0, make(r))) for r in (2.0, 2.0, 3.0))
    assert one == same != other and hash(one) == hash(same)
    assert tree.map(lambda a, b: a + b, cls(1.0, make(2.0)), cls(2.0, make(2.0))).x == 3.0
    with pytest.raises(Exception, match="T203"):
        tree.map(lambda a, b: a + b, cls(1.0, make(2.0)), cls(2.0, make(3.0)))
    if change is not None:
        held = make(2.0)
        _, structure = flatten(cls(1.0, held))
        mine = kept(structure)
        change(held)
        assert mine == structure != flatten(cls(1.0, held))[1] and mine == flatten(cls(1.0, make(2.0)))[1]


def test_structures_that_a_class_calls_equal():
    a, b = tree.structure(Layer(1.0, Frozen(1.0, "a"))), tree.structure(Layer(1.0, Frozen(1.0, "b")))
    assert a == b and hash(a) == hash(b)
    assert tree.structure(Node(1.0, {"a": 1, "b": 2})) == tree.structure(Node(1.0, {"b": 2, "a": 1}))
