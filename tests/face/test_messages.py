"""Messages name what the user wrote: the leaf and not the argument, the position that a method counts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import transpile as tp

X = np.ones(3)


def of_tree(p):
    return np.sum(p["W1"]) * p["cfg"]["n"]


def of_list(items):
    return items[0] * items[1][0]


class Point(NamedTuple):
    x: float
    count: int


@dataclass
class Box:
    a: np.ndarray
    size: int


def of_point(p):
    return p.x * p.count


def of_box(b):
    return np.sum(b.a) * b.size


def loss(w, x):
    return np.sum((w * x) ** 2)


class Model:
    def __init__(self):
        self.k = 2.0

    def energy(self, x):
        return np.sum(x) * self.k


CASES = [
    (
        lambda: tp.grad(of_tree)({"W1": X, "cfg": {"n": 3}}),
        "T302",
        'cannot differentiate \'of_tree\' with respect to p["cfg"]["n"]: it is an int',
    ),
    (
        lambda: tp.grad(of_tree)({"W1": X, "cfg": {"n": 3}}),
        "T302",
        "pass what is not differentiated as another argument",
    ),
    (
        lambda: tp.grad(of_list)([1.0, (2,)]),
        "T302",
        "cannot differentiate 'of_list' with respect to items[1][0]: it is an int",
    ),
    (
        lambda: tp.grad(lambda *args: args[0]["w"] * 1.0)({"w": 2}),
        "T302",
        'with respect to argument 0["w"]: it is an int',
    ),
    (
        lambda: tp.grad(of_point)(Point(1.0, 2)),
        "T302",
        "cannot differentiate 'of_point' with respect to p.count: it is an int",
    ),
    (
        lambda: tp.jacrev(of_box)(Box(X, 2)),
        "T302",
        "cannot differentiate 'of_box' with respect to b.size: it is an int",
    ),
    (
        lambda: tp.grad(of_tree)({"W1": np.array(["a"]), "cfg": {"n": 3.0}}),
        "T409",
        "p[\"W1\"] of 'of_tree' is of dtype str",
    ),
    (lambda: tp.jit(of_tree)({"W1": X * 1j, "cfg": {"n": 3}}), "T311", "p[\"W1\"] of 'of_tree' is complex"),
    (
        lambda: tp.grad(loss, argnums=1)(X, np.array([1, 2, 3])),
        "T302",
        "cannot differentiate 'loss' with respect to 'x': it is an int64[3]",
    ),
    (
        lambda: tp.grad(loss, argnames="w")(w=3, x=X),
        "T302",
        "cannot differentiate 'loss' with respect to 'w': it is an int",
    ),
    (lambda: tp.grad(Model().energy, argnums=1)(X), "T306", "'self' is not counted: argnums=0 is the last argument"),
    (lambda: tp.grad(Model.energy)(Model(), X), "T302", "argnums=1 is the first argument after it"),
    (
        lambda: tp.grad(loss, argnums=2)(X, X),
        "T306",
        "argnums 2 is out of range: 'loss' was called with 2 positional arguments",
    ),
]


@pytest.mark.parametrize(("call", "code", "text"), CASES, ids=range(len(CASES)))
def test_a_message(call, code, text):
    with pytest.raises(tp.TranspileError) as refused:
        call()
    assert refused.value.codes == (code,) and text in str(refused.value), str(refused.value)
