"""A pullback, and what ``linearize`` gives, are of the function as it was: names around it may stand for something else when they
are called, and arrays around may hold something else. What the function itself gives, run by Python, is right."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import check_gradient, text_of

import transpile as tp

pytestmark = pytest.mark.sampled(12)

X = np.array([0.7, -1.3, 2.1])

# what the function reads of the one around, what becomes of it, and how it is used
CHANGES = {
    "number": ("k = 3.0", "k = 5.0", "v * v * k"),
    "data": ("k = x[1]", "k = x[2]", "v * v * k"),
    "array": ("k = x * 1.0", "k = x * 3.0", "v * v * k[0]"),
    "entry": ("k = x * 1.0", "k[0] = 5.0", "v * v * k[0]"),
    "view": ("w = np.outer(x, x); k = w[0]", "w *= 2.0", "v * v * k[1]"),
    "lambda": ("q = 2.0\ndef k(v): return v * v * q", "q = x[1]", "k(v)"),
    "list": ("k = [x[0], x[1]]", "k[1] = 9.0", "v * v * k[1]"),
}
CALLS = {
    "pull": "y, pull = tp.vjp(g, x[0])\n{then}\nreturn y + 3.0 * pull(1.0)[0]",
    "push": "y, push = tp.linearize(g, x[0])\n{then}\nreturn y + 3.0 * push(1.0)",
    "twice": "y, pull = tp.vjp(g, x[0])\na = pull(2.0)[0]\n{then}\nreturn y + a * pull(1.0)[0]",
    "trips": "s = 0.0\nfor i in range(len(x)):\n    y, pull = tp.vjp(g, x[i])\n    s += y\n{then}\nreturn s + pull(1.0)[0]",
    "branch": "y, pull = tp.vjp(g, x[0])\nif x[2] > 0.0:\n    y = y + pull(1.0)[0]\n{then}\nreturn y + pull(1.0)[0]",
}
# how the function has what it reads, whose use is {use}
WAYS = {
    "reads": "def g(v): return {use}",
    "jit": "g = tp.jit(lambda v: {use})",
    "grad": "g = tp.grad(lambda v: v * ({use}))",
    "partial": "g = partial(lambda k, v: {use}, k)",
    "keyword": "g = partial(tp.jit(lambda v, k: {use}), k=k)",
    "default": "def g(v, k=k): return {use}",
    "listed": "gs = [lambda v: {use}, np.sin]\ng = partial(lambda fs, v: fs[0](v), gs)",
    "method": "h = Holds(k)\ng = h.of",
    "called": "h = Holds(k)\ng = tp.jit(h)",
}
MODULE = """import numpy as np
import transpile as tp
from functools import partial
class Holds:
    def __init__(self, k):
        self.k = k
    def of(self, v):
        k = self.k
        return {use}
    def __call__(self, v):
        return self.of(v)
"""
# what the object holds afterwards
OTHERS = {"number": "7.0", "data": "x[2]", "array": "7.0 * x", "entry": "x * 0.5", "view": "7.0 * x"}


def _programs():
    for name, (first, then, use) in CHANGES.items():
        for way, holds in WAYS.items():
            also = f"\nh.k = {OTHERS[name]}" if way in ("called", "method") and name in OTHERS else ""
            for call, text in CALLS.items():
                body = f"{first}\n{holds.format(use=use)}\n{text.format(then=then + also)}"
                yield f"{call}-{name}-{way}", (body, MODULE.format(use=use))


PROGRAMS = dict(_programs())


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_python_does(name):
    body, module = PROGRAMS[name]
    check_gradient(tp.from_source(text_of(body, module)), X)
