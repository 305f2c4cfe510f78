"""A pullback, and what ``linearize`` gives, are of the function as it was: names around it may stand for something else when they
are called, and arrays around may hold something else. What the function itself gives, run by Python, is right."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import check_gradient, text_of

import transpile as tp

pytestmark = pytest.mark.sampled(5)

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
BODIES = {
    f"{call}-{name}": f"{first}\ndef g(v): return {use}\n{text.format(then=then)}"
    for name, (first, then, use) in CHANGES.items()
    for call, text in CALLS.items()
}


@pytest.mark.parametrize("name", BODIES)
def test_as_python_does(name):
    check_gradient(tp.from_source(text_of(BODIES[name], "import numpy as np\nimport transpile as tp")), X)
