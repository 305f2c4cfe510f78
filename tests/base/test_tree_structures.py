"""`transpile.tree`: structures composed and counted, paths for ``is_leaf``, keys of several types, flat arrays of another dtype,
and what cannot be registered; plain and transformed."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import transpile as tp
from transpile import tree
from transpile.tree import DictKey, GetAttrKey, SequenceKey


class Pair(NamedTuple):
    left: Any
    right: Any


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    name: str = dataclasses.field(default="layer", metadata={"static": True})


class Cached:
    """It flattens what is inside it as well."""

    def __init__(self, inner):
        self.inner = inner

    def __eq__(self, other):
        return self.inner == other.inner


tree.register_node(
    Cached,
    lambda c: (tree.leaves(c.inner), tree.structure(c.inner)),
    lambda s, leaves: Cached(tree.unflatten(s, leaves)),
)

TREES = [
    1,
    (),
    [],
    None,
    (1, 2),
    [1, (2, None)],
    {"b": 1, "a": [2, 3]},
    Pair(1, {"x": 2}),
    Layer(1),
    [Layer((1, 2)), None],
]


@pytest.mark.parametrize("k", range(len(TREES)))
def test_composed(k):
    outer, inner = tree.structure(TREES[k]), tree.structure([0, (0, None), 0])
    both = outer.compose(inner)
    assert both.num_leaves == outer.num_leaves * inner.num_leaves
    assert both.num_nodes == outer.num_nodes - outer.num_leaves + inner.num_nodes * outer.num_leaves
    values = list(range(both.num_leaves))
    whole = tree.unflatten(both, values)
    assert tree.leaves(whole) == values and tree.structure(whole) == both
    assert outer.compose(tree.structure(0)) == outer == tree.structure(0).compose(outer)


def test_composed_in_transformed_code():
    def f(x):
        outer = tree.structure({"a": 0, "b": 0})
        both = outer.compose(tree.structure((0, 0)))
        whole = tree.unflatten(both, [x, 2.0 * x, 3.0 * x, 4.0 * x])
        return whole["a"][1] * whole["b"][0] * both.num_leaves * both.num_nodes

    assert tp.grad(f)(1.0) == 2.0 * f(1.0) == 2 * 6.0 * 4 * 7


def _lists(path, value):
    return isinstance(value, list)


def _deep(path, value):
    return len(path) >= 1


@pytest.mark.parametrize("is_leaf, depth", [(_lists, 1), (_deep, 1), (lambda path, value: len(path) > 1, 2)])
def test_paths_for_is_leaf(is_leaf, depth):
    value = {"a": [1.0, Pair(2.0, 3.0)], "b": Layer([4.0])}
    seen = []
    tree.map_with_path(lambda path, x: seen.append((path, x)), value, is_leaf=is_leaf, is_leaf_takes_path=True)
    for path, x in seen:
        at = value
        for key in path:
            at = getattr(at, key.name) if isinstance(key, GetAttrKey) else at[key[0]]
        assert at is x
    assert seen[0][0] == (DictKey("a"), SequenceKey(0))[:depth]

    def total(v):
        def part(path, x):
            leaves = tree.leaves(x)
            return len(path) * leaves[0] * leaves[-1]

        found = tree.map_with_path(part, v, is_leaf=is_leaf, is_leaf_takes_path=True)
        return tree.reduce(lambda a, b: a + b, found)

    got, wanted = tp.value_and_grad(total)(value), total(value)
    assert got[0] == wanted
    step = 1e-6
    for k, leaf in enumerate(tree.leaves(got[1])):
        moved = [[v + s * (j == k) for j, v in enumerate(tree.leaves(value))] for s in (step, -step)]
        up, down = (total(tree.unflatten(tree.structure(value), m)) for m in moved)
        assert abs((up - down) / (2 * step) - leaf) < 1e-6


def test_keys_of_several_types():
    a, b = {"x": 1.0, 2: 2.0, (1, 2): 3.0, None: 4.0}, {None: 40.0, (1, 2): 30.0, 2: 20.0, "x": 10.0}
    assert tree.structure(a) == tree.structure(b) and tree.leaves(b) == [10 * v for v in tree.leaves(a)]
    assert tree.map(lambda p, q: p + q, a, b) == {"x": 11.0, 2: 22.0, (1, 2): 33.0, None: 44.0}
    assert tp.jit(lambda p, q: tree.map(lambda u, v: u + v, p, q))({"x": 1.0, 2: 2.0}, {2: 20.0, "x": 10.0}) == {
        "x": 11.0,
        2: 22.0,
    }


@pytest.mark.parametrize("transform", [lambda f: f, tp.jit])
def test_flat_arrays_of_another_dtype(transform):
    flat, unravel = tree.ravel_pytree({"a": np.ones((2, 1), np.float32), "b": np.ones(1, np.float32)})
    given = flat < 5.0
    assert all(leaf.dtype == bool for leaf in tree.leaves(transform(lambda v: unravel(v))(given)))
    assert all(leaf.dtype == float for leaf in tree.leaves(transform(lambda v: unravel(v))(flat.astype(float))))
    flat, unravel = tree.ravel_pytree({"a": np.ones((2, 1), np.float32), "b": np.ones(1, np.int32)})
    made = transform(lambda v: unravel(v))(flat)
    assert (made["a"].dtype, made["b"].dtype) == (np.float32, np.int32)
    with pytest.raises(TypeError, match="takes an array of dtype float64"):
        transform(lambda v: unravel(v))(flat > 0.0)


def test_equal_inverses_are_one():
    value = {"a": np.ones(2), "b": 1.0}
    (_, one), (_, other) = tree.ravel_pytree(value), tree.ravel_pytree(value)
    assert one == other and hash(one) == hash(other) and one != tree.ravel_pytree([1.0])[1]


def test_transposed_by_leaves():
    outer, inner = tree.structure(Cached({"a": 1, "b": 2})), tree.structure([1, 2])
    wanted = [Cached({"a": 3, "b": 5}), Cached({"a": 4, "b": 6})]
    assert tree.transpose(outer, inner, Cached({"a": [3, 4], "b": [5, 6]})) == wanted

    def f(x):
        found = tree.transpose(outer, inner, Cached({"a": [x, 2.0 * x], "b": [3.0 * x, 4.0 * x]}))
        return found[0].inner["b"] * found[1].inner["a"]

    assert tp.grad(f)(1.0) == 12.0
    with pytest.raises(tp.TranspileError, match="T203"):
        tree.transpose(tree.structure(Layer(0)), inner, Layer((1, (2,))).w)
    with pytest.raises(tp.TranspileError, match="T203"):
        tree.transpose(outer, tree.structure([1, 2, 3]), Cached({"a": [3, 4], "b": [5, 6]}))
    with pytest.raises(tp.TranspileError, match="T203.*no first part"):
        tree.transpose(tree.structure(()), None, ())
    assert tree.transpose(tree.structure(()), tree.structure([]), ()) == []


@pytest.mark.parametrize("fields", [(("w", "w"), ("name",)), (("w", "name"), ("name",)), (("w",), ("name", "name"))])
def test_fields_are_named_once(fields):
    @dataclasses.dataclass
    class Own:
        w: Any
        name: str = ""

    with pytest.raises(TypeError, match="named twice"):
        tree.register_dataclass(Own, *fields)


def test_classes_of_one_name():
    """Each result is of its own class, wherever the class stands."""

    def make():
        return collections.namedtuple("Point", "x y")  # noqa: PYI024

    first, second = make(), make()

    def f(x):
        return first(x, 2.0 * x), second(3.0 * x, x)

    for g in (f, tp.jit(f), tp.jacfwd(f), lambda x: tp.vmap(f)(np.array([x]))):
        a, b = g(1.0)
        assert type(a) is first and type(b) is second
    assert type(tp.grad(lambda p: p.x * p.y)(second(3.0, 4.0))) is second


class Parts(list):
    def total(self):
        return self[0] + 2.0 * self[1]


tree.register_node(Parts, lambda p: (list(p), None), lambda _, children: Parts(children))
OUTSIDE = Parts([2.0, 3.0])


@pytest.mark.parametrize("transform", [lambda f: f, tp.jit])
def test_classes_that_derive_from_list(transform):
    made = transform(lambda x: Parts([x, 2.0 * x]))(2.0)
    assert type(made) is Parts and made == [2.0, 4.0]
    found = transform(
        lambda p: (isinstance(p, Parts), isinstance(p, list), type(p) is Parts, len(p), p.total(), p[1:])
    )(made)
    assert found == (True, True, True, 2, 10.0, [4.0])
    f = transform(lambda x: x * OUTSIDE.total())
    values = [f(1.0)]
    OUTSIDE[0] = 5.0
    values.append(f(1.0))
    OUTSIDE[0] = 2.0
    assert values == [8.0, 11.0]
    assert [*transform(lambda x: tree.map(lambda v: v * x, OUTSIDE))(2.0)] == [4.0, 6.0]
