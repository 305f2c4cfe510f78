"""`transpile.tree`: what JAX's functions of trees give, plain, transformed and compiled; registered classes in every transform."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import transpile as tp
from transpile import lax, tree
from transpile.tree import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Scaled:
    factor: Any
    parts: Any


@tree.register_dataclass
@dataclasses.dataclass(frozen=True)
class Optimiser:
    rate: float
    slots: dict
    power: int = dataclasses.field(default=2, metadata={"static": True})

    def raised(self):
        return self.rate**self.power


class Layer:
    """A plain class with parameters, a name, and a method."""

    def __init__(self, w, b, name="layer"):
        self.w, self.b, self.name = w, b, name

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)


tree.register_node(
    Layer,
    lambda layer: ((layer.w, layer.b), layer.name),
    lambda name, children: Layer(*children, name),
    lambda layer: (((GetAttrKey("w"), layer.w), (GetAttrKey("b"), layer.b)), layer.name),
)


class Polar:
    """Its children are no attributes of it."""

    def __init__(self, x, y):
        self.radius, self.angle = np.hypot(x, y), np.arctan2(y, x)


tree.register_node(
    Polar,
    lambda p: ((p.radius * np.cos(p.angle), p.radius * np.sin(p.angle)), None),
    lambda aux, xy: Polar(*xy),
)

RNG = np.random.default_rng(5)
LAYERS = [Layer(RNG.normal(size=(2, 3)), np.zeros(3), "first"), Layer(RNG.normal(size=(3, 1)), np.ones(1), "last")]
X = RNG.normal(size=(4, 2))


# --------------------------------------------------------------------------------------------------- structure

STRUCTURES = [
    ((1.0, [2.0, 3.0]), [1.0, 2.0, 3.0], "(*, [*, *])"),
    ({"b": 1.0, "a": (2.0,)}, [2.0, 1.0], "{'a': (*,), 'b': *}"),
    (OrderedDict(b=1.0, a=2.0), [1.0, 2.0], "{'b': *, 'a': *}"),
    ({1: None, 0: "text"}, ["text"], "{0: *, 1: None}"),
    (None, [], "None"),
    ([], [], "[]"),
    (3.5, [3.5], "*"),
    (Pair(1.0, Pair(None, 2.0)), [1.0, 2.0], "Pair(left=*, right=Pair(left=None, right=*))"),
    (Scaled(2.0, [3.0]), [2.0, 3.0], "Scaled(factor=*, parts=[*])"),
    (Optimiser(0.5, {"m": 1.0}, 3), [0.5, 1.0], "Optimiser(rate=*, slots={'m': *}, power=3)"),
    (Layer(1.0, 2.0), [1.0, 2.0], "Layer(*, *)"),
]


@pytest.mark.parametrize("value, leaves, text", STRUCTURES)
def test_leaves_and_structure(value, leaves, text):
    found, shape = tree.flatten(value)
    assert found == leaves == tree.leaves(value)
    assert repr(shape) == f"TreeDef({text})" and shape.num_leaves == len(leaves)
    again = tree.unflatten(shape, leaves)
    assert type(again) is type(value) and tree.structure(again) == shape and hash(tree.structure(again)) == hash(shape)
    if not isinstance(value, Layer):
        assert again == value


def test_dicts_keep_their_order_and_are_equal_in_any():
    a, b = {"w": 1.0, "b": 2.0}, {"b": 20.0, "w": 10.0}
    assert tree.structure(a) == tree.structure(b)
    assert list(tree.map(lambda x, y: x + y, a, b).items()) == [("w", 11.0), ("b", 22.0)]
    assert tree.structure(Optimiser(1.0, {}, 2)) != tree.structure(Optimiser(1.0, {}, 3))
    assert tree.structure(Layer(1.0, 2.0, "a")) != tree.structure(Layer(1.0, 2.0, "b"))


def test_functions_of_trees():
    assert tree.map(lambda x: x + 1, (1, None, [2])) == (2, None, [3])
    assert tree.map(lambda x, y: (x, y), [1, 2], [{"a": 3}, (4, 5)]) == [(1, {"a": 3}), (2, (4, 5))]
    assert tree.map(len, {"a": [1, 2], "b": []}, is_leaf=lambda x: isinstance(x, list)) == {"a": 2, "b": 0}
    assert tree.leaves([None, 1], is_leaf=lambda x: x is None) == [None, 1]
    assert tree.reduce(lambda a, b: a * b, {"a": 2, "b": (3, 4)}) == 24 and tree.reduce(max, None, 7) == 7
    assert tree.all({"a": True, "b": []}) and not tree.all((True, 0))
    assert tree.transpose(tree.structure((0, 0)), tree.structure([0, 0, 0]), ([1, 2, 3], [4, 5, 6])) == [
        (1, 4),
        (2, 5),
        (3, 6),
    ]
    assert tree.transpose(tree.structure([0, 0]), None, [{"a": 1}, {"a": 2}]) == {"a": [1, 2]}
    assert tree.structure([0, 0]).flatten_up_to([{"a": 1}, (2, 3)]) == [{"a": 1}, (2, 3)]


def test_paths():
    seen = []
    value = {"p": [1.0, Pair(2.0, None)], "l": Layer(3.0, 4.0), "q": Polar(1.0, 0.0), "s": Scaled(5.0, ())}
    tree.map_with_path(lambda path, x: (seen.append(path), x)[1], value)
    assert seen[0] == (DictKey("l"), GetAttrKey("w")) and seen[2] == (DictKey("p"), SequenceKey(0))
    texts = [
        "['l'].w",
        "['l'].b",
        "['p'][0]",
        "['p'][1].left",
        "['q'][<flat index 0>]",
        "['q'][<flat index 1>]",
        "['s'].factor",
    ]
    assert [tree.keystr(path) for path in seen] == texts
    assert seen[4][1] == FlattenedIndexKey(0)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda x: tree.map(lambda a, b: a * b, {"a": x, "b": (x, x)}, {"a": x, "b": [x, x]})["a"],
            ["(*, *)", "[*, *]", "tree['b']"],
        ),
        (lambda x: tree.map(lambda a, b: a * b, [x, x], [x])[0], ["[*, *]", "[*]"]),
        (lambda x: tree.map(lambda a, b: a * b, {"a": x}, {"c": x})["a"], ["{'a': *}", "{'c': *}"]),
        (lambda x: tree.unflatten(tree.structure((1, 2)), [x])[0], ["1 leaves", "2", "(*, *)"]),
    ],
)
def test_trees_that_do_not_fit(call, words):
    for run in (call, tp.grad(call)):
        with pytest.raises(tp.TranspileError) as failed:
            run(1.5)
        assert failed.value.codes == ("T203",) and all(word in str(failed.value) for word in words)
    assert "test_tree.py" in str(failed.value)


def test_what_cannot_be_registered():
    with pytest.raises(ValueError, match="already registered"):
        tree.register_node(Layer, lambda x: ((), None), lambda aux, c: Layer(0, 0))
    with pytest.raises(TypeError, match="the fields of Scaled are"):
        tree.register_dataclass(Scaled, ["factor"], [])
    with pytest.raises(TypeError, match="is not a dataclass"):
        tree.register_dataclass(Polar)


def test_ravel():
    value = {"w": np.arange(6.0).reshape(2, 3), "b": np.float32(7.0), "n": (np.array([8, 9]), None, 1.5)}
    flat, unravel = tree.ravel_pytree(value)
    assert flat.tolist() == [7.0, 8.0, 9.0, 1.5, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    again = unravel(flat)
    assert again["b"].dtype == np.float32 and again["n"][0].dtype == np.int64 and again["n"][1] is None
    np.testing.assert_array_equal(again["w"], value["w"])
    with pytest.raises(ValueError, match=r"\(10,\), not \(3,\)"):
        unravel(np.zeros(3))


# ------------------------------------------------------------------------------------------------ in transforms


def loss(layers, x):
    for layer in layers:
        x = layer(x)
    return np.mean(x**2)


def step(layers, x):
    return tree.map(lambda w, g: w - 0.1 * g, layers, tp.grad(loss)(layers, x))


def same(a, b, rtol=1e-10):
    assert tree.structure(a) == tree.structure(b)
    for x, y in zip(tree.leaves(a), tree.leaves(b)):
        np.testing.assert_allclose(x, y, rtol=rtol)


def test_instances_are_arguments_and_results():
    flat, unravel = tree.ravel_pytree(LAYERS)
    gradient = tp.grad(loss)(LAYERS, X)
    assert [type(layer) for layer in gradient] == [Layer, Layer] and gradient[1].name == "last"
    same(unravel(tp.grad(lambda v: loss(unravel(v), X))(flat)), gradient)
    tp.check_grads(lambda v: loss(unravel(v), X), (flat,), order=1)
    ones = tree.map(np.ones_like, LAYERS)
    value, tangent = tp.jvp(loss, (LAYERS, X), (ones, np.zeros_like(X)))
    wanted = sum(np.sum(g) for g in tree.leaves(gradient))
    assert value == pytest.approx(loss(LAYERS, X)) and tangent == pytest.approx(wanted)
    value, pullback = tp.vjp(loss, LAYERS, X)
    same(pullback(1.0)[0], gradient)
    moved = step(LAYERS, X)
    assert moved[0].name == "first" and loss(moved, X) < loss(LAYERS, X)
    same(tp.jit(step)(LAYERS, X), moved)
    same(tp.jit(tp.grad(loss))(LAYERS, X), gradient)
    same(tp.jit(tp.grad(loss))(moved, X), tp.grad(loss)(moved, X))  # again: another call of the same kind
    hessian = tp.jacfwd(tp.grad(lambda layer: loss([layer, LAYERS[1]], X)))(LAYERS[0])
    assert type(hessian) is Layer and type(hessian.b) is Layer and hessian.b.b.shape == (3, 3)


def test_children_that_are_no_attributes():
    def f(p):
        return p.radius**2 * np.cos(p.angle)

    p = Polar(3.0, 4.0)
    gradient = tp.grad(f)(p)  # r x: with respect to x and y
    np.testing.assert_allclose(tree.leaves(gradient), [5 + 9 / 5, 12 / 5], rtol=1e-12)
    same(tp.jit(lambda p: tree.map(lambda v: 2.0 * v, p))(p), Polar(6.0, 8.0))


def test_fields_that_belong_to_the_structure():
    def f(o):
        assert o.power in (2, 3)
        return o.raised() + tree.reduce(lambda a, b: a + b, tree.map(np.sum, o.slots))

    o = Optimiser(2.0, {"z": np.ones(2), "a": 1.5}, 3)
    gradient = tp.grad(f)(o)
    assert type(gradient) is Optimiser and gradient.rate == 12.0 and gradient.power == 3
    assert list(gradient.slots) == ["z", "a"] and gradient.slots["z"].tolist() == [1.0, 1.0]
    same(tp.jit(tp.grad(f))(o), gradient)
    assert tp.grad(f)(Optimiser(2.0, {"a": 1.5})).rate == 4.0
    assert "power=3" in tp.source(tp.grad(f), o)


def test_work_on_trees_unrolls():
    params = {"w": np.ones((2, 2)), "b": (np.ones(2), 0.5)}

    def update(params, grads, scale):
        decayed = tree.map(lambda w, g: w - 0.1 * g, params, grads)
        named = tree.map_with_path(lambda path, x: scale * x if tree.keystr(path).startswith("['b']") else x, decayed)
        leaves, shape = tree.flatten(named)
        assert shape == tree.structure(params) and shape.num_leaves == 3
        again = shape.unflatten([2.0 * x for x in leaves])
        return tree.transpose(tree.structure((0, 0)), None, (again, params))

    got = tp.jit(update)(params, params, 3.0)
    same(got, update(params, params, 3.0))
    text = tp.source(update, params, params, 3.0)
    assert "tree." not in text.replace("test_tree.py", "") and "for " not in text
    assert tp.grad(lambda s: tree.reduce(lambda a, b: a + np.sum(b), update(params, params, s), 0.0))(
        3.0
    ) == pytest.approx(4.5)


def test_ravelled_inside_and_outside():
    params = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": Scaled(0.5, [np.array([1.0, -1.0])])}
    flat, unravel = tree.ravel_pytree(params)

    def f(p):
        inner, back = tree.ravel_pytree((p["b"].parts, p["w"]))
        parts, w = back(inner * inner)
        return np.sum(w @ parts[0]) * p["b"].factor

    np.testing.assert_allclose(tree.ravel_pytree(tp.grad(f)(params))[0], tp.grad(lambda v: f(unravel(v)))(flat))
    tp.check_grads(lambda v: f(unravel(v)), (flat,), order=2)
    assert tp.jit(lambda v: f(unravel(v)))(flat) == pytest.approx(f(params))


def test_gradients_are_stopped_in_trees():
    def f(x):
        held = tp.stop_gradient({"a": (x, "name"), "b": [np.array([x, 1.0]), 3, None]})
        return x * held["a"][0] + np.sum(held["b"][0]) * len(held["a"][1]) + lax.stop_gradient((x, x))[1] + x

    assert tp.value_and_grad(f)(2.0) == (20.0, 3.0) == (f(2.0), 3.0)


def test_trees_carried_by_loops():
    def f(x):
        def body(carry, a):
            layer, o = carry
            layer = tree.map(lambda w: w * a, layer)
            return (layer, dataclasses.replace(o, rate=o.rate + np.sum(layer.w))), Pair(o.rate, layer)

        (layer, o), seen = lax.scan(body, (Layer(x, 1.0), Optimiser(0.0, {})), x)
        return o.raised() + np.sum(seen.left) * np.sum(seen.right.w) + layer.b

    x = np.array([1.5, 0.5, -1.0])
    tp.check_grads(f, (x,), order=1)
    assert tp.jit(f)(x) == pytest.approx(f(x))


def test_leaf_functions_and_truths_in_transformed_code():
    def f(x):
        halves = tree.map(lambda pair: pair[0] * pair[1], [(x, x), (x, 2.0)], is_leaf=lambda v: isinstance(v, tuple))
        ok = tree.all(tree.map(lambda v: v > 0, halves))
        return np.where(ok, halves[0] + halves[1], 0.0) + len(tree.leaves({"a": None, "b": halves}))

    assert f(1.5) == 7.25 and tp.value_and_grad(f)(1.5) == (7.25, 5.0) and tp.grad(f)(-1.0) == 0.0


HELD = {"layer": Layer(2.0, 1.0)}


def test_instances_outside_are_read_at_each_call():
    def f(x):
        doubled = tree.map(lambda w: 2.0 * w, HELD["layer"])
        return HELD["layer"].w * x + doubled.w * x

    f_grad = tp.grad(f)
    assert f_grad(1.0) == 6.0
    HELD["layer"].w = 3.0
    assert f_grad(1.0) == 9.0
    HELD["layer"] = Layer(4.0, 1.0)
    assert f_grad(1.0) == 12.0


class Own(dict):
    """A dict by another name is a dict."""


VALUES = [1.0, 2, True, "s", None, np.float32(1), np.ones(2), np.bool_(True), object()]


def random_tree(rng, depth):
    """A tree of containers of every kind, of leaves of every kind."""
    kind = rng.integers(0, 10 if depth else 2)
    inner = [random_tree(rng, depth - 1) for _ in range(rng.integers(0, 4))] if kind > 1 else []
    if kind < 2:
        return VALUES[rng.integers(len(VALUES))]
    keys = rng.permutation([*"abcdef"])[: len(inner)].tolist()
    two = [*inner, 1.0, None][:2]
    return [
        lambda: inner, lambda: tuple(inner), lambda: dict(zip(keys, inner)), lambda: OrderedDict(zip(keys, inner)),
        lambda: Pair(*two), lambda: Scaled(*two), lambda: Layer(*two, "n"), lambda: Own(zip(keys, inner)),
    ][kind - 2]()  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_trees_of_every_kind(seed):
    rng = np.random.default_rng(seed)
    value = random_tree(rng, 3)
    leaves, shape = tree.flatten(value)
    slow = tree.flatten(value, is_leaf=lambda v: False)
    assert slow[1] == shape and all(a is b for a, b in zip(leaves, slow[0])) and len(slow[0]) == len(leaves)
    assert shape.num_leaves == len(leaves) and not any(v is None for v in leaves)
    again = shape.unflatten(leaves)
    assert tree.structure(again) == shape and all(a is b for a, b in zip(tree.leaves(again), leaves))
    numbers = shape.unflatten(range(len(leaves)))
    assert tree.leaves(tree.map(lambda _, k: k, value, numbers)) == [*range(len(leaves))]
    if type(value) in (dict, OrderedDict):
        assert list(numbers) == list(value)  # the order of the keys is kept
    assert all(a is b for a, b in zip(shape.flatten_up_to(value), leaves))
    marked = tree.map(lambda v: [v, {"k": v}], value)
    assert [part[0] for part in shape.flatten_up_to(marked)] == [*leaves]
    paths = tree.map_with_path(lambda path, v: tree.keystr(path), value)
    assert len(set(tree.leaves(paths))) == len(leaves)
    if leaves and shape != tree.structure(0):
        with pytest.raises(tp.TranspileError, match="T203"):
            shape.flatten_up_to((1.0, 2.0, (3.0,), {"zz": 1.0}))
        with pytest.raises(tp.TranspileError, match="T203"):
            shape.unflatten(leaves[1:])


def test_the_place_where_trees_differ_is_named():
    shape = tree.structure({"a": [0, (0, {"k": [0]})], "b": Scaled(0, [0])})
    for other, place in [
        ({"a": [0, (0, {"k": (0,)})], "b": Scaled(0, [0])}, "tree['a'][1][1]['k']"),
        ({"a": [0, (0, {"q": [0]})], "b": Scaled(0, [0])}, "tree['a'][1][1]"),
        ({"a": [0, (0, {"k": [0]})], "b": Scaled(0, [])}, "tree['b'].parts"),
        ({"a": [0], "b": Scaled(0, [0])}, "tree['a']"),
    ]:
        with pytest.raises(tp.TranspileError) as failed:
            shape.flatten_up_to(other)
        assert str(failed.value).splitlines()[0].endswith(place), failed.value
