"""Tangents and cotangents of another dtype than what they belong to: inside a function they are taken as at a call from outside."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from differences import same_tree

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

GIVEN = {
    "integers": np.array([1, 2]),
    "float32": np.array([0.5, -1.5], np.float32),
    "float64": np.array([0.1, 0.7]),
    "truth values": np.array([True, False]),
    "list": [1, 0.5],
}


def pulled(x, v):
    y, pull = tp.vjp(lambda a: a * a * x[0], x)
    return y + pull(v)[0]


def pushed(x, v):
    y, dot = tp.jvp(lambda a: np.sin(a) * x[1], (x,), (v,))
    return y, dot


def linear(x, v):
    y, push = tp.linearize(lambda a: a * a * 0.3, x)
    return y * push(v)


def transposed(x, v):
    return tp.linear_transpose(lambda a: a * 0.3, x)(v)[0]


def twice(x, v):
    return tp.hvp(lambda a: np.sum(a**3), (x,), (v,))


def of_numbers(x, v):
    y, pull = tp.vjp(lambda a: a * a * x[0], x[1])
    return y * pull(v[0])[0] + tp.jvp(lambda a: a * x[0], (x[1],), (v[1],))[1]


@pytest.mark.parametrize("f", [pulled, pushed, linear, transposed, twice, of_numbers])
def test_inside_as_outside(f) -> None:
    for dtype, (which, v) in itertools.product(("float32", "float64"), GIVEN.items()):
        x = np.array([0.4, 1.3], dtype)
        args = x, v if f is of_numbers or not isinstance(v, list) else np.array(v)
        wanted, got = f(*args), Transformed(f, Level())(*args)
        same_tree(got, wanted, f"{which} {dtype}", 2e-7 if dtype == "float32" else 1e-14, 1e-12)
        for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, wanted))):
            assert np.asarray(a).dtype == np.asarray(b).dtype, (which, dtype)
